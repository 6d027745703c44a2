/* IR text: every tests/text/FILE.rg reads, verifies, prints and reads back to the same; or is
 * refused with the messages that it expects. SPDX-License-Identifier: Apache-2.0
 *
 *   ; stage: source|ad|tape|slots     the stage to verify at (source unless said)
 *   ; expect: TEXT                    refused, and TEXT is part of the diagnostics (any number of
 * these)
 *
 * Then damaged copies of all files are read, and memory fails at each allocation in turn. */
#include "check.h"
#include "ir/ir.h"

#include <dirent.h>
#include <setjmp.h>

typedef struct text_case {
    char *path;
    str text;
    ir_stage stage;
    bool refused;
} text_case;

static vec(text_case) cases;

/* -- files ------------------------------------------------------------------------------------ */

/* the next comment line `; key: value` from *at on */
static bool
next_comment(const char **at, const char *key, rg_str *value)
{
    char start[32];
    snprintf(start, sizeof start, "; %s: ", key);
    const char *found = strstr(*at, start);
    if (!found)
        return false;
    value->ptr = found + strlen(start);
    value->len = strcspn(value->ptr, "\n");
    *at = value->ptr;
    return true;
}

static ir_stage
stage_of(const text_case *c)
{
    static const char *const names[] = {"source", "ad", "tape", "slots"};
    const char *at = c->text.ptr;
    rg_str value;
    if (next_comment(&at, "stage", &value))
        for (size_t i = 0; i < countof(names); i++)
            if (str_eq(value, rg_str_of(names[i])))
                return (ir_stage)i;
    return IR_STAGE_SOURCE;
}

static void
read_cases(const char *folder)
{
    DIR *dir = opendir(folder);
    CHECK(dir, "no folder %s", folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (!strstr(entry->d_name, ".rg"))
            continue;
        text_case c = {0};
        str path = {0};
        str_addf(&path, "%s/%s", folder, entry->d_name);
        c.path = path.ptr;
        if (file_read(c.path, &c.text) != RG_OK) {
            CHECK(false, "cannot read %s", c.path);
            str_free(&path);
            continue;
        }
        const char *at = c.text.ptr;
        rg_str value;
        c.refused = next_comment(&at, "expect", &value);
        c.stage = stage_of(&c);
        vec_push(&cases, c);
    }
    if (dir)
        closedir(dir);
}

/* -- cases ------------------------------------------------------------------------------------ */

static void
check_messages(const text_case *c, const diag_list *d)
{
    const char *at = c->text.ptr;
    rg_str value;
    while (next_comment(&at, "expect", &value))
        CHECK(d->text.ptr && memmem(d->text.ptr, d->text.len, value.ptr, value.len),
              "%s: no message says\n  %.*s\nbut there is\n%s", c->path, (int)value.len, value.ptr,
              d->text.ptr ? d->text.ptr : "(nothing)\n");
}

/* prints, reads back, prints: the same text; renumbering does not change it */
static void
check_round_trip(ir_module *m, const char *name)
{
    str once = {0}, twice = {0};
    diag_list d = {0};
    ir_print_module(&once, m);
    ir_module *back = ir_parse(str_view(&once), "printed", &d);
    CHECK(back, "%s: printed text is refused:\n%s", name, d.text.ptr);
    if (back) {
        for (ir_fn *fn = back->first; fn; fn = fn->next)
            ir_renumber(fn);
        ir_print_module(&twice, back);
        CHECK(strcmp(once.ptr, twice.ptr) == 0, "%s: printed\n%s\nthen\n%s", name, once.ptr,
              twice.ptr);
    }
    ir_module_free(back);
    str_free(&once);
    str_free(&twice);
    diag_free(&d);
}

/* into a new module, called functions first */
static void
check_clone(const ir_module *m, ir_stage stage, const char *name)
{
    ir_module *copy = ir_module_new();
    diag_list d = {0};
    for (const ir_fn *fn = m->first; fn; fn = fn->next)
        ir_fn_clone(copy, fn, fn->name);
    CHECK(ir_verify(copy, stage, "clone", &d), "%s: the clone is wrong:\n%s", name, d.text.ptr);
    str before = {0}, after = {0};
    ir_print_module(&before, m);
    ir_print_module(&after, copy);
    CHECK(strcmp(before.ptr, after.ptr) == 0, "%s: the clone prints\n%s", name, after.ptr);
    str_free(&before);
    str_free(&after);
    diag_free(&d);
    ir_module_free(copy);
}

static void
check_case(const text_case *c)
{
    diag_list d = {0};
    ir_module *m = ir_parse(str_view(&c->text), c->path, &d);
    bool accepted = m && ir_verify(m, c->stage, NULL, &d);
    CHECK(accepted != c->refused, "%s: %s\n%s", c->path, c->refused ? "accepted" : "refused",
          d.text.ptr ? d.text.ptr : "");
    check_messages(c, &d);
    if (m)
        check_round_trip(m, c->path);
    if (accepted) {
        CHECK(ir_stage_of(m) == c->stage, "%s: stage %d", c->path, ir_stage_of(m));
        check_clone(m, c->stage, c->path);
    }
    ir_module_free(m);
    diag_free(&d);
}

/* -- damage ----------------------------------------------------------------------------------- */

static uint64_t
random_below(uint64_t *state, uint64_t n)
{
    *state += 0x9e3779b97f4a7c15u;
    return hash_u64(7, *state) % n;
}

static void
damage(str *s, uint64_t *state)
{
    static const char *const pieces[] = {"%0", "{",     "}",  "yield", "(",   ")",    "@",   "\"",
                                         ":",  ",",     "=",  "if",    "%?",  "loop", "buf", "i64",
                                         "->", "trace", "-1", "0x",    "nan", "\\",   ";",   "\n"};
    size_t at = random_below(state, s->len), n = 1 + random_below(state, 8);
    if (n > s->len - at)
        n = s->len - at;
    switch (random_below(state, 4)) {
    case 0:
        s->ptr[at] = (char)random_below(state, 256);
        break;
    case 1: /* drop */
        memmove(s->ptr + at, s->ptr + at + n, s->len - at - n + 1);
        s->len -= n;
        break;
    case 2: { /* another place's bytes */
        size_t from = random_below(state, s->len - n + 1);
        memmove(s->ptr + at, s->ptr + from, n);
        break;
    }
    default: { /* a piece of the language over what stands there */
        const char *piece = pieces[random_below(state, countof(pieces))];
        size_t len = strlen(piece);
        if (len <= s->len - at)
            memcpy(s->ptr + at, piece, len);
        break;
    }
    }
}

static void
check_damaged(unsigned rounds)
{
    uint64_t state = 42;
    unsigned accepted = 0;
    for (unsigned i = 0; i < rounds; i++) {
        const text_case *c = &cases.at[random_below(&state, cases.n)];
        str s = {0};
        str_add(&s, str_view(&c->text));
        for (uint64_t k = 1 + random_below(&state, 4); k && s.len; k--)
            damage(&s, &state);
        diag_list d = {0};
        ir_module *m = ir_parse(str_view(&s), "damaged", &d);
        CHECK((m == NULL) == (d.errors > 0), "refused without a message, or accepted with one");
        if (m) {
            for (int stage = IR_STAGE_SOURCE; stage <= IR_STAGE_SLOTS; stage++)
                accepted += ir_verify(m, (ir_stage)stage, NULL, &d);
            check_round_trip(m, "damaged");
        }
        ir_module_free(m);
        diag_free(&d);
        str_free(&s);
    }
    printf("%u damaged texts, %u verified\n", rounds, accepted);
}

static bool
count_marks(ir_op *op, void *user)
{
    unsigned *n = user;
    *n += op->settled || op->in_page || op->one_page || op->few || op->ordered || op->bundle || op->block;
    return true;
}

/* Marks are read by ir_parse_exact alone. */
static void
check_marks(void)
{
    static const char text[] = "kernel @f(%x: buf<f32,1>) {\n"
                               "  %0: i64 = const 0 with (settled, bundle 3)\n"
                               "  %1: f32 = load %x[%0] with (in_page, one_page)\n"
                               "  %2: bool = const true\n"
                               "  if %2 @ \"\":3:1 with (ordered, few, block 7) {\n"
                               "    store %x[%0], %1\n"
                               "    yield\n"
                               "  }\n"
                               "  yield\n"
                               "}\n";
    diag_list d = {0};
    str again = {0}, plain = {0};
    unsigned marks = 0;
    ir_module *m = ir_parse_exact(RG_STR(text), "marks", &d);
    CHECK(m, "%s", d.text.ptr);
    if (m) {
        ir_print_exact(&again, m), ir_print_module(&plain, m);
        ir_walk(m->first->body, count_marks, &marks);
        CHECK(marks == 3 && strcmp(again.ptr, text) == 0 && !strstr(plain.ptr, "with"), "%u marks in\n%s", marks, again.ptr);
    }
    ir_module_free(m);
    m = ir_parse(RG_STR(text), "marks", &d);
    CHECK(!m, "marks are taken from strangers");
    ir_module_free(m);
    m = ir_parse_exact(RG_STR("kernel @f() {\n yield with (swift)\n}\n"), "marks", &d);
    CHECK(!m && strstr(d.text.ptr, "a mark"), "%s", d.text.ptr);
    ir_module_free(m);
    str_free(&again), str_free(&plain), diag_free(&d);
}

static void
check_deep(void)
{
    str s = {0};
    diag_list d = {0};
    str_addz(&s, "func @f(%b: bool) -> () {");
    for (int i = 0; i < 100000; i++)
        str_addz(&s, "if %b {");
    ir_module *m = ir_parse(str_view(&s), "deep", &d);
    CHECK(!m && strstr(d.text.ptr, "E0109"), "%s", d.text.ptr);
    ir_module_free(m);
    str_free(&s);
    diag_free(&d);
}

/* -- memory ----------------------------------------------------------------------------------- */

typedef struct caught {
    jmp_buf at;
} caught;

static void
leave(void *user, size_t bytes)
{
    longjmp(((caught *)user)->at, 1);
}

/* what an API function would hold, and free itself */
typedef struct held {
    ir_module *m;
    diag_list d;
    str out;
} held;

static bool
read_failing(const text_case *c, long n, held *h)
{
    caught at;
    mem_set_handler(leave, &at);
    if (setjmp(at.at)) {
        mem_set_handler(NULL, NULL);
        return false;
    }
    mem_fail_after(n);
    h->m = ir_parse(str_view(&c->text), c->path, &h->d);
    if (h->m) {
        ir_print_module(&h->out, h->m);
        ir_verify(h->m, c->stage, "reading", &h->d);
    }
    mem_fail_after(0);
    mem_set_handler(NULL, NULL);
    return true;
}

/* Every allocation fails once; nothing may be lost (the sanitized build looks). */
static void
check_memory(const text_case *c)
{
    bool whole = false;
    long n = 1;
    for (; !whole && n < 100000; n++) {
        held h = {0};
        whole = read_failing(c, n, &h);
        ir_module_free(h.m);
        diag_free(&h.d);
        str_free(&h.out);
    }
    CHECK(whole && n > 5, "%s: %ld allocations", c->path, n);
}

int
main(int argc, char **argv)
{
    read_cases(argc > 1 ? argv[1] : "tests/text");
    CHECK(cases.n > 0, "no cases");
    for (size_t i = 0; i < cases.n; i++) {
        check_case(&cases.at[i]);
        check_memory(&cases.at[i]);
    }
    if (cases.n)
        check_damaged(argc > 2 ? (unsigned)atoi(argv[2]) : 4000);
    check_marks();
    check_deep();
    for (size_t i = 0; i < cases.n; i++) {
        mem_free(cases.at[i].path);
        str_free(&cases.at[i].text);
    }
    vec_free(&cases);
    return check_done();
}

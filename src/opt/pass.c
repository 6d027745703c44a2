/* Running passes: printing, verifying, timing, repeating. SPDX-License-Identifier: Apache-2.0 */
#include "opt/pass.h"

#include <time.h>

/* RG_DEBUG is a list of words, separated by commas; a word may name a pass: RG_DEBUG=print=opt_fold
 */
static const struct {
    const char *word, *doc;
} debug_words[] = {
    {"help", "this list, once"},
    {"print", "the IR after each pass that changed it; print=PASS: before and after that one"},
    {"verify", "verify after every pass, also one that says it changed nothing"},
    {"time", "milliseconds of each pass"},
    {"gpu", "of each kernel that a GPU loads: registers, memory of a thread's own, blocks, milliseconds"},
    {"stop",
     "stop=N: only the first N optimising passes of each module change anything (to bisect)"},
};

/* The value of `word` in RG_DEBUG: NULL if absent, "" if it stands alone. Ends at a comma. */
static const char *
debug_word(const char *word)
{
    size_t n = strlen(word);
    for (const char *p = getenv("RG_DEBUG"); p && *p;) {
        if (strncmp(p, word, n) == 0 && (p[n] == 0 || p[n] == ',' || p[n] == '='))
            return p[n] == '=' ? p + n + 1 : "";
        p = strchr(p, ',');
        p = p ? p + 1 : NULL;
    }
    return NULL;
}

static void
debug_help(void)
{
    static bool shown;
    if (shown || !debug_word("help"))
        return;
    shown = true;
    fprintf(stderr, "RG_DEBUG=WORD,...\n");
    for (size_t k = 0; k < countof(debug_words); k++)
        fprintf(stderr, "  %-8s %s\n", debug_words[k].word, debug_words[k].doc);
    fprintf(stderr, "passes:\n");
#define PASS(name, stage, doc) fprintf(stderr, "  %-14s %s\n", #name, doc);
#include "opt/pass.def"
#undef PASS
}

static void
print_module(const ir_module *m, const char *when, const char *name)
{
    str text = {0};
    ir_print_module(&text, m);
    fprintf(stderr, "; ---- %s %s\n%s", when, name, text.ptr ? text.ptr : "");
    str_free(&text);
}

static bool
names(const char *value, const char *name)
{
    size_t n = strlen(name);
    return value && strncmp(value, name, n) == 0 && (value[n] == 0 || value[n] == ',');
}

static double
milliseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

void
pass_context_init(pass_context *c, diag_list *diags)
{
    *c = (pass_context){.scratch = arena_new(), .diags = diags};
}

void
pass_context_finish(void *context)
{
    pass_context *c = context;
    arena_free(c->scratch);
    c->scratch = NULL;
}

bool
pass_run(ir_module *m, pass_fn *fn, const char *name, ir_stage stage, pass_context *c)
{
    debug_help();
    /* broken IR would only lead to errors about what is not wrong */
    if (c->diags->errors)
        return false;
    const char *print = debug_word("print");
    double start = milliseconds();
    if (names(print, name))
        print_module(m, "before", name);
    arena_mark scratch = arena_here(c->scratch);
    bool changed = fn(m, c);
    arena_release(c->scratch, scratch);
    if (debug_word("time"))
        fprintf(stderr, "; %8.3f ms %s\n", milliseconds() - start, name);
    if (names(print, name) || (changed && print && !*print))
        print_module(m, "after", name);
    if (changed || debug_word("verify"))
        ir_verify(m, stage, name, c->diags);
    return changed;
}

static void
widen(void *user)
{
    pass_focus *f = user;
    ir_module *m = f->fn->module;
    f->fn->next = f->next;
    m->first = f->first;
    m->last = f->last;
}

void
pass_focus_on(pass_focus *f, ir_fn *fn)
{
    ir_module *m = fn->module;
    *f = (pass_focus){.fn = fn, .first = m->first, .last = m->last, .next = fn->next};
    m->first = m->last = fn;
    fn->next = NULL;
    mem_own(&f->owns, widen, f);
}

void
pass_focus_end(pass_focus *f)
{
    assert(f->fn->module->last == f->fn && "passes make no functions");
    mem_disown(&f->owns);
    widen(f);
}

enum { ROUNDS = 12 };

bool
pass_simplify(ir_module *m, ir_stage stage, pass_context *c)
{
    const char *stop = debug_word("stop");
    long left = stop && *stop ? atol(stop) : -1;
    bool any = false;
    for (int round = 0; round < ROUNDS; round++) {
        bool changed = false;
        unsigned errors = c->diags->errors;
#define STEP(pass)                                                                                 \
    if (left != 0) {                                                                               \
        changed |= PASS_RUN(m, pass, stage, c);                                                    \
        left -= left > 0;                                                                          \
    }
        STEP(opt_fold)
        STEP(opt_cse)
        STEP(opt_dce)
        STEP(opt_count)
#undef STEP
        any |= changed;
        if (!changed || c->diags->errors > errors)
            break;
    }
    return any;
}

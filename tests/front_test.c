/* front_test FOLDER: the C front end on one-file cases, with the compiler option RG_TEST_OPTION if there is one.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A file with `// args:` lines (case.h) is run by the interpreter, as it comes from the front end
 * and without contraction; its arrays must be those of the same file compiled by the C compiler,
 * bit by bit, and what `// expect:` says. A file with `// error: E0412` comments is refused with
 * exactly those errors on those lines: the comment stands in the line, or in one of its own above
 * it. */
#include "case.h"
#include "native.h"
#include "queue.h"

#include "base/base.h"
#include "front/c/front_c.h"

#include <glob.h>
#include <math.h>

/* -- refused files
 * --------------------------------------------------------------------------------- */
typedef struct refusal {
    unsigned line, number;
} refusal;

typedef vec(refusal) refusals;

/* `// error: E0412` with nothing before it means the next line. */
static void
expected_errors(const char *text, refusals *out)
{
    unsigned line = 1;
    for (const char *at = text; *at; line++) {
        const char *end = strchr(at, '\n');
        size_t n = end ? (size_t)(end - at) : strlen(at);
        char *copy = mem_zalloc(n + 1);
        memcpy(copy, at, n);
        const char *mark = strstr(copy, "// error:");
        const char *first = copy + strspn(copy, " \t");
        unsigned number;
        for (const char *e = mark; e && (e = strstr(e, "E0")); e += 5) {
            if (sscanf(e, "E%u", &number) == 1)
                vec_push(out, ((refusal){mark == first ? line + 1 : line, number}));
        }
        mem_free(copy);
        at += n + (end != NULL);
    }
}

static void
reported_errors(const char *text, refusals *out)
{
    unsigned line, col, number;
    for (const char *at = text; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
        const char *end = strchr(at, '\n'), *c = strstr(at, ".c:"), *cxx = strstr(at, ".cpp:");
        const char *colon = cxx && (!c || cxx < c) ? cxx + strlen(".cpp") : c ? c + strlen(".c") : NULL;
        if (colon && (!end || colon < end) &&
            sscanf(colon, ":%u:%u: error[E%u]", &line, &col, &number) == 3)
            vec_push(out, ((refusal){line, number}));
    }
}

static bool
contains(const refusals *all, refusal r)
{
    for (size_t i = 0; i < all->n; i++) {
        if (all->at[i].line == r.line && all->at[i].number == r.number)
            return true;
    }
    return false;
}

static bool
compare_errors(const char *path, const refusals *want, const refusals *got)
{
    bool good = true;
    for (size_t i = 0; i < want->n; i++) {
        if (!contains(got, want->at[i])) {
            printf("FAIL %s:%u: E%04u is not reported\n", path, want->at[i].line,
                   want->at[i].number);
            good = false;
        }
    }
    for (size_t i = 0; i < got->n; i++) {
        if (!contains(want, got->at[i])) {
            printf("FAIL %s:%u: E%04u is not expected\n", path, got->at[i].line, got->at[i].number);
            good = false;
        }
    }
    return good;
}

static bool
check_refused(const char *path, const char *text, const refusals *want)
{
    diag_list diags = {0};
    const char *option = getenv("RG_TEST_OPTION");
    front_c_source source = {.path = path, .text = rg_str_of(text), .option_count = option != NULL, .options = &option};
    ir_module *m = front_c_compile(&source, &diags);
    refusals got = {0};
    reported_errors(diags.text.ptr, &got);
    bool good = compare_errors(path, want, &got);
    if (m)
        printf("FAIL %s: compiles\n", path);
    if (!good || m)
        printf("%s", diags.text.ptr ? diags.text.ptr : "");
    good = good && !m;
    ir_module_free(m);
    vec_free(&got);
    diag_free(&diags);
    return good;
}

/* -- files that run
 * -------------------------------------------------------------------------------- */
static bool
fill(inputs *in, const test_case *c, report *r)
{
    char text[64];
    for (uint32_t k = 0; k < in->count; k++) {
        input *p = &in->at[k];
        const case_value *v = NULL;
        for (unsigned i = 0; i < c->count; i++) {
            if (c->values[i].line == CASE_ARGS && strcmp(c->values[i].name, p->name) == 0)
                v = &c->values[i];
        }
        if (!v && !p->param.result)
            return complain(r, "args: no value for %s", p->name);
        inputs_shape(p, v ? v->rank : 0, v ? v->shape : NULL);
        for (size_t i = 0; v && i < p->count; i++) {
            if (!case_element(v, i, text, sizeof text))
                return complain(r, "args: %s has no values", p->name);
            input_set_text(p, i, text);
        }
    }
    return true;
}

static bool
check_expected(const inputs *in, const subject *s, const test_case *c, report *r)
{
    for (unsigned i = 0; i < c->count; i++) {
        const case_value *v = &c->values[i];
        if (v->line != CASE_EXPECT)
            continue;
        uint32_t k = 0;
        while (k < in->count && strcmp(in->at[k].name, v->name) != 0)
            k++;
        if (k == in->count)
            return complain(r, "expect: there is no parameter %s", v->name);
        double *now = mem_zalloc((in->at[k].count + 1) * sizeof(double));
        bool good = subject_read(s, in, k, RG_PRIMAL, now);
        for (size_t e = 0; good && e < in->at[k].count; e++) {
            char text[64] = "";
            case_element(v, e, text, sizeof text);
            double want = strtod(text, NULL);
            good = isnan(want) ? isnan(now[e])
                               : fabs(now[e] - want) <= c->tolerance * fmax(1, fabs(want));
            if (!good)
                complain(r, "%s, element %zu is %.17g, not %s", v->name, e, now[e], text);
        }
        mem_free(now);
        if (!good)
            return false;
    }
    return true;
}

static bool
run_case(rg_queue *queue, void *library, const test_case *c, const char *path, report *r)
{
    rg_module *module = NULL;
    rg_kernel *kernel;
    inputs in = {0};
    subject s = {0};
    bool good = !subject_load(path, NULL, CODE_EXACT, &module) &&
                !rg_module_get_kernel(module, rg_str_of(c->kernel), &kernel) &&
                !inputs_describe(&in, kernel);
    if (!good)
        complain(r, "%s", rg_error_message());
    good = good && fill(&in, c, r);
    if (good && (subject_open(&s, queue, module, c->kernel, &in) || subject_reset(&s, &in) ||
                 subject_run(&s, FORWARD)))
        good = complain(r, "%s", rg_error_message());
    good = good && check_expected(&in, &s, c, r) &&
           (c->skip_gcc || !library || native_compare(library, c->kernel, &in, &s, false, r));
    subject_close(&s);
    inputs_free(&in);
    rg_module_destroy(module);
    return good;
}

/* -- all files
 * ------------------------------------------------------------------------------------- */
typedef struct tally {
    unsigned passed, failed;
} tally;

static void
count(tally *t, bool good)
{
    good ? t->passed++ : t->failed++;
}

static void
run_file(rg_queue *queue, void *library, const char *path, tally *t)
{
    str text = {0};
    test_case c;
    refusals want = {0};
    if (file_read(path, &text)) {
        printf("FAIL %s: cannot be read\n", path);
        t->failed++;
        return;
    }
    expected_errors(text.ptr, &want);
    const char *at = text.ptr;
    if (want.n) {
        count(t, check_refused(path, text.ptr, &want));
    } else {
        unsigned before = t->passed + t->failed;
        while (case_next(&c, path, &at)) {
            report r = {""};
            bool good = run_case(queue, library, &c, path, &r);
            if (!good)
                printf("FAIL %s: %s: %s\n", path, c.kernel, r.text);
            count(t, good);
        }
        if (t->passed + t->failed == before) {
            printf("FAIL %s: no case in it\n", path);
            t->failed++;
        }
    }
    vec_free(&want);
    str_free(&text);
}

/* The C compiler gets the files that run. */
static void *
load_natively(const glob_t *files)
{
    vec(char *) run = {0};
    for (size_t i = 0; i < files->gl_pathc; i++) {
        str text = {0};
        if (!file_read(files->gl_pathv[i], &text) && !strstr(text.ptr, "// error:"))
            vec_push(&run, files->gl_pathv[i]);
        str_free(&text);
    }
    void *library = native_load(run.at, (int)run.n);
    if (!library)
        printf("left out: the C compiler's values (it does not build the cases)\n");
    vec_free(&run);
    return library;
}

int
main(int argc, char **argv)
{
    glob_t files = {0};
    tally t = {0};
    rg_queue *queue;
    if (argc < 2 || queue_open("interp", NULL, &queue)) {
        fprintf(stderr, "usage: front_test FOLDER|FILE.c...\n");
        return 2;
    }
    for (int i = 1; i < argc; i++) {
        str pattern = {0};
        str_addf(&pattern, strstr(argv[i], ".c") ? "%s" : "%s/*.c*", argv[i]);
        glob(pattern.ptr, GLOB_NOCHECK | (i > 1 ? GLOB_APPEND : 0), NULL, &files);
        str_free(&pattern);
    }
    void *library = load_natively(&files);
    for (size_t i = 0; i < files.gl_pathc; i++)
        run_file(queue, library, files.gl_pathv[i], &t);
    globfree(&files);
    rg_queue_destroy(queue);
    printf("%u passed, %u failed\n", t.passed, t.failed);
    return t.failed > 0;
}

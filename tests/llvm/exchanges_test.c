/* Threads that read and overwrite elements, side by side, compiled, against the interpreter. SPDX-License-Identifier: Apache-2.0
 *
 *   exchanges_test [FIRST [COUNT]]      seeds
 *
 * Each thread of a random kernel loads, stores, selects and adds: elements of its own, in order and through a permutation,
 * and elements that all share. Their derivatives set adjoints to 0 behind loads of them. In groups of 8 and 16, with a part
 * of one at the end, for machines with and without mask registers. In the code that LLVM's passes leave, what a masked load
 * gives goes nowhere but through a freeze (codegen/llvm/held.c). */
#include "codegen/llvm/ll.h"
#include "pipeline/pipeline.h"
#include "rt/cpu/cpu.h"
#include "rt/interp/interp.h"

#include <math.h>

enum { THREADS = 43, SHARED = 4, PARAMS = 8, PLANES = 4, DEPTH = 3 };

static const char *const names[PARAMS] = {"n", "k", "p", "y", "a", "b", "h", "s"};

typedef struct test {
    uint64_t seed, state;
    rg_dtype dtype;
    str text;
    unsigned next; /* number of the next value */
} test;

typedef struct memory {
    int64_t k[THREADS], p[THREADS];
    double planes[PLANES][PARAMS][THREADS]; /* f64, or f32 in their first halves */
} memory;

static ll_jit *jit;
static int failures;

/* -- kernels -------------------------------------------------------------------------------------------------------- */

static unsigned
draw(test *t, unsigned n)
{
    t->state = t->state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((t->state >> 33) % n);
}

/* the values that stand where steps are made: numbers from v0 to the last of `seen` */
typedef struct scope {
    unsigned seen[64], n;
} scope;

static unsigned
any(test *t, const scope *s)
{
    unsigned recent = s->n < 6 ? s->n : 6;
    return draw(t, 3) ? s->seen[s->n - 1 - draw(t, recent)] : s->seen[draw(t, s->n)];
}

static unsigned
define(test *t, scope *s, const char *what)
{
    str_addf(&t->text, "%%v%u: %s = %s", t->next, ir_dtype_name(t->dtype), what);
    if (s->n == countof(s->seen))
        s->n--;
    return s->seen[s->n++] = t->next++;
}

static const char *
own_element(test *t)
{
    static const char *const places[] = {"%a[%i]", "%a[%i]", "%b[%i]", "%h[%at]"};
    return places[draw(t, countof(places))];
}

static unsigned
condition(test *t, const scope *s)
{
    unsigned a = any(t, s), b = any(t, s), c = t->next++;
    if (draw(t, 2))
        str_addf(&t->text, "%%v%u: bool = eq %%own, %%c%u\n", c, draw(t, 3));
    else
        str_addf(&t->text, "%%v%u: bool = lt %%v%u, %%v%u\n", c, a, b);
    return c;
}

static void steps(test *t, scope *s, unsigned depth, unsigned n);

static void
make_if(test *t, scope *s, unsigned depth)
{
    unsigned c = condition(t, s), to = t->next++;
    str_addf(&t->text, "%%v%u: %s = if %%v%u {\n", to, ir_dtype_name(t->dtype), c);
    for (int arm = 0; arm < 2; arm++) {
        scope inner = *s;
        steps(t, &inner, depth + 1, draw(t, 5));
        str_addf(&t->text, "yield %%v%u\n}%s", any(t, &inner), arm ? "\n" : " else {\n");
    }
    s->seen[s->n < countof(s->seen) ? s->n++ : s->n - 1] = to;
}

static void
make_for(test *t, scope *s, unsigned depth)
{
    unsigned to = t->next++, turn = t->next++, carried = t->next++;
    scope inner = *s;
    str_addf(&t->text, "%%v%u: %s = for %%v%u: i64 = %%c0 to %%c%u step 1 (%%v%u: %s = %%v%u) {\n", to, ir_dtype_name(t->dtype), turn,
             1 + draw(t, 3), carried, ir_dtype_name(t->dtype), any(t, s));
    inner.seen[inner.n < countof(inner.seen) ? inner.n++ : inner.n - 1] = carried;
    steps(t, &inner, depth + 1, 1 + draw(t, 5));
    str_addf(&t->text, "yield %%v%u\n}\n", any(t, &inner));
    s->seen[s->n < countof(s->seen) ? s->n++ : s->n - 1] = to;
}

static void
step(test *t, scope *s, unsigned depth)
{
    unsigned a = any(t, s), b = any(t, s), c;
    switch (draw(t, depth < DEPTH ? 13 : 11)) {
    case 0:
    case 1:
    case 2:
        define(t, s, "load ");
        str_addf(&t->text, "%s\n", own_element(t));
        break;
    case 3:
        define(t, s, "load ");
        str_addf(&t->text, draw(t, 2) ? "%%y[%%own]\n" : "%%y[%%c%u]\n", draw(t, SHARED));
        break;
    case 4:
    case 5:
    case 6:
        str_addf(&t->text, "store %s, %%v%u\n", own_element(t), draw(t, 4) ? a : 0);
        break;
    case 7:
        str_addf(&t->text, draw(t, 2) ? "rmw.add.atomic %%s[%%own], %%v%u\n" : "rmw.add.atomic %%s[%%c1], %%v%u\n", a);
        break;
    case 8:
    case 9:
        c = condition(t, s);
        define(t, s, "select ");
        str_addf(&t->text, "%%v%u, %%v%u, %%v%u\n", c, a, b);
        break;
    case 10:
        c = define(t, s, draw(t, 2) ? "add " : "mul ");
        str_addf(&t->text, "%%v%u, %%v%u\n", a, b);
        define(t, s, "mul ");
        str_addf(&t->text, "%%v%u, %%v1\n", c);
        break;
    case 11:
        make_if(t, s, depth);
        break;
    default:
        make_for(t, s, depth);
    }
}

static void
steps(test *t, scope *s, unsigned depth, unsigned n)
{
    while (n--)
        step(t, s, depth);
}

static void
make_kernel(test *t)
{
    const char *d = ir_dtype_name(t->dtype);
    scope s = {.seen = {0, 1}, .n = 2};
    str_addz(&t->text, "kernel @k(%n: i64, %k: buf<i64,1>, %p: buf<i64,1>");
    for (int i = 3; i < PARAMS; i++)
        str_addf(&t->text, ", %%%s: buf<%s,1>", names[i], d);
    str_addz(&t->text, ") {\n");
    for (int i = 0; i < SHARED; i++)
        str_addf(&t->text, "%%c%d: i64 = const %d\n", i, i);
    str_addf(&t->text, "%%v0: %s = const 0\n%%v1: %s = const 0.5\n", d, d);
    t->next = 2;
    str_addz(&t->text, "parallel (%i: i64) = (%c0) to (%n) {\n%own: i64 = load %k[%i]\n%at: i64 = load %p[%i]\n");
    steps(t, &s, 0, 3 + draw(t, 10));
    str_addz(&t->text, "yield\n}\nyield\n}\n");
}

/* -- memory --------------------------------------------------------------------------------------------------------- */

static void
fill(test *t, memory *m, rt_arg *args)
{
    memset(m, 0, sizeof *m);
    memset(args, 0, sizeof(rt_arg) * PARAMS);
    t->state = t->seed + 77;
    args[0].bits = THREADS;
    for (int i = 0; i < THREADS; i++) {
        m->k[i] = draw(t, SHARED);
        m->p[i] = (i * 5 + 3) % THREADS;
    }
    for (int a = 1; a < PARAMS; a++) {
        args[a].extent[0] = names[a][0] == 'y' || names[a][0] == 's' ? SHARED : THREADS;
        args[a].stride[0] = 1;
        args[a].plane[0] = a == 1 ? m->k : m->p;
        for (int plane = 0; plane < PLANES && a > 2; plane++) {
            args[a].plane[plane] = m->planes[plane][a];
            for (int e = 0; e < THREADS; e++) {
                double v = (double)draw(t, 1000) / 500.0 - 1.0;
                if (t->dtype == RG_F32)
                    ((float *)args[a].plane[plane])[e] = (float)v;
                else
                    ((double *)args[a].plane[plane])[e] = v;
            }
        }
    }
}

static double
element(const test *t, const memory *m, int plane, int param, int e)
{
    const double *at = m->planes[plane][param];
    return t->dtype == RG_F32 ? (double)((const float *)at)[e] : at[e];
}

static void
fail(const test *t, const char *what, const char *why)
{
    if (failures++ < 5)
        fprintf(stderr, "seed %llu: %s: %s\n", (unsigned long long)t->seed, what, why);
}

static bool
same(const test *t, const memory *a, const memory *b, const char *what)
{
    double tolerance = t->dtype == RG_F32 ? 1e-4 : 1e-9;
    for (int plane = 0; plane < PLANES; plane++)
        for (int k = 3; k < PARAMS; k++)
            for (int e = 0; e < THREADS; e++) {
                double x = element(t, a, plane, k, e), y = element(t, b, plane, k, e);
                if (x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= tolerance * (1 + fabs(x)))
                    continue;
                char text[120];
                snprintf(text, sizeof text, "plane %d of %s, element %d: %.17g, not %.17g", plane, names[k], e, y, x);
                fail(t, what, text);
                return false;
            }
    return true;
}

/* -- what code says of masked loads ---------------------------------------------------------------------------------- */

/* whether the name, of `length`, is used before the function ends but by a freeze */
static bool
is_used(const char *from, const char *name, size_t length)
{
    for (const char *line = from; *line && *line != '}'; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t end = strcspn(line, "\n");
        for (const char *at = line; (at = memchr(at, '%', end - (size_t)(at - line))); at++) {
            bool whole = (size_t)(line + end - at) >= length && !memcmp(at, name, length) && strcspn(at, " ,)\n") == length;
            const char *made = strstr(line, " = freeze ");
            if (whole && !(made && made < at))
                return true;
        }
    }
    return false;
}

static bool
loads_are_held(const char *text)
{
    for (const char *at = text; (at = strstr(at, " @llvm.masked.load.")); at++) {
        const char *line = at;
        while (line > text && line[-1] != '\n')
            line--;
        line += strspn(line, " ");
        if (*line == '%' && is_used(at + strcspn(at, "\n"), line, strcspn(line, " ")))
            return false;
    }
    return true;
}

static bool
check_text(test *t, const ir_fn *fn, const ll_options *options, const char *what)
{
    str text = {0};
    diag_list diags = {0};
    bool good = ll_print(fn, options, LL_STAGE_OPTIMIZED, &text, &diags) == RG_OK && loads_are_held(text.ptr);
    if (!good)
        fail(t, what, "a masked load could be moved");
    str_free(&text);
    diag_free(&diags);
    return good;
}

/* -- runs ----------------------------------------------------------------------------------------------------------- */

static bool
run(test *t, const ir_fn *fn, const ll_options *options, const memory *want, const char *what)
{
    diag_list diags = {0};
    ll_code *code;
    if (ll_compile(jit, fn, options, &code, &diags) != RG_OK) {
        fail(t, what, diags.text.ptr);
        diag_free(&diags);
        return false;
    }
    memory have;
    rt_arg args[PARAMS];
    fill(t, &have, args);
    rt_cpu *cpu = rt_cpu_create(1, 0);
    bool good = rt_cpu_launch(cpu, ll_code_entry(code), args, NULL) == RT_OK;
    if (!good)
        fail(t, what, "a fault");
    rt_cpu_destroy(cpu);
    ll_code_free(code);
    return good && same(t, want, &have, what);
}

static bool
interpret(test *t, const ir_fn *fn, memory *m, const char *what)
{
    rt_arg args[PARAMS];
    interp_report report;
    fill(t, m, args);
    bool good = interp_run(fn, args, NULL, &report) == RT_OK;
    if (!good)
        fail(t, what, report.message);
    return good;
}

static void
check_form(test *t, const ir_fn *source, rg_form form)
{
    static const ll_options targets[] = {{0},
#ifdef __x86_64__
                                         {.cpu = "x86-64-v3"}
#endif
    };
    static const unsigned lanes[] = {1, 8, 16};
    diag_list diags = {0};
    ir_fn *oracle, *fn;
    const char *what = pipeline_form_name(form);
    memory want;
    ir_module *ad = pipeline_run(source, &(pipeline_options){.form = form, .stage = IR_STAGE_AD}, &diags, &oracle);
    bool good = ad && interpret(t, oracle, &want, what);
    for (size_t i = 0; good && i < countof(lanes); i++) {
        pipeline_options options = {.form = form, .stage = IR_STAGE_SLOTS, .lanes = lanes[i]};
        ir_module *m = pipeline_run(source, &options, &diags, &fn);
        good = m != NULL;
        for (size_t k = 0; good && k < countof(targets); k++) {
            char text[64];
            snprintf(text, sizeof text, "%s, %u lanes%s", what, lanes[i], k ? ", AVX2" : "");
            good = run(t, fn, &targets[k], &want, text) && check_text(t, fn, &targets[k], text);
        }
        ir_module_free(m);
    }
    if (diags.errors)
        fail(t, what, diags.text.ptr);
    ir_module_free(ad);
    diag_free(&diags);
}

static void
check_seed(uint64_t seed, bool prints)
{
    static const rg_form forms[] = {RG_FORWARD, RG_FORWARD_VJP, RG_JVP, RG_JVP_FORWARD_VJP};
    test t = {.seed = seed, .state = seed * 0x9e3779b97f4a7c15u, .dtype = seed % 3 ? RG_F64 : RG_F32};
    diag_list diags = {0};
    make_kernel(&t);
    if (prints)
        printf("%s", t.text.ptr);
    ir_module *m = ir_parse(str_view(&t.text), "generated", &diags);
    ir_module *source = m ? pipeline_source(m->first, &(pipeline_options){0}, &diags) : NULL;
    if (!source)
        fail(&t, "the kernel", diags.text.ptr);
    for (size_t k = 0; source && k < countof(forms); k++)
        check_form(&t, source->first, forms[k]);
    ir_module_free(source);
    ir_module_free(m);
    diag_free(&diags);
    str_free(&t.text);
}

int
main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 2 ? strtoull(argv[2], NULL, 10) : 20;
    diag_list diags = {0};
    if (ll_jit_create(&jit, &diags) != RG_OK) {
        fprintf(stderr, "%s\n", diags.text.ptr);
        return 1;
    }
    for (uint64_t seed = first; seed < first + count; seed++)
        check_seed(seed, count == 1);
    ll_jit_destroy(jit);
    diag_free(&diags);
    printf("%llu programs, %d failures\n", (unsigned long long)count, failures);
    return failures != 0;
}

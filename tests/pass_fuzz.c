/* Random kernels (irgen.h) through every pass, differentiated and not: the interpreter must see no
 * difference. SPDX-License-Identifier: Apache-2.0
 *
 *   pass_fuzz [FIRST [COUNT [passes]]]      seeds; `passes`: leave the derivatives themselves
 * unchecked
 *
 * For each: the kernel as it is, after each pass, after simplify; its combined vjp and its jvp,
 * their simplified and planned forms, and the vjp lowered to a tape. All values must agree bit for
 * bit (NaNs with each other; a tape may change the order of sums over threads); vjp and jvp must be
 * dual to 1e-9. */
#include "irgen.h"

#include "diff/ad.h"
#include "passes.h"
#include "rt/interp/interp.h"

#include <math.h>

enum { THREADS = 3, ELEMENTS = 8 * THREADS, BUFFERS = 5 };

static uint64_t seed;
static int failures;
static bool passes_only;

typedef struct memory {
    double plane[4][BUFFERS][ELEMENTS]; /* by parameter; [0] is n, whose planes are not used */
    int64_t k[8];
} memory;

static double
number(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(*state >> 11) / 9007199254740992.0 * 2 - 1;
}

static void
fill(memory *m)
{
    uint64_t state = seed + 12345;
    for (int plane = 0; plane < 4; plane++)
        for (int b = 0; b < BUFFERS; b++)
            for (int e = 0; e < ELEMENTS; e++)
                m->plane[plane][b][e] = plane < 3 ? number(&state) : 0;
    for (int e = 0; e < 8; e++)
        m->k[e] = (int64_t)(number(&state) * 20);
}

static bool
run(const ir_fn *fn, memory *m, const char *what, interp_report *report)
{
    static const int64_t extents[BUFFERS] = {0, 8, ELEMENTS, 8, 4};
    rt_arg args[BUFFERS] = {{.bits = THREADS}};
    fill(m);
    for (int b = 1; b < BUFFERS; b++) {
        args[b].extent[0] = extents[b];
        args[b].stride[0] = 1;
        for (int plane = 0; plane < 4; plane++)
            args[b].plane[plane] = m->plane[plane][b];
    }
    args[3] = (rt_arg){.extent = {8}, .stride = {1}, .plane = {m->k}};
    interp_options options = {.step_limit = 20000000};
    if (interp_run(fn, args, &options, report) == RT_OK)
        return true;
    if (report->out_of_steps)
        return false;
    fprintf(stderr, "seed %llu: %s: %s (line %u)\n", (unsigned long long)seed, what,
            report->message, report->loc.line);
    failures++;
    return false;
}

static bool
same(const memory *a, const memory *b, double tolerance, const char *what)
{
    for (int plane = 0; plane < 4; plane++)
        for (int k = 1; k < BUFFERS; k++)
            for (int e = 0; e < ELEMENTS; e++) {
                double x = a->plane[plane][k][e], y = b->plane[plane][k][e];
                if (x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= tolerance * (1 + fabs(x)))
                    continue;
                fprintf(stderr,
                        "seed %llu: %s: plane %d of parameter %d, element %d: %.17g, not %.17g\n",
                        (unsigned long long)seed, what, plane, k, e, y, x);
                failures++;
                return false;
            }
    return true;
}

static bool
valid(ir_module *m, ir_stage stage, const char *what)
{
    diag_list diags = {0};
    bool good = ir_verify(m, stage, what, &diags);
    if (!good) {
        fprintf(stderr, "seed %llu: %s\n%s", (unsigned long long)seed, what, diags.text.ptr);
        failures++;
    }
    diag_free(&diags);
    return good;
}

static bool
simplify(ir_module *m, pass_context *c)
{
    return pass_simplify(m, IR_STAGE_AD, c);
}

/* What the plan makes visible is recalled until it is simplified. */
static bool
plan(ir_module *m, pass_context *c)
{
    bool changed = ad_plan(m, c);
    return simplify(m, c) || changed;
}

/* Groups of two to eight iterations; most loops get none at odd seeds, by their costs. */
static bool
blocks(ir_module *m, pass_context *c)
{
    c->plan = (ad_plan_options){.block = seed % 2 ? 0 : 2 + (uint32_t)(seed / 2 % 7)};
    bool changed = ad_blocks(m, c);
    if (changed)
        plan(m, c);
    c->plan = (ad_plan_options){0};
    return changed;
}

typedef struct step {
    const char *name;
    pass_fn *run;
    ir_stage stage;
    double tolerance;
} step;

/* Runs the steps on a copy of fn, one after the other (or each on a fresh copy), comparing after
 * each. */
static bool
check_steps(const ir_fn *fn, const char *form, const step *steps, size_t n, bool fresh)
{
    memory want, have;
    interp_report report;
    if (!run(fn, &want, form, &report))
        return false;
    bool good = true;
    ir_module *m = NULL;
    ir_fn *copy = NULL;
    for (size_t k = 0; k < n && good; k++) {
        char what[128];
        snprintf(what, sizeof what, "%s after %s", form, steps[k].name);
        if (fresh || !m) {
            ir_module_free(m);
            m = ir_module_new();
            copy = ir_fn_clone(m, fn, fn->name);
        }
        bare_pass(m, steps[k].run);
        good = valid(m, steps[k].stage, what) && run(copy, &have, what, &report) &&
               same(&want, &have, steps[k].tolerance, what);
        if (!good && getenv("PASS_FUZZ_PRINT")) {
            str text = {0};
            ir_print_module(&text, m);
            fprintf(stderr, "%s\n", text.ptr);
            str_free(&text);
        }
    }
    ir_module_free(m);
    return good;
}

static double
dot(const memory *m, int now, const memory *start, int plane)
{
    double sum = 0;
    for (int b = 1; b < BUFFERS; b++)
        for (int e = 0; b != 3 && e < (b == 2 ? ELEMENTS : b == 1 ? 8 : 4); e++)
            sum += m->plane[now][b][e] * start->plane[plane][b][e];
    return sum;
}

static void
check_dual(const ir_fn *vjp, const ir_fn *jvp)
{
    memory start, reverse, forward;
    interp_report report;
    fill(&start);
    if (!run(vjp, &reverse, "vjp", &report) || !run(jvp, &forward, "jvp", &report))
        return;
    double a = dot(&reverse, RG_ADJOINT, &start, RG_TANGENT),
           b = dot(&forward, RG_TANGENT, &start, RG_ADJOINT);
    double size = sqrt(dot(&reverse, RG_ADJOINT, &reverse, RG_ADJOINT)) + 1;
    if (fabs(a - b) <= 1e-9 * size || isnan(a) || isnan(b))
        return;
    fprintf(stderr, "seed %llu: not dual: %.17g and %.17g\n", (unsigned long long)seed, a, b);
    failures++;
}

/* Two tasks that add to the same elements may change places, and their sums are then formed in another order. */
static void
near_sums(memory *want, const memory *have)
{
    double *a = want->plane[0][BUFFERS - 1];
    const double *b = have->plane[0][BUFFERS - 1];
    for (int e = 0; e < ELEMENTS; e++)
        if (fabs(a[e] - b[e]) <= 1e-14 * (1 + fabs(a[e])))
            a[e] = b[e];
}

/* With contraction decided before differentiation and applied to adjoint code after it, the forward
 * sweep of the vjp still computes what the kernel computes, bit for bit but for such sums. */
static void
check_contraction(const ir_fn *fn)
{
    ir_module *m = ir_module_new();
    ir_fn *forward = ir_fn_clone(m, fn, fn->name), *vjp;
    memory want, have;
    interp_report report;
    diag_list diags = {0};
    pass_context c;
    passes_begin(&c, &diags);
    ad_options combined = {.combined = true};
    bare_pass(m, opt_fma);
    if (run(forward, &want, "contracted", &report) &&
        (vjp = ad_vjp(forward, &combined, "vjp", &c))) {
        bare_pass(m, simplify);
        bare_pass(m, plan);
        bare_pass(m, opt_fma);
        if (run(vjp, &have, "contracted vjp", &report)) {
            memcpy(want.plane[1], have.plane[1], sizeof want.plane - sizeof want.plane[0]);
            near_sums(&want, &have);
            same(&want, &have, 0, "contracted vjp, primals");
        }
    }
    pass_context_finish(&c);
    diag_free(&diags);
    ir_module_free(m);
}

static bool
straight(ir_module *m, pass_context *c)
{
    bool changed = opt_unroll(m, c);
    changed |= simplify(m, c);
    changed |= opt_hoist(m, c);
    changed |= opt_elements(m, c);
    changed |= simplify(m, c);
    changed |= opt_carry(m, c);
    changed |= opt_loads(m, c);
    changed |= opt_join_arms(m, c);
    return simplify(m, c) || changed;
}

static void
check_derivatives(ir_fn *fn)
{
    static const step reverse[] = {{"simplify", simplify, IR_STAGE_AD},
                                   {"plan", plan, IR_STAGE_AD},
                                   {"blocks", blocks, IR_STAGE_AD},
                                   {"lower_tape", lower_tape, IR_STAGE_TAPE, 1e-12},
                                   {"lower_arrays", lower_arrays, IR_STAGE_SLOTS, 1e-12}};
    static const step singly[] = {{"opt_fold", opt_fold, IR_STAGE_AD},
                                  {"opt_cse", opt_cse, IR_STAGE_AD},
                                  {"opt_dce", opt_dce, IR_STAGE_AD},
                                  {"opt_count", opt_count, IR_STAGE_AD},
                                  {"lower_tape", lower_tape, IR_STAGE_TAPE, 1e-12}};
    diag_list diags = {0};
    pass_context c;
    passes_begin(&c, &diags);
    ad_options combined = {.combined = true};
    ir_fn *vjp = ad_vjp(fn, &combined, "vjp", &c), *jvp = ad_jvp(fn, NULL, "jvp", &c);
    ir_fn *second = vjp ? ad_jvp(vjp, NULL, "hvp", &c) : NULL;
    pass_context_finish(&c);
    if (!vjp || !jvp || !second || diags.errors) {
        fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed,
                diags.text.ptr ? diags.text.ptr : "?");
        failures++;
    } else if (passes_only ? ir_verify(fn->module, IR_STAGE_AD, NULL, &diags)
                           : valid(fn->module, IR_STAGE_AD, "vjp, jvp, hvp")) {
        if (!passes_only)
            check_dual(vjp, jvp);
        check_contraction(fn);
        check_steps(vjp, "vjp", reverse, countof(reverse), false);
        check_steps(vjp, "vjp", singly, countof(singly), true);
        check_steps(jvp, "jvp", reverse, 1, false);
        check_steps(second, "jvp of vjp", reverse, countof(reverse), false);
    }
    diag_free(&diags);
}

static void
check_seed(void)
{
    static const step singly[] = {
        {"opt_fold", opt_fold, IR_STAGE_SOURCE},   {"opt_cse", opt_cse, IR_STAGE_SOURCE},
        {"opt_dce", opt_dce, IR_STAGE_SOURCE},     {"opt_count", opt_count, IR_STAGE_SOURCE},
        {"opt_hoist", opt_hoist, IR_STAGE_SOURCE}, {"lower_arrays", lower_arrays, IR_STAGE_SLOTS},
        {"opt_unroll", opt_unroll, IR_STAGE_SOURCE},
        {"opt_elements", opt_elements, IR_STAGE_SOURCE}, {"opt_loads", opt_loads, IR_STAGE_SOURCE},
        {"opt_carry", opt_carry, IR_STAGE_SOURCE}, {"opt_join_arms", opt_join_arms, IR_STAGE_SOURCE},
        {"straight", straight, IR_STAGE_SOURCE},   {"simplify", simplify, IR_STAGE_SOURCE}};
    str text = {0};
    diag_list diags = {0};
    irgen_kernel(&text, seed);
    if (getenv("PASS_FUZZ_PRINT"))
        fprintf(stderr, "%s", text.ptr);
    ir_module *m = ir_parse(str_view(&text), "generated", &diags);
    if (!m || !ir_verify(m, IR_STAGE_SOURCE, NULL, &diags)) {
        fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, diags.text.ptr);
        failures++;
    } else if (check_steps(m->first, "kernel", singly, countof(singly), true)) {
        if (seed % 2) { /* as the pipeline does it */
            bare_pass(m, simplify);
            bare_pass(m, opt_hoist);
            bare_pass(m, simplify);
            if (seed % 4 == 1)
                bare_pass(m, straight);
        }
        check_derivatives(m->first);
    }
    ir_module_free(m);
    diag_free(&diags);
    str_free(&text);
}

int
main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1,
             count = argc > 2 ? strtoull(argv[2], NULL, 10) : 100;
    passes_only = argc > 3 && strcmp(argv[3], "passes") == 0;
    for (seed = first; seed < first + count && failures < 20; seed++)
        check_seed();
    printf("%llu programs, %d failures\n", (unsigned long long)(seed - first), failures);
    return failures != 0;
}

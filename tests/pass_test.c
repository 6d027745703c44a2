/* Passes keep what a program does, and do what they promise. SPDX-License-Identifier: Apache-2.0
 *
 *   pass_test FOLDER...     each case (ircase.h) is run after every opt_ pass alone, after simplify, and lowered,
 * must stay valid, and must still give what its comments want */
#include "ircase.h"
#include "diff/ad.h"
#include "passes.h"

#include <time.h>

static ir_stage stage; /* of the case at hand */

static bool
simplify(ir_module *m, pass_context *c)
{
    bool changed = pass_simplify(m, stage, c);
    if (c->diags->errors)
        fprintf(stderr, "%s", c->diags->text.ptr);
    return changed;
}

/* as before derivatives */
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

static bool
warps(ir_module *m, pass_context *c)
{
    m->target = &target_nvidia;
    return lower_domain(m, c);
}

static bool
shared_sums(ir_module *m, pass_context *c)
{
    m->target = &target_nvidia;
    return opt_shared_sums(m, c);
}

static bool
planned(ir_module *m, pass_context *c)
{
    m->target = &target_nvidia;
    return stage <= IR_STAGE_AD && ad_plan(m, c);
}

/* four iterations at a time */
static bool
blocked(ir_module *m, pass_context *c)
{
    m->target = &target_nvidia;
    c->plan.block = 4;
    return stage <= IR_STAGE_AD && ad_blocks(m, c);
}

/* as for code generation */
static bool
lowered_tape(ir_module *m, pass_context *c)
{
    opt_inline(m, c);
    ir_keep_called(m, m->last); /* the kernel that is run */
    if (stage < IR_STAGE_TAPE)
        lower_tape(m, c);
    stage = stage < IR_STAGE_TAPE ? IR_STAGE_TAPE : stage;
    return opt_dce(m, c);
}

static bool
lowered_arrays(ir_module *m, pass_context *c)
{
    lowered_tape(m, c);
    if (stage < IR_STAGE_SLOTS)
        lower_arrays(m, c);
    stage = IR_STAGE_SLOTS;
    return true;
}

static const struct {
    const char *name;
    pass_fn *run;
} passes[] = {
    {"lower_races", lower_races},
    {"ad_own_atomics", ad_own_atomics},
    {"ad_independent", ad_independent},
    {"opt_inline", opt_inline}, {"opt_fold", opt_fold},   {"opt_cse", opt_cse},
    {"opt_dce", opt_dce},       {"opt_count", opt_count}, {"opt_fma", opt_fma}, {"opt_join_arms", opt_join_arms},
    {"opt_hoist", opt_hoist},   {"opt_carry", opt_carry}, {"opt_loads", opt_loads},
    {"simplify", simplify},     {"opt_unroll", opt_unroll},
    {"opt_elements", opt_elements}, {"straight", straight},
    {"lower_domain", warps},     {"check_subscripts", check_subscripts},
    {"opt_shared_sums", shared_sums}, {"opt_late_zeros", opt_late_zeros}, {"opt_unroll_counted", opt_unroll_counted},
    {"opt_unroll_slots", opt_unroll_slots}, {"opt_unroll_windows", opt_unroll_windows}, {"opt_plain_adds", opt_plain_adds},
    {"opt_load_ahead", opt_load_ahead}, {"opt_early_loads", opt_early_loads},
    {"ad_plan", planned}, {"ad_blocks", blocked},
    {"lower_tape", lowered_tape}, {"lower_arrays", lowered_arrays},
};

typedef struct op_count {
    const char *name;
    size_t len;
    unsigned n;
} op_count;

static bool
count_op(ir_op *op, void *user)
{
    op_count *c = user;
    const char *text = ir_ops[op->code].text;
    c->n += strlen(text) == c->len && strncmp(text, c->name, c->len) == 0;
    return true;
}

/* the `count PASS OP N` comments of this pass */
static bool
check_counts(const ircase *c, const char *pass)
{
    size_t at = 0, len;
    bool good = true;
    for (const char *line; (line = ircase_line(c, "count", &at, &len));) {
        size_t n = strcspn(line, " ");
        if (strlen(pass) != n || strncmp(line, pass, n) != 0)
            continue;
        op_count count = {.name = line + n + 1, .len = strcspn(line + n + 1, " ")};
        ir_walk(c->fn->body, count_op, &count);
        unsigned want = (unsigned)atoi(count.name + count.len);
        if (count.n == want)
            continue;
        str text = {0};
        ir_print_fn(&text, c->fn);
        fprintf(stderr, "%s: after %s: %u of %.*s, not %u\n%s", c->path, pass, count.n,
                (int)count.len, count.name, want, text.ptr);
        str_free(&text);
        good = false;
    }
    return good;
}

static bool
run_pass(const char *path, size_t which)
{
    ircase c;
    bool good = ircase_open(&c, path);
    size_t at = 0, len;
    const char *words = passes[which].run == check_subscripts ? "index" : passes[which].run == blocked ? "records" : NULL;
    const char *fault = good && words ? ircase_line(&c, "fault", &at, &len) : NULL;
    if (fault && strncmp(fault, words, strlen(words)) == 0) { /* the interpreter's own words; less that is recorded */
        ircase_close(&c);
        return true;
    }
    if (good) {
        stage = c.stage;
        bare_pass(c.module, passes[which].run);
        good = ir_verify(c.module, stage, passes[which].name, &c.diags);
        if (!good) {
            str text = {0};
            ir_print_fn(&text, c.fn);
            fprintf(stderr, "%s\n%s%s", path, c.diags.text.ptr, text.ptr);
            str_free(&text);
        }
    }
    if (good) {
        if (passes[which].run == opt_fma && c.tolerance < 1e-6)
            c.tolerance = 1e-6; /* it rounds once instead of twice */
        ircase_run(&c);
        good = ircase_check(&c, passes[which].name);
        good = check_counts(&c, passes[which].name) && good;
    }
    ircase_close(&c);
    return good;
}

static int
run_case(const char *path)
{
    int failed = 0;
    for (size_t k = 0; k < countof(passes); k++)
        failed += !run_pass(path, k);
    return failed;
}

/* 20,000 operations in straight line, in well under a second. */
static int
check_speed(void)
{
    str text = {0};
    str_addz(&text,
             "kernel @long(%x: buf<f64,1>) {\n  %z: i64 = const 0\n  %v0: f64 = load %x[%z]\n");
    for (int k = 0; k < 20000; k += 2)
        str_addf(&text, "  %%v%d: f64 = mul %%v%d, %%v%d\n  %%v%d: f64 = add %%v%d, %%v%d\n", k + 1,
                 k, k > 7 ? k - 7 : 0, k + 2, k + 1, k > 3 ? k - 3 : 0);
    str_addz(&text, "  store %x[%z], %v20000\n  yield\n}\n");
    diag_list diags = {0};
    ir_module *m = ir_parse(str_view(&text), "long", &diags);
    clock_t start = clock();
    if (m)
        bare_pass(m, simplify);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (!m || seconds > 2)
        fprintf(stderr, "long: %.3f s\n%s", seconds, diags.text.ptr ? diags.text.ptr : "");
    ir_module_free(m);
    diag_free(&diags);
    str_free(&text);
    return !m || seconds > 2;
}

int
main(int argc, char **argv)
{
    int failed = check_speed();
    for (int k = 1; k < argc; k++)
        failed += ircase_each(argv[k], run_case);
    if (failed)
        fprintf(stderr, "%d failed\n", failed);
    return failed != 0;
}

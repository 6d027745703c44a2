/* The interpreter against cases with known results. SPDX-License-Identifier: Apache-2.0
 *
 *   interp_test FOLDER...       every .rg file in it; see ircase.h */
#include "ircase.h"

static int
run_case(const char *path)
{
    ircase c;
    bool good = ircase_open(&c, path);
    if (good) {
        ircase_run(&c);
        good = ircase_check(&c, "run");
    }
    ircase_close(&c);
    return !good;
}

/* Extents from the shape region of the cases' common example. */
static int
check_shape(void)
{
    static const char text[] =
        "kernel @k(%n: i32, %x: buf<f32,2>)\n"
        "shape { %a: i64 = cast %n  %two: i64 = const 2  %b: i64 = mul %a, %two\n"
        "  yield %a, %b } {\n  yield\n}\n";
    diag_list diags = {0};
    ir_module *m = ir_parse(RG_STR(text), "shape", &diags);
    int64_t extents[2] = {0};
    rt_arg args[2] = {{.bits = 7}};
    bool good = m && interp_shape(m->first, args, extents) && extents[0] == 7 && extents[1] == 14;
    if (!good)
        fprintf(stderr, "shape: %lld, %lld\n%s", (long long)extents[0], (long long)extents[1],
                diags.text.ptr ? diags.text.ptr : "");
    ir_module_free(m);
    diag_free(&diags);
    return !good;
}

/* An endless loop ends at the step limit. */
static int
check_step_limit(void)
{
    static const char text[] =
        "kernel @k() {\n  %no: bool = const false\n  loop {\n    exit_if %no\n"
        "    yield\n  }\n  yield\n}\n";
    diag_list diags = {0};
    ir_module *m = ir_parse(RG_STR(text), "endless", &diags);
    interp_report report = {0};
    interp_options options = {.step_limit = 10000};
    bool good = m && interp_run(m->first, NULL, &options, &report) == RT_FAULT_BUDGET &&
                report.out_of_steps && report.steps >= 10000;
    if (!good)
        fprintf(stderr, "step limit: %s\n%s", report.message, diags.text.ptr ? diags.text.ptr : "");
    ir_module_free(m);
    diag_free(&diags);
    return !good;
}

int
main(int argc, char **argv)
{
    int failed = check_shape() + check_step_limit();
    for (int k = 1; k < argc; k++)
        failed += ircase_each(argv[k], run_case);
    if (failed)
        fprintf(stderr, "%d failed\n", failed);
    return failed != 0;
}

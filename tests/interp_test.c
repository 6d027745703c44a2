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

/* Who touches an element, and which pairs of threads are a race for it. */
static int
check_races(void)
{
    static const struct {
        const char *body, *says; /* NULL: no race */
    } cases[] = {
        {"%v: f64 = load %x[%i]  store %x[%i], %v", NULL},
        {"%v: f64 = load %x[%zero]  store %y[%i], %v", NULL},
        {"rmw.add.atomic %x[%zero], %one", NULL},
        {"rmw.add.atomic %x[%zero], %one  %v: f64 = load.atomic %x[%zero]", NULL},
        {"store %x[%zero], %one", "race for `x[0]`: iteration i = 0 writes it, iteration i = 1 writes it"},
        {"rmw.add %x[%zero], %one", "iteration i = 1 writes it"},
        {"%v: f64 = load %x[%j]  store %x[%i], %v", "race for `x[1]`: iteration i = 0 reads it, iteration i = 1 writes it"},
        {"%v: f64 = load %x[%zero]  rmw.add.atomic %x[%zero], %v", "iteration i = 1 reads it"},
        {"rmw.add.atomic %x[%zero], %one  store %x[%i], %one", "updates it atomically"},
    };
    int failed = 0;
    for (size_t k = 0; k < countof(cases); k++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "kernel @k(%%x: buf<f64,1>, %%y: buf<f64,1>) {\n  %%zero: i64 = const 0  %%n: i64 = const 3\n"
                 "  %%next: i64 = const 1  %%one: f64 = const 1\n  parallel (%%i: i64) = (%%zero) to (%%n) {\n"
                 "    %%j: i64 = add %%i, %%next  %s\n    yield\n  }\n  yield\n}\n",
                 cases[k].body);
        diag_list diags = {0};
        ir_module *m = ir_parse(rg_str_of(text), "races", &diags);
        double x[8] = {0}, y[8] = {0};
        rt_arg args[2] = {{.plane = {x}, .extent = {8}, .stride = {1}}, {.plane = {y}, .extent = {8}, .stride = {1}}};
        interp_report report = {0};
        interp_options options = {.races = true};
        rt_fault fault = m ? interp_run(m->first, args, &options, &report) : RT_FAULT_MEMORY;
        bool good = cases[k].says ? fault == RT_FAULT_ASSERT && strstr(report.message, cases[k].says) : fault == RT_OK;
        if (!good)
            fprintf(stderr, "races: %s: %s\n%s", cases[k].body, report.message, diags.text.ptr ? diags.text.ptr : "");
        if (m && interp_run(m->first, args, NULL, &report) != RT_OK) /* nobody asked */
            good = false;
        failed += !good;
        ir_module_free(m);
        diag_free(&diags);
    }
    return failed;
}

int
main(int argc, char **argv)
{
    int failed = check_shape() + check_step_limit() + check_races();
    for (int k = 1; k < argc; k++)
        failed += ircase_each(argv[k], run_case);
    if (failed)
        fprintf(stderr, "%d failed\n", failed);
    return failed != 0;
}

/* For GPUs the pipeline makes tasks of serial loops, and takes them as they are where their derivative is refused else: but it
 * hides no fault of its own. Nor does a check of a kernel. SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "check/check.h"
#include "pipeline/pipeline.h"
#include "retrograd/retrograd.h"

#define SERIAL(update)                                                                                                           \
    "kernel @k(%n: i64, %x: buf<f64,1>, %y: buf<f64,1>) {\n"                                                                     \
    "  %lo: i64 = const 0\n"                                                                                                     \
    "  for %i: i64 = %lo to %n step 1 {\n"                                                                                       \
    "    %a: f64 = load %x[%i]  %b: f64 = load %y[%lo]  %c: f64 = mul %a, %b\n"                                                  \
    "    " update " %y[%lo], %c\n"                                                                                               \
    "    yield\n"                                                                                                                \
    "  }\n"                                                                                                                      \
    "  yield\n"                                                                                                                  \
    "}\n"
static const char product[] = SERIAL("store");
/* in a task of one thread the minimum and the load would meet (E0512) */
static const char least[] = SERIAL("rmw.min");

typedef struct spoiler {
    int tries; /* that are spoilt */
    int seen;
} spoiler;

/* a kernel that ends in nothing, which the verifier finds */
static void
spoil(void *user, const char *stage, const ir_module *m)
{
    spoiler *s = user;
    if (strcmp(stage, "ad") == 0 && s->seen++ < s->tries)
        ir_remove(m->first->body->last);
}

static bool
runs(const char *source, bool gpu, int tries, int seen)
{
    ir_fn *fn;
    diag_list diags = {0};
    spoiler s = {.tries = tries};
    ir_module *m = ir_parse(rg_str_of(source), "k", &diags);
    CHECK(m, "%s", diags.text.ptr);
    pipeline_options o = {.form = RG_FORWARD_VJP, .stage = IR_STAGE_SLOTS, .target = gpu ? &target_nvidia : NULL, .seen = spoil, .user = &s};
    ir_module *made = m ? pipeline_run(m->first, &o, &diags, &fn) : NULL;
    bool ran = made;
    CHECK(ran == !diags.errors && (ran || strstr(diags.text.ptr, "[E02")), "%s", diags.text.len ? diags.text.ptr : "no text");
    CHECK(s.seen == seen, "%d derivatives, not %d", s.seen, seen);
    ir_module_free(made);
    ir_module_free(m);
    diag_free(&diags);
    return ran;
}

/* -- a device that compiles no derivative ---------------------------------------------------------- */

static unsigned number;     /* of the error that it gives */
static const ir_fn *kernel; /* as the check made it for the forward launch */

static rg_status
compile_forward(rt_device *device, const rt_program_desc *desc, rt_program **program, diag_list *diags)
{
    kernel = kernel ? kernel : desc->fn;
    if (desc->fn == kernel)
        return rt_device_interp.compile(device, desc, program, diags);
    diag_add(diags, DIAG_ERROR, number, (diag_place){0}, "it was not to be");
    return RG_COMPILE;
}

/* What the check makes of that. */
static check_outcome
outcome_of(unsigned error, const char *test)
{
    diag_list diags = {0};
    rt_device_table device = rt_device_interp;
    check_report report = {0};
    double x[4] = {1, 2, 3, 4}, y[4] = {5, 6, 7, 8};
    const check_value values[] = {{.bits = 4}, {.shape = {4}, .data = x, .rank = 1}, {.shape = {4}, .data = y, .rank = 1}};
    check_outcome outcome = CHECK_OK;
    bool found = false;
    number = error;
    kernel = NULL;
    device.name = "lame";
    device.compile = compile_forward;
    ir_module *m = ir_parse(rg_str_of(product), "k", &diags);
    const check_options options = {.seed = 1, .device = &device};
    rg_status status = check_kernel(m->first, &(check_start){.values = values}, 1, &options, &report, &diags);
    for (size_t i = 0; i < report.findings.n; i++)
        if (strcmp(report.findings.at[i].test, test) == 0) {
            found = report.findings.at[i].code == error;
            outcome = report.findings.at[i].outcome;
        }
    CHECK(status == RG_OK && found, "E%04u: %s %s", error, rg_status_name(status), diags.text.len ? diags.text.ptr : "");
    check_report_free(&report);
    ir_module_free(m);
    diag_free(&diags);
    return outcome;
}

int
main(void)
{
    CHECK(runs(product, true, 0, 1) && runs(product, false, 0, 1), "nothing is wrong");
    CHECK(runs(least, true, 0, 1), "the second try is taken");
    CHECK(!runs(product, false, 1, 1), "a fault");
    CHECK(!runs(product, true, 1, 1), "a fault of the first try");
    CHECK(!runs(least, true, 1, 1), "a fault of the second try");
    CHECK(outcome_of(530, "gradient") == CHECK_NOT_SHOWN, "a gradient that is refused");
    CHECK(outcome_of(900, "gradient") == CHECK_FAILED, "a fault of code generation");
    CHECK(outcome_of(461, "gradient") == CHECK_FAILED, "an error that no derivative has");
    return check_done();
}

/* Through the shared library: code as bytes, and checks of kernels. An object is linked with a program and has to compute what
 * the library computes.
 *   ahead_test LIBRGRT
 * SPDX-License-Identifier: Apache-2.0 */
#include "api_check.h"
#include "process.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char source[] =
    /* y = k x^3 */
    "kernel @bend(%n: i32, %k: f64, %x: buf<f64,1>, %y: buf<f64,1>) shape {\n"
    "  %a: i64 = cast %n  yield %a, %a\n"
    "} {\n"
    "  %lo: i32 = const 0\n"
    "  parallel (%i: i32) = (%lo) to (%n) {\n"
    "    %v: f64 = load %x[%i]  %w: f64 = mul %v, %v  %c: f64 = mul %w, %v  %r: f64 = mul %c, %k\n"
    "    store %y[%i], %r\n"
    "    yield\n"
    "  }\n"
    "  yield\n"
    "}\n"
    /* what the reverse needs is overwritten: no reverse alone */
    "kernel @place(%x: buf<f64,1>) {\n"
    "  %z: i32 = const 0  %v: f64 = load %x[%z]  %w: f64 = mul %v, %v  store %x[%z], %w\n"
    "  yield\n"
    "}\n"
    /* nothing says how long rows are, and the first guess is too short */
    "kernel @pick(%at: buf<i32,1>, %x: buf<f64,2>, %y: buf<f64,1>) shape {\n"
    "  %any: i64 = const -1  %three: i64 = const 3  yield %any, %three, %any, %any\n"
    "} {\n"
    "  %lo: i32 = const 0  %n: i32 = const 20\n"
    "  parallel (%i: i32) = (%lo) to (%n) { %k: i32 = load %at[%i]  %v: f64 = load %x[%k, %i]  store %y[%i], %v  yield }\n"
    "  yield\n"
    "}\n"
    /* an array that is never long enough; one that leads to another error if it is longer */
    "kernel @far(%x: buf<f64,4>) {\n"
    "  %z: i32 = const 0  %n: i32 = const 1000000  %v: f64 = load %x[%z, %z, %z, %n]  store %x[%z, %z, %z, %z], %v\n"
    "  yield\n"
    "}\n"
    "kernel @short(%x: buf<f64,1>) {\n"
    "  %z: i32 = const 0  %twenty: i32 = const 20  %nine: i64 = const 9  %n: i64 = extent %x, 0  %m: i64 = sub %nine, %n\n"
    "  %t: buf<f64,1> = temp %m  %v: f64 = load %x[%twenty]  store %t[%z], %v  %w: f64 = load %t[%z]  store %x[%z], %w\n"
    "  yield\n"
    "}\n"
    /* extents that no memory has */
    "kernel @vast(%n: i64, %x: buf<f64,1>) shape { yield %n } {\n"
    "  %z: i32 = const 0  %v: f64 = load %x[%z]  store %x[%z], %v\n"
    "  yield\n"
    "}\n"
    /* two threads, one element */
    "kernel @race(%n: i32, %x: buf<f64,1>, %y: buf<f64,1>) {\n"
    "  %lo: i32 = const 0\n"
    "  parallel (%i: i32) = (%lo) to (%n) { %v: f64 = load %x[%i]  store %y[%lo], %v  yield }\n"
    "  yield\n"
    "}\n";

static rg_kernel *
kernel_of(rg_module *module, const char *name)
{
    rg_kernel *kernel;
    CHECK(rg_module_get_kernel(module, rg_str_of(name), &kernel) == RG_OK);
    return kernel;
}

static rg_module *
module_with(const rg_module_desc *desc)
{
    rg_module *module;
    CHECK(rg_module_from_ir(RG_STR(source), desc, &module) == RG_OK);
    return module;
}

/* -- objects ------------------------------------------------------------------------------------- */

enum { N = 3, VALUES = 8 * N + 2 };

static bool
is_built(rg_kernel *kernel, const rg_object_desc *desc)
{
    rg_object *object;
    rg_object_info info = RG_INIT(rg_object_info);
    bool ok = rg_kernel_build(kernel, desc, &object) == RG_OK && rg_object_get_info(object, &info) == RG_OK && info.code.len > 100;
    rg_object_destroy(object);
    return ok;
}

static void
write_file(const char *name, rg_str text)
{
    FILE *f = fopen(name, "w");
    CHECK(f && fwrite(text.ptr, 1, text.len, f) == text.len && !fclose(f));
}

/* All planes of x and y after forward with reverse, and its tangents, as the library computes them. */
static void
launch_here(rg_kernel *kernel, double *out)
{
    static const unsigned planes[] = {RG_PRIMAL, RG_ADJOINT, RG_TANGENT, RG_ADJOINT | RG_TANGENT};
    double x[N] = {1, -2, 3}, ones[N] = {1, 1, 1};
    rg_device *device;
    rg_queue *queue;
    rg_args *args;
    rg_array *arrays[2];
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {N}, .adjoint = true, .tangent = true);
    CHECK(!rg_device_open(NULL, &device) && !rg_queue_create(device, NULL, &queue) && !rg_args_create(queue, kernel, &args));
    for (int k = 0; k < 2; k++) {
        CHECK(!rg_array_create(queue, &desc, &arrays[k]));
        CHECK(!rg_array_require(queue, arrays[k], RG_ADJOINT | RG_TANGENT));
    }
    CHECK(!rg_array_write(queue, arrays[0], RG_PRIMAL, x, sizeof x) && !rg_array_write(queue, arrays[0], RG_TANGENT, x, sizeof x));
    CHECK(!rg_array_write(queue, arrays[1], RG_ADJOINT, ones, sizeof ones));
    CHECK(!rg_args_set_int(args, RG_STR("n"), N) && !rg_args_set_float(args, RG_STR("k"), 0.3));
    CHECK(!rg_args_set_array(args, RG_STR("x"), arrays[0]) && !rg_args_set_array(args, RG_STR("y"), arrays[1]));
    CHECK(!rg_launch(queue, args, RG_JVP_FORWARD_VJP));
    for (int k = 0; k < 2; k++)
        for (int p = 0; p < 4; p++, out += N)
            CHECK(!rg_array_read(queue, arrays[k], planes[p], out, N * sizeof *out));
    rg_args_destroy(args);
    rg_array_destroy(arrays[0]);
    rg_array_destroy(arrays[1]);
    rg_queue_destroy(queue);
    rg_device_destroy(device);
}

static const char program[] =
    "#include \"bend.h\"\n"
    "#include <stdio.h>\n"
    "int main(void)\n"
    "{\n"
    "    double x[4][3] = {{1, -2, 3}, {0}, {1, -2, 3}, {0}}, y[4][3] = {{0}, {1, 1, 1}, {0}, {0}}, k[1] = {0};\n"
    "    if (bend_jvp_forward_vjp(3, 0.3, 0, 0, 0, x[0], x[1], x[2], x[3], y[0], y[1], y[2], y[3]))\n"
    "        return 1;\n"
    "    for (int p = 0; p < 4; p++) for (int i = 0; i < 3; i++) printf(\"%a\\n\", x[p][i]);\n"
    "    for (int p = 0; p < 4; p++) for (int i = 0; i < 3; i++) printf(\"%a\\n\", y[p][i]);\n"
    "    y[1][0] = 1;\n"
    "    return bend_forward_vjp(3, 0.3, k, x[0], x[1], y[0], y[1]) || printf(\"%a\\n%a\\n\", y[0][1], k[0]) < 0;\n"
    "}\n";

static void
run_elsewhere(const char *code, const char *librgrt, const double *expected)
{
    char command[8192], line[64];
    const char *flags = getenv("RG_TEST_CFLAGS");
    snprintf(command, sizeof command, "cc %s -Wall -Wextra -Werror main.c %s '%s' -pthread -lm -o main && ./main", flags ? flags : "", code, librgrt);
    FILE *out = popen(command, "r");
    double found[VALUES] = {0};
    int n = 0;
    while (out && n < VALUES && fgets(line, sizeof line, out))
        found[n++] = strtod(line, NULL);
    CHECK(out && pclose(out) == 0 && n == VALUES);
    CHECK(memcmp(found, expected, 8 * N * sizeof *found) == 0);
    CHECK(fabs(found[8 * N] - 0.3 * -8) < 1e-12); /* y[1], and the sum of x^3 for an adjoint of 1 */
    CHECK(fabs(found[8 * N + 1] - 1) < 1e-12);
}

static void
test_objects(const char *librgrt)
{
    rg_module *module = module_with(NULL);
    rg_kernel *bend = kernel_of(module, "bend"), *place = kernel_of(module, "place");
    rg_object *object;
    rg_object_info info = RG_INIT(rg_object_info);
    double expected[8 * N];
    launch_here(bend, expected);
    for (int assembly = 0; assembly < 2; assembly++) {
        rg_object_desc desc = RG_DESC(rg_object_desc, .forms = 1u << RG_FORWARD_VJP | 1u << RG_JVP_FORWARD_VJP, .assembly = assembly);
        CHECK(!rg_kernel_build(bend, &desc, &object) && !rg_object_get_info(object, &info));
        CHECK(info.forms == desc.forms && (memchr(info.code.ptr, 0, info.code.len) == NULL) == assembly);
        const char *file = assembly ? "bend.s" : "bend.o";
        write_file(file, info.code);
        write_file("bend.h", info.header);
        write_file("main.c", RG_STR(program));
        run_elsewhere(file, librgrt, expected);
        rg_object_destroy(object);
    }
    CHECK(!rg_kernel_build(bend, NULL, &object) && !rg_object_get_info(object, &info) && info.forms == 1u << RG_FORWARD);
    rg_object_destroy(object);
    /* what a kernel has not */
    rg_object_desc split = RG_DESC(rg_object_desc, .forms = 1u << RG_VJP);
    FAILS(rg_kernel_build(place, &split, &object), RG_COMPILE, "error[E05");
    CHECK(!object);
    split = RG_DESC(rg_object_desc, .also = 1u << RG_VJP);
    FAILS(rg_kernel_build(place, &split, &object), RG_COMPILE, "none of the forms");
    FAILS(rg_kernel_build(place, &split, &object), RG_COMPILE, "error[E0530]"); /* and why */
    /* an error that is no refusal is not left out */
    setenv("RG_PLAN", "nonsense", 1);
    FAILS(rg_kernel_build(place, &split, &object), RG_COMPILE, "RG_PLAN is");
    unsetenv("RG_PLAN");
    split.forms = 1u << RG_FORWARD;
    CHECK(!rg_kernel_build(place, &split, &object) && !rg_object_get_info(object, &info) && info.forms == 1u << RG_FORWARD);
    rg_object_destroy(object);
    rg_module_destroy(module);
}

static void
test_targets(void)
{
    rg_module *module = module_with(NULL), *same = module_with(&RG_DESC(rg_module_desc, .deterministic = true));
    rg_kernel *bend = kernel_of(module, "bend");
    rg_object *object;
    rg_object_info info = RG_INIT(rg_object_info);
    rg_object_desc desc = RG_DESC(rg_object_desc, .target = RG_STR("x86_64-linux-gnu"), .cpu = RG_STR("x86-64-v3"));
    CHECK(is_built(bend, &desc));
    desc = RG_DESC(rg_object_desc, .target = RG_STR("aarch64-linux-gnu"), .assembly = true);
    CHECK(is_built(bend, &desc));
    desc = RG_DESC(rg_object_desc, .target = RG_STR("foo-bar"));
    FAILS(rg_kernel_build(bend, &desc, &object), RG_UNSUPPORTED, "LLVM, for foo-bar: No available targets");
    desc = RG_DESC(rg_object_desc, .cpu = RG_STR("nocpu"));
    FAILS(rg_kernel_build(bend, &desc, &object), RG_UNSUPPORTED, "'nocpu' is not a recognized processor");
    desc = RG_DESC(rg_object_desc, .features = RG_STR("+nonsense"));
    FAILS(rg_kernel_build(bend, &desc, &object), RG_UNSUPPORTED, "'+nonsense' is not a recognized feature");
    CHECK(!object);
    /* GPUs */
    desc = RG_DESC(rg_object_desc, .target = RG_STR("sm_80"), .forms = 1u << RG_FORWARD | 1u << RG_VJP);
    rg_status status = rg_kernel_build(bend, &desc, &object);
    if (status)
        FAILS(status, RG_UNSUPPORTED, "no code for GPUs");
    else {
        CHECK(!rg_object_get_info(object, &info) && !info.header.len && info.forms == desc.forms);
        CHECK(strstr(info.code.ptr, ".target sm_80") && strstr(info.code.ptr, ".visible .entry rgk_bend_vjp("));
        desc.target = RG_STR("sm_50");
        rg_object_destroy(object);
        FAILS(rg_kernel_build(bend, &desc, &object), RG_UNSUPPORTED, "there is no GPU `sm_50`");
    }
    desc.target = RG_STR("sm_80");
    FAILS(rg_kernel_build(kernel_of(same, "bend"), &desc, &object), RG_UNSUPPORTED, "deterministic");
    desc.cpu = RG_STR("generic");
    FAILS(rg_kernel_build(bend, &desc, &object), RG_INVALID, "cpu and features are of processors");
    desc.forms = 1u << RG_FORM_COUNT;
    FAILS(rg_kernel_build(bend, &desc, &object), RG_INVALID, "0x40 has others");
    FAILS(rg_kernel_build(NULL, NULL, &object), RG_INVALID, "kernel");
    FAILS(rg_kernel_build(bend, NULL, NULL), RG_INVALID, "object is NULL");
    FAILS(rg_object_get_info(NULL, &info), RG_INVALID, "object");
    rg_object_destroy(NULL);
    rg_module_destroy(same);
    rg_module_destroy(module);
}

/* -- checks ---------------------------------------------------------------------------------------- */

/* the finding whose test begins so; its size is 0 if there is none */
static rg_finding
finding_of(const rg_report *report, const char *test)
{
    rg_finding f = RG_INIT(rg_finding);
    for (uint32_t i = 0; rg_report_get_finding(report, i, &f) == RG_OK; i++)
        if (strncmp(f.test.ptr, test, strlen(test)) == 0)
            return f;
    CHECK(!"there is such a finding");
    return (rg_finding){0};
}

static rg_outcome
outcome_of(const rg_report *report)
{
    rg_report_info info = RG_INIT(rg_report_info);
    CHECK(!rg_report_get_info(report, &info) && info.findings > 0);
    return info.outcome;
}

static void
test_checks(void)
{
    rg_module *module = module_with(NULL);
    rg_kernel *bend = kernel_of(module, "bend"), *place = kernel_of(module, "place"), *race = kernel_of(module, "race");
    rg_report *report;
    rg_device *device;
    CHECK(!rg_kernel_check(bend, NULL, &report) && outcome_of(report) == RG_CHECK_SHOWN);
    rg_finding f = finding_of(report, "vjp against jvp, interpreter");
    CHECK(f.outcome == RG_CHECK_SHOWN && f.tolerance > 0 && f.error <= f.tolerance && f.compared == 3 && !f.unshown);
    CHECK(finding_of(report, "gradient against central differences").compared > 0);
    f = RG_INIT(rg_finding);
    FAILS(rg_report_get_finding(report, 1000, &f), RG_NOT_FOUND, "there is no number 1000");
    rg_report_destroy(report);
    CHECK(!rg_kernel_check(place, NULL, &report) && outcome_of(report) == RG_CHECK_SHOWN);
    f = finding_of(report, "split gradient");
    CHECK(f.outcome == RG_CHECK_LEFT_OUT && f.code / 100 == 5 && strstr(f.note.ptr, "error[E0530]"));
    rg_report_destroy(report);
    rg_check_desc desc = RG_DESC(rg_check_desc, .device = RG_STR("interp"));
    CHECK(!rg_kernel_check(kernel_of(module, "pick"), &desc, &report) && outcome_of(report) == RG_CHECK_SHOWN);
    rg_report_destroy(report);
    FAILS(rg_kernel_check(kernel_of(module, "far"), &desc, &report), RG_ASSERT, "leaves axis 3 of array `x`, extent 8");
    FAILS(rg_kernel_check(kernel_of(module, "short"), &desc, &report), RG_ASSERT, "index 20 leaves axis 0 of array `x`, extent 8");
    CHECK(!rg_kernel_check(race, &desc, &report) && outcome_of(report) == RG_CHECK_FAILED);
    f = finding_of(report, "races of threads");
    CHECK(f.outcome == RG_CHECK_FAILED && isinf(f.error) && strstr(f.note.ptr, "race for `y[0]`"));
    rg_report_destroy(report);
    desc.device = RG_STR("abacus");
    FAILS(rg_kernel_check(bend, &desc, &report), RG_NOT_FOUND, "there is no device \"abacus\"");
    CHECK(!report);
    /* names of devices are those of rg_device_open */
    desc.device = RG_STR("interp:0");
    CHECK(!rg_kernel_check(bend, &desc, &report) && outcome_of(report) == RG_CHECK_SHOWN);
    rg_report_destroy(report);
    desc.device = RG_STR("interp:1");
    FAILS(rg_kernel_check(bend, &desc, &report), RG_NOT_FOUND, "it has number 0 only, not 1");
    desc.device = RG_STR("cpu:one");
    FAILS(rg_kernel_check(bend, &desc, &report), RG_INVALID, "\"cpu:one\" is no name of a device");
    if (rg_device_open(&RG_DESC(rg_device_desc, .name = RG_STR("simt:0")), &device) == RG_OK) {
        desc.device = RG_STR("simt:0");
        CHECK(!rg_kernel_check(bend, &desc, &report) && outcome_of(report) == RG_CHECK_SHOWN);
        CHECK(finding_of(report, "gradient, simt against interpreter").outcome == RG_CHECK_SHOWN);
        rg_report_destroy(report);
        rg_device_destroy(device);
        desc.device = RG_STR("simt:7");
        FAILS(rg_kernel_check(bend, &desc, &report), RG_NOT_FOUND, "simt");
    } else {
        desc.device = RG_STR("simt");
        FAILS(rg_kernel_check(bend, &desc, &report), RG_UNSUPPORTED, "this build has no device \"simt\"");
    }
    desc.starts = 1000000;
    FAILS(rg_kernel_check(bend, &desc, &report), RG_INVALID, "too many");
    FAILS(rg_kernel_check(NULL, NULL, &report), RG_INVALID, "kernel");
    rg_report_destroy(NULL);
    rg_module_destroy(module);
}

/* What is set is what the kernel starts from, on any device, and stays. */
static void
test_checks_from(const char *name)
{
    double values[N] = {1, 2, 3}, after[N];
    rg_module *module = module_with(NULL);
    rg_kernel *bend = kernel_of(module, "bend");
    rg_device *device;
    rg_queue *queue = NULL;
    rg_args *args = NULL;
    rg_array *x = NULL;
    rg_report *report;
    rg_device_desc which = RG_DESC(rg_device_desc, .name = rg_str_of(name));
    rg_status there = rg_device_open(&which, &device);
    CHECK(!there || there == RG_UNSUPPORTED); /* a build without LLVM */
    if (there) {
        rg_module_destroy(module);
        return;
    }
    CHECK(!rg_queue_create(device, NULL, &queue) && !rg_args_create(queue, bend, &args));
    CHECK(!rg_array_create(queue, &RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {N}), &x));
    CHECK(!rg_array_write(queue, x, RG_PRIMAL, values, sizeof values) && !rg_args_set_array(args, RG_STR("x"), x));
    rg_check_desc desc = RG_DESC(rg_check_desc, .device = RG_STR("interp"), .args = args, .starts = 1);
    FAILS(rg_kernel_check(bend, &desc, &report), RG_INVALID, "axis 0 must have 8 elements, the array has 3");
    CHECK(!rg_args_set_int(args, RG_STR("n"), N) && !rg_kernel_check(bend, &desc, &report));
    CHECK(outcome_of(report) == RG_CHECK_SHOWN);
    /* the elements of x and y, in the kernel's types and in f64 */
    CHECK(finding_of(report, "arrays after the gradient").compared == 2 * 2 * N);
    rg_report_destroy(report);
    CHECK(!rg_array_read(queue, x, RG_PRIMAL, after, sizeof after) && memcmp(after, values, sizeof values) == 0);
    /* what is not finite is not shown */
    values[1] = INFINITY;
    CHECK(!rg_array_write(queue, x, RG_PRIMAL, values, sizeof values) && !rg_kernel_check(bend, &desc, &report));
    CHECK(outcome_of(report) == RG_CHECK_NOT_SHOWN && finding_of(report, "arrays after the gradient").unshown > 0);
    rg_report_destroy(report);
    FAILS(rg_kernel_check(kernel_of(module, "place"), &desc, &report), RG_INVALID, "args are those of kernel `bend`");
    rg_args_destroy(args);
    CHECK(!rg_args_create(queue, kernel_of(module, "vast"), &args) && !rg_args_set_int(args, RG_STR("n"), INT64_MAX / 4));
    desc.args = args;
    FAILS(rg_kernel_check(kernel_of(module, "vast"), &desc, &report), RG_INVALID, "more bytes than there are addresses");
    CHECK(!rg_args_set_int(args, RG_STR("n"), INT64_MAX / 64)); /* not asked of the system */
    FAILS(rg_kernel_check(kernel_of(module, "vast"), &desc, &report), RG_BUDGET, "would be given arrays of");
    rg_array_destroy(x);
    rg_args_destroy(args);
    rg_queue_destroy(queue);
    rg_device_destroy(device);
    rg_module_destroy(module);
}

int
main(int argc, char **argv)
{
    char folder[FOLDER_BYTES], path[4096];
    if (argc < 2 || !realpath(argv[1], path) || !folder_begin(folder, "ahead_test") || chdir(folder))
        return 2;
    rg_module *module = module_with(NULL);
    rg_object *object;
    rg_status status = rg_kernel_build(kernel_of(module, "bend"), NULL, &object);
    rg_object_destroy(object);
    rg_module_destroy(module);
    if (status == RG_UNSUPPORTED) {
        CHECK(strstr(rg_error_message(), "made without LLVM"));
    } else {
        test_objects(path);
        test_targets();
    }
    test_checks();
    test_checks_from("interp");
    test_checks_from("simt");
    CHECK(!chdir("/") && folder_end(folder));
    return check_done();
}

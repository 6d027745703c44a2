/* An array that may be larger than 4 GB, or than the device allocates at once: filled by a kernel, summed, differentiated, copied, and read
 * in parts. Exit code 77: there is no such device. SPDX-License-Identifier: Apache-2.0
 *
 *   large_test [DEVICE [BYTES]]     (cpu, 12 million); as much again is taken for the adjoint */
#include "api_check.h"
#include "base/base.h"

#include <math.h>
#include <stdlib.h>

/* x[i] = i % 1024; sum += x[i]^2 */
static const char source[] =
    "kernel @ramp(%n: i64, %x: buf<f32,1>) {\n"
    "  %0: i64 = const 0  %m: i64 = const 1023\n"
    "  parallel (%i: i64) = (%0) to (%n) {\n"
    "    %k: i64 = and %i, %m  %f: f32 = cast %k  store %x[%i], %f  yield\n"
    "  }\n"
    "  yield\n"
    "}\n"
    "kernel @total(%n: i64, %x: buf<f32,1>, %sum: buf<f64,1>) {\n"
    "  %0: i64 = const 0  %none: f64 = const 0\n"
    "  %s: f64 = parallel (%i: i64) = (%0) to (%n) reduce (add %none) {\n"
    "    %v: f32 = load %x[%i]  %w: f64 = cast %v  %q: f64 = mul %w, %w  %t: f64 = add %q, %none  yield %t\n"
    "  }\n"
    "  %before: f64 = load %sum[%0]  %all: f64 = add %s, %before  store %sum[%0], %all\n"
    "  yield\n"
    "}\n";

enum { PART = 16 << 20 /* elements */, SKIPPED = 77 };

static double
usual(int64_t i)
{
    return (double)(i & 1023);
}
static double
twice(int64_t i)
{
    return 2 * usual(i);
}
static double
same(int64_t i)
{
    return i < 0 ? 0 : 3.5;
}

/* Elements [from, from + n) of a plane, as an array of their own. */
static rg_array *
part_of(rg_queue *queue, const rg_array_info *info, unsigned plane, int64_t from, int64_t n)
{
    rg_array *part = NULL;
    void *data = (float *)info->data[plane] + from;
    GOOD(rg_array_create(queue, &RG_DESC(rg_array_desc, .dtype = RG_F32, .rank = 1, .shape = {n}, .data = data), &part));
    return part;
}

static void
check_elements(rg_queue *queue, const rg_array_info *info, unsigned plane, double (*wanted)(int64_t i))
{
    int64_t count = (int64_t)info->count, wrong = 0, first = -1;
    float *host = malloc(PART * sizeof *host);
    for (int64_t from = 0; from < count; from += PART) {
        int64_t n = count - from < PART ? count - from : PART;
        rg_array *part = part_of(queue, info, plane, from, n);
        GOOD(rg_array_read(queue, part, RG_PRIMAL, host, (size_t)n * sizeof *host));
        for (int64_t i = 0; i < n; i++)
            if (host[i] != (float)wanted(from + i)) {
                first = wrong++ ? first : from + i;
            }
        rg_array_destroy(part);
    }
    CHECK(!wrong, "plane %u: %lld of %lld are wrong, the first is %lld", plane, (long long)wrong, (long long)count, (long long)first);
    free(host);
}

static void
write_end(rg_queue *queue, const rg_array_info *info)
{
    int64_t n = info->count < PART ? (int64_t)info->count : PART, from = (int64_t)info->count - n;
    float *host = malloc((size_t)n * sizeof *host);
    for (int64_t i = 0; i < n; i++)
        host[i] = (float)usual(from + i);
    rg_array *part = part_of(queue, info, RG_ADJOINT, from, n);
    GOOD(rg_array_write(queue, part, RG_PRIMAL, host, (size_t)n * sizeof *host));
    memset(host, 0, (size_t)n * sizeof *host);
    GOOD(rg_array_read(queue, part, RG_PRIMAL, host, (size_t)n * sizeof *host));
    CHECK(host[0] == (float)usual(from) && host[n - 1] == (float)usual(from + n - 1), "%g %g", host[0], host[n - 1]);
    rg_array_destroy(part);
    free(host);
}

static void
launch(rg_queue *queue, rg_module *module, const char *name, int64_t n, rg_array *x, rg_array *sum, rg_form form)
{
    rg_kernel *kernel = NULL;
    rg_args *args = NULL;
    GOOD(rg_module_get_kernel(module, rg_str_of(name), &kernel));
    GOOD(rg_args_create(queue, kernel, &args));
    GOOD(rg_args_set_int(args, RG_STR("n"), n));
    GOOD(rg_args_set_array(args, RG_STR("x"), x));
    if (sum)
        GOOD(rg_args_set_array(args, RG_STR("sum"), sum));
    double since = clock_ms();
    GOOD(rg_launch(queue, args, form));
    GOOD(rg_queue_sync(queue));
    printf("%s: %.1f ms\n", name, clock_ms() - since);
    rg_args_destroy(args);
}

static void
check_large(rg_queue *queue, int64_t n)
{
    rg_module *module = NULL;
    rg_array *x = NULL, *sum = NULL;
    rg_array_info info = RG_INIT(rg_array_info);
    double found = 0, whole = (double)(n / 1024), rest = (double)(n % 1024), one = 1;
    double wanted = whole * (1023.0 * 1024 * 2047 / 6) + (rest - 1) * rest * (2 * rest - 1) / 6;
    GOOD(rg_module_from_ir(rg_str_of(source), NULL, &module));
    GOOD(rg_array_create(queue, &RG_DESC(rg_array_desc, .dtype = RG_F32, .rank = 1, .shape = {n}, .adjoint = true), &x));
    GOOD(rg_array_create(queue, &RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {1}, .adjoint = true), &sum));
    if (x && sum) {
        GOOD(rg_array_get_info(x, &info));
        launch(queue, module, "ramp", n, x, NULL, RG_FORWARD);
        check_elements(queue, &info, RG_PRIMAL, usual);
        GOOD(rg_array_write(queue, sum, RG_ADJOINT, &one, sizeof one));
        launch(queue, module, "total", n, x, sum, RG_FORWARD_VJP);
        GOOD(rg_array_read(queue, sum, RG_PRIMAL, &found, sizeof found));
        CHECK(fabs(found - wanted) <= 1e-12 * wanted, "the sum is %.17g, not %.17g", found, wanted);
        check_elements(queue, &info, RG_ADJOINT, twice);
        GOOD(rg_array_fill(queue, x, RG_PRIMAL, 3.5));
        GOOD(rg_array_copy(queue, x, RG_ADJOINT, x, RG_PRIMAL));
        check_elements(queue, &info, RG_ADJOINT, same);
        write_end(queue, &info);
    }
    rg_array_destroy(sum);
    rg_array_destroy(x);
    rg_module_destroy(module);
}

int
main(int argc, char **argv)
{
    int64_t bytes = argc > 2 ? atoll(argv[2]) : 12000000;
    rg_device *device = NULL;
    rg_queue *queue = NULL;
    check_on = argc > 1 ? argv[1] : "cpu";
    if (rg_device_open(&RG_DESC(rg_device_desc, .name = rg_str_of(check_on)), &device)) {
        printf("%s\n", rg_error_message());
        return SKIPPED;
    }
    GOOD(rg_queue_create(device, NULL, &queue));
    printf("%s, %lld bytes, and as many of the adjoint\n", check_on, (long long)bytes);
    check_large(queue, bytes / 4);
    rg_queue_destroy(queue);
    rg_device_destroy(device);
    return check_done();
}

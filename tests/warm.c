/* Compiles and launches a gradient through the shared library; prints a sum of what it gave, the milliseconds until the first
 * launch had ended, and whether the process has opened LLVM by then: of the device, the
 * kernel's IR or outline, the code, the launch. For cache_test.sh.
 *   warm FILE KERNEL DEVICE [CC OTHER]     KERNEL(int n, const double x[n], double y[n]); then, where CC is that, of OTHER
 * SPDX-License-Identifier: Apache-2.0 */
#include "retrograd/retrograd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 1000 };

static void
need(rg_status status)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", rg_error_message());
    exit(1);
}

static double
now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int
has_opened_llvm(void)
{
    static char line[8192];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        found |= strstr(line, "libLLVM") || strstr(line, "libclang");
    if (maps)
        fclose(maps);
    return found;
}

static rg_array *
new_array(rg_queue *queue, double value)
{
    rg_array *array;
    rg_array_desc desc = RG_INIT(rg_array_desc);
    desc.dtype = RG_F64;
    desc.rank = 1;
    desc.shape[0] = N;
    need(rg_array_create(queue, &desc, &array));
    need(rg_array_fill(queue, array, RG_PRIMAL, value));
    need(rg_array_require(queue, array, RG_ADJOINT));
    return array;
}

int
main(int argc, char **argv)
{
    static double adjoint[N];
    double start = now(), sum = 0;
    rg_device *device;
    rg_queue *queue;
    rg_module *module;
    rg_kernel *kernel;
    rg_args *args;
    rg_device_desc which = RG_INIT(rg_device_desc);
    rg_compile_desc form = RG_INIT(rg_compile_desc);
    if (argc < 4)
        return 2;
    which.name = rg_str_of(argv[3]);
    form.form = RG_FORWARD_VJP;
    need(rg_device_open(&which, &device));
    need(rg_queue_create(device, NULL, &queue));
    double opened = now();
    need(rg_module_load(rg_str_of(argv[1]), NULL, &module));
    need(rg_module_get_kernel(module, rg_str_of(argv[2]), &kernel));
    double parsed = now();
    need(rg_kernel_compile(kernel, device, &form));
    double compiled = now();
    need(rg_args_create(queue, kernel, &args));
    rg_array *x = new_array(queue, 0.5), *y = new_array(queue, 0);
    need(rg_array_fill(queue, y, RG_ADJOINT, 1));
    need(rg_args_set_int(args, RG_STR("n"), N));
    need(rg_args_set_array(args, RG_STR("x"), x));
    need(rg_args_set_array(args, RG_STR("y"), y));
    need(rg_launch(queue, args, RG_FORWARD_VJP));
    need(rg_queue_sync(queue));
    double ended = now();
    need(rg_array_read(queue, x, RG_ADJOINT, adjoint, sizeof adjoint));
    for (int i = 0; i < N; i++)
        sum += adjoint[i];
    printf("sum %.17g\n%s\n", sum, has_opened_llvm() ? "LLVM was opened" : "without LLVM");
    printf("%.2f ms: device %.2f, kernel %.2f, code %.2f, first launch %.2f\n", ended - start, opened - start, parsed - opened,
           compiled - parsed, ended - compiled);
    if (argc > 5) {
        rg_module *other;
        need(setenv("CC", argv[4], 1) ? RG_INVALID : RG_OK);
        need(rg_module_load(rg_str_of(argv[5]), NULL, &other));
        need(rg_module_get_kernel(other, rg_str_of(argv[2]), &kernel));
        rg_module_destroy(other);
    }
    rg_args_destroy(args);
    rg_array_destroy(x);
    rg_array_destroy(y);
    rg_module_destroy(module);
    rg_queue_destroy(queue);
    rg_device_destroy(device);
    return 0;
}

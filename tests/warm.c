/* Compiles and launches a gradient through the shared library; prints a sum of what it gave, the milliseconds until the first
 * launch had ended, and whether the process has opened LLVM by then. For cache_test.sh.
 *   warm FILE KERNEL DEVICE     KERNEL(int n, const double x[n], double y[n])
 * SPDX-License-Identifier: Apache-2.0 */
#include "queue.h"

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
    rg_queue *queue;
    rg_module *module;
    rg_kernel *kernel;
    rg_args *args;
    if (argc < 4)
        return 2;
    need(queue_open(argv[3], NULL, &queue));
    double opened = now();
    need(rg_module_load(rg_str_of(argv[1]), NULL, &module));
    need(rg_module_get_kernel(module, rg_str_of(argv[2]), &kernel));
    double parsed = now();
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
    printf("%.2f ms: device %.2f, kernel %.2f, first launch %.2f\n", ended - start, opened - start, parsed - opened, ended - parsed);
    rg_args_destroy(args);
    rg_array_destroy(x);
    rg_array_destroy(y);
    rg_module_destroy(module);
    rg_queue_destroy(queue);
    return 0;
}

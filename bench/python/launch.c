/* What a launch costs from C: a kernel with five arrays of one element. Prints nanoseconds for launches with the same arguments, and
 * with other memory in every launch; bench/python/launch.py puts those from Python beside them. SPDX-License-Identifier: Apache-2.0 */
#include <retrograd/retrograd.h>

#include <stdio.h>
#include <time.h>

enum { ARRAYS = 5, LAUNCHES = 2000, TIMES = 100 };

#define TRY(call) \
    if (call) \
    return fprintf(stderr, "%s\n", rg_error_message()), 1

static double
seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static rg_status
launches(rg_queue *queue, rg_args *args, rg_array **arrays, float memory[2][ARRAYS], bool moves)
{
    rg_status status = RG_OK;
    for (int i = 0; !status && i < LAUNCHES; i++) {
        for (int a = 0; moves && !status && a < ARRAYS; a++)
            status = rg_array_set_data(arrays[a], &memory[i & 1][a]);
        if (!status)
            status = rg_launch(queue, args, RG_FORWARD);
    }
    return status;
}

int
main(int argc, char **argv)
{
    if (argc != 2)
        return fprintf(stderr, "launch KERNEL.c: the kernel `f` with five arrays\n"), 2;
    rg_device *device;
    rg_queue *queue;
    rg_module *module;
    rg_kernel *kernel;
    rg_args *args;
    rg_array *arrays[ARRAYS];
    float memory[2][ARRAYS] = {{0}};
    TRY(rg_device_open(NULL, &device));
    TRY(rg_queue_create(device, NULL, &queue));
    TRY(rg_module_load(rg_str_of(argv[1]), NULL, &module));
    TRY(rg_module_get_kernel(module, RG_STR("f"), &kernel));
    TRY(rg_args_create(queue, kernel, &args));
    TRY(rg_args_set_int_at(args, 0, 1));
    for (uint32_t a = 0; a < ARRAYS; a++) {
        TRY(rg_array_create(queue, &RG_DESC(rg_array_desc, .dtype = RG_F32, .rank = 1, .shape = {1}, .data = &memory[0][a]), &arrays[a]));
        TRY(rg_args_set_array_at(args, a + 1, arrays[a]));
    }
    for (int moves = 0; moves < 2; moves++) {
        double best = 1;
        for (int t = 0; t < TIMES; t++) {
            double begin = seconds();
            TRY(launches(queue, args, arrays, memory, moves));
            double took = seconds() - begin;
            best = took < best ? took : best;
        }
        printf("%s %.0f\n", moves ? "other" : "same", 1e9 * best / LAUNCHES);
    }
    for (uint32_t a = 0; a < ARRAYS; a++)
        rg_array_destroy(arrays[a]);
    rg_args_destroy(args);
    rg_module_destroy(module);
    rg_queue_destroy(queue);
    rg_device_destroy(device);
    return 0;
}

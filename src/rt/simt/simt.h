/* A GPU played on this machine: GPU code for the host's processor, a grid of fibers on one thread.
 * SPDX-License-Identifier: Apache-2.0
 *
 * It is slow and strict: lanes of a warp that meet at different places, blocks that wait for what never comes, are
 * reported, where a GPU would hang or go on with garbage. */
#ifndef RT_SIMT_SIMT_H
#define RT_SIMT_SIMT_H

#include "rt/gpu/launch.h"

typedef struct rt_simt rt_simt;
typedef void rt_simt_kernel(rt_gpu_launch *launch, const rt_arg *args);

/* Blocks and warps 0: 2 blocks of 4 warps. */
typedef struct rt_simt_desc {
    uint64_t budget; /* bytes of the pool, for tapes and temporary arrays; not 0. Memory is touched as it is used */
    uint32_t blocks, warps; /* of the grid; of a block, at most 32 */
    uint64_t print_room;    /* cells */
    /* 0: warps run one after the other, each as far as it comes, and lanes from first to last. Else another order for each
     * number, in which warps also stop where lanes meet; the same number gives the same order in the first launch. */
    uint64_t order;
} rt_simt_desc;

/* NULL: no memory. */
rt_simt *rt_simt_create(const rt_simt_desc *desc);
void rt_simt_destroy(rt_simt *simt); /* takes NULL */
/* Runs the kernel to its end: NULL, or what the threads of the grid did wrong (our fault, not the kernel's user's),
 * valid until the next launch. One launch at a time. Faults are in the report, which is the caller's to clear. */
const char *rt_simt_launch(rt_simt *simt, rt_simt_kernel *kernel, const rt_arg *args, uint32_t program);
/* A launch in segments (rt/gpu/gpu.h): begin, grids as the kernel's steps say, end. Each returns what rt_simt_launch returns; after an
 * error nothing but rt_simt_end may follow. `record`: the record's bytes, zero at first. */
const char *rt_simt_begin(rt_simt *simt, const rt_arg *args, uint32_t program, size_t record);
const char *rt_simt_grid(rt_simt *simt, rt_simt_kernel *kernel, uint32_t step, int32_t one_warp);
const char *rt_simt_end(rt_simt *simt);
const char *rt_simt_record(const rt_simt *simt); /* between two grids */
int32_t rt_simt_pieces_are_left(const rt_simt *simt); /* of the task that was settled: it runs once more */
/* a fault, or rt_simt_cancel, which becomes one at this place: no grid follows */
int32_t rt_simt_has_failed(rt_simt *simt, uint32_t place);
/* Ends what runs now, as rt_cpu_cancel. */
void rt_simt_cancel(rt_simt *simt);
rt_gpu_report *rt_simt_report(rt_simt *simt);
/* What was printed since the last call, record by record; clears the buffer and gives how many were lost. */
typedef void rt_simt_printed(void *user, uint32_t program, uint32_t place, const uint64_t *values, uint32_t n);
uint64_t rt_simt_prints(rt_simt *simt, rt_simt_printed *each, void *user);
/* For tests: whether the counters in the launch are as the first launch found them. */
int rt_simt_is_clean(const rt_simt *simt);

#endif

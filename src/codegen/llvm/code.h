/* Code that LLVM made, as bytes and in memory: what is needed to run it, without LLVM. SPDX-License-Identifier: Apache-2.0 */
#ifndef CODEGEN_LLVM_CODE_H
#define CODEGEN_LLVM_CODE_H

#include "base/bytes.h"
#include "rt/abi.h"
#include "segments/segments.h"

/* What GPU code names by number: where something may fail, what is printed. Texts live as long as the kernel's IR, or as
 * the info that was read. */
typedef struct ll_place {
    const char *text, *file; /* of an assert, or the format; may be NULL */
    const char *dtypes;      /* printed: one byte for each value */
    uint32_t line, values;
} ll_place;

/* What the host has to know of code in warps. */
typedef struct ll_gpu_info {
    vec(ll_place) places;
    arena *texts;  /* NULL: they are not its own */
    bool waits;    /* has a barrier of the whole grid: all blocks must be resident at once */
    bool has_tape; /* pages are asked for */
    bool has_rows; /* of cells for sums: RT_GPU_ROW_MAX in each at most (rt/gpu/gpu.h) */
    bool is_fixed; /* deterministic: sums are kept by piece, cells are RT_GPU_FIXED_ROOM in all at most */
    bool prints;
    bool is_cut;   /* in segments: the kernel runs the function of the launch's step */
    uint32_t record; /* bytes for values of its kernel level */
    vec(segments_step) steps; /* entries are numbers of functions; a task is the function that runs it and one that settles it */
} ll_gpu_info;
void ll_gpu_info_write(str *out, const ll_gpu_info *info);
void ll_gpu_info_read(bytes_reader *r, ll_gpu_info *info); /* what is damaged the reader tells;
                                                                * `info` has an owner already */
void ll_gpu_info_free(ll_gpu_info *info);

/* Code in memory. The caller frees it; no launch of it may be under way then. */
typedef struct ll_code ll_code;
typedef int32_t ll_entry(const rt_arg *args, rt_launch *launch);
/* Of bytes that ll_make gave on this kind of machine. NULL: *error says why. */
ll_code *ll_load(rg_str bytes, str *error);
ll_entry *ll_code_entry(const ll_code *code);
/* Of code in warps: its entry is void(rt_gpu_launch *, const rt_arg *). */
const ll_gpu_info *ll_code_gpu(const ll_code *code);
void ll_code_free(ll_code *code); /* takes NULL */

extern const char ll_entry_name[]; /* what ll_make calls the kernel */

#endif

/* What a launch needs of the GPU, told from the kernel and its arguments: warps, and memory of the pool.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RT_DRIVER_NEEDS_H
#define RT_DRIVER_NEEDS_H

#include "base/bytes.h"
#include "ir/ir.h"
#include "rt/abi.h"

/* What bounds and extents are computed from: numbers, scalar arguments, extents of arrays, and operations on them; each
 * follows its operands. */
typedef struct rt_need_value {
    uint16_t code; /* rg_op; RG_OP_COUNT: a scalar parameter */
    uint8_t operand, result, nargs;
    uint32_t at[3]; /* operands; of extent: the parameter and the axis; of a parameter: its number */
    uint64_t bits;  /* const */
    const ir_value *of; /* while they are made */
} rt_need_value;

typedef struct rt_need_loop {
    uint32_t rank;
    bool grouped;                      /* a thread is a lane of a warp, not a whole warp */
    uint32_t lo[RT_RANK], hi[RT_RANK]; /* numbers of values */
} rt_need_loop;

typedef struct rt_need_temp {
    uint32_t rank, extent[RT_RANK]; /* numbers of values */
    uint64_t bytes;                 /* of an element, in all planes */
} rt_need_temp;

typedef enum rt_need_tape {
    RT_TAPE_NONE,
    RT_TAPE_SOME, /* a launch that finds too little goes on: it drops frames, or runs pieces again, one after the other */
    RT_TAPE_ALL   /* it cannot: all of the budget has to be at hand */
} rt_need_tape;

typedef struct rt_needs {
    vec(rt_need_value) values;
    vec(rt_need_loop) loops;
    vec(rt_need_temp) temps;
    rt_need_tape tape;
    uint32_t sums;       /* at most so many reductions in a loop */
    bool unknown_loop;   /* some loop's bounds are known to the device alone */
    bool unknown_temp;   /* the same of a temporary array */
} rt_needs;

/* Of a kernel at the stage that code is made from. */
void rt_needs_make(rt_needs *needs, const ir_fn *fn);
void rt_needs_free(rt_needs *needs);
void rt_needs_write(const rt_needs *needs, str *out);
/* Of a kernel with so many parameters. What is damaged the reader tells; `needs` has an owner already. */
void rt_needs_read(bytes_reader *r, uint32_t nparams, rt_needs *needs);

/* The warps that the loop with the most pieces can use; at most `most`. The bytes of all temporary arrays: UINT64_MAX if
 * only the device knows. */
typedef struct rt_need {
    uint32_t warps;
    uint64_t temps;
} rt_need;
rt_need rt_needs_of(const rt_needs *needs, const rt_arg *args, uint32_t most);

#endif

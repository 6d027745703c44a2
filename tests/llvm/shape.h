/* Random programs of loads, stores and selects under masks, in LLVM's IR. SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_LLVM_SHAPE_H
#define TESTS_LLVM_SHAPE_H

#include "base/base.h"

#include <llvm-c/Core.h>

enum {
    SHAPE_STEPS = 12,
    SHAPE_MEMORY = 128, /* elements */
    SHAPE_LANES = 16,   /* at most */
    SHAPE_VALUES = 4,
    SHAPE_MASKS = 3,
    SHAPE_TURNS = 40, /* of a loop, at most */
    SHAPE_OUT = (SHAPE_STEPS + SHAPE_VALUES + SHAPE_MASKS) * SHAPE_LANES + SHAPE_TURNS
};

typedef enum shape_type { SHAPE_F32, SHAPE_F64, SHAPE_I8, SHAPE_I32, SHAPE_I64, SHAPE_TYPES } shape_type;

typedef enum shape_kind {
    STEP_LOAD,
    STEP_STORE,
    STEP_BLEND,
    STEP_EXCHANGE, /* load, store, and a blend of what was loaded */
    STEP_MASK,
    STEP_ADD,
    STEP_OUT,
    STEP_LOOP, /* n times what follows, up to the next end */
    STEP_IF,   /* if a bit is set */
    STEP_END,
    STEP_EVERY, /* a load, a store and a select: each of shape_every's */
    STEP_KINDS
} shape_kind;

typedef struct shape_step {
    shape_kind kind;
    uint64_t choice; /* what it does in detail; each detail takes some bits of it */
} shape_step;

/* Lanes 0: what one thread of a GPU does, or a loop of plain C; `calls`: its accesses under masks are calls of load_if
 * and store_if, as opaque to LLVM as the text that we emit for NVIDIA's GPUs. `apart`: values and masks are made anew in
 * each turn of a loop, so that LLVM may make vectors of its turns. */
typedef struct shape {
    shape_type type;
    unsigned lanes, n;
    bool calls, apart;
    shape_step steps[SHAPE_STEPS];
} shape;

/* Each way to have a load of one of five kinds, a store of one of five kinds and a select of what was loaded follow one
 * another, by number: in vectors of 8 and 16 lanes, alone and in a loop. */
enum { SHAPE_EVERY = 12 * 5 * 5 * 3 * 6 * 3 * 3 * 2 };
void shape_every(shape *s, uint64_t number);
void shape_random(shape *s, uint64_t *state);
uint64_t shape_number(uint64_t *state);
unsigned shape_bytes(shape_type type);
/* void NAME(ptr memory, ptr out, ptr where, i64 bits, i64 n): `where` holds SHAPE_LANES numbers of elements up to
 * SHAPE_LANES * 2, bits the masks, n the turns of loops. */
LLVMValueRef shape_function(const shape *s, LLVMModuleRef module, const char *name);
/* what `calls` call, with bodies: to be added when passes are done */
void shape_add_helpers(LLVMModuleRef module, bool bodies);

#endif

/* Rows of a slot become its columns. SPDX-License-Identifier: Apache-2.0
 *
 * n vectors of n elements, in two kinds of steps, each of which processors have for vectors of any length: within blocks of 16 bytes
 * the elements of two vectors are dealt out by turns, then blocks are picked by turns from two vectors.
 *
 *   a0 a1 a2 a3 | a4 a5 a6 a7        a0 b0 c0 d0 | a4 b4 c4 d4        a0 b0 c0 d0 | e0 f0 g0 h0
 *   b0 b1 b2 b3 | b4 b5 b6 b7   ->   a1 b1 c1 d1 | a5 b5 c5 d5   ->   a1 b1 c1 d1 | e1 f1 g1 h1
 *   ..          |                    ..          |                    ..          | */
#include "codegen/llvm/gen.h"

enum { BLOCK = 16, MOST = 64 };

typedef struct turn {
    gen *g;
    unsigned n, block; /* elements of a vector, of a block */
    unsigned lanes, align;
    LLVMValueRef slot, v[MOST];
    LLVMTypeRef element;
} turn;

static LLVMValueRef
shuffle(const turn *t, LLVMValueRef x, LLVMValueRef y, const unsigned *which)
{
    LLVMValueRef numbers[MOST];
    for (unsigned i = 0; i < t->n; i++)
        numbers[i] = gen_i32(t->g, which[i]);
    return LLVMBuildShuffleVector(t->g->b, x, y, LLVMConstVector(numbers, t->n), "");
}

/* of each block's lower or upper half, element by element from x and y */
static LLVMValueRef
deal(const turn *t, LLVMValueRef x, LLVMValueRef y, bool upper)
{
    unsigned which[MOST];
    for (unsigned i = 0; i < t->n; i++)
        which[i] = i / t->block * t->block + (upper ? t->block / 2 : 0) + i % t->block / 2 + (i % 2 ? t->n : 0);
    return shuffle(t, x, y, which);
}

/* the even or odd blocks of x, then those of y */
static LLVMValueRef
pick(const turn *t, LLVMValueRef x, LLVMValueRef y, bool odd)
{
    unsigned which[MOST], half = t->n / t->block / 2;
    for (unsigned i = 0; i < t->n; i++) {
        unsigned to = i / t->block;
        which[i] = (to % half * 2 + odd) * t->block + i % t->block + (to < half ? 0 : t->n);
    }
    return shuffle(t, x, y, which);
}

/* The vectors of each block of rows: x and y from both halves, next to each other afterwards. */
static void
deal_all(turn *t)
{
    LLVMValueRef was[MOST];
    unsigned half = t->block / 2;
    memcpy(was, t->v, sizeof was);
    for (unsigned i = 0; i < t->n; i += t->block)
        for (unsigned k = 0; k < half; k++)
            for (unsigned upper = 0; upper < 2; upper++)
                t->v[i + 2 * k + upper] = deal(t, was[i + k], was[i + k + half], upper);
}

/* Those of the same place in the blocks of rows: x and y next to each other, in both halves afterwards. */
static void
pick_all(turn *t)
{
    LLVMValueRef was[MOST];
    unsigned blocks = t->n / t->block;
    memcpy(was, t->v, sizeof was);
    for (unsigned i = 0; i < t->block; i++)
        for (unsigned k = 0; k < blocks / 2; k++)
            for (unsigned odd = 0; odd < 2; odd++)
                t->v[(k + odd * blocks / 2) * t->block + i] =
                    pick(t, was[2 * k * t->block + i], was[(2 * k + 1) * t->block + i], odd);
}

static void
turn_square(turn *t)
{
    for (unsigned k = 1; k < t->block; k *= 2)
        deal_all(t);
    for (unsigned k = t->block; k < t->n; k *= 2)
        pick_all(t);
}

/* -- squares in a slot ---------------------------------------------------------------------------------------------- */

/* where a square's row i is, the square at (row, column) */
static LLVMValueRef
place(const turn *t, unsigned row, unsigned column, unsigned i)
{
    LLVMValueRef index = gen_i64(t->g, (row + i) * t->lanes + column);
    return LLVMBuildInBoundsGEP2(t->g->b, t->element, t->slot, &index, 1, "");
}

static void
load_square(turn *t, unsigned row, unsigned column)
{
    for (unsigned i = 0; i < t->n; i++) {
        t->v[i] = LLVMBuildLoad2(t->g->b, LLVMVectorType(t->element, t->n), place(t, row, column, i), "");
        LLVMSetAlignment(t->v[i], t->align);
    }
    turn_square(t);
}

static void
store_square(const turn *t, unsigned row, unsigned column)
{
    for (unsigned i = 0; i < t->n; i++)
        LLVMSetAlignment(LLVMBuildStore(t->g->b, t->v[i], place(t, row, column, i)), t->align);
}

/* Squares of one register for each row; two that lie opposite to each other change places. */
void
gen_slot_turn(gen *g, const ir_op *op)
{
    const ir_value *slot = op->args[0];
    unsigned lanes = slot->type.lanes, bytes = ir_bytes((rg_dtype)slot->type.dtype);
    unsigned n = g->target->vector / bytes < lanes ? g->target->vector / bytes : lanes, block = BLOCK / bytes < n ? BLOCK / bytes : n;
    turn a = {.g = g, .n = n, .block = block, .lanes = lanes, .align = n * bytes, .slot = gen_get(g, slot)}, b;
    a.element = gen_memory_type(g, (rg_dtype)slot->type.dtype);
    b = a;
    for (unsigned row = 0; row < lanes; row += n)
        for (unsigned column = 0; column <= row; column += n) {
            load_square(&a, row, column);
            if (column < row) {
                load_square(&b, column, row);
                store_square(&b, row, column);
            }
            store_square(&a, column, row);
        }
}

/* Frames of a warp's tape. SPDX-License-Identifier: Apache-2.0
 *
 * They have the layout that a frame in RT_WARP lanes has: lane l of a field of n bytes at n * l, so that a warp writes
 * whole lines. What is the same in all lanes all write to one place. A frame's size is a multiple of 8 (ir_frame_bytes):
 * every number is aligned, as a GPU wants it. */
#include "codegen/llvm/gen.h"

#include "analysis/pages.h"
#include "rt/gpu/gpu.h"

/* -- pushes after pops ------------------------------------------------------------------------------- */

/* Pushes that come after a pop wait for all lanes. */

gen_some
gen_push_begin(gen *g, const ir_op *op)
{
    if (!g->target->warp)
        return (gen_some){0};
    if (!g->s->task)
        return gen_once_begin(g);
    if (!g->s->behind_pops)
        g->s->behind_pops = ir_pushes_behind_pops(g->s->region, g->scratch);
    if (g->s->behind_pops[op->results[0]->id])
        gen_warp_sync(g);
    return (gen_some){0};
}

/* -- fields --------------------------------------------------------------------------------------------- */

static LLVMTypeRef
field_type(gen *g, const ir_value *v)
{
    bool number = v->type.kind == IR_SCALAR || v->type.kind == IR_SLOT;
    return gen_is_mask(v) ? g->i32 : number ? gen_memory_type(g, (rg_dtype)v->type.dtype) : g->ptr;
}

/* of element k, in this lane */
static LLVMValueRef
place_in_frame(gen *g, const ir_value *v, LLVMValueRef field, LLVMValueRef k)
{
    LLVMValueRef lane = v->type.lanes && !gen_is_mask(v) ? gen_own_lane(g, g->i64) : NULL;
    if (k && lane)
        k = LLVMBuildNSWAdd(g->b, LLVMBuildNSWMul(g->b, k, gen_i64(g, RT_WARP), ""), lane, "");
    LLVMValueRef at = k ? k : lane;
    return at ? LLVMBuildInBoundsGEP2(g->b, field_type(g, v), field, &at, 1, "") : field;
}

/* natural alignment is what loads and stores have if nothing is said */
static LLVMValueRef
load_field(gen *g, const ir_value *v, LLVMValueRef field, LLVMValueRef k)
{
    return gen_mark_own(g, LLVMBuildLoad2(g->b, field_type(g, v), place_in_frame(g, v, field, k), ""));
}

static void
store_field(gen *g, const ir_value *v, LLVMValueRef field, LLVMValueRef k, LLVMValueRef value)
{
    gen_mark_own(g, LLVMBuildStore(g->b, value, place_in_frame(g, v, field, k)));
}

enum { STRAIGHT_MAX = 8 }; /* elements that are copied without a loop */

static void
copy_element(gen *g, const ir_value *slot, LLVMValueRef own, LLVMValueRef frame, bool push, LLVMValueRef k)
{
    LLVMTypeRef type = field_type(g, slot);
    LLVMValueRef mine = LLVMBuildInBoundsGEP2(g->b, type, own, &k, 1, "");
    if (push)
        store_field(g, slot, frame, k, LLVMBuildLoad2(g->b, type, mine, ""));
    else
        LLVMBuildStore(g->b, load_field(g, slot, frame, k), mine);
}

void
gen_slot_in_frame(gen *g, const ir_value *slot, LLVMValueRef own, LLVMValueRef frame, bool push)
{
    if (slot->type.length > STRAIGHT_MAX) {
        counted c = gen_counted_begin(g, NULL, gen_i64(g, 0), gen_i64(g, slot->type.length), 0, NULL);
        copy_element(g, slot, own, frame, push, c.at);
        gen_counted_end(g, &c, NULL);
        return;
    }
    for (uint32_t k = 0; k < slot->type.length; k++)
        copy_element(g, slot, own, frame, push, gen_i64(g, k));
}

void
gen_push_own(gen *g, const ir_value *v, LLVMValueRef to)
{
    LLVMValueRef value = gen_get(g, v);
    if (v->type.kind == IR_SLOT)
        gen_slot_in_frame(g, v, value, to, true);
    else if (gen_is_mask(v))
        store_field(g, v, to, NULL, gen_mask_bits(g, value));
    else
        store_field(g, v, to, NULL, v->type.kind == IR_SCALAR ? gen_to_memory(g, (rg_dtype)v->type.dtype, value) : value);
}

void
gen_pop_own(gen *g, const ir_value *v, LLVMValueRef from)
{
    LLVMValueRef field = load_field(g, v, from, NULL);
    if (gen_is_mask(v))
        field = gen_mask_of_bits(g, field, v->type.lanes);
    else if (v->type.kind == IR_SCALAR)
        field = gen_from_memory(g, (rg_dtype)v->type.dtype, field);
    else
        field = gen_global(g, g->b, field);
    gen_set(g, v, field);
}

/* -- frames in a thread's own memory ----------------------------------------------------------------------
 * Where all that a thread records is known to be little (ir_tape_is_own). A frame's fields follow one another in their order,
 * each as large as the largest of all: a GPU reads no number that is not aligned. */

void
gen_own_frames_begin(gen *g, const ir_op *op, uint32_t bytes, uint32_t unit)
{
    LLVMValueRef frames = gen_alloca(g, LLVMArrayType2(g->i8, bytes), NULL, "frames");
    gen_align(frames, 8);
    g->s->own_unit = unit;
    gen_set(g, op->results[0], frames);
}

static LLVMValueRef
own_place(gen *g, LLVMValueRef cursor, int64_t fields)
{
    LLVMValueRef by = gen_i64(g, fields * g->s->own_unit);
    return LLVMBuildInBoundsGEP2(g->b, g->i8, cursor, &by, 1, "");
}

void
gen_push_own_frame(gen *g, const ir_op *op, LLVMValueRef cursor)
{
    uint32_t n = op->nargs - 1;
    for (uint32_t i = 0; i < n; i++) {
        const ir_value *v = op->args[1 + i];
        LLVMBuildStore(g->b, gen_to_memory(g, (rg_dtype)v->type.dtype, gen_get(g, v)), own_place(g, cursor, i));
    }
    gen_set(g, op->results[0], own_place(g, cursor, n));
}

void
gen_pop_own_frame(gen *g, const ir_op *op, LLVMValueRef cursor)
{
    uint32_t n = op->nresults - 1;
    cursor = own_place(g, cursor, -(int64_t)n);
    for (uint32_t i = 0; i < n; i++) {
        const ir_value *v = op->results[1 + i];
        LLVMValueRef field = LLVMBuildLoad2(g->b, gen_memory_type(g, (rg_dtype)v->type.dtype), own_place(g, cursor, i), "");
        gen_set(g, v, gen_from_memory(g, (rg_dtype)v->type.dtype, field));
    }
    gen_set(g, op->results[0], cursor);
}

/* Local arrays: slots on the stack, large ones in the worker's scratch memory; constant tables.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codegen/llvm/nvidia.h"

/* bytes: of a slot's alignment at most; of the largest store of a GPU's thread; that LLVM sets to 0 in a loop there */
enum { ALIGNED_TO = 64, PIECE = 16, SET_IN_LOOP = 128 };
enum { CHOSEN_MAX = 8, COPY_IS_VOLATILE = 3 /* operand of LLVM's memcpy */ };

/* an element in all of its lanes; bools in lanes are bytes here */
static LLVMTypeRef
slot_element_type(gen *g, const ir_value *slot)
{
    return gen_in_lanes(g, gen_memory_type(g, (rg_dtype)slot->type.dtype), slot->type.lanes);
}

/* A GPU's threads have slots of their own, also where these are the same in all lanes. */
static unsigned
slot_element_bytes(const gen *g, const ir_value *slot)
{
    unsigned lanes = slot->type.lanes && !g->target->warp ? slot->type.lanes : 1;
    return ir_bytes((rg_dtype)slot->type.dtype) * lanes;
}

static int64_t
slot_bytes(const gen *g, const ir_value *slot)
{
    return (int64_t)slot->type.length * slot_element_bytes(g, slot);
}

/* of an element, in a slot of our own */
static unsigned
alignment(const gen *g, const ir_value *slot)
{
    unsigned bytes = slot_element_bytes(g, slot);
    return bytes < ALIGNED_TO ? bytes : ALIGNED_TO;
}

static LLVMTypeRef
slot_type(gen *g, const ir_value *slot)
{
    return LLVMArrayType2(slot_element_type(g, slot), slot->type.length);
}

/* A table is a constant of the module; every function that names it uses the same one. */
void
gen_table(gen *g, const ir_op *op)
{
    const ir_value *v = op->results[0];
    rg_dtype d = (rg_dtype)v->type.dtype;
    char name[96]; /* of math functions there are several in one module */
    snprintf(name, sizeof name, "%.64s.table.%u", g->ir->name, v->id);
    LLVMValueRef global = LLVMGetNamedGlobal(g->module, name);
    if (!global) {
        LLVMValueRef data =
            LLVMConstStringInContext2(g->context, op->attr.data, (size_t)slot_bytes(g, v), true);
        global = gen_constant(g, LLVMTypeOf(data), name);
        LLVMSetInitializer(global, data);
        LLVMSetLinkage(global, LLVMInternalLinkage);
        LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
        LLVMSetAlignment(global, ir_bytes(d) < 16 ? 16 : ir_bytes(d));
    }
    gen_set(g, v, gen_address(g, global));
}

/* Large slots take their parts of one block, asked for once per task. */
static LLVMValueRef
scratch_slot(gen *g, int64_t bytes)
{
    scope *s = g->s;
    gen_worker(g);
    LLVMValueRef at = gen_i64(g, s->scratch_used);
    s->scratch_used += (bytes + 63) & ~(int64_t)63;
    if (!s->scratch) {
        LLVMValueRef args[2] = {s->worker, gen_i64(g, 0)}; /* the size is set when it is known */
        s->scratch = gen_runtime_call(g, s->top, "rt_cpu_scratch", g->ptr, 2, args);
    }
    LLVMSetOperand(s->scratch, 1, gen_i64(g, s->scratch_used));
    return LLVMBuildInBoundsGEP2(s->top, g->i8, s->scratch, &at, 1, "slot");
}

void
gen_slot(gen *g, const ir_op *op)
{
    const ir_value *slot = op->results[0];
    int64_t bytes = slot_bytes(g, slot);
    LLVMValueRef at;
    bool large = bytes > SCRATCH_FROM || g->s->stack_used + bytes > STACK_SLOTS_MAX;
    if (large && !g->target->warp) {
        at = scratch_slot(g, bytes);
    } else {
        g->s->stack_used += bytes;
        at = gen_alloca(g, slot_type(g, slot), NULL, "slot");
        unsigned align = bytes >= 32 ? 32 : 16;
        gen_align(at, !slot->type.lanes ? align : gen_for_nvidia(g) && bytes >= PIECE ? PIECE : alignment(g, slot));
    }
    gen_set(g, slot, at);
}

static LLVMValueRef
slot_element(gen *g, const ir_op *op)
{
    const ir_value *slot = op->args[0];
    LLVMValueRef index = gen_index(g, op->args[1]);
    return LLVMBuildInBoundsGEP2(g->b, slot_element_type(g, slot), gen_get(g, slot), &index, 1, "");
}

/* In lanes of one subscript: an access of all may become a register's, so where the element is there for
 * sure the mask only chooses what it holds. */
static bool
is_element_there(const ir_op *op)
{
    uint64_t at;
    return ir_is_const(op->args[1], &at) && at < op->args[0]->type.length;
}

static gen_reach
slot_reach(gen *g, const ir_op *op)
{
    const ir_value *slot = op->args[0], *subscript = op->args[1];
    unsigned lanes = slot->type.lanes;
    gen_reach r = {.dtype = (rg_dtype)slot->type.dtype, .lanes = ir_lanes_of(op), .mask = gen_mask_of(g, op)};
    if (!subscript->type.lanes) {
        r.at = slot_element(g, op);
        r.align = alignment(g, slot);
        return r;
    }
    r.at = gen_get(g, slot);
    r.offsets = gen_wide_lanes(g, subscript);
    if (lanes && !g->target->warp) {
        LLVMValueRef by = gen_int_like(r.offsets, lanes), own = gen_lane_numbers(g, g->i64, lanes);
        r.offsets = LLVMBuildNSWAdd(g->b, LLVMBuildNSWMul(g->b, r.offsets, by, ""), own, "");
    }
    return r;
}

/* Lanes choose among the elements of a short slot: all of these may be registers then. */
static bool
is_chosen_by_lanes(const ir_op *op)
{
    const ir_value *slot = op->args[0];
    return slot->type.kind == IR_SLOT && slot->type.lanes && op->args[1]->type.lanes && slot->type.length <= CHOSEN_MAX;
}

static gen_reach
whole_element(gen *g, const ir_value *slot, uint32_t k)
{
    LLVMValueRef index = gen_i64(g, k);
    gen_reach r = {.dtype = (rg_dtype)slot->type.dtype, .lanes = slot->type.lanes, .align = alignment(g, slot)};
    r.at = LLVMBuildInBoundsGEP2(g->b, slot_element_type(g, slot), gen_get(g, slot), &index, 1, "");
    return r;
}

/* one of n elements from the kth on, by the subscript's bits */
static LLVMValueRef
choose_among(gen *g, const ir_op *op, uint32_t k, uint32_t n)
{
    if (n == 1) {
        gen_reach r = whole_element(g, op->args[0], k);
        return gen_load_reach(g, &r);
    }
    uint32_t half = 1;
    while (2 * half < n)
        half *= 2;
    LLVMValueRef lower = choose_among(g, op, k, half), upper = choose_among(g, op, k + half, n - half);
    LLVMValueRef index = gen_get(g, op->args[1]), bit = LLVMBuildAnd(g->b, index, gen_int_like(index, half), "");
    bit = LLVMBuildICmp(g->b, LLVMIntNE, bit, LLVMConstNull(LLVMTypeOf(bit)), "");
    return LLVMBuildSelect(g->b, bit, upper, lower, "");
}

static LLVMValueRef
choose_element(gen *g, const ir_op *op)
{
    LLVMValueRef mask = gen_mask_of(g, op), v = choose_among(g, op, 0, op->args[0]->type.length);
    return mask ? LLVMBuildSelect(g->b, mask, v, LLVMConstNull(LLVMTypeOf(v)), "") : v;
}

static void
set_chosen(gen *g, const ir_op *op)
{
    const ir_value *slot = op->args[0];
    LLVMValueRef mask = gen_mask_of(g, op), v = gen_get_in_lanes(g, op->args[2], slot->type.lanes);
    for (uint32_t k = 0; k < slot->type.length; k++) {
        gen_reach r = whole_element(g, slot, k);
        LLVMValueRef index = gen_get(g, op->args[1]);
        LLVMValueRef here = LLVMBuildICmp(g->b, LLVMIntEQ, index, gen_int_like(index, k), "");
        here = mask ? LLVMBuildAnd(g->b, here, mask, "") : here;
        gen_store_reach(g, &r, LLVMBuildSelect(g->b, here, v, gen_load_reach(g, &r), ""));
    }
}

void
gen_slot_load(gen *g, const ir_op *op)
{
    rg_dtype d = (rg_dtype)op->args[0]->type.dtype;
    if (is_chosen_by_lanes(op)) {
        gen_set(g, op->results[0], choose_element(g, op));
        return;
    }
    if (ir_lanes_of(op)) {
        gen_reach r = slot_reach(g, op);
        LLVMValueRef taken = r.offsets || !is_element_there(op) ? NULL : r.mask;
        r.mask = taken ? NULL : r.mask;
        LLVMValueRef v = gen_load_reach(g, &r);
        gen_set(g, op->results[0], taken ? LLVMBuildSelect(g->b, taken, v, LLVMConstNull(LLVMTypeOf(v)), "") : v);
        return;
    }
    LLVMValueRef load = LLVMBuildLoad2(g->b, gen_memory_type(g, d), slot_element(g, op), "");
    gen_set(g, op->results[0], gen_from_memory(g, d, load));
}

void
gen_slot_store(gen *g, const ir_op *op)
{
    rg_dtype d = (rg_dtype)op->args[0]->type.dtype;
    if (is_chosen_by_lanes(op)) {
        set_chosen(g, op);
        return;
    }
    if (ir_lanes_of(op)) {
        gen_reach r = slot_reach(g, op);
        LLVMValueRef v = gen_get_in_lanes(g, op->args[2], r.lanes);
        LLVMValueRef taken = r.offsets || !is_element_there(op) ? NULL : r.mask;
        if (taken) {
            r.mask = NULL;
            v = LLVMBuildSelect(g->b, taken, v, gen_load_reach(g, &r), "");
        }
        gen_store_reach(g, &r, v);
        return;
    }
    LLVMBuildStore(g->b, gen_to_memory(g, d, gen_get(g, op->args[2])), slot_element(g, op));
}

void
gen_slot_copy(gen *g, const ir_op *op)
{ /* from a table, a slot or a frame on the tape, which has no alignment */
    LLVMValueRef to = gen_get(g, op->args[0]), from = gen_get(g, op->args[1]);
    const ir_op *made = op->args[1]->def;
    if (g->target->warp && made && made->code == RG_OP_TAPE_POP) {
        gen_slot_in_frame(g, op->args[0], to, from, false);
        return;
    }
    LLVMValueRef bytes = gen_i64(g, slot_bytes(g, op->args[0]));
    LLVMValueRef copy = LLVMBuildMemCpy(g->b, to, alignment(g, op->args[0]), from, 1, bytes);
    /* else LLVM 22 takes the table for the slot where that is only read, but in the memory of slots */
    if (gen_for_nvidia(g) && made && made->code == RG_OP_TABLE)
        LLVMSetOperand(copy, COPY_IS_VOLATILE, LLVMConstInt(g->i1, 1, false));
}

/* What LLVM would do byte by byte. */
static void
zero_in_pieces(gen *g, LLVMValueRef at, int64_t bytes)
{
    LLVMTypeRef piece = LLVMVectorType(g->i32, PIECE / 4);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b), body = gen_block(g, "zero"), after = gen_block(g, "zeroed");
    LLVMBuildBr(g->b, body);
    LLVMPositionBuilderAtEnd(g->b, body);
    LLVMValueRef offset = LLVMBuildPhi(g->b, g->i64, "");
    LLVMValueRef store = LLVMBuildStore(g->b, LLVMConstNull(piece), LLVMBuildInBoundsGEP2(g->b, g->i8, at, &offset, 1, ""));
    LLVMSetAlignment(store, PIECE);
    LLVMValueRef next = LLVMBuildAdd(g->b, offset, gen_i64(g, PIECE), "");
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntULT, next, gen_i64(g, bytes), ""), body, after);
    LLVMAddIncoming(offset, (LLVMValueRef[]){gen_i64(g, 0), next}, (LLVMBasicBlockRef[]){before, body}, 2);
    LLVMPositionBuilderAtEnd(g->b, after);
}

void
gen_slot_zero(gen *g, const ir_op *op)
{
    int64_t bytes = slot_bytes(g, op->args[0]), pieces = bytes / PIECE * PIECE;
    if (gen_for_nvidia(g) && bytes >= SET_IN_LOOP) {
        LLVMValueRef rest = gen_i64(g, pieces);
        zero_in_pieces(g, gen_get(g, op->args[0]), pieces);
        if (bytes > pieces)
            LLVMBuildMemSet(g->b, LLVMBuildInBoundsGEP2(g->b, g->i8, gen_get(g, op->args[0]), &rest, 1, ""), LLVMConstNull(g->i8),
                            gen_i64(g, bytes - pieces), alignment(g, op->args[0]));
        return;
    }
    LLVMBuildMemSet(g->b, gen_get(g, op->args[0]), LLVMConstNull(g->i8),
                    gen_i64(g, slot_bytes(g, op->args[0])), alignment(g, op->args[0]));
}

/* Read-modify-write of an element: plain where one thread runs, else atomic.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codegen/llvm/nvidia.h"

#include <math.h>

LLVMValueRef
gen_combine(gen *g, rg_rmw how, rg_dtype d, LLVMValueRef old, LLVMValueRef value)
{
    if (how == RG_RMW_EXCHANGE || how == RG_RMW_CAS)
        return value;
    return gen_scalar(g, ir_combining(how), d, d, (LLVMValueRef[3]){old, value});
}

LLVMValueRef
gen_reduce_identity(gen *g, rg_rmw how, rg_dtype d)
{
    return gen_const(g, d, ir_identity(d, how));
}

/* a float as the integer of its width, which compare-exchange takes */
static LLVMValueRef
as_bits(gen *g, rg_dtype d, LLVMValueRef v)
{
    if (!ir_is_float(d))
        return gen_to_memory(g, d, v);
    return LLVMBuildBitCast(g->b, v, LLVMIntTypeInContext(g->context, ir_bits(d)), "");
}

static LLVMValueRef
value_of_rmw_bits(gen *g, rg_dtype d, LLVMValueRef v)
{
    if (!ir_is_float(d))
        return gen_from_memory(g, d, v);
    return LLVMBuildBitCast(g->b, v, gen_type(g, d), "");
}

/* what a compare-exchange expects */
static const ir_value *
compared(const ir_op *op)
{
    return op->args[op->nargs - (op->masked ? 2 : 1)];
}

static LLVMValueRef
compare_exchange(gen *g, const ir_op *op, LLVMValueRef address, LLVMValueRef expected,
                 LLVMValueRef desired)
{
    LLVMValueRef pair =
        LLVMBuildAtomicCmpXchg(g->b, address, expected, desired, LLVMAtomicOrderingMonotonic,
                               LLVMAtomicOrderingMonotonic, false);
    gen_mark_alias(g, pair, op);
    return pair;
}

/* read, compute, compare-exchange until nobody came between */
static LLVMValueRef
exchange_loop(gen *g, const ir_op *op, rg_dtype d, LLVMValueRef address, LLVMValueRef value)
{
    LLVMTypeRef bits = LLVMIntTypeInContext(g->context, ir_bytes(d) * 8);
    LLVMValueRef first = LLVMBuildLoad2(g->b, bits, address, "");
    LLVMSetOrdering(first, LLVMAtomicOrderingMonotonic);
    LLVMSetAlignment(first, ir_bytes(d));
    gen_mark_alias(g, first, op);
    LLVMBasicBlockRef before = gen_here(g), loop = gen_block(g, "exchange"),
                      after = gen_block(g, "exchanged");
    LLVMBuildBr(g->b, loop);
    gen_at(g, loop);
    LLVMValueRef seen = LLVMBuildPhi(g->b, bits, "");
    LLVMValueRef old = value_of_rmw_bits(g, d, seen);
    LLVMValueRef desired = as_bits(g, d, gen_combine(g, (rg_rmw)op->rmw, d, old, value));
    LLVMValueRef pair = compare_exchange(g, op, address, seen, desired);
    LLVMValueRef found = LLVMBuildExtractValue(g->b, pair, 0, "");
    LLVMBasicBlockRef end = gen_here(g);
    LLVMBuildCondBr(g->b, LLVMBuildExtractValue(g->b, pair, 1, ""), after, loop);
    LLVMAddIncoming(seen, (LLVMValueRef[]){first, found}, (LLVMBasicBlockRef[]){before, end}, 2);
    gen_at(g, after);
    return old;
}

/* the instruction for it, if there is one with our meaning */
static bool
atomic_instruction(rg_rmw how, rg_dtype d, LLVMAtomicRMWBinOp *out)
{
    static const struct {
        bool ok;
        LLVMAtomicRMWBinOp of_signed, of_unsigned;
    } table[RG_RMW_COUNT] = {
        [RG_RMW_ADD] = {true, LLVMAtomicRMWBinOpAdd, LLVMAtomicRMWBinOpAdd},
        [RG_RMW_MIN] = {true, LLVMAtomicRMWBinOpMin, LLVMAtomicRMWBinOpUMin},
        [RG_RMW_MAX] = {true, LLVMAtomicRMWBinOpMax, LLVMAtomicRMWBinOpUMax},
        [RG_RMW_AND] = {true, LLVMAtomicRMWBinOpAnd, LLVMAtomicRMWBinOpAnd},
        [RG_RMW_OR] = {true, LLVMAtomicRMWBinOpOr, LLVMAtomicRMWBinOpOr},
        [RG_RMW_XOR] = {true, LLVMAtomicRMWBinOpXor, LLVMAtomicRMWBinOpXor},
        [RG_RMW_EXCHANGE] = {true, LLVMAtomicRMWBinOpXchg, LLVMAtomicRMWBinOpXchg},
    };
    bool logic =
        how == RG_RMW_AND || how == RG_RMW_OR || how == RG_RMW_XOR || how == RG_RMW_EXCHANGE;
    if (how == RG_RMW_ADD && (d == RG_F32 || d == RG_F64)) {
        *out = LLVMAtomicRMWBinOpFAdd;
        return true;
    }
    *out = ir_is_signed(d) ? table[how].of_signed : table[how].of_unsigned;
    return table[how].ok && !ir_is_float(d) && (d != RG_BOOL || logic);
}

bool
gen_is_tried(const ir_op *op)
{
    LLVMAtomicRMWBinOp code;
    if (op->code != RG_OP_RMW || !op->atomic)
        return false;
    rg_dtype d = (rg_dtype)op->args[0]->type.dtype;
    return ir_bytes(d) < 4 || (op->rmw != RG_RMW_CAS && !atomic_instruction((rg_rmw)op->rmw, d, &code));
}

LLVMValueRef
gen_atomic_rmw(gen *g, const ir_op *op, rg_dtype d, LLVMValueRef address, LLVMValueRef value)
{
    LLVMAtomicRMWBinOp code;
    if (op->rmw == RG_RMW_ADD && !op->nresults && gen_adds_unseen(g, d)) {
        gen_reach r = {.dtype = d, .access = op};
        gen_add_unseen(g, &r, address, value);
        return LLVMConstNull(gen_type(g, d));
    }
    if (op->rmw == RG_RMW_CAS) {
        LLVMValueRef expected = as_bits(g, d, gen_get(g, compared(op)));
        LLVMValueRef pair = compare_exchange(g, op, address, expected, as_bits(g, d, value));
        return value_of_rmw_bits(g, d, LLVMBuildExtractValue(g->b, pair, 0, ""));
    }
    if (!atomic_instruction((rg_rmw)op->rmw, d, &code))
        return exchange_loop(g, op, d, address, value);
    /* an exchange says that something else is there to be read, or may be written: memory has an order around it */
    LLVMAtomicOrdering order =
        op->rmw == RG_RMW_EXCHANGE ? LLVMAtomicOrderingAcquireRelease : LLVMAtomicOrderingMonotonic;
    LLVMValueRef old = LLVMBuildAtomicRMW(g->b, code, address, gen_to_memory(g, d, value), order, false);
    gen_mark_alias(g, old, op);
    return gen_from_memory(g, d, old);
}

LLVMValueRef
gen_new_value(gen *g, const ir_op *op, rg_dtype d, LLVMValueRef old, LLVMValueRef value)
{
    if (op->rmw != RG_RMW_CAS)
        return gen_combine(g, (rg_rmw)op->rmw, d, old, value);
    LLVMValueRef expected = as_bits(g, d, gen_get(g, compared(op)));
    LLVMValueRef same = LLVMBuildICmp(g->b, LLVMIntEQ, as_bits(g, d, old), expected, "");
    return LLVMBuildSelect(g->b, same, value, old, "");
}

LLVMValueRef
gen_plain_rmw(gen *g, const ir_op *op, rg_dtype d, LLVMValueRef address, LLVMValueRef value)
{
    LLVMValueRef load = LLVMBuildLoad2(g->b, gen_memory_type(g, d), address, "");
    gen_mark_alias(g, load, op);
    LLVMValueRef old = gen_from_memory(g, d, load), new = gen_new_value(g, op, d, old, value);
    gen_mark_alias(g, LLVMBuildStore(g->b, gen_to_memory(g, d, new), address), op);
    return old;
}

bool
gen_is_alone(const gen *g)
{
    return g->options->alone || !g->s->task || g->s->single;
}

/* Whether other threads run is known when the task starts. */
LLVMValueRef
gen_several_workers(gen *g)
{
    scope *s = g->s;
    if (!s->atomic) {
        LLVMValueRef at = gen_i64(g, offsetof(rt_worker, atomic));
        at = LLVMBuildInBoundsGEP2(s->top, g->i8, s->worker, &at, 1, "");
        LLVMValueRef load = gen_invariant(g, LLVMBuildLoad2(s->top, g->i32, at, "atomic"));
        s->atomic = LLVMBuildICmp(s->top, LLVMIntNE, load, gen_i32(g, 0), "");
    }
    return s->atomic;
}

/* with the instruction that the number of workers asks for */
static LLVMValueRef
shared_rmw(gen *g, const ir_op *op, rg_dtype d, LLVMValueRef address, LLVMValueRef value)
{
    if (!op->atomic || gen_is_alone(g))
        return gen_plain_rmw(g, op, d, address, value);
    LLVMBasicBlockRef shared = gen_block(g, "atomic"), alone = gen_block(g, "alone"),
                      after = gen_block(g, "added"), ends[2];
    LLVMValueRef olds[2];
    LLVMBuildCondBr(g->b, gen_several_workers(g), shared, alone);
    gen_at(g, shared);
    olds[0] = gen_atomic_rmw(g, op, d, address, value);
    ends[0] = gen_here(g);
    LLVMBuildBr(g->b, after);
    gen_at(g, alone);
    olds[1] = gen_plain_rmw(g, op, d, address, value);
    ends[1] = gen_here(g);
    LLVMBuildBr(g->b, after);
    gen_at(g, after);
    LLVMValueRef old = LLVMBuildPhi(g->b, gen_type(g, d), "");
    LLVMAddIncoming(old, olds, ends, 2);
    return old;
}

void
gen_rmw(gen *g, const ir_op *op)
{
    rg_dtype d = (rg_dtype)op->args[0]->type.dtype;
    ir_value *result = op->nresults ? op->results[0] : NULL;
    if (ir_lanes_of(op)) {
        gen_rmw_lanes(g, op);
        return;
    }
    if (g->target->warp) {
        gen_rmw_same(g, op);
        return;
    }
    LLVMBasicBlockRef end = gen_private_add(g, op, NULL);
    gen_place at = gen_element(g, op, true);
    if (at.nothing) {
        if (result)
            gen_set(g, result, LLVMConstNull(gen_type(g, d)));
        return;
    }
    LLVMValueRef old = shared_rmw(g, op, d, at.address, gen_get(g, gen_value_of(op)));
    if (result && at.missing)
        old = LLVMBuildSelect(g->b, at.missing, LLVMConstNull(gen_type(g, d)), old, "");
    if (result)
        gen_set(g, result, old);
    if (end) {
        LLVMBuildBr(g->b, end);
        gen_at(g, end);
    }
}

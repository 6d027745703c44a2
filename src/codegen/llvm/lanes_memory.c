/* Elements of several lanes in memory. SPDX-License-Identifier: Apache-2.0
 *
 * The lanes' elements are neighbours, or each lies somewhere: then the part of the subscripts that is the
 * same in all lanes goes into the address, the other part into offsets. Memory of lanes that take no part
 * is not touched, wherever it may be. */
#include "codegen/llvm/gen.h"

/* -- masked instructions ----------------------------------------------------------------------- */

typedef struct masked_call {
    const char *name;
    LLVMTypeRef types[2];
    LLVMValueRef args[4];
    unsigned ntypes, nargs, place; /* place: number of the address among args */
} masked_call;

/* Up to LLVM 21 the alignment is an operand behind the address, since then an attribute of it. */
static LLVMValueRef
call_masked(gen *g, masked_call *c, unsigned align)
{
    unsigned id = LLVMLookupIntrinsicID(c->name, strlen(c->name));
    LLVMTypeRef type = LLVMIntrinsicGetType(g->context, id, c->types, c->ntypes);
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(g->module, id, c->types, c->ntypes);
    bool operand = LLVMCountParamTypes(type) > c->nargs;
    if (operand) {
        for (unsigned i = c->nargs++; i > c->place + 1; i--)
            c->args[i] = c->args[i - 1];
        c->args[c->place + 1] = gen_i32(g, align);
    }
    LLVMValueRef call = LLVMBuildCall2(g->b, type, fn, c->args, c->nargs, "");
    unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
    if (!operand)
        LLVMAddCallSiteAttribute(call, c->place + 1, LLVMCreateEnumAttribute(g->context, kind, align));
    return call;
}

static LLVMTypeRef
reach_type(gen *g, const gen_reach *r)
{
    return gen_in_lanes(g, gen_memory_type(g, r->dtype), r->lanes);
}

LLVMValueRef
gen_mark_reach(gen *g, const gen_reach *r, LLVMValueRef instruction)
{
    if (r->own)
        return gen_mark_own(g, instruction);
    if (r->access)
        gen_mark_alias(g, instruction, r->access);
    return instruction;
}

static LLVMValueRef
addresses(gen *g, const gen_reach *r)
{
    LLVMValueRef offsets = r->offsets;
    return LLVMBuildGEP2(g->b, gen_memory_type(g, r->dtype), r->at, &offsets, 1, "");
}

static LLVMValueRef
mask_or_all(gen *g, const gen_reach *r)
{
    return r->mask ? r->mask : gen_all_lanes(g, r->lanes);
}

LLVMValueRef
gen_load_reach(gen *g, const gen_reach *r)
{
    LLVMTypeRef type = reach_type(g, r);
    unsigned align = r->align ? r->align : ir_bytes(r->dtype);
    LLVMValueRef load;
    if (r->nothing)
        return LLVMConstNull(gen_in_lanes(g, gen_type(g, r->dtype), r->lanes));
    if (g->target->warp)
        return gen_load_own(g, r);
    if (r->offsets) {
        LLVMValueRef at = addresses(g, r);
        masked_call c = {.name = "llvm.masked.gather", .types = {type, LLVMTypeOf(at)}, .ntypes = 2,
                         .args = {at, mask_or_all(g, r), LLVMConstNull(type)}, .nargs = 3};
        load = call_masked(g, &c, align);
    } else if (r->mask) {
        masked_call c = {.name = "llvm.masked.load", .types = {type, g->ptr}, .ntypes = 2,
                         .args = {r->at, r->mask, LLVMConstNull(type)}, .nargs = 3};
        load = call_masked(g, &c, align);
    } else {
        load = LLVMBuildLoad2(g->b, type, r->at, "");
        LLVMSetAlignment(load, align);
    }
    return gen_from_memory(g, r->dtype, gen_mark_reach(g, r, load));
}

void
gen_store_reach(gen *g, const gen_reach *r, LLVMValueRef value)
{
    LLVMTypeRef type = reach_type(g, r);
    unsigned align = r->align ? r->align : ir_bytes(r->dtype);
    LLVMValueRef store;
    if (r->nothing)
        return;
    if (g->target->warp) {
        gen_store_own(g, r, value);
        return;
    }
    value = gen_to_memory(g, r->dtype, value);
    if (r->offsets) {
        LLVMValueRef at = addresses(g, r);
        masked_call c = {.name = "llvm.masked.scatter", .types = {type, LLVMTypeOf(at)}, .ntypes = 2,
                         .args = {value, at, mask_or_all(g, r)}, .nargs = 3, .place = 1};
        store = call_masked(g, &c, align);
    } else if (r->mask) {
        masked_call c = {.name = "llvm.masked.store", .types = {type, g->ptr}, .ntypes = 2,
                         .args = {value, r->at, r->mask}, .nargs = 3, .place = 1};
        store = call_masked(g, &c, align);
    } else {
        store = LLVMBuildStore(g->b, value, r->at);
        LLVMSetAlignment(store, align);
    }
    gen_mark_reach(g, r, store);
}

/* -- which elements ---------------------------------------------------------------------------- */

/* the sum of both; NULL: 0 */
typedef struct number {
    LLVMValueRef same, each;
} number;

static LLVMValueRef
add_numbers(gen *g, LLVMValueRef x, LLVMValueRef y)
{
    return !x ? y : !y ? x : LLVMBuildNSWAdd(g->b, x, y, "");
}

static LLVMValueRef
multiply_numbers(gen *g, LLVMValueRef x, LLVMValueRef by)
{
    return x ? LLVMBuildNSWMul(g->b, x, gen_splat(g, gen_width(x), by), "") : NULL;
}

static void
scale_number(gen *g, number *n, LLVMValueRef by)
{
    n->same = multiply_numbers(g, n->same, by);
    n->each = multiply_numbers(g, n->each, by);
}

/* Narrow numbers stay recognisable as such: gathers then take more of them at once. */
LLVMValueRef
gen_wide_lanes(gen *g, const ir_value *v)
{
    rg_dtype d = (rg_dtype)v->type.dtype;
    return gen_cast(g, d, ir_is_signed(d) ? RG_I64 : RG_U64, gen_get(g, v));
}

static number
element_number_of(gen *g, const ir_op *op, bool dense, unsigned lanes)
{
    const ir_value *buffer = op->args[0];
    uint32_t rank = buffer->type.kind == IR_BUFFER ? buffer->type.rank : 0;
    number sum = {0};
    for (uint32_t k = 0; k < rank; k++) {
        const ir_value *v = op->args[1 + k];
        number i = v->type.lanes ? (number){.each = gen_wide_lanes(g, v)} : (number){.same = gen_index(g, v)};
        if (op->successive && k + 1 == rank)
            i.each = add_numbers(g, i.each, gen_lane_numbers(g, g->i64, lanes));
        if (dense)
            scale_number(g, &sum, k ? gen_extent_of(g, buffer, k) : gen_i64(g, 1));
        else
            scale_number(g, &i, gen_stride_of(g, buffer, k));
        sum = (number){.same = add_numbers(g, sum.same, i.same), .each = add_numbers(g, sum.each, i.each)};
    }
    if (op->beside) {
        scale_number(g, &sum, gen_i64(g, op->beside));
        sum.same = add_numbers(g, sum.same, gen_i64(g, op->direction));
    }
    return sum;
}

/* whether a lane's element is the next one after that of the lane before */
static bool
are_neighbours(const ir_op *op, bool dense)
{
    for (uint32_t k = 0; k < op->args[0]->type.rank; k++)
        if (op->args[1 + k]->type.lanes)
            return false;
    return op->successive && dense && op->beside <= 1;
}

static void
reach_from(gen *g, const ir_op *op, gen_reach *r, LLVMTypeRef type, LLVMValueRef first, bool inbounds, bool dense)
{
    r->lanes = ir_lanes_of(op);
    r->mask = gen_mask_of(g, op);
    number n = element_number_of(g, op, dense, r->lanes);
    r->at = first;
    if (n.same)
        r->at = inbounds ? LLVMBuildInBoundsGEP2(g->b, type, first, &n.same, 1, "")
                         : LLVMBuildGEP2(g->b, type, first, &n.same, 1, "");
    if (g->target->warp) /* the thread's own element */
        r->offsets = n.each;
    else
        r->offsets = are_neighbours(op, dense) ? NULL
                     : n.each                  ? n.each
                                               : LLVMConstNull(LLVMVectorType(g->i64, r->lanes));
}

void
gen_reach_from(gen *g, const ir_op *op, gen_reach *r, LLVMTypeRef type, LLVMValueRef first, bool inbounds)
{
    reach_from(g, op, r, type, first, inbounds, true);
}

LLVMValueRef
gen_mask_of(gen *g, const ir_op *op)
{
    return op->masked ? gen_get(g, op->args[op->nargs - 1]) : NULL;
}

const ir_value *
gen_value_of(const ir_op *op)
{
    bool compares = op->code == RG_OP_RMW && op->rmw == RG_RMW_CAS;
    return op->args[op->nargs - 1 - op->masked - compares];
}

/* Neighbours of a plane that may be missing are those of a cell; other elements of it are masked. */
static void
maybe_missing(gen *g, gen_reach *r, LLVMValueRef base, bool writes)
{
    if (r->offsets || g->target->warp) {
        LLVMValueRef there = gen_splat(g, r->lanes, LLVMBuildIsNotNull(g->b, base, ""));
        r->mask = r->mask ? LLVMBuildAnd(g->b, r->mask, there, "") : there;
        return;
    }
    LLVMValueRef cell = writes ? gen_dropped_cell(g) : gen_zero_cell(g);
    r->at = LLVMBuildSelect(g->b, LLVMBuildIsNull(g->b, base, ""), cell, r->at, "");
}

gen_reach
gen_elements_of(gen *g, const ir_op *op, bool writes)
{
    const ir_value *buffer = op->args[0];
    presence known = gen_presence(g, buffer, op->plane);
    rg_dtype d = (rg_dtype)buffer->type.dtype;
    gen_reach r = {.dtype = d, .lanes = ir_lanes_of(op), .access = op, .nothing = known == MISSING};
    if (r.nothing)
        return r;
    LLVMValueRef base = gen_plane(g, buffer, op->plane);
    LLVMValueRef first = gen_direction(g, buffer, op->plane, op->beside ? 0 : op->direction);
    bool dense = op->plane != RG_PRIMAL || gen_is_dense(g, buffer);
    reach_from(g, op, &r, gen_memory_type(g, d), first, known == THERE, dense);
    if (known == MAYBE)
        maybe_missing(g, &r, base, writes);
    return r;
}

/* -- load and store ---------------------------------------------------------------------------- */

void
gen_load_lanes(gen *g, const ir_op *op)
{
    gen_reach r = gen_elements_of(g, op, false);
    gen_set(g, op->results[0], gen_load_reach(g, &r));
}

/* lanes that share an element: the last one's value stays */
void
gen_store_lanes(gen *g, const ir_op *op)
{
    gen_reach r = gen_elements_of(g, op, true);
    if (!r.nothing)
        gen_store_reach(g, &r, gen_get_in_lanes(g, gen_value_of(op), r.lanes));
}

/* Additions of lanes to elements of their own. SPDX-License-Identifier: Apache-2.0 */
#include "codegen/llvm/gen.h"

void
gen_add_reach(gen *g, const gen_reach *r, LLVMValueRef value)
{
    LLVMValueRef old = gen_load_reach(g, r);
    gen_store_reach(g, r, gen_combine(g, RG_RMW_ADD, r->dtype, old, value));
}

static LLVMValueRef
address_of_lane(gen *g, const gen_reach *r, LLVMValueRef offsets, LLVMValueRef lane)
{
    LLVMValueRef number = offsets ? gen_lane_of_copy(g, offsets, g->i64, lane) : lane;
    return LLVMBuildGEP2(g->b, gen_memory_type(g, r->dtype), r->at, &number, 1, "");
}

/* lane by lane, those of the mask; leaves the builder in a block that ends nowhere yet */
static void
add_one_by_one(gen *g, const ir_op *op, const gen_reach *r, LLVMValueRef value)
{
    LLVMBuilderRef b = g->b;
    LLVMValueRef mask = r->mask ? r->mask : gen_all_lanes(g, r->lanes);
    LLVMValueRef all = LLVMBuildZExt(b, gen_mask_bits(g, mask), g->i64, ""), nil = gen_i64(g, 0);
    LLVMValueRef values = gen_copy_of_lanes(g, value);
    LLVMValueRef offsets = r->offsets ? gen_copy_of_lanes(g, r->offsets) : NULL;
    LLVMBasicBlockRef before = gen_here(g), loop = gen_block(g, "lane"), after = gen_block(g, "lanes");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, all, nil, ""), loop, after);
    gen_at(g, loop);
    LLVMValueRef bits = LLVMBuildPhi(b, g->i64, "bits");
    LLVMValueRef args[2] = {bits, LLVMConstInt(g->i1, 1, false)};
    LLVMValueRef lane = gen_intrinsic(g, "llvm.cttz", 1, &g->i64, 2, args);
    LLVMValueRef one = gen_lane_of_copy(g, values, gen_element_type(LLVMTypeOf(value)), lane);
    gen_atomic_rmw(g, op, r->dtype, address_of_lane(g, r, offsets, lane), one);
    LLVMValueRef rest = LLVMBuildAnd(b, bits, LLVMBuildSub(b, bits, gen_i64(g, 1), ""), "");
    LLVMBasicBlockRef end = gen_here(g);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, rest, nil, ""), loop, after);
    LLVMAddIncoming(bits, (LLVMValueRef[]){all, rest}, (LLVMBasicBlockRef[]){before, end}, 2);
    gen_at(g, after);
}

static void
add_shared(gen *g, const ir_op *op, const gen_reach *r, LLVMValueRef value)
{
    if (!op->atomic || gen_is_alone(g)) {
        gen_add_reach(g, r, value);
        return;
    }
    LLVMBasicBlockRef shared = gen_block(g, "atomic"), alone = gen_block(g, "alone"),
                      after = gen_block(g, "added");
    LLVMBuildCondBr(g->b, gen_several_workers(g), shared, alone);
    gen_at(g, shared);
    add_one_by_one(g, op, r, value);
    LLVMBuildBr(g->b, after);
    gen_at(g, alone);
    gen_add_reach(g, r, value);
    LLVMBuildBr(g->b, after);
    gen_at(g, after);
}

static void
add_one_part(gen *g, const gen_part *part)
{
    const ir_op *op = part->op;
    LLVMBasicBlockRef end = gen_private_add(g, op, part);
    gen_reach r = gen_elements_of(g, op, true);
    if (!r.nothing) {
        gen_narrow(g, &r, gen_memory_type(g, r.dtype), part);
        add_shared(g, op, &r, part->value);
    }
    if (end) {
        LLVMBuildBr(g->b, end);
        gen_at(g, end);
    }
}

void
gen_rmw_lanes(gen *g, const ir_op *op)
{
    if (g->target->warp) {
        gen_rmw_own(g, op);
        return;
    }
    gen_part part[2];
    uint32_t n = gen_parts_of(g, op, part);
    for (uint32_t i = 0; i < n; i++)
        add_one_part(g, &part[i]);
}

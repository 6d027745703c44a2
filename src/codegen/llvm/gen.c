/* A kernel becomes a module: which op is generated where. SPDX-License-Identifier: Apache-2.0 */
#include "codegen/llvm/gen.h"
#include "analysis/uses.h"

LLVMValueRef
gen_op_value(gen *g, const ir_op *op, LLVMValueRef *args)
{
    rg_dtype from = (rg_dtype)op->args[0]->type.dtype, to = (rg_dtype)op->results[0]->type.dtype;
    LLVMValueRef made = gen_scalar(g, (rg_op)op->code, from, to, args);
    /* sums that a reverse loop carries: where frames are dropped, and so the sum is cut, may differ from run to run on a GPU */
    bool any_order = op->fast && !(g->options->deterministic && g->target->warp);
    if (any_order && LLVMIsAInstruction(made) && LLVMCanValueUseFastMathFlags(made))
        LLVMSetFastMathFlags(made, LLVMFastMathAllowReassoc | LLVMFastMathAllowContract);
    return made;
}

static void
generate_scalar(gen *g, const ir_op *op)
{
    LLVMValueRef args[3] = {0};
    unsigned lanes = op->results[0]->type.lanes;
    for (uint32_t i = 0; i < op->nargs && i < 3; i++) {
        bool choice = op->code == RG_OP_SELECT && i == 0;
        args[i] = lanes && !choice ? gen_get_in_lanes(g, op->args[i], lanes) : gen_get(g, op->args[i]);
    }
    gen_set(g, op->results[0], gen_op_value(g, op, args));
}

void
gen_op(gen *g, const ir_op *op)
{
    gen_adds_before(g, op);
    if (ir_ops[op->code].form != IR_OTHER) {
        if (!gen_pair(g, op))
            generate_scalar(g, op);
        return;
    }
    switch ((int)op->code) {
    case RG_OP_CONST: /* made where it is used */
    case RG_OP_TABLE:
        return;
    case RG_OP_LOAD:
        gen_load(g, op);
        /* what threads exchange says what else is there to be read, and is read again */
        if (op->atomic && ir_is_int((rg_dtype)op->args[0]->type.dtype) && !gen_is_alone(g))
            LLVMBuildFence(g->b, LLVMAtomicOrderingAcquire, false, "");
        return;
    case RG_OP_STORE:
        gen_store(g, op);
        return;
    case RG_OP_RMW:
        gen_rmw(g, op);
        return;
    case RG_OP_EXTENT:
        gen_extent(g, op);
        return;
    case RG_OP_PICK:
        gen_pick(g, op);
        return;
    case RG_OP_TEMP:
        gen_temp(g, op);
        return;
    case RG_OP_IF:
        gen_if(g, op);
        return;
    case RG_OP_FOR:
        gen_for(g, op);
        return;
    case RG_OP_LOOP:
        gen_loop(g, op);
        return;
    case RG_OP_PARALLEL:
        gen_parallel(g, op);
        return;
    case RG_OP_CALL:
        gen_call(g, op);
        return;
    case RG_OP_ASSERT:
        gen_assert(g, op);
        return;
    case RG_OP_PRINT:
        gen_print(g, op);
        return;
    case RG_OP_SPLAT:
    case RG_OP_LANE:
    case RG_OP_LANES_ANY:
    case RG_OP_LANES_BITS:
    case RG_OP_LANES_REDUCE:
    case RG_OP_LANE_GET:
    case RG_OP_LANE_SET:
        gen_lane_op(g, op);
        return;
    case RG_OP_TAPE_BEGIN:
        gen_tape_begin(g, op);
        return;
    case RG_OP_TAPE_END:
        gen_tape_end(g, op);
        return;
    case RG_OP_TAPE_PUSH:
        gen_tape_push(g, op);
        return;
    case RG_OP_TAPE_POP:
        gen_tape_pop(g, op);
        return;
    case RG_OP_TAPE_OVER:
        gen_tape_over(g, op);
        return;
    case RG_OP_TAPE_ROOM:
        gen_tape_room(g, op);
        return;
    case RG_OP_TAPE_SAVE:
    case RG_OP_TAPE_RESTORE:
        gen_tape_snapshot(g, op);
        return;
    case RG_OP_TAPE_TASKS:
        gen_tape_tasks(g, op);
        return;
    case RG_OP_TAPE_OVER_TASKS:
        gen_tape_over_tasks(g, op);
        return;
    case RG_OP_TAPE_THIN:
        gen_tape_thin(g, op);
        return;
    case RG_OP_SLOT:
        gen_slot(g, op);
        return;
    case RG_OP_SLOT_LOAD:
    case RG_OP_EXTRACT: /* of a table */
        gen_slot_load(g, op);
        return;
    case RG_OP_SLOT_STORE:
        gen_slot_store(g, op);
        return;
    case RG_OP_SLOT_COPY:
        gen_slot_copy(g, op);
        return;
    case RG_OP_SLOT_ZERO:
        gen_slot_zero(g, op);
        return;
    case RG_OP_SLOT_TURN:
        gen_slot_turn(g, op);
        return;
    }
    assert(!"an op that earlier passes have lowered");
}

void
gen_region(gen *g, const ir_region *r)
{
    gen_sums *sums = gen_sums_begin(g);
    const ir_op *look = r->first;
    for (const ir_op *op = r->first; op; op = op->next) {
        if (op->code == RG_OP_YIELD)
            continue;
        if (ir_ends_late(op))
            gen_sums_add(g);
        op = gen_straight(g, op, &look);
    }
    gen_adds_end(g);
    gen_sums_end(g, sums);
}

static void
make_types(gen *g)
{
    g->i1 = LLVMInt1TypeInContext(g->context);
    g->i8 = LLVMInt8TypeInContext(g->context);
    g->i16 = LLVMInt16TypeInContext(g->context);
    g->i32 = LLVMInt32TypeInContext(g->context);
    g->i64 = LLVMInt64TypeInContext(g->context);
    g->f16 = LLVMHalfTypeInContext(g->context);
    g->f32 = LLVMFloatTypeInContext(g->context);
    g->f64 = LLVMDoubleTypeInContext(g->context);
    g->ptr = LLVMPointerTypeInContext(g->context, 0);
    g->nothing = LLVMVoidTypeInContext(g->context);
    LLVMTypeRef fields[4] = {g->i64, LLVMArrayType2(g->ptr, RT_PLANES),
                             LLVMArrayType2(g->i64, RT_RANK), LLVMArrayType2(g->i64, RT_RANK)};
    g->arg_type = LLVMStructTypeInContext(g->context, fields, 4, false);
}

static bool
find_threads(ir_op *op, void *user)
{
    gen *g = user;
    uint32_t lanes = ir_lanes_of(op);
    g->threads = lanes > g->threads ? lanes : g->threads;
    return true;
}

/* Copies of arrays would have to be gathered, which costs more than vectors of directions bring;
 * LLVM makes vectors of neighbouring elements there. */
static bool
find_lanes(ir_op *op, void *user)
{
    gen *g = user;
    g->beside = op->beside > g->beside ? op->beside : g->beside;
    g->has_lanes |= op->code == RG_OP_PARALLEL && gen_group_lanes(op);
    return true;
}

/* Fills g->module with the kernel; context, module, builder, options and names are the caller's. */
void
gen_kernel(gen *g)
{
    const ir_region *body = g->ir->body;
    const ir_op *yield = ir_terminator(body);
    g->kernel = g->ir;
    make_types(g);
    g->invariant_kind = LLVMGetMDKindIDInContext(g->context, "invariant.load", 14);
    g->alias_kind = LLVMGetMDKindIDInContext(g->context, "alias.scope", 11);
    g->noalias_kind = LLVMGetMDKindIDInContext(g->context, "noalias", 7);
    g->prof_kind = LLVMGetMDKindIDInContext(g->context, "prof", 4);
    g->empty_node = LLVMMetadataAsValue(g->context, LLVMMDNodeInContext2(g->context, NULL, 0));
    g->nbuffers = body->nparams + (yield ? yield->nargs : 0);
    ir_directions(g->ir, g->directions);
    ir_walk(g->ir->body, find_lanes, g);
    ir_walk(g->ir->body, find_threads, g);
    g->effects = ir_effects_of(body, g->scratch);
    g->footprints = ir_footprints_in(g->scratch);
    gen_make_alias_scopes(g);
    gen_find_pairs(g);
    if (g->target->warp) {
        g->uses = ir_count_uses(g->scratch, g->ir);
        gen_simt_kernel(g);
        return;
    }
    LLVMTypeRef params[2] = {g->ptr, g->ptr};
    LLVMTypeRef type = LLVMFunctionType(g->i32, params, 2, false);
    LLVMValueRef fn = LLVMAddFunction(g->module, g->symbol, type);
    scope *s = gen_scope_open(g, body, fn, false);
    s->args = LLVMGetParam(fn, 0);
    s->launch = LLVMGetParam(fn, 1);
    gen_region(g, body);
    if (yield)
        gen_results(g, yield);
    gen_tape_leave(g);
    LLVMBuildRet(g->b, gen_i32(g, RT_OK));
    gen_scope_close(g);
}

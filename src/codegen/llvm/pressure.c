/* How many numbers a thread of a GPU has at hand at once. SPDX-License-Identifier: Apache-2.0
 *
 * An estimate, in registers of 32 bits: of the values of the IR, in its order, the most that are made before a place and
 * needed behind it. What assembler and passes make of it differs; but a kernel for which it is small has no use for half of
 * the registers, and runs faster with more warps beside it. Bools are predicates, arrays and scalars of the kernel
 * stand in constant memory, slots in memory. */
#include "codegen/llvm/nvidia.h"

enum { IN_F32 = 6, IN_F64 = 24 };

typedef struct pressure {
    const ir_fn *fn;
    bool *live; /* by id */
    uint32_t now, most;
} pressure;

static uint32_t
weight(const pressure *p, const ir_value *v)
{
    if (ir_is_const(v, NULL) || (!v->def && v->region == p->fn->body))
        return 0;
    if (v->type.kind == IR_CURSOR)
        return 2;
    if (v->type.kind != IR_SCALAR || v->type.dtype == RG_BOOL)
        return 0;
    return ir_bits((rg_dtype)v->type.dtype) == 64 ? 2 : 1;
}

static void
begin_life(pressure *p, const ir_value *v)
{
    if (p->live[v->id])
        return;
    p->live[v->id] = true;
    p->now += weight(p, v);
    p->most = p->now > p->most ? p->now : p->most;
}

static void
end_life(pressure *p, const ir_value *v)
{
    p->now -= p->live[v->id] ? weight(p, v) : 0;
    p->live[v->id] = false;
}

/* what the ops of r, and of regions inside, need from around it */
static void
need_from_outside(pressure *p, const ir_region *r, const ir_region *outermost)
{
    ir_for_ops (op, r) {
        for (uint32_t i = 0; i < op->nargs; i++)
            if (!ir_region_inside(op->args[i]->region, outermost))
                begin_life(p, op->args[i]);
        for (uint32_t i = 0; i < op->nregions; i++)
            need_from_outside(p, op->regions[i], outermost);
    }
}

/* what math functions need beside their operands */
static void
function(pressure *p, const ir_op *op)
{
    if (!(ir_ops[op->code].flags & IR_FUNCTION) || !op->nresults)
        return;
    uint32_t with = p->now + (ir_bits((rg_dtype)op->results[0]->type.dtype) == 64 ? IN_F64 : IN_F32);
    p->most = with > p->most ? with : p->most;
}

/* from its end to its beginning */
static void
visit(pressure *p, const ir_region *r)
{
    for (const ir_op *op = r->last; op; op = op->prev) {
        for (uint32_t i = 0; i < op->nresults; i++)
            end_life(p, op->results[i]);
        for (uint32_t i = 0; op->code != RG_OP_IF && i < op->nregions; i++) /* in each iteration */
            need_from_outside(p, op->regions[i], op->regions[i]);
        for (uint32_t i = 0; i < op->nregions; i++)
            visit(p, op->regions[i]);
        for (uint32_t i = 0; i < op->nargs; i++)
            begin_life(p, op->args[i]);
        function(p, op);
    }
    for (uint32_t i = 0; i < r->nparams; i++)
        end_life(p, r->params[i]);
}

uint32_t
nvidia_pressure(const ir_fn *fn)
{
    pressure p = {.fn = fn, .live = mem_zalloc(fn->next_id + 1)};
    visit(&p, fn->body);
    mem_free(p.live);
    return p.most;
}

/* stops at a load in a loop of a thread's */
static bool
stands_alone(ir_op *op, void *user)
{
    bool loop = false;
    (void)user;
    for (const ir_op *r = op; op->code == RG_OP_LOAD && r; r = r->parent->op) {
        if (r->code == RG_OP_PARALLEL)
            return !loop;
        loop |= r->code == RG_OP_FOR || r->code == RG_OP_LOOP;
    }
    return true;
}

bool
nvidia_loads_in_loops(const ir_fn *fn)
{
    return !ir_walk(fn->body, stands_alone, NULL);
}

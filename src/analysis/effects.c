/* What an op does to memory, to the tapes, to the world outside. SPDX-License-Identifier: Apache-2.0 */
#include "analysis/effects.h"

/* -- which buffer a value is ---------------------------------------------------------------------------------- */

/* b is the result of an if or a loop: the buffers that its arms or exits may give. */
static void
roots_of_result(ir_value *b, ir_root_fn *each, void *user)
{
    const ir_op *op = b->def;
    if (op->code == RG_OP_IF) {
        ir_buffer_roots(ir_terminator(op->regions[0])->args[b->index], each, user);
        ir_buffer_roots(ir_terminator(op->regions[1])->args[b->index], each, user);
    } else if (op->code == RG_OP_LOOP) {
        ir_for_ops(exit, op->regions[0]) if (exit->code == RG_OP_EXIT_IF)
            ir_buffer_roots(exit->args[1 + b->index], each, user);
    } else {
        each(b, user);
    }
}

bool
ir_root_known(const ir_value *root)
{
    return root->def ? root->def->code == RG_OP_TEMP : !root->region->op;
}

void
ir_buffer_roots(ir_value *b, ir_root_fn *each, void *user)
{
    if (ir_root_known(b) || !b->def) {
        each(b, user);
        return;
    }
    switch ((rg_op)b->def->code) {
    case RG_OP_PICK:
        for (uint32_t i = 1; i < b->def->nargs; i++)
            ir_buffer_roots(b->def->args[i], each, user);
        break;
    case RG_OP_RECALL:
        ir_buffer_roots(b->def->args[0], each, user);
        break;
    default:
        roots_of_result(b, each, user);
        break;
    }
}

typedef struct pair {
    const ir_value *other, *root;
    bool same;
} pair;

static void
compare_other(ir_value *other, void *user)
{
    pair *p = user;
    p->same |= other == p->root || !ir_root_known(other);
}

static void
compare_root(ir_value *root, void *user)
{
    pair *p = user;
    p->root = root;
    p->same |= !ir_root_known(root);
    if (!p->same)
        ir_buffer_roots((ir_value *)p->other, compare_other, p);
}

bool
ir_may_be_same(const ir_value *a, const ir_value *b)
{
    pair p = {.other = b, .same = a == b};
    if (!p.same)
        ir_buffer_roots((ir_value *)a, compare_root, &p);
    return p.same;
}

static void
note_temp(ir_value *root, void *user)
{
    *(bool *)user |= root->def || !ir_root_known(root);
}

bool
ir_is_temp(const ir_value *b)
{
    bool temp = false;
    ir_buffer_roots((ir_value *)b, note_temp, &temp);
    return temp && (!b->def || b->def->code != RG_OP_PICK);
}

uint8_t
ir_planes_reached(const ir_op *op, const ir_value *temp)
{
    uint8_t planes = 0;
    bool whole = op->code == RG_OP_TAPE_SAVE || op->code == RG_OP_TAPE_RESTORE || op->code == RG_OP_TAPE_THIN;
    bool access = op->code == RG_OP_LOAD || op->code == RG_OP_STORE || op->code == RG_OP_RMW;
    for (uint32_t i = 0; i < op->nargs && (whole || (access && i == 0)); i++)
        if (op->args[i]->type.kind == IR_BUFFER && ir_may_be_same(op->args[i], temp))
            planes |= (uint8_t)(1u << (whole ? RG_PRIMAL : op->plane));
    return planes;
}

/* -- effects ----------------------------------------------------------------------------------------------------- */
static void
note(ir_effects *e, const ir_value *buffer, unsigned plane, bool reads, bool writes, bool adds)
{
    ir_access *a = NULL;
    for (size_t k = 0; k < e->at.n && !a; k++)
        if (e->at.at[k].buffer == buffer && e->at.at[k].plane == plane)
            a = &e->at.at[k];
    if (!a) {
        vec_push(&e->at, ((ir_access){buffer, (uint8_t)plane, false, false, false}));
        a = &vec_last(&e->at);
    }
    a->reads |= reads;
    a->writes |= writes;
    a->adds |= adds;
}

static bool
has_no_order(ir_op *op, void *user)
{
    (void)user;
    return op->code != RG_OP_ASSERT && op->code != RG_OP_PRINT && (op->code != RG_OP_CALL || op->silent);
}

bool
ir_is_ordered(ir_op *op)
{
    bool ordered = !has_no_order(op, NULL);
    for (uint32_t i = 0; i < op->nregions && !ordered; i++)
        ordered = !ir_walk(op->regions[i], has_no_order, NULL);
    return ordered;
}

/* A function reads the arrays that it is given; their tangents, where it is a jvp; and a reverse may add to their adjoints. */
static void
note_call(ir_effects *e, const ir_op *call)
{
    for (uint32_t i = 0; i < call->nargs; i++) {
        if (call->args[i]->type.kind != IR_BUFFER)
            continue;
        for (unsigned plane = 0; plane < RG_PLANE_COUNT; plane++)
            note(e, call->args[i], plane, !(plane & RG_ADJOINT), false, plane & RG_ADJOINT && call->reverse);
    }
}

static bool
note_op(ir_op *op, void *user)
{
    ir_effects *e = user;
    e->order |= !has_no_order(op, NULL);
    switch ((rg_op)op->code) {
    case RG_OP_CALL:
        note_call(e, op);
        break;
    case RG_OP_PARALLEL:
        e->tape |= op->records || op->rewinds;
        break;
    case RG_OP_RMW: {
        bool adds = op->rmw == RG_RMW_ADD && !op->nresults;
        note(e, op->args[0], op->plane, !adds, !adds, adds);
        break;
    }
    default:
        if (ir_ops[op->code].flags & (IR_READ | IR_WRITE))
            note(e, op->args[0], op->plane, ir_ops[op->code].flags & IR_READ, ir_ops[op->code].flags & IR_WRITE, false);
        break;
    }
    return true;
}

void
ir_effects_add(ir_effects *e, ir_op *op)
{
    note_op(op, e);
    for (uint32_t i = 0; i < op->nregions; i++)
        ir_walk(op->regions[i], note_op, e);
}

void
ir_effects_clear(ir_effects *e)
{
    vec_clear(&e->at);
    e->order = e->tape = false;
}

void
ir_effects_free(ir_effects *e)
{
    vec_free(&e->at);
}

static bool
accesses_meet(const ir_access *a, const ir_access *b)
{
    if (a->plane != b->plane || !(a->plane & RG_ADJOINT || ir_may_be_same(a->buffer, b->buffer)))
        return false;
    return a->writes || b->writes || (a->adds && b->reads) || (a->reads && b->adds);
}

bool
ir_effects_meet(const ir_effects *a, const ir_effects *b)
{
    for (size_t i = 0; i < a->at.n; i++)
        for (size_t j = 0; j < b->at.n; j++)
            if (accesses_meet(&a->at.at[i], &b->at.at[j]))
                return true;
    return false;
}

bool
ir_effects_ordered(const ir_effects *a, const ir_effects *b)
{
    return (a->order && b->order) || (a->tape && b->tape) || ir_effects_meet(a, b);
}

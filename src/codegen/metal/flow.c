/* Control: blocks in their order, with braces. SPDX-License-Identifier: Apache-2.0
 *
 *   OpSelectionMerge, OpBranchConditional     if (c) { ... } else { ... }, whose end is the merge block's label
 *   OpLoopMerge                               for (;;) { ... }, in which a branch to the merge block is a break
 *
 * Phis are assigned where a branch leaves for their block. A header with OpLoopMerge holds nothing but phis, and the block that branches
 * back stands last in the loop: so the generator writes them (codegen/spirv/flow.c), and anything else is refused. */
#include "codegen/metal/print.h"

typedef struct construct {
    spv_id merge, other, header; /* other: of an if, where it goes otherwise; header: of a loop, else 0 */
} construct;

typedef struct walk {
    vec(construct) open;
    spv_id block;         /* that is printed */
    spv_id merge;         /* of the OpSelectionMerge just read, or 0 */
    const uint32_t *last; /* the instruction before */
} walk;

static construct *
inner_construct(walk *w)
{
    return w->open.n ? &w->open.at[w->open.n - 1] : NULL;
}

static spv_id
next_label(const uint32_t *ins)
{
    const uint32_t *next = msl_next(ins);
    return msl_opcode(next) == SPV_LABEL ? next[1] : 0;
}

static void
refuse_control(msl *m, spv_id block)
{
    msl_refuse(m, "control in block %u that is not the generator's", block);
}

/* -- branches -------------------------------------------------------------------------------------------------------------- */

/* what the phi is after a branch from the block; 0: itself */
static spv_id
source_of(const uint32_t *phi, spv_id block)
{
    for (uint32_t i = 3; i + 1 < msl_length(phi); i += 2)
        if (phi[i + 1] == block)
            return phi[i] == phi[2] ? 0 : phi[i];
    return 0;
}

/* All phis of a block change at once. */
static void
assign_phis(msl *m, spv_id from, spv_id to)
{
    const uint32_t *first = msl_next(m->made[to]);
    unsigned n = 0;
    for (const uint32_t *phi = first; msl_opcode(phi) == SPV_PHI; phi = msl_next(phi))
        n += source_of(phi, from) != 0;
    if (n > 1)
        msl_line(m, "{");
    for (const uint32_t *phi = first; n > 1 && msl_opcode(phi) == SPV_PHI; phi = msl_next(phi))
        if (source_of(phi, from))
            msl_line(m, "%s n%u = %s;", msl_type(m, phi[1]), phi[2], msl_value(m, source_of(phi, from)));
    for (const uint32_t *phi = first; msl_opcode(phi) == SPV_PHI; phi = msl_next(phi)) {
        spv_id source = source_of(phi, from);
        if (source && n > 1)
            msl_line(m, "v%u = n%u;", phi[2], phi[2]);
        else if (source)
            msl_line(m, "v%u = %s;", phi[2], msl_value(m, source));
    }
    if (n > 1)
        msl_line(m, "}");
}

static void
print_branch(msl *m, walk *w, const uint32_t *ins)
{
    spv_id to = ins[1];
    const construct *c = inner_construct(w);
    bool ends = c && (c->header ? to == c->header : to == c->merge);
    if (!ends && to != next_label(ins))
        refuse_control(m, w->block);
    assign_phis(m, w->block, to);
}

static void
leave_loop_if(msl *m, walk *w, const uint32_t *ins)
{
    const construct *c = NULL;
    for (size_t i = w->open.n; i-- > 0 && !c;)
        c = w->open.at[i].header ? &w->open.at[i] : NULL;
    if (!c || ins[2] != c->merge || ins[3] != next_label(ins)) {
        refuse_control(m, w->block);
        return;
    }
    msl_line(m, "if (%s) {", msl_value(m, ins[1]));
    m->depth++;
    assign_phis(m, w->block, c->merge);
    msl_line(m, "break;");
    m->depth--;
    msl_line(m, "}");
}

/* Without an else, the phis behind it are what they are otherwise before it begins. */
static void
branch_if(msl *m, walk *w, const uint32_t *ins)
{
    construct c = {.merge = w->merge, .other = ins[3]};
    w->merge = 0;
    if (!c.merge) {
        leave_loop_if(m, w, ins);
        return;
    }
    if (ins[2] == c.merge || ins[2] != next_label(ins))
        refuse_control(m, w->block);
    if (c.other == c.merge)
        assign_phis(m, w->block, c.merge);
    msl_line(m, "if (%s) {", msl_value(m, ins[1]));
    vec_push(&w->open, c);
    m->depth++;
}

static void
loop_merge(msl *m, walk *w, const uint32_t *ins)
{
    construct c = {.merge = ins[1], .header = w->block};
    uint32_t before = msl_opcode(w->last);
    if (before != SPV_PHI && before != SPV_LABEL)
        refuse_control(m, w->block);
    msl_line(m, "for (;;) {");
    vec_push(&w->open, c);
    m->depth++;
}

static void
print_label(msl *m, walk *w, const uint32_t *ins)
{
    const construct *c = inner_construct(w);
    w->block = ins[1];
    if (!c)
        return;
    bool ends = w->block == c->merge, turns = !ends && !c->header && w->block == c->other;
    if (!ends && !turns)
        return;
    m->depth--;
    msl_line(m, ends ? "}" : "} else {");
    m->depth += turns;
    w->open.n -= ends;
}

static void
print_step(msl *m, walk *w, const uint32_t *ins)
{
    switch (msl_opcode(ins)) {
    case SPV_LABEL:
        print_label(m, w, ins);
        break;
    case SPV_PHI:
        break;
    case SPV_SELECTION_MERGE:
        w->merge = ins[1];
        break;
    case SPV_LOOP_MERGE:
        loop_merge(m, w, ins);
        break;
    case SPV_BRANCH:
        print_branch(m, w, ins);
        break;
    case SPV_BRANCH_IF:
        branch_if(m, w, ins);
        break;
    case SPV_RETURN:
        msl_line(m, "return;");
        break;
    case SPV_RETURN_VALUE:
        msl_line(m, "return %s;", msl_value(m, ins[1]));
        break;
    default:
        msl_op(m, ins);
    }
}

void
msl_body(msl *m, const uint32_t *first)
{
    walk w = {.open.in = m->in, .last = first};
    for (const uint32_t *ins = first; msl_opcode(ins) != SPV_FUNCTION_END && !m->failed; ins = msl_next(ins)) {
        print_step(m, &w, ins);
        w.last = ins;
    }
    if (w.open.n && !m->failed)
        refuse_control(m, w.block);
}

/* Additions of lanes to neighbours that overlap. SPDX-License-Identifier: Apache-2.0
 *
 * The reverse of a stencil adds to x[i - 1], x[i] and x[i + 1], where i is 16 successive numbers. One after the other, each
 * addition loads what the one before has just stored, but for an element, and waits until that has left the processor's store
 * queue. So additions to one array whose subscripts differ by constants are one addition, where the last of them stands, to all
 * elements that any of them reaches (a window): the values are shifted by whole lanes and added up.
 *
 *   x[i - 1 ...] += a     window at i - 1:   a0 a1 a2 .. a15
 *   x[i ...]     += b                           b0 b1 .. b14  b15
 *   x[i + 1 ...] += c                              c0 .. c13  c14 c15
 *                                            |     first    | rest |
 *
 * Elements that none of them reaches are not touched. What is added to the others is -0, which changes nothing. */
#include "analysis/access.h"
#include "codegen/llvm/gen.h"

enum { MEMBERS_MAX = 32, OPS_MAX = 512 /* looked at, behind the first */, LANES_MAX = 32 };

struct gen_window {
    struct gen_window *next; /* open ones: the last member is still to come */
    const ir_op *op[MEMBERS_MAX];
    int64_t at[MEMBERS_MAX]; /* subscript, less that of the first member */
    int64_t least, most;
    uint32_t n;
};

/* -- which additions ------------------------------------------------------------------------------------------------ */

/* the place among open windows of the one that op is a member of; NULL: of none */
static struct gen_window **
open_window(gen *g, const ir_op *op)
{
    for (struct gen_window **w = &g->s->windows; *w; w = &(*w)->next)
        for (uint32_t i = 0; i < (*w)->n; i++)
            if ((*w)->op[i] == op)
                return w;
    return NULL;
}

/* a primal is the sum that C makes it, in C's order */
static bool
may_join(gen *g, const ir_op *op)
{
    if (!ir_is_add(op) || op->plane == RG_PRIMAL || !op->successive || op->beside > 1)
        return false;
    rg_dtype d = (rg_dtype)op->args[0]->type.dtype;
    return (d == RG_F32 || d == RG_F64) && ir_lanes_of(op) <= LANES_MAX && gen_presence(g, op->args[0], op->plane) != MISSING &&
           !open_window(g, op);
}

static bool
join(struct gen_window *w, const ir_op *op)
{
    const ir_op *first = w->op[0];
    int64_t at;
    if (w->n == MEMBERS_MAX || op->atomic != first->atomic || ir_lanes_of(op) != ir_lanes_of(first) ||
        !access_in_one_row(first, op, &at))
        return false;
    int64_t least = at < w->least ? at : w->least, most = at > w->most ? at : w->most;
    if (most - least >= ir_lanes_of(first))
        return false;
    w->least = least;
    w->most = most;
    w->op[w->n] = op;
    w->at[w->n++] = at;
    return true;
}

static bool
all_pass(gen *g, const struct gen_window *w, const ir_op *op)
{
    bool pass = true;
    for (uint32_t i = 0; i < w->n && pass; i++)
        pass = access_passes(&g->footprints, w->op[i], op);
    return pass;
}

static struct gen_window
window_from(gen *g, const ir_op *first)
{
    struct gen_window w = {.op = {first}, .n = 1};
    uint32_t ops = 0;
    for (const ir_op *op = first->next; op && op->code != RG_OP_YIELD && ++ops < OPS_MAX; op = op->next) {
        bool joined = may_join(g, op) && join(&w, op);
        if (!joined && !(ir_ops[op->code].flags & IR_PURE) && !all_pass(g, &w, op))
            break;
    }
    return w;
}

/* -- their sum ------------------------------------------------------------------------------------------------------- */

/* lanes from - d on of v: what stands outside of it is -0 */
static LLVMValueRef
shifted(gen *g, LLVMValueRef v, unsigned from, unsigned lanes, unsigned d)
{
    LLVMValueRef which[LANES_MAX], zeros = gen_splat(g, gen_width(v), LLVMConstReal(gen_element_type(LLVMTypeOf(v)), -0.0));
    if (!d && !from)
        return v;
    for (unsigned i = 0; i < lanes; i++) {
        unsigned lane = from + i - d;
        which[i] = gen_i32(g, from + i >= d && lane < gen_width(v) ? lane : gen_width(v));
    }
    return LLVMBuildShuffleVector(g->b, v, zeros, LLVMConstVector(which, lanes), "");
}

/* what a member adds, and -0 in the other lanes */
static LLVMValueRef
value_of_member(gen *g, const ir_op *op, LLVMValueRef mask)
{
    LLVMValueRef v = gen_get_in_lanes(g, gen_value_of(op), ir_lanes_of(op));
    LLVMValueRef zeros = gen_splat(g, ir_lanes_of(op), LLVMConstReal(gen_element_type(LLVMTypeOf(v)), -0.0));
    return LLVMBuildSelect(g->b, mask, v, zeros, "");
}

static LLVMValueRef
add_to(gen *g, LLVMValueRef sum, LLVMValueRef v)
{
    return sum ? LLVMBuildFAdd(g->b, sum, v, "") : v;
}

static LLVMValueRef
mask_of_window(gen *g, LLVMValueRef bits, unsigned from, unsigned lanes)
{
    LLVMValueRef some = LLVMBuildLShr(g->b, bits, gen_i64(g, from), "");
    return gen_mask_of_bits(g, LLVMBuildTrunc(g->b, some, LLVMIntTypeInContext(g->context, lanes), ""), lanes);
}

static const ir_op *
member_at(const struct gen_window *w, int64_t at)
{
    uint32_t i = 0;
    while (w->at[i] != at)
        i++;
    return w->op[i];
}

/* as many lanes as hold the window's elements behind those of its first member: a power of two */
static unsigned
lanes_of_rest(const struct gen_window *w)
{
    unsigned lanes = w->most > w->least ? 2 : 0;
    while (lanes < w->most - w->least)
        lanes *= 2;
    return lanes;
}

static uint32_t
parts_of_window(gen *g, const struct gen_window *w, gen_part part[2])
{
    unsigned lanes = ir_lanes_of(w->op[0]), rest = lanes_of_rest(w), span = (unsigned)(w->most - w->least);
    LLVMValueRef sum[2] = {NULL}, bits = gen_i64(g, 0);
    for (uint32_t i = 0; i < w->n; i++) {
        unsigned d = (unsigned)(w->at[i] - w->least);
        LLVMValueRef mask = gen_mask_of(g, w->op[i]);
        mask = mask ? mask : gen_all_lanes(g, lanes);
        LLVMValueRef v = value_of_member(g, w->op[i], mask), mine = LLVMBuildZExt(g->b, gen_mask_bits(g, mask), g->i64, "");
        bits = LLVMBuildOr(g->b, bits, LLVMBuildShl(g->b, mine, gen_i64(g, d), ""), "");
        sum[0] = add_to(g, sum[0], shifted(g, v, 0, lanes, d));
        if (d)
            sum[1] = add_to(g, sum[1], shifted(g, v, lanes, rest, d));
    }
    part[0] = (gen_part){member_at(w, w->least), sum[0], mask_of_window(g, bits, 0, lanes), lanes, 0};
    if (rest)
        part[1] = (gen_part){member_at(w, w->most), sum[1], mask_of_window(g, bits, lanes, rest), rest, lanes - span};
    return rest ? 2 : 1;
}

/* -- one by one ------------------------------------------------------------------------------------------------------ */

uint32_t
gen_parts_of(gen *g, const ir_op *op, gen_part part[2])
{
    struct gen_window **open = open_window(g, op), *w = open ? *open : NULL, made = {.n = 0};
    if (!w && may_join(g, op))
        made = window_from(g, op);
    if (made.n > 1) {
        w = arena_one(g->scratch, struct gen_window);
        *w = made;
        w->next = g->s->windows;
        g->s->windows = w;
        return 0;
    }
    if (w && op != w->op[w->n - 1])
        return 0;
    if (w) {
        *open = w->next;
        return parts_of_window(g, w, part);
    }
    part[0] = (gen_part){.op = op, .value = gen_get_in_lanes(g, gen_value_of(op), ir_lanes_of(op))};
    return 1;
}

void
gen_narrow(gen *g, gen_reach *r, LLVMTypeRef type, const gen_part *part)
{
    LLVMValueRef skip = gen_i64(g, part->skip);
    if (!part->lanes)
        return;
    r->at = LLVMBuildGEP2(g->b, type, r->at, &skip, 1, "");
    r->lanes = part->lanes;
    r->mask = part->mask;
}

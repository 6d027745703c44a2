/* What an iteration hands on to the next one is recorded once. SPDX-License-Identifier: Apache-2.0
 *
 *     %r, %trace = for records .. (%p = ..) {          %r, %trace = for records .. (%p = ..) {
 *       %v = tanh %p                                     %v = tanh %p
 *       yield %v                                         yield %v
 *     }                                                }
 *     unwind %trace, .. (..) {                   →     unwind %trace, .. (.., %c = %r) {
 *       recall %v .. recall %p ..                        %c .. recall %p ..
 *       yield ..                                         yield .., recall %p
 *     }                                                }
 *
 * %v is the %p of the next iteration, which the reverse loop has undone just before: the reverse loop carries that %p as %c. The last
 * iteration's %v is the loop's result. This comes after the plan, since it is for values that are recorded. Of values that
 * iterations exchange in a circle, one is still recorded. */
#include "diff/ad.h"
#include "diff/emit.h"
#include "ir/edges.h"
#include "ir/recall.h"

/* a value of an iteration that is not recorded */
typedef struct handed {
    ir_value *v;
    ir_value *param; /* that begins as v in the next iteration */
    ir_value *carried; /* by the unwind */
} handed;

typedef struct unwinding {
    ir_fn *fn;
    ir_op *owner, *by;
    vec(ir_op *) recalls; /* of numbers of an iteration */
    map recalled;         /* value -> a recall of it */
    vec(handed) handed;
    map handed_of;        /* value -> index in handed + 1 */
    map lifted;
} unwinding;

static bool
note_handed_recall(ir_op *op, void *user)
{
    unwinding *u = user;
    ir_op *by;
    if (op->code != RG_OP_RECALL || op->args[0]->type.kind != IR_SCALAR || op->args[0]->region != u->owner->regions[0] ||
        ir_recall_owner(op, &by) != u->owner || by != u->by)
        return true;
    vec_push(&u->recalls, op);
    map_set(&u->recalled, map_ptr(op->args[0]), op);
    return true;
}

static handed *
handed_of(const unwinding *u, const ir_value *v)
{
    size_t index = (size_t)map_get(&u->handed_of, map_ptr(v));
    return index ? &u->handed.at[index - 1] : NULL;
}

/* Whether v is exchanged in a circle: each parameter is had from the parameter that hands its value on, from param back to v. */
static bool
is_circle(const unwinding *u, const ir_value *v, const ir_value *param)
{
    for (const handed *next; param != v && (next = handed_of(u, param));)
        param = next->param;
    return param == v;
}

static void
find_handed(unwinding *u)
{
    const ir_region *body = u->owner->regions[0];
    const ir_op *yield = ir_terminator(body);
    uint32_t first = ir_first_carried(u->owner);
    for (uint32_t k = 0; k < yield->nargs; k++) {
        ir_value *v = yield->args[k], *param = body->params[first + k];
        if (!map_get(&u->recalled, map_ptr(v)) || !map_get(&u->recalled, map_ptr(param)) || handed_of(u, v) || is_circle(u, v, param))
            continue;
        vec_push(&u->handed, ((handed){.v = v, .param = param}));
        map_set(&u->handed_of, map_ptr(v), (void *)u->handed.n);
    }
}

/* what the loop leaves behind of a carried parameter */
static ir_value *
last_of(unwinding *u, ir_value *param)
{
    return u->owner->code == RG_OP_LOOP ? ir_lift(u->fn, param, u->owner, &u->lifted)
                                        : u->owner->results[param->index - ir_first_carried(u->owner)];
}

static void
carry_handed(unwinding *u)
{
    for (size_t i = 0; i < u->handed.n; i++) {
        handed *h = &u->handed.at[i];
        ir_emit e = ir_emit_before(u->by);
        ir_op_arg(u->by, u->fn, ad_had(&e, last_of(u, h->param)));
        h->carried = ir_region_param(u->by->regions[0], h->v->type, h->v->name);
        (void)ir_op_result(u->by, u->fn, h->v->type, NULL);
    }
    ir_op *yield = ir_terminator(u->by->regions[0]);
    for (size_t i = 0; i < u->handed.n; i++) {
        ir_value *param = u->handed.at[i].param;
        const handed *next = handed_of(u, param);
        ir_emit e = ir_emit_before(yield);
        ir_op_arg(yield, u->fn, next ? next->carried : ad_recall(&e, param));
    }
}

typedef struct passing {
    vec(ir_op *) unwinds; /* those around others first */
    vec(ir_value *) was, is; /* results of recalls, and what the unwind carries */
} passing;

static bool
note_handing_unwind(ir_op *op, void *user)
{
    passing *p = user;
    if (op->code == RG_OP_UNWIND)
        vec_push(&p->unwinds, op);
    return true;
}

static void
hand_back(passing *p, ir_op *by, arena *scratch)
{
    unwinding u = {.fn = by->parent->fn, .by = by, .owner = ir_trace_maker(by->args[0])};
    u.recalls.in = u.recalled.in = u.handed.in = u.handed_of.in = u.lifted.in = scratch;
    ir_walk(by->regions[0], note_handed_recall, &u);
    find_handed(&u);
    carry_handed(&u);
    for (size_t i = 0; i < u.recalls.n; i++) {
        const handed *h = handed_of(&u, u.recalls.at[i]->args[0]);
        if (!h)
            continue;
        vec_push(&p->was, u.recalls.at[i]->results[0]);
        vec_push(&p->is, h->carried);
    }
}

bool
ad_hand_back(ir_module *m, pass_context *c)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next) {
        passing p = {.unwinds.in = c->scratch, .was.in = c->scratch, .is.in = c->scratch};
        ir_walk(fn->body, note_handing_unwind, &p);
        while (p.unwinds.n) /* what a loop leaves behind may be what one around it hands on */
            hand_back(&p, vec_pop(&p.unwinds), c->scratch);
        if (!p.was.n)
            continue;
        ir_value **map = arena_new_n(c->scratch, ir_value *, fn->next_id + 1);
        for (size_t i = 0; i < p.was.n; i++)
            map[p.was.at[i]->id] = p.is.at[i];
        ir_replace_in(fn->body, map);
        changed = true;
    }
    return changed;
}

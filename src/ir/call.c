/* Calls: their signatures, and the functions that lead to each other. SPDX-License-Identifier: Apache-2.0 */
#include "ir/ir.h"

bool
ir_type_floats(ir_type t)
{
    return (t.kind == IR_SCALAR || t.kind == IR_ARRAY) && ir_is_float((rg_dtype)t.dtype);
}

ir_type
ir_adjoint_type(ir_type t)
{
    t.dtype = (uint8_t)ir_adjoint_dtype((rg_dtype)t.dtype);
    return t;
}

/* -- signatures ----------------------------------------------------------------------------------- */
static void
add_vjp(ir_signature *s)
{
    ir_signature made = {.args.in = s->args.in, .results.in = s->args.in};
    for (size_t i = 0; i < s->args.n; i++) {
        vec_push(&made.args, s->args.at[i]);
        if (ir_type_floats(s->args.at[i]))
            vec_push(&made.results, ir_adjoint_type(s->args.at[i]));
    }
    for (size_t i = 0; i < s->results.n; i++)
        if (ir_type_floats(s->results.at[i])) {
            vec_push(&made.args, ir_adjoint_type(s->results.at[i]));
            vec_push(&made.results, s->results.at[i]);
        }
    for (size_t i = 0; i < s->results.n; i++)
        if (!ir_type_floats(s->results.at[i]))
            vec_push(&made.results, s->results.at[i]);
    *s = made;
}

static void
add_jvp(ir_signature *s)
{
    ir_signature made = {.args.in = s->args.in, .results.in = s->args.in};
    for (size_t i = 0; i < s->args.n; i++)
        vec_push(&made.args, s->args.at[i]);
    for (size_t i = 0; i < s->args.n; i++)
        if (ir_type_floats(s->args.at[i]))
            vec_push(&made.args, ir_adjoint_type(s->args.at[i]));
    for (size_t i = 0; i < s->results.n; i++)
        if (ir_type_floats(s->results.at[i]))
            vec_push(&made.results, ir_adjoint_type(s->results.at[i]));
    for (size_t i = 0; i < s->results.n; i++)
        vec_push(&made.results, s->results.at[i]);
    *s = made;
}

ir_signature
ir_signature_of(const ir_fn *fn, bool reverse, unsigned forward, arena *in)
{
    ir_signature s = {.args.in = in, .results.in = in};
    const ir_op *end = ir_terminator(fn->body);
    for (uint32_t i = 0; i < fn->body->nparams; i++)
        vec_push(&s.args, fn->body->params[i]->type);
    for (uint32_t i = 0; end && i < end->nargs; i++)
        vec_push(&s.results, end->args[i]->type);
    if (reverse)
        add_vjp(&s);
    for (; forward; forward--)
        add_jvp(&s);
    return s;
}

bool
ir_call_stays(const ir_op *call)
{
    return call->reverse || call->forward || call->attr.fn->vjp || call->attr.fn->jvp;
}

/* -- which functions lead to which ------------------------------------------------------------------ */
typedef void see_fn(ir_fn *fn, void *user);

typedef struct seeing {
    see_fn *each;
    void *user;
} seeing;

static bool
see_call(ir_op *op, void *user)
{
    seeing *s = user;
    if (op->code == RG_OP_CALL && op->attr.fn)
        s->each(op->attr.fn, s->user);
    return true;
}

/* calls `each` for the functions that fn names itself, some of them twice */
static void
each_callee(const ir_fn *fn, see_fn *each, void *user)
{
    seeing s = {each, user};
    if (fn->vjp)
        each(fn->vjp, user);
    if (fn->jvp)
        each(fn->jvp, user);
    ir_walk(fn->body, see_call, &s);
}

typedef struct reaching {
    map seen;
    vec(ir_fn *) fns; /* callees first, as far as they do not name each other */
} reaching;

static void
reach_callees(ir_fn *fn, void *user)
{
    reaching *k = user;
    if (map_get(&k->seen, map_ptr(fn)))
        return;
    map_set(&k->seen, map_ptr(fn), fn);
    each_callee(fn, reach_callees, k);
    vec_push(&k->fns, fn);
}

void
ir_keep_called(ir_module *m, ir_fn *fn)
{
    reaching k = {.seen.in = mem_scratch(), .fns.in = mem_scratch()};
    reach_callees(fn, &k);
    m->first = m->last = fn; /* it was reached last */
    for (size_t i = 0; i + 1 < k.fns.n; i++) {
        m->last->next = k.fns.at[i];
        m->last = k.fns.at[i];
    }
    m->last->next = NULL;
}

/* -- clones with what they call ----------------------------------------------------------------------- */
/* what a clone still names in the module that it came from */
static void
bring_home(ir_module *m, ir_fn **fn)
{
    if (*fn && (*fn)->module != m)
        *fn = ir_fn_find(m, rg_str_of((*fn)->name));
}

static bool
bring_call_home(ir_op *op, void *m)
{
    if (op->code == RG_OP_CALL)
        bring_home(m, &op->attr.fn);
    return true;
}

ir_fn *
ir_fn_clone_with_calls(ir_module *to, const ir_fn *fn, const char *name)
{
    reaching k = {.seen.in = mem_scratch(), .fns.in = mem_scratch()};
    each_callee(fn, reach_callees, &k);
    for (size_t i = 0; i < k.fns.n; i++)
        if (!ir_fn_find(to, rg_str_of(k.fns.at[i]->name)))
            ir_fn_clone(to, k.fns.at[i], k.fns.at[i]->name);
    ir_fn *copy = ir_fn_clone(to, fn, name);
    for (ir_fn *made = to->first; made; made = made->next) {
        bring_home(to, &made->vjp);
        bring_home(to, &made->jvp);
        ir_walk(made->body, bring_call_home, to);
    }
    return copy;
}

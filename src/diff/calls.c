/* Calls of derivatives become calls of functions, which are inlined. SPDX-License-Identifier: Apache-2.0
 *
 *   %g: f64, %y: f64 = call.vjp @f(%x, %one)   ->   call @f_vjp1(%x, %one)   ->   what that holds
 *
 * A derivative is made for the operands and results that its call has a use for: an adjoint that nobody
 * reads, an adjoint or tangent that is given as zero, cost nothing. */
#include "diff/ad.h"
#include "diff/activity.h"
#include "ir/recall.h"
#include "opt/pass.h"

/* -- local arrays around calls ---------------------------------------------------------------------------- */
static ir_value *
copy_before(ir_fn *fn, ir_op *at, ir_value *array)
{
    ir_op *copy = ir_op_new(fn, RG_OP_COPY, 1, 0, at->loc);
    ir_op_arg(copy, fn, array);
    ir_insert_before(at, copy);
    return ir_op_result(copy, fn, array->type, NULL);
}

typedef struct spreading {
    ir_fn *fn;
    vec(ir_value *) kept; /* results */
    vec(ir_op *) copies;  /* of each: what everybody else uses */
} spreading;

/* call(%a) -> %r   becomes   %k = copy %a, %c = copy %k, call(%c) -> %r, %s = copy %r: %k and %r are left alone */
static void
spread_call(spreading *s, ir_op *call)
{
    ir_fn *fn = s->fn;
    for (uint32_t i = 0; i < call->nargs; i++)
        if (call->args[i]->type.kind == IR_ARRAY)
            call->args[i] = copy_before(fn, call, copy_before(fn, call, call->args[i]));
    for (uint32_t i = 0; i < call->nresults; i++) {
        ir_value *r = call->results[i];
        if (r->type.kind != IR_ARRAY)
            continue;
        ir_value *copy = copy_before(fn, call->next, r);
        vec_push(&s->kept, r);
        vec_push(&s->copies, copy->def);
    }
}

static void
spread_calls_in(spreading *s, ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        for (uint32_t k = 0; k < op->nregions; k++)
            spread_calls_in(s, op->regions[k]);
        if (op->code == RG_OP_CALL)
            spread_call(s, op);
    }
}

static bool
is_no_call(ir_op *op, void *user)
{
    (void)user;
    return op->code != RG_OP_CALL;
}

void
ad_spread_calls(ir_fn *fn, arena *scratch)
{
    if (ir_walk(fn->body, is_no_call, NULL))
        return;
    spreading s = {.fn = fn, .kept.in = scratch, .copies.in = scratch};
    spread_calls_in(&s, fn->body);
    ir_value **map = arena_new_n(scratch, ir_value *, fn->next_id + 1);
    for (size_t i = 0; i < s.kept.n; i++)
        map[s.kept.at[i]->id] = s.copies.at[i]->results[0];
    ir_replace_all(fn, map);
    for (size_t i = 0; i < s.kept.n; i++)
        s.copies.at[i]->args[0] = s.kept.at[i]; /* the one use that stays */
}

/* -- what a call has a use for ------------------------------------------------------------------------------ */
static bool
see_uses(ir_op *op, void *user)
{
    bool *used = user;
    for (uint32_t i = 0; i < op->nargs; i++)
        used[op->args[i]->id] = true;
    return true;
}

/* What v is a copy of, also where a call that is about to be inlined gives it: such functions call no others. */
static const ir_value *
origin(const ir_value *v)
{
    for (const ir_op *call = NULL;;) {
        if (!v->def && call) {
            if (v->region != call->attr.fn->body)
                return v;
            v = call->args[v->index];
            call = NULL;
        } else if (v->def && v->def->code == RG_OP_COPY) {
            v = v->def->args[0];
        } else if (v->def && v->def->code == RG_OP_CALL && !call && !ir_call_stays(v->def)) {
            call = v->def;
            v = ir_terminator(call->attr.fn->body)->args[v->index];
        } else {
            return v;
        }
    }
}

static bool
is_zero_value(const ir_value *v)
{
    uint64_t bits;
    v = origin(v);
    return (v->def && v->def->code == RG_OP_ARRAY) || (ir_is_const(v, &bits) && bits == 0);
}

static uint32_t
floats_before(const ir_op *call, uint32_t end)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < end; i++)
        n += ir_type_floats(call->args[i]->type);
    return n;
}

/* Whether operand o is zero and has, from jvp number `step` on, tangents that are zero, and so on: if it is
 * zero only itself, what it multiplies still counts. */
static bool
stays_zero(const ir_op *call, uint32_t o, uint32_t step)
{
    uint32_t n = call->nargs, floats = floats_before(call, n) >> call->forward;
    if (!is_zero_value(call->args[o]))
        return false;
    for (uint32_t s = call->forward; s-- > 0;) {
        n -= floats << s; /* operands before this jvp's tangents */
        if (s >= step && !stays_zero(call, n + floats_before(call, o), s + 1))
            return false;
    }
    return true;
}

/* -- making the functions ------------------------------------------------------------------------------------- */
/* one for all calls of the module */
typedef struct expansion {
    ir_module *m;
    pass_context *c;
    uint32_t made;
    map spread; /* functions whose calls are */
} expansion;

typedef struct making {
    expansion *x;
    ir_module *m;
    pass_context *c;
    const ir_op *call;
    const bool *used; /* values around the call, by id */
} making;

/* Functions that only other functions are made of stay as they are: once is enough. */
static void
spread_once(expansion *x, ir_fn *fn)
{
    if (map_get(&x->spread, map_ptr(fn)))
        return;
    ad_spread_calls(fn, x->c->scratch);
    map_set(&x->spread, map_ptr(fn), fn);
}

static void
inline_in(ir_fn *fn, pass_context *c)
{
    pass_focus on;
    pass_focus_on(&on, fn);
    PASS_RUN(fn->module, opt_inline, IR_STAGE_AD, c);
    pass_focus_end(&on);
}

static void
simplify_in(ir_fn *fn, pass_context *c)
{
    pass_focus on;
    pass_focus_on(&on, fn);
    pass_simplify(fn->module, IR_STAGE_AD, c);
    pass_focus_end(&on);
}

static const char *
fresh_name(making *k, const ir_fn *fn, const char *suffix)
{
    ir_module *m = k->m;
    str text = {.in = k->c->scratch};
    do {
        text.len = 0;
        str_addf(&text, "%s_%s%u", fn->name, suffix, ++k->x->made);
    } while (ir_fn_find(m, str_view(&text)));
    return text.ptr;
}

/* parameter i's adjoint, or a tangent of it of any order, is used */
static bool
adjoint_is_wanted(const making *k, uint32_t index, uint32_t floats)
{
    uint32_t all = floats << k->call->forward;
    for (uint32_t i = index; i < all; i += floats)
        if (k->used[k->call->results[i]->id])
            return true;
    return false;
}

static ir_fn *
make_vjp(making *k)
{
    ir_fn *fn = k->call->attr.fn;
    arena *a = k->c->scratch;
    const ir_op *end = ir_terminator(fn->body);
    uint32_t n = fn->body->nparams, floats = 0, next = 0, seed = n;
    bool *active = arena_new_n(a, bool, n + 1), *results = arena_new_n(a, bool, end->nargs + 1);
    for (uint32_t i = 0; i < n; i++)
        floats += ir_type_floats(fn->body->params[i]->type);
    for (uint32_t i = 0; i < end->nargs; i++)
        floats += ir_type_floats(end->args[i]->type);
    for (uint32_t i = 0; i < n; i++)
        if (ir_type_floats(fn->body->params[i]->type))
            active[i] = adjoint_is_wanted(k, next++, floats);
        else
            active[i] = k->call->adjoints && fn->body->params[i]->type.kind == IR_BUFFER;
    for (uint32_t i = 0; i < end->nargs; i++)
        if (ir_type_floats(end->args[i]->type))
            results[i] = !stays_zero(k->call, seed++, 0);
    spread_once(k->x, fn);
    ad_options options = {.active = active, .results = results, .combined = true};
    return ad_vjp(fn, &options, fresh_name(k, fn, "vjp"), k->c);
}

/* Of what is added to planes of buffers, only what has tangents of all orders is left, as an adjoint. */
static void
keep_highest(ir_region *r, unsigned highest)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        for (uint32_t i = 0; i < op->nregions; i++)
            keep_highest(op->regions[i], highest);
        if (op->code != RG_OP_RMW)
            continue;
        if (op->plane == highest) {
            op->plane = RG_ADJOINT;
            op->atomic = true; /* which threads meet there is not known */
        } else {
            ir_remove(op);
        }
    }
}

static bool
see_plane(ir_op *op, void *user)
{
    if (op->code == RG_OP_RMW)
        *(unsigned *)user |= op->plane;
    return true;
}

static bool expand_in(expansion *x, ir_fn *fn, bool early);

static void
become_adjoints(making *k, ir_fn *fn)
{
    unsigned highest = 0;
    expand_in(k->x, fn, false); /* what derivatives inside add, too */
    ir_walk(fn->body, see_plane, &highest);
    if (highest == RG_ADJOINT) /* no addition has a tangent: nothing is left */
        highest = RG_PLANE_COUNT;
    keep_highest(fn->body, highest);
}

/* the next jvp of fn, whose parameters are the first operands of the call: their tangents follow */
static ir_fn *
make_jvp(making *k, ir_fn *fn, uint32_t step)
{
    uint32_t n = fn->body->nparams, tangent = n;
    bool *active = arena_new_n(k->c->scratch, bool, n + 1), tangents = k->call->tangents >> step & 1;
    for (uint32_t i = 0; i < n; i++)
        if (ir_type_floats(fn->body->params[i]->type))
            active[i] = !stays_zero(k->call, tangent++, step + 1);
        else
            active[i] = (tangents || k->call->adjoints) && fn->body->params[i]->type.kind == IR_BUFFER;
    spread_once(k->x, fn);
    ad_options options = {.active = active, .still = !tangents};
    return ad_jvp(fn, &options, fresh_name(k, fn, "jvp"), k->c);
}

/* NULL after errors */
static ir_fn *
make_derivative(making *k)
{
    ir_fn *fn = k->call->attr.fn;
    if (k->call->reverse) {
        fn = make_vjp(k);
        /* rules called the user's own derivatives */
        if (fn && !k->c->diags->errors)
            inline_in(fn, k->c);
        if (fn && !k->c->diags->errors)
            simplify_in(fn, k->c);
    }
    for (uint32_t i = 0; fn && !k->c->diags->errors && i < k->call->forward; i++) {
        fn = make_jvp(k, fn, i);
        if (fn && !k->c->diags->errors)
            inline_in(fn, k->c);
        if (fn && !k->c->diags->errors && (k->call->adjoints >> i & 1))
            become_adjoints(k, fn);
    }
    return k->c->diags->errors ? NULL : fn;
}

static bool
is_straight_op(ir_op *op, void *user)
{
    (void)user;
    bool array = false;
    for (uint32_t i = 0; i < op->nresults; i++)
        array |= op->results[i]->type.kind == IR_ARRAY;
    return !array && !ir_is_loop(op) && op->code != RG_OP_CALL;
}

/* The gradient of a function without loops is arithmetic like any other: made at once it is differentiated with the kernel,
 * and what it reads of the kernel's arrays is recorded where they are overwritten. Its call would read a copy of them. */
static bool
is_arithmetic_call(const ir_op *call)
{
    bool buffers = false, arrays = false;
    for (uint32_t i = 0; i < call->nargs; i++) {
        buffers |= call->args[i]->type.kind == IR_BUFFER;
        arrays |= call->args[i]->type.kind == IR_ARRAY;
    }
    return buffers && !arrays && !call->forward && ir_walk(call->attr.fn->body, is_straight_op, NULL);
}

typedef struct recalling {
    ir_fn *fn;
    map lifted;
    ir_steps steps;
} recalling;

static bool
lift_recall_steps(ir_op *op, void *user)
{
    recalling *r = user;
    if (op->code != RG_OP_RECALL)
        return true;
    ir_recall_steps(op, &r->steps);
    for (size_t i = 0; i < r->steps.n; i++)
        op->args[0] = ir_lift(r->fn, op->args[0], r->steps.at[i].op, &r->lifted);
    return true;
}

/* Without loops a recall only leads out of branches, which can yield the value. */
static void
lift_all(ir_fn *fn, arena *scratch)
{
    recalling r = {.fn = fn, .lifted.in = scratch, .steps.in = scratch};
    ir_walk(fn->body, lift_recall_steps, &r);
    ir_see_through_recalls(fn, scratch);
}

/* false: after errors */
static bool
expand_call(expansion *x, ir_op *call, const bool *used)
{
    making k = {.x = x, .m = x->m, .c = x->c, .call = call, .used = used};
    ir_fn *fn = make_derivative(&k);
    if (!fn)
        return false;
    if (is_arithmetic_call(call))
        lift_all(fn, x->c->scratch);
    call->attr.fn = fn;
    call->reverse = false;
    call->forward = call->tangents = call->adjoints = 0;
    return true;
}

/* -- all calls of the module ---------------------------------------------------------------------------------- */
typedef struct finding {
    bool early, reverse;
    vec(ir_op *) calls;
} finding;

static bool
collect_derivative_calls(ir_op *op, void *user)
{
    finding *f = user;
    if (op->code != RG_OP_CALL || (!op->forward && !op->reverse) || (f->early && op->reverse && !is_arithmetic_call(op)))
        return true;
    f->reverse |= op->reverse;
    vec_push(&f->calls, op);
    return true;
}

/* The calls that fn holds now; functions that are put in their place may hold others. */
static bool
expand_found(expansion *x, ir_fn *fn, const finding *f)
{
    bool *used = arena_new_n(x->c->scratch, bool, fn->next_id + 1);
    ir_walk(fn->body, see_uses, used);
    for (size_t i = 0; i < f->calls.n; i++)
        if (!expand_call(x, f->calls.at[i], used))
            return false;
    map_set(&x->spread, map_ptr(fn), NULL);
    inline_in(fn, x->c);
    if (f->reverse)
        simplify_in(fn, x->c);
    return !x->c->diags->errors;
}

/* All calls that fn holds are inlined together, so that many cost no more than their own size. Functions that are
 * differentiated then have no calls but those that stay. */
static bool
expand_in(expansion *x, ir_fn *fn, bool early)
{
    for (bool any = false;; any = true) {
        finding f = {.early = early, .calls.in = x->c->scratch};
        ir_walk(fn->body, collect_derivative_calls, &f);
        if (!f.calls.n || !expand_found(x, fn, &f))
            return any;
    }
}

/* the user's own derivatives have served */
static bool
merge_customs(ir_module *m, pass_context *c)
{
    bool any = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next) {
        any |= fn->vjp || fn->jvp;
        fn->vjp = fn->jvp = NULL;
    }
    return any && PASS_RUN(m, opt_inline, IR_STAGE_AD, c);
}

bool
ad_expand_calls(ir_module *m, bool early, pass_context *c)
{
    bool any = false, more = true;
    expansion x = {.m = m, .c = c, .spread.in = c->scratch};
    while (more && !c->diags->errors) {
        more = false;
        for (ir_fn *fn = m->first; fn && !c->diags->errors; fn = fn->next)
            if (early || fn->kernel)
                any |= expand_in(&x, fn, early);
        map_free(&x.spread);
        if (!early && !c->diags->errors)
            any |= more = merge_customs(m, c);
    }
    return any;
}

/* -- planes that there are not ------------------------------------------------------------------------------- */
typedef struct plane_query {
    const uint8_t *planes;
    const ir_fn *fn;
    unsigned plane;
    bool found; /* in some buffer that may be meant */
} plane_query;

static void
note_plane_root(ir_value *root, void *user)
{
    plane_query *q = user;
    bool param = !root->def && root->region == q->fn->body;
    q->found |= !param || (q->planes[root->index] & q->plane) == q->plane;
}

static void
drop_planes(ir_fn *fn, ir_region *r, const uint8_t *planes)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        for (uint32_t i = 0; i < op->nregions; i++)
            drop_planes(fn, op->regions[i], planes);
        bool access = op->code == RG_OP_LOAD || (op->code == RG_OP_RMW && !op->nresults);
        if (!access || !op->plane || op->args[0]->type.kind != IR_BUFFER)
            continue;
        plane_query q = {planes, fn, op->plane & (RG_ADJOINT | RG_TANGENT), false};
        ir_buffer_roots(op->args[0], note_plane_root, &q);
        if (q.found)
            continue;
        if (op->code == RG_OP_LOAD) {
            op->code = RG_OP_CONST;
            op->flags = (ir_flags){0};
            op->nargs = 0;
            op->attr.bits = 0;
        } else {
            ir_remove(op);
        }
    }
}

void
ad_drop_planes(ir_fn *fn, const uint8_t *planes)
{
    if (planes)
        drop_planes(fn, fn->body, planes);
}

/* Several directions at once: a derivative for n adjoints or tangents side by side.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   %g: f64 = load.adj %y[%i]          %g: f64 = load.adj %y[%i]     %g.1: f64 = load.adj.d1 %y[%i]
 *   %c: f64 = cos %x               ->  %c: f64 = cos %x
 *   %d: f64 = mul %g, %c               %d: f64 = mul %g, %c          %d.1: f64 = mul %g.1, %c
 *   rmw.add.adj %z[%i], %d             rmw.add.adj %z[%i], %d        rmw.add.adj.d1 %z[%i], %d.1
 *
 * A value is *varying* if it depends on what a plane with directions holds, else *uniform*. The new
 * function computes what is uniform once (all of the primal is: what it records and recomputes, its
 * indices, branches and exits), and n of what varies: carried values, results, reductions, and
 * temps in which varying values are kept. Where a branch or an exit itself depends on what varies,
 * the whole op is made n times (it is *split*): all that it holds varies. */
#include "analysis/effects.h"
#include "ir/edges.h"
#include "diff/ad.h"
#include "diff/activity.h"

typedef struct directions {
    const ir_fn *from;
    ir_fn *fn;
    diag_list *diags;
    const uint32_t *of; /* by plane */
    uint32_t n;
    bool side_by_side;
    bool *varying; /* by id in `from` */
    map split;     /* ops that are made n times as a whole */
    bool changed, failed;
    uint32_t bundles;
    ir_value **made; /* by id in `from` * n + direction */
    int only;        /* inside of what is split: the direction being made; -1: all */
} directions;

/* -- what varies
 * ----------------------------------------------------------------------------------------- */
static void
mark_varying(directions *s, const ir_value *v)
{
    s->changed |= !s->varying[v->id];
    s->varying[v->id] = true;
}

static void
vary_if(directions *s, const ir_value *v, bool yes)
{
    if (yes)
        mark_varying(s, v);
}

static bool
any_varies(const directions *s, const ir_op *op)
{
    for (uint32_t i = 0; i < op->nargs; i++)
        if (s->varying[op->args[i]->id])
            return true;
    return false;
}

static void
vary_temp(ir_value *root, void *user)
{
    if (root->def)
        mark_varying(user, root);
}

static bool
has_directions(const directions *s, const ir_op *op)
{
    return ir_is_access(op) && s->of[op->plane] > 1;
}

/* A temp that is given what varies in a plane without directions has to be several temps. */
static void
mark_varying_access(directions *s, const ir_op *op)
{
    bool varies = any_varies(s, op);
    if (varies && op->code != RG_OP_LOAD && !has_directions(s, op) &&
        op->args[0]->type.kind == IR_BUFFER)
        ir_buffer_roots(op->args[0], vary_temp, s);
    for (uint32_t i = 0; i < op->nresults; i++)
        vary_if(s, op->results[i], varies || has_directions(s, op));
}

static void
mark_split(directions *s, const ir_op *op)
{
    s->changed |= !map_get(&s->split, map_ptr(op));
    map_set(&s->split, map_ptr(op), s);
}

static bool
is_split(const directions *s, const ir_op *op)
{
    return map_get(&s->split, map_ptr(op)) != NULL;
}

/* what the op takes before its inits, or decides its exits */
static bool
control_varies(const directions *s, const ir_op *op)
{
    for (uint32_t i = 0; i < ir_own_operands(op); i++)
        if (s->varying[op->args[i]->id])
            return true;
    if (op->code == RG_OP_LOOP)
        ir_for_exits (exit, op)
            if (s->varying[exit->args[0]->id])
                return true;
    return false;
}

static void mark_region(directions *s, const ir_region *r, bool all);

static void
mark_op(directions *s, const ir_op *op, bool all)
{
    if (op->nregions) {
        bool split = all || is_split(s, op);
        if (!split && control_varies(s, op)) {
            mark_split(s, op);
            split = true;
        }
        for (uint32_t i = 0; i < op->nregions; i++)
            mark_region(s, op->regions[i], split);
        for (ir_edge e = {0}; ir_next_edge(op, &e);)
            vary_if(s, e.to, s->varying[e.from.value->id]);
        for (uint32_t i = 0; split && i < op->nresults; i++)
            mark_varying(s, op->results[i]);
    } else if (ir_is_access(op)) {
        mark_varying_access(s, op);
    } else {
        bool varies = any_varies(s, op);
        for (uint32_t i = 0; i < op->nresults; i++)
            vary_if(s, op->results[i], varies);
    }
    for (uint32_t i = 0; all && i < op->nresults; i++)
        mark_varying(s, op->results[i]);
}

static void
mark_region(directions *s, const ir_region *r, bool all)
{
    for (uint32_t i = 0; all && i < r->nparams; i++)
        mark_varying(s, r->params[i]);
    ir_for_ops (op, r)
        mark_op(s, op, all);
}

/* -- the new function's values
 * ------------------------------------------------------------------------------ */
/* the directions to make now: all of them, or the one of what is split */
static uint32_t
first_of(const directions *s)
{
    return s->only < 0 ? 0 : (uint32_t)s->only;
}

static uint32_t
end_of_directions(const directions *s)
{
    return s->only < 0 ? s->n : (uint32_t)s->only + 1;
}

#define each_direction(d, s) for (uint32_t d = first_of(s); d < end_of_directions(s); d++)

static ir_value *
value_in(const directions *s, const ir_value *v, uint32_t d)
{
    return s->made[v->id * s->n + d];
}

static void
set_value(directions *s, const ir_value *v, uint32_t d, ir_value *made)
{
    s->made[v->id * s->n + d] = made;
}

static void
set_uniform(directions *s, const ir_value *v, ir_value *made)
{
    for (uint32_t d = 0; d < s->n; d++)
        set_value(s, v, d, made);
}

/* a uniform array that every direction consumes: each but the last one a copy */
static ir_value *
own_array(directions *s, const ir_value *v, uint32_t d, ir_region *into)
{
    ir_value *array = value_in(s, v, d);
    if (v->type.kind != IR_ARRAY || s->varying[v->id] || d + 1 == s->n)
        return array;
    bool zeros = v->def && v->def->code == RG_OP_ARRAY;
    ir_op *copy = ir_op_new(s->fn, zeros ? RG_OP_ARRAY : RG_OP_COPY, 0, 0,
                            v->def ? v->def->loc : (ir_loc){0});
    if (!zeros)
        ir_op_arg(copy, s->fn, array);
    ir_append(into, copy);
    return ir_op_result(copy, s->fn, v->type, v->name);
}

static const char *
name_of(const ir_value *v, uint32_t d)
{
    return d ? NULL : v->name;
}

/* operand v, once or in each direction if what it becomes varies */
static void
add_arg(directions *s, ir_op *op, const ir_value *v, bool varies, ir_region *into)
{
    if (!varies) {
        ir_op_arg(op, s->fn, value_in(s, v, first_of(s)));
        return;
    }
    each_direction(d, s) ir_op_arg(op, s->fn, own_array(s, v, d, into));
}

static void
add_result_copies(directions *s, ir_op *op, const ir_value *v)
{
    if (!s->varying[v->id])
        set_uniform(s, v, ir_op_result(op, s->fn, v->type, v->name));
    else
        each_direction(d, s) set_value(s, v, d, ir_op_result(op, s->fn, v->type, name_of(v, d)));
}

static void
add_param_copies(directions *s, ir_region *r, const ir_value *v)
{
    if (!s->varying[v->id])
        set_uniform(s, v, ir_region_param(r, v->type, v->name));
    else
        each_direction(d, s) set_value(s, v, d, ir_region_param(r, v->type, name_of(v, d)));
}

/* -- ops
 * ------------------------------------------------------------------------------------------------------
 */
static void make_region(directions *s, const ir_region *from, ir_region *into);

static void
error_at(directions *s, const ir_op *op, const char *what)
{
    diag_add(s->diags, DIAG_ERROR, 540, ir_place(s->from->module, op->loc),
             "%s differs between the directions of one launch\nlaunch each direction by itself",
             what);
    s->failed = true;
}

static bool
overwrites_array(const ir_op *op, uint32_t arg)
{
    return (op->code == RG_OP_INSERT && arg == 0) || op->code == RG_OP_CALL;
}

/* The op for direction d; `once`: for all of them, so that an array may go where it went. */
static void
make_one(directions *s, const ir_op *op, uint32_t d, bool once, uint32_t bundle, ir_region *into)
{
    ir_op *copy = ir_op_like(s->fn, op);
    copy->bundle = bundle;
    if (has_directions(s, op)) {
        copy->direction = (uint8_t)d;
        copy->beside = s->side_by_side ? (uint8_t)s->n : 0;
    }
    for (uint32_t i = 0; i < op->nargs; i++)
        ir_op_arg(copy, s->fn,
                  overwrites_array(op, i) && !once ? own_array(s, op->args[i], d, into)
                                                   : value_in(s, op->args[i], d));
    ir_append(into, copy);
    for (uint32_t i = 0; i < op->nresults; i++)
        if (s->varying[op->results[i]->id])
            set_value(s, op->results[i], d,
                      ir_op_result(copy, s->fn, op->results[i]->type, name_of(op->results[i], d)));
        else
            set_uniform(s, op->results[i],
                        ir_op_result(copy, s->fn, op->results[i]->type, op->results[i]->name));
}

/* whether what stands in a straight line is needed in each direction */
static bool
op_varies(const directions *s, const ir_op *op)
{
    if (has_directions(s, op) || any_varies(s, op))
        return true;
    return op->nresults && s->varying[op->results[0]->id];
}

static void
make_plain(directions *s, const ir_op *op, ir_region *into)
{
    bool writes = ir_ops[op->code].flags & IR_WRITE, varies = op_varies(s, op);
    bool everywhere = has_directions(s, op) || (writes && s->varying[op->args[0]->id]);
    if (writes && !everywhere && (varies || s->only >= 0)) {
        error_at(s, op,
                 op->plane ? "what is stored to a plane without directions" : "what is stored");
        return;
    }
    uint32_t bundle = s->only < 0 && varies ? ++s->bundles : 0;
    if (varies || s->only >= 0)
        each_direction(d, s) make_one(s, op, d, false, bundle, into);
    else
        make_one(s, op, 0, true, 0, into);
}

static void
add_reductions(directions *s, const ir_op *op, ir_op *copy)
{
    uint32_t all = copy->nargs - ir_first_init(copy), at = 0;
    uint8_t *reduce = arena_new_n(s->fn->module->arena, uint8_t, all + 1);
    for (uint32_t i = 0; i < ir_value_results(op); i++) {
        uint32_t times = s->varying[op->results[i]->id] ? end_of_directions(s) - first_of(s) : 1;
        memset(reduce + at, op->reduce[i], times);
        at += times;
    }
    copy->reduce = reduce;
}

static void
make_control(directions *s, const ir_op *op, ir_region *into)
{
    uint32_t init = ir_own_operands(op);
    ir_op *copy = ir_op_like(s->fn, op);
    for (uint32_t i = 0; i < init; i++)
        ir_op_arg(copy, s->fn, value_in(s, op->args[i], first_of(s)));
    for (uint32_t i = init; i < op->nargs; i++)
        add_arg(s, copy, op->args[i], s->varying[ir_handed_to(op, i)->id], into);
    if (op->code == RG_OP_PARALLEL)
        add_reductions(s, op, copy);
    ir_append(into, copy);
    for (uint32_t k = 0; k < op->nregions && !s->failed; k++) {
        for (uint32_t i = 0; i < op->regions[k]->nparams; i++)
            add_param_copies(s, copy->regions[k], op->regions[k]->params[i]);
        make_region(s, op->regions[k], copy->regions[k]);
    }
    for (uint32_t i = 0; i < op->nresults; i++)
        add_result_copies(s, copy, op->results[i]);
}

/* yield, exit_if: each value as often as what it is handed on to */
static void
make_leaving(directions *s, const ir_op *op, ir_region *into)
{
    ir_op *copy = ir_op_like(s->fn, op);
    for (uint32_t i = 0; i < op->nargs; i++) {
        const ir_value *key = ir_handed_to(op, i);
        if (!key && op->code == RG_OP_EXIT_IF)
            ir_op_arg(copy, s->fn, value_in(s, op->args[i], first_of(s)));
        else /* the function's own results as often as they are */
            add_arg(s, copy, op->args[i], key && s->varying[key->id], into);
    }
    ir_append(into, copy);
}

static void
make_op(directions *s, const ir_op *op, ir_region *into)
{
    if (op->code == RG_OP_YIELD || op->code == RG_OP_EXIT_IF) {
        make_leaving(s, op, into);
    } else if (!op->nregions) {
        make_plain(s, op, into);
    } else if (s->only >= 0 || !is_split(s, op)) {
        make_control(s, op, into);
    } else if (op->code == RG_OP_PARALLEL) {
        error_at(s, op, "a parallel loop's number of threads");
    } else {
        for (uint32_t d = 0; d < s->n && !s->failed; d++) {
            s->only = (int)d;
            make_control(s, op, into);
        }
        s->only = -1;
    }
}

static void
make_region(directions *s, const ir_region *from, ir_region *into)
{
    for (const ir_op *op = from->first; op && !s->failed; op = op->next)
        make_op(s, op, into);
}

/* -- the whole function
 * --------------------------------------------------------------------------------------- */
static void
make_kernel(directions *s)
{
    const ir_region *body = s->from->body;
    s->fn = ir_fn_new(s->from->module, s->from->name, s->from->kernel);
    s->fn->loc = s->from->loc;
    for (uint32_t i = 0; i < body->nparams; i++) {
        add_param_copies(s, s->fn->body, body->params[i]);
        const char *name = s->fn->params[i].name;
        s->fn->params[i] = s->from->params[i];
        s->fn->params[i].name = name;
    }
    if (s->from->shape) {
        s->fn->shape = ir_region_new(s->fn, NULL);
        make_region(s, s->from->shape, s->fn->shape);
    }
    make_region(s, body, s->fn->body);
}

ir_fn *
ad_directions(const ir_fn *fn, const uint32_t of[RG_PLANE_COUNT], bool side_by_side, pass_context *c)
{
    arena_mark before = arena_here(c->scratch);
    directions s = {.from = fn, .diags = c->diags, .of = of, .n = 1, .only = -1, .side_by_side = side_by_side,
                    .split.in = c->scratch};
    for (unsigned plane = 0; plane < RG_PLANE_COUNT; plane++)
        s.n = of[plane] > s.n ? of[plane] : s.n;
    s.varying = arena_new_n(c->scratch, bool, fn->next_id + 1);
    s.made = arena_new_n(c->scratch, ir_value *, (size_t)fn->next_id * s.n + 1);
    do {
        s.changed = false;
        mark_region(&s, fn->body, false);
    } while (s.changed);
    make_kernel(&s);
    arena_release(c->scratch, before);
    return s.failed ? NULL : s.fn;
}

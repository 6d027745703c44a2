/* Reverse mode: the driver, forward instances, adjoint variables, and straight-line ops.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The reverse of a region is built by walking its ops from last to first. The adjoint of a value is a
 * mutable variable of the builder, declared when the reverse of the value's region is opened; ifs and
 * unwinds then carry it without further ado. */
#include "diff/vjp.h"

ir_emit
vjp_at(vjp *v, const ir_op *op)
{
    ir_emit e = vjp_here(v);
    e.loc = op->loc;
    return e;
}

void
vjp_error(vjp *v, const ir_op *op, unsigned number, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag_addv(v->c->diags, DIAG_ERROR, number, ir_place(v->from->module, op->loc), format, args);
    va_end(args);
    v->failed = true;
}

/* -- forward instances --------------------------------------------------------------------------------- */
ir_value *
vjp_recalled(vjp *v, ir_value *instance)
{
    ir_emit e = vjp_here(v);
    return ad_had(&e, instance);
}

ir_value *
vjp_primal(vjp *v, ir_value *value)
{
    ir_value *instance = v->instance[value->id];
    assert(instance && "a forward value is used before its region has an instance");
    ir_value *again = vjp_read_undone(v, value);
    return again ? again : vjp_recalled(v, instance);
}

static ir_value *
recalled_primal(void *user, ir_value *value)
{
    return vjp_primal(user, value);
}

/* remembers op -> copy for the two ops and all that is inside them */
static void
pair_up(vjp *v, const ir_op *op, ir_op *copy, bool effects)
{
    map_set(&v->instance_ops, map_ptr(op), copy);
    if (!effects && (op->code == RG_OP_LOAD || op->code == RG_OP_RMW) && !ir_is_own(op))
        copy->origin = op;
    for (uint32_t i = 0; i < op->nregions; i++) {
        const ir_op *inner = op->regions[i]->first;
        ir_op *inner_copy = copy->regions[i]->first;
        for (; inner; inner = inner->next, inner_copy = inner_copy->next)
            pair_up(v, inner, inner_copy, effects);
    }
}

void
vjp_drop_update(ir_op *op)
{
    op->nargs -= op->rmw == RG_RMW_CAS ? 2 : 1;
    op->code = RG_OP_LOAD;
    op->atomic = false;
    op->rmw = 0;
}

/* A sweep without effects: what a store or print did stays undone. The value that an atomic returned
 * cannot be had again; it becomes a load of atomic origin, which ad_check_split refuses if needed. */
static void
drop_sweep_effects(vjp *v, ir_op *op)
{
    for (uint32_t i = 0; i < op->nregions; i++)
        for (ir_op *inner = op->regions[i]->first, *next; inner; inner = next) {
            next = inner->next;
            drop_sweep_effects(v, inner);
        }
    if (ir_is_own(op))
        return; /* a thread that is swept again fills its memory again */
    switch ((rg_op)op->code) {
    case RG_OP_PARALLEL:
        if (!op->nresults)
            ir_remove(op);
        break;
    case RG_OP_RMW:
        if (v->keep_contests && ad_is_contest(op))
            break;
        if (op->nresults) {
            vjp_drop_update(op);
            break;
        }
        /* fallthrough */
    case RG_OP_STORE:
    case RG_OP_ASSERT:
    case RG_OP_PRINT:
        ir_remove(op);
        break;
    case RG_OP_CALL:
        op->silent = true;
        break;
    default:
        break;
    }
}

void
vjp_clone_ops(vjp *v, const ir_op *first, const ir_op *end, ir_region *into, bool effects)
{
    for (const ir_op *op = first; op && op != end; op = op->next) {
        ir_op *copy = ir_op_clone(v->fn, op, v->instance, into);
        pair_up(v, op, copy, effects);
        if (!effects)
            drop_sweep_effects(v, copy);
    }
}

/* -- adjoint variables ----------------------------------------------------------------------------------- */
bool
vjp_active(const vjp *v, const ir_value *value)
{
    return ad_is_active(&v->activity, value);
}

static void
declare_adjoint(vjp *v, const ir_value *value)
{
    if ((value->type.kind != IR_SCALAR && value->type.kind != IR_ARRAY) || !vjp_active(v, value))
        return;
    rg_type type = {ir_adjoint_dtype((rg_dtype)value->type.dtype), value->type.length};
    v->adjoint[value->id] = rg_build_var(v->b, (rg_str){0}, type);
}

void
vjp_declare(vjp *v, const ir_region *region, const ir_op *from_op)
{
    for (uint32_t i = 0; i < region->nparams; i++)
        declare_adjoint(v, region->params[i]);
    for (const ir_op *op = from_op; op; op = op->prev)
        for (uint32_t i = 0; i < op->nresults; i++)
            declare_adjoint(v, op->results[i]);
}

ir_value *
vjp_adjoint(vjp *v, const ir_value *value)
{
    rg_var var = v->adjoint[value->id];
    if (!var || !vjp_active(v, value) || ir_build_is_unset(v->b, var))
        return NULL;
    return rg_build_get(v->b, var);
}

ir_value *
vjp_adjoint_or_zero(vjp *v, const ir_value *value)
{
    ir_value *g = vjp_adjoint(v, value);
    if (g)
        return g;
    rg_dtype dtype = ir_adjoint_dtype((rg_dtype)value->type.dtype);
    ir_emit e = vjp_here(v);
    return ir_emit_zero(&e, value->type.kind == IR_ARRAY ? ir_array(dtype, value->type.length)
                                                       : ir_scalar(dtype));
}

/* adds array g to array variable var, element by element */
static void
add_arrays(vjp *v, rg_var var, ir_value *g)
{
    rg_builder *b = v->b;
    rg_value index;
    rg_build_for(b, rg_build_int(b, RG_I64, 0), rg_build_int(b, RG_I64, g->type.length), 1, &index);
    rg_value sum = rg_build_2(b, RG_OP_ADD, rg_build_extract(b, rg_build_get(b, var), index),
                              rg_build_extract(b, g, index));
    rg_build_set(b, var, rg_build_insert(b, rg_build_get(b, var), index, sum));
    rg_build_end(b);
}

void
vjp_accumulate(vjp *v, const ir_value *value, ir_value *g)
{
    rg_var var = v->adjoint[value->id];
    if (!g || !vjp_active(v, value))
        return;
    assert(var && "an adjoint has no variable: its region was not declared");
    if (ir_build_is_unset(v->b, var))
        rg_build_set(v->b, var, g);
    else if (g->type.kind == IR_ARRAY)
        add_arrays(v, var, g);
    else
        rg_build_set(v->b, var, rg_build_2(v->b, RG_OP_ADD, rg_build_get(v->b, var), g));
}

/* -- straight-line ops -------------------------------------------------------------------------------------- */
/* n if q is the product of n factors p, written as p * (p * ...); 0: it is none */
static uint32_t
power_of(const ir_value *q, const ir_value *p)
{
    enum { MOST = 16 };
    for (uint32_t n = 1; n < MOST; n++) {
        if (q == p)
            return n;
        const ir_op *op = q->def;
        if (!op || op->code != RG_OP_MUL || (op->args[0] != p && op->args[1] != p))
            return 0;
        q = op->args[op->args[0] == p];
    }
    return 0;
}

/* x * x^n in a product or fma: (n + 1) x^n in one piece, which what makes x^n then has no part in. Returns
 * whether operands 0 and 1 are done. */
static bool
reverse_power(vjp *v, const ir_op *op, ir_value *g)
{
    if (op->code != RG_OP_MUL && op->code != RG_OP_FMA)
        return false;
    uint32_t base = power_of(op->args[1], op->args[0]) ? 0 : 1;
    ir_value *x = op->args[base], *rest = op->args[1 - base];
    uint32_t n = power_of(rest, x);
    if (!n || !vjp_active(v, x))
        return false;
    ir_emit e = vjp_at(v, op);
    rg_dtype dtype = (rg_dtype)g->type.dtype;
    ir_value *slope = ir_emit_cast(&e, dtype, vjp_primal(v, rest)), *times = ir_emit_float(&e, dtype, n + 1);
    if (n == 1) /* a sum of squares doubles its adjoint once */
        g = ir_emit_2(&e, RG_OP_MUL, g, times);
    else
        slope = ir_emit_2(&e, RG_OP_MUL, slope, times);
    vjp_accumulate(v, x, ir_emit_2(&e, RG_OP_MUL, g, slope));
    return true;
}

static bool
runs_late(const vjp *v, const ir_op *op)
{
    return map_get(&v->late, map_ptr(op));
}

/* Whether op passes its adjoint on to that operand now: a late op first to what is late, in the end to all others. */
static bool
is_due(const vjp *v, const ir_op *op, const ir_value *operand)
{
    const ir_op *def = operand->def;
    bool late = def && (runs_late(v, def) || map_get(&v->swept, map_ptr(def)));
    return !runs_late(v, op) || late != v->late_values;
}

static void
reverse_scalar(vjp *v, const ir_op *op)
{
    ir_value *g = op->nresults == 1 ? vjp_adjoint(v, op->results[0]) : NULL;
    if (!g)
        return;
    for (uint32_t k = !runs_late(v, op) && reverse_power(v, op, g) ? 2 : 0; k < op->nargs; k++) {
        const ir_value *operand = op->args[k];
        if (!vjp_active(v, operand) || !ad_flows(op, k) || !is_due(v, op, operand))
            continue;
        ir_emit e = vjp_at(v, op);
        if (op->code == RG_OP_CAST) {
            vjp_accumulate(v, operand, ir_emit_cast(&e, ir_adjoint_dtype((rg_dtype)operand->type.dtype), g));
        } else if (ad_rule_of((rg_op)op->code, k) == AD_RULE_ERROR) {
            vjp_error(v, op, 501, "`%s` of an active value has no derivative here\n"
                      "keep its operand constant (an array without adjoint), or write out a formula",
                      ir_ops[op->code].text);
        } else if (op->code == RG_OP_ZERO_GUARD && !vjp_active(v, op->args[0])) {
            /* a guard that cannot change: where it is 0 nothing passes */
            ir_value *guard = ir_emit_cast(&e, (rg_dtype)g->type.dtype, vjp_primal(v, op->args[0]));
            vjp_accumulate(v, operand, ir_emit_2(&e, RG_OP_ZERO_GUARD, guard, g));
        } else {
            vjp_accumulate(v, operand, ad_rule_apply(&e, op, k, g, recalled_primal, v));
        }
    }
}

/* -- local arrays: the adjoint of an array is an array, and moves where the array moved ------------------------ */

static void
reverse_array(vjp *v, const ir_op *op)
{
    if (op->code == RG_OP_INSERT)
        vjp_undo_insert(v, op);
    ir_value *g = vjp_adjoint(v, op->results[0]);
    if (!g)
        return;
    const ir_value *array = op->args[0];
    if (op->code == RG_OP_COPY) {
        vjp_accumulate(v, array, g);
        return;
    }
    ir_value *index = vjp_primal(v, op->args[1]);
    ir_emit e = vjp_at(v, op);
    if (op->code == RG_OP_EXTRACT) {
        if (!vjp_active(v, array))
            return;
        rg_var var = v->adjoint[array->id];
        ir_value *old = rg_build_extract(v->b, rg_build_get(v->b, var), index);
        ir_value *sum = rg_build_2(v->b, RG_OP_ADD, old, g);
        rg_build_set(v->b, var, rg_build_insert(v->b, rg_build_get(v->b, var), index, sum));
        return;
    }
    vjp_accumulate(v, op->args[2], rg_build_extract(v->b, g, index));
    if (vjp_active(v, array)) {
        ir_value *zero = ir_emit_const(&e, (rg_dtype)g->type.dtype, 0);
        vjp_accumulate(v, array, rg_build_insert(v->b, g, index, zero));
    }
}

/* -- one op --------------------------------------------------------------------------------------- */

static void
reverse_op(vjp *v, const ir_op *op)
{
    ir_build_loc(v->b, op->loc);
    rg_build_in_rows(v->b, op->in_row);
    v->now = op;
    switch ((rg_op)op->code) {
    case RG_OP_IF:
    case RG_OP_FOR:
    case RG_OP_LOOP:
    case RG_OP_PARALLEL:
        vjp_reverse_control(v, op);
        break;
    case RG_OP_LOAD:
    case RG_OP_STORE:
    case RG_OP_RMW:
        vjp_reverse_memory(v, op);
        break;
    case RG_OP_COPY:
    case RG_OP_EXTRACT:
    case RG_OP_INSERT:
        reverse_array(v, op);
        break;
    case RG_OP_CALL:
        vjp_reverse_call(v, op);
        break;
    default:
        reverse_scalar(v, op);
    }
}

/* From `last` back to the first op that runs where it is reversed: what is late or runs there; then, with all late values, the rest. */
static void
reverse_behind_swept(vjp *v, const ir_op *last, const ir_op *first)
{
    v->late_values = false;
    for (const ir_op *op = last; op != first->prev && !v->failed; op = op->prev)
        if (runs_late(v, op) || map_get(&v->swept, map_ptr(op)))
            reverse_op(v, op);
    for (const ir_op *op = first; op != ir_terminator(first->parent); op = op->next)
        if (runs_late(v, op))
            vjp_clone_ops(v, op, op->next, ir_build_region(v->b), v->combined);
    for (const ir_op *op = last; op != first->prev && !v->failed; op = op->prev) {
        bool scalar = ir_ops[op->code].form != IR_OTHER;
        v->late_values = true;
        if (!map_get(&v->swept, map_ptr(op)) && (!runs_late(v, op) || scalar))
            reverse_op(v, op);
    }
    v->late_values = false;
}

void
vjp_reverse(vjp *v, const ir_op *last)
{
    const ir_op *swept = last ? map_get(&v->first_swept, map_ptr(last->parent)) : NULL;
    if (last)
        vjp_forget_inserted(v, last->parent);
    if (swept)
        reverse_behind_swept(v, last, swept);
    for (const ir_op *op = swept ? swept->prev : last; op && !v->failed; op = op->prev)
        reverse_op(v, op);
}

/* -- the whole function -------------------------------------------------------------------------------------- */
static ir_fn *
new_kernel(vjp *v, const char *name)
{
    const ir_fn *from = v->from;
    ir_fn *fn = ir_fn_new(from->module, name, from->kernel);
    fn->loc = from->loc;
    fn->params = from->params;
    for (uint32_t i = 0; i < from->body->nparams; i++) {
        const ir_value *p = from->body->params[i];
        v->instance[p->id] = ir_region_param(fn->body, p->type, p->name);
    }
    if (from->shape) {
        fn->shape = ir_region_new(fn, NULL);
        ir_for_ops(op, from->shape) ir_op_clone(fn, op, v->instance, fn->shape);
    }
    const ir_op *end = ir_terminator(from->body);
    for (uint32_t i = 0; !fn->kernel && i < end->nargs; i++)
        if (ir_type_floats(end->args[i]->type))
            ir_region_param(fn->body, ir_adjoint_type(end->args[i]->type), NULL);
    return fn;
}

/* A function's results take the adjoints that it is given. */
static void
take_seeds(vjp *v)
{
    const ir_op *end = ir_terminator(v->from->body);
    uint32_t next = v->from->body->nparams;
    for (uint32_t i = 0; i < end->nargs; i++)
        if (ir_type_floats(end->args[i]->type))
            vjp_accumulate(v, end->args[i], v->fn->body->params[next++]);
}

/* ... and gives the adjoints of its parameters, its float results, and the others. */
static void
yield_results(vjp *v)
{
    const ir_op *end = ir_terminator(v->from->body);
    ir_op *yield = ir_op_new(v->fn, RG_OP_YIELD, 0, 0, end->loc);
    for (uint32_t i = 0; i < v->from->body->nparams; i++)
        if (ir_type_floats(v->from->body->params[i]->type))
            ir_op_arg(yield, v->fn, vjp_adjoint_or_zero(v, v->from->body->params[i]));
    for (int floats = 1; floats >= 0; floats--)
        for (uint32_t i = 0; i < end->nargs; i++)
            if (ir_type_floats(end->args[i]->type) == (bool)floats)
                ir_op_arg(yield, v->fn, v->instance[end->args[i]->id]);
    ir_append(v->fn->body, yield);
}

/* the adjoints of scalar parameters go to their planes */
static void
return_scalar_adjoints(vjp *v)
{
    for (uint32_t i = 0; i < v->from->body->nparams; i++) {
        const ir_value *p = v->from->body->params[i];
        if (p->type.kind != IR_SCALAR)
            continue;
        ir_value *g = vjp_adjoint(v, p);
        if (!g)
            continue;
        ir_emit e = vjp_here(v);
        g = ir_emit_cast(&e, (rg_dtype)p->type.dtype, g);
        rg_build_rmw(v->b, RG_ADJOINT, RG_RMW_ADD, false, v->instance[p->id], 0, NULL, g, NULL);
    }
}

ir_fn *
ad_vjp(const ir_fn *fn, const ad_options *options, const char *name, pass_context *c)
{
    arena *a = c->scratch;
    vjp v = {.from = fn, .c = c, .combined = options && options->combined,
             .put_back = options ? options->put_back : NULL, .footprints = ir_footprints_in(a),
             .instance = arena_new_n(a, ir_value *, fn->next_id + 1), .adjoint = arena_new_n(a, rg_var, fn->next_id + 1)};
    v.instance_ops.in = v.records.in = v.stays.in = v.swept.in = v.late.in = v.first_swept.in = a;
    v.contests.in = v.turns.in = v.exclusive.in = a;
    ad_activity_find(&v.activity, fn, options ? options->active : NULL, options ? options->results : NULL, true, a);
    vjp_find_undone(&v);
    v.fn = new_kernel(&v, name);
    v.b = ir_builder_on(fn->module, c->diags, a);

    if (v.combined)
        vjp_choose_swept(&v, fn->body);
    vjp_clone_region(&v, fn->body, v.fn->body);
    ir_builder_enter(v.b, v.fn, v.fn->body);
    vjp_declare(&v, fn->body, fn->body->last);
    if (!fn->kernel)
        take_seeds(&v);
    vjp_reverse(&v, fn->body->last);
    if (fn->kernel)
        return_scalar_adjoints(&v);
    else
        yield_results(&v);
    ir_builder_leave(v.b);
    if (fn->kernel)
        ir_append(v.fn->body, ir_op_new(v.fn, RG_OP_YIELD, 0, 0, fn->loc));

    unsigned errors = rg_build_error_count(v.b);
    return v.failed || errors ? NULL : v.fn;
}

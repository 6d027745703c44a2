/* Whether a module keeps the rules of the IR: structure, visibility, stages, signatures. Rules of
 * single ops stand in verify_op.c. SPDX-License-Identifier: Apache-2.0
 *
 * Structure comes first; where links are broken nothing else of that function is looked at. */
#include "ir/verify/verify.h"

/* To show an op takes time in the size of its function: after so many errors only the count
 * matters. */
enum { SHOWN = 20 };

bool
verify_error(verifier *v, const ir_op *op, unsigned number, const char *format, ...)
{
    str text = {.in = v->scratch};
    str_addf(&text, "@%s: ", v->fn->name);
    va_list args;
    va_start(args, format);
    str_addv(&text, format, args);
    va_end(args);
    if (v->after)
        str_addf(&text, " (after %s)", v->after);
    if (op && v->diags->errors < SHOWN) {
        str_addz(&text, "\nthe op: ");
        ir_print_op(&text, op);
    }
    ir_loc loc = op ? op->loc : v->fn->loc;
    diag_add(v->diags, DIAG_ERROR, number, ir_place(v->module, loc), "%s", text.ptr);
    return false;
}

/* -- structure -------------------------------------------------------------------------------- */

static bool
links_of_value(verifier *v, const ir_value *value, uint32_t index, const ir_op *def,
               const ir_region *r)
{
    if (value->def != def || value->region != r || value->index != index)
        return verify_error(v, def ? def : r->op, E_STRUCTURE,
                            "value %u does not point back to where it is defined", value->id);
    if (value->id >= v->fn->next_id || v->visible[value->id])
        return verify_error(v, def ? def : r->op, E_STRUCTURE,
                            "value %u has a number out of range or another value's", value->id);
    v->visible[value->id] = value;
    return true;
}

static bool links_of_region(verifier *v, const ir_region *r, const ir_op *op);

static bool
links_of_op(verifier *v, const ir_op *op, const ir_region *r)
{
    if (op->code >= RG_OP_COUNT)
        return verify_error(v, NULL, E_STRUCTURE, "an op has the unknown code %u", op->code);
    if (op->parent != r || (op->next ? op->next->prev : r->last) != op ||
        (op->prev ? op->prev->next : r->first) != op)
        return verify_error(v, op, E_STRUCTURE, "the op is not linked into its region");
    for (uint32_t i = 0; i < op->nargs; i++)
        if (!op->args[i])
            return verify_error(v, op, E_STRUCTURE, "operand %u is missing", i);
    for (uint32_t i = 0; i < op->nresults; i++)
        if (!links_of_value(v, op->results[i], i, op, r))
            return false;
    for (uint32_t i = 0; i < op->nregions; i++)
        if (!links_of_region(v, op->regions[i], op))
            return false;
    return true;
}

static bool
links_of_region(verifier *v, const ir_region *r, const ir_op *op)
{
    if (r->op != op || r->fn != v->fn)
        return verify_error(v, op, E_STRUCTURE, "a region does not point back to its op");
    for (uint32_t i = 0; i < r->nparams; i++)
        if (!links_of_value(v, r->params[i], i, NULL, r))
            return false;
    ir_for_ops(inner, r) if (!links_of_op(v, inner, r)) return false;
    return true;
}

/* -- visibility ------------------------------------------------------------------------------- */

static bool
check_stage(verifier *v, const ir_op *op)
{
    bool tape = v->stage >= IR_STAGE_TAPE, ad = v->stage == IR_STAGE_AD, slots = v->stage >= IR_STAGE_SLOTS;
    unsigned flags = ir_ops[op->code].flags;
    bool ok = (ad || !(flags & IR_TRACES)) && (tape || !(flags & IR_TAPE)) && !(flags & (slots ? IR_ARRAYS : IR_SLOTS)) &&
              (v->stage >= IR_STAGE_SEGMENTS || !(flags & IR_SEGMENTS));
    if (!ok)
        return verify_error(v, op, E_STAGE, "this op does not belong to this stage");
    bool flagged = op->records || op->rewinds;
    if (flagged && !(ad || (tape && op->code == RG_OP_PARALLEL)))
        return verify_error(v, op, E_STAGE, "recording does not belong to this stage");
    return true;
}

static void
check_value_stage(verifier *v, const ir_value *value, const ir_op *op)
{
    bool table = op && op->code == RG_OP_TABLE, ok = true;
    switch ((ir_kind)value->type.kind) {
    case IR_SCALAR:
    case IR_BUFFER:
        break;
    case IR_ARRAY:
        ok = v->stage < IR_STAGE_SLOTS || table;
        break;
    case IR_TRACE:
        ok = v->stage == IR_STAGE_AD;
        break;
    case IR_CURSOR:
        ok = v->stage >= IR_STAGE_TAPE;
        break;
    case IR_SLOT:
        ok = v->stage >= IR_STAGE_SLOTS;
        break;
    }
    if (!ok)
        verify_error(v, op, E_STAGE,
                     "value %s (number %u) has a type that does not belong to this stage",
                     value->name ? value->name : "", value->id);
}

static void
show_values(verifier *v, ir_value *const *values, uint32_t n, const ir_op *op)
{
    for (uint32_t i = 0; i < n; i++) {
        v->visible[values[i]->id] = values[i];
        check_value_stage(v, values[i], op);
        verify_value_lanes(v, values[i], op);
    }
}

static void
hide_values(verifier *v, ir_value *const *values, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        v->visible[values[i]->id] = NULL;
        v->left[values[i]->id] = true;
    }
}

static bool
check_scope(verifier *v, const ir_op *op)
{
    if (op->code == RG_OP_RECALL)
        return op->nargs != 1 || verify_recall(v, op);
    for (uint32_t i = 0; i < op->nargs; i++) {
        const ir_value *a = op->args[i];
        if (a->id < v->fn->next_id && v->visible[a->id] == a)
            continue;
        bool left = a->id < v->fn->next_id && v->left[a->id];
        return verify_error(v, op, E_SCOPE, "operand %u is not visible here: %s", i,
                            left ? "its region is closed" : "it is not defined before this op");
    }
    return true;
}

static bool
check_end(verifier *v, const ir_op *op)
{
    bool ends = ir_ops[op->code].flags & IR_END;
    if (ends && op->next)
        return verify_error(v, op, E_TERMINATOR, "a yield stands last in its region");
    if (!ends && !op->next)
        return verify_error(v, op, E_TERMINATOR,
                            "a region ends with a yield, and this is its last op");
    return true;
}

static bool check_region(verifier *v, ir_region *r, const ir_op *op);

static bool
stands_between_tasks(const verifier *v, const ir_op *op)
{
    return v->stage >= IR_STAGE_SEGMENTS && v->fn->kernel && !v->parallels && !v->segments && ir_region_inside(op->parent, v->fn->body);
}

static bool
check_op(verifier *v, const ir_op *op)
{
    bool staged = check_stage(v, op), scoped = check_scope(v, op), ended = check_end(v, op);
    bool ok = staged && scoped && ended && verify_arg_lanes(v, op) && verify_op(v, op);
    if (ok && stands_between_tasks(v, op))
        ok = verify_between_tasks(v, op);
    bool parallel = op->code == RG_OP_PARALLEL, segment = op->code == RG_OP_SEGMENT;
    unsigned lanes = v->lanes;
    v->parallels += parallel;
    v->segments += segment;
    v->lanes = parallel ? 0 : lanes;
    for (uint32_t i = 0; i < op->nregions; i++)
        ok &= check_region(v, op->regions[i], op);
    v->parallels -= parallel;
    v->segments -= segment;
    v->lanes = parallel ? lanes : v->lanes;
    show_values(v, op->results, op->nresults, op);
    return ok;
}

static bool
check_region(verifier *v, ir_region *r, const ir_op *op)
{
    bool ok = true;
    if (!r->first)
        return verify_error(v, op, E_TERMINATOR,
                            "a region ends with a yield, and here one is empty");
    show_values(v, r->params, r->nparams, op);
    ir_for_ops(inner, r) ok &= check_op(v, inner);
    ir_for_ops(inner, r) hide_values(v, inner->results, inner->nresults);
    hide_values(v, r->params, r->nparams);
    verify_region_closed(v, r);
    return ok;
}

/* -- functions -------------------------------------------------------------------------------- */

static bool
check_params(verifier *v)
{
    const ir_region *body = v->fn->body;
    for (uint32_t i = 0; i < body->nparams; i++) {
        ir_type t = body->params[i]->type;
        bool ok = t.dtype > RG_NONE && t.dtype < RG_DTYPE_COUNT;
        ok &= !t.lanes;
        ok &= t.kind == IR_SCALAR || (t.kind == IR_BUFFER && t.rank <= RG_MAX_RANK) ||
              (!v->fn->kernel && t.kind == IR_ARRAY && t.length > 0);
        if (!ok)
            return verify_error(
                v, NULL, E_SIGNATURE,
                "parameter %u has a type that %s cannot take\nkernels take scalars and "
                "buffers, functions local arrays too",
                i, v->fn->kernel ? "a kernel" : "a function");
    }
    return true;
}

static bool
check_results(verifier *v)
{
    const ir_op *end = ir_terminator(v->fn->body);
    for (uint32_t i = 0; end && i < end->nargs; i++) {
        ir_type t = end->args[i]->type;
        if (t.lanes || (t.kind != IR_SCALAR && (v->fn->kernel || t.kind != IR_ARRAY)))
            return verify_error(v, end, E_SIGNATURE,
                                "kernels give scalars, functions scalars and local arrays");
    }
    return true;
}

/* A function's own derivatives: parameters, results, then adjoints of the float results to those of the
 * float parameters, or tangents of the float parameters to those of the float results. */
static bool
check_own(verifier *v, const ir_fn *own, bool reverse)
{
    const ir_fn *fn = v->fn;
    if (!own)
        return true;
    const ir_region *from = fn->body, *to = own->body;
    const ir_op *end = ir_terminator(from), *gives = ir_terminator(to);
    uint32_t n = 0, given = 0;
    bool ok = !fn->kernel && !own->kernel && own->module == v->module && end && gives;
    for (uint32_t i = 0; ok && i < from->nparams; i++)
        ok = n < to->nparams && ir_type_eq(to->params[n++]->type, from->params[i]->type);
    for (uint32_t i = 0; ok && i < end->nargs; i++)
        ok = n < to->nparams && ir_type_eq(to->params[n++]->type, end->args[i]->type);
    for (int results = 0; ok && results < 2; results++) {
        uint32_t count = results ? end->nargs : from->nparams;
        for (uint32_t i = 0; ok && i < count; i++) {
            ir_type t = results ? end->args[i]->type : from->params[i]->type;
            if (!ir_type_floats(t))
                continue;
            bool taken = (bool)results == reverse;
            ok = taken ? n < to->nparams : given < gives->nargs;
            ok = ok && ir_type_eq(ir_adjoint_type(t),
                                  taken ? to->params[n++]->type : gives->args[given++]->type);
        }
    }
    if (ok && n == to->nparams && given == gives->nargs)
        return true;
    return verify_error(v, NULL, E_SIGNATURE, "@%s is not a %s of this function", own->name,
                        reverse ? "vjp" : "jvp");
}

/* A shape computes one i64 for each axis of each buffer, from the scalar parameters alone. */
static bool
check_shape(verifier *v)
{
    const ir_region *shape = v->fn->shape, *body = v->fn->body;
    if (!shape)
        return true;
    const ir_op *end = ir_terminator(shape);
    uint32_t axes = 0;
    for (uint32_t i = 0; i < body->nparams; i++)
        axes += body->params[i]->type.kind == IR_BUFFER ? body->params[i]->type.rank : 0;
    if (!v->fn->kernel || shape->nparams || !end || end->nargs != axes)
        return verify_error(
            v, end, E_SIGNATURE,
            "a kernel's shape has no parameters and yields one extent for each of the "
            "%u axes of its buffers",
            axes);
    for (uint32_t i = 0; i < axes; i++)
        if (!ir_type_eq(end->args[i]->type, ir_scalar(RG_I64)))
            return verify_error(v, end, E_SIGNATURE, "extents are of type i64");
    ir_for_ops(
        op,
        shape) if (op != end &&
                   (!(ir_ops[op->code].flags & IR_PURE) ||
                    op->code ==
                        RG_OP_EXTENT)) return verify_error(v, op, E_SIGNATURE,
                                                           "a shape holds scalar arithmetic only");
    return true;
}

static bool
check_fn_regions(verifier *v)
{
    const ir_fn *fn = v->fn;
    memset(v->visible, 0, fn->next_id * sizeof(*v->visible));
    show_values(v, fn->body->params, fn->body->nparams, NULL);
    bool ok = !fn->shape || check_region(v, fn->shape, NULL);
    return check_region(v, fn->body, NULL) & ok;
}

static void
check_fn(const ir_module *m, const ir_fn *fn, ir_stage stage, const char *after, diag_list *diags, arena *scratch)
{
    verifier v = {.module = m, .fn = fn, .stage = stage, .after = after, .diags = diags,
                  .scratch = scratch, .trail.in = scratch, .closed.in = scratch};
    arena_mark before = arena_here(scratch);
    v.visible = arena_new_n(scratch, const ir_value *, fn->next_id);
    v.left = arena_new_n(scratch, bool, fn->next_id);
    v.consumed = arena_new_n(scratch, uint8_t, fn->next_id);
    bool linked =
        links_of_region(&v, fn->body, NULL) && (!fn->shape || links_of_region(&v, fn->shape, NULL));
    if (linked && check_params(&v) && check_fn_regions(&v) && check_results(&v) && check_shape(&v) &&
        check_own(&v, fn->vjp, true) && check_own(&v, fn->jvp, false) &&
        (stage != IR_STAGE_AD || verify_tapes(&v)))
        verify_linear(&v, fn->body);
    arena_release(scratch, before);
}

/* -- calls may not go in circles -------------------------------------------------------------- */

typedef struct call_search {
    const map *unsettled; /* functions some of whose calls may not end */
    const ir_op *open;    /* a call of one */
} call_search;

static bool
find_open_call(ir_op *op, void *user)
{
    call_search *s = user;
    if (op->code == RG_OP_CALL && op->attr.fn && map_get(s->unsettled, map_ptr(op->attr.fn)))
        s->open = op;
    return !s->open;
}

static const ir_op *
open_call(const map *unsettled, const ir_fn *fn)
{
    call_search s = {.unsettled = unsettled};
    ir_walk(fn->body, find_open_call, &s);
    return s.open;
}

/* Settles, round by round, the functions that call settled ones only; what remains goes in circles. What a focus
 * (pass.h) leaves out was verified before. */
static void
check_recursion(const ir_module *m, const char *after, diag_list *diags, arena *scratch)
{
    map unsettled = {.in = scratch};
    for (ir_fn *fn = m->first; fn; fn = fn->next)
        map_set(&unsettled, map_ptr(fn), fn);
    for (bool progress = true; progress;) {
        progress = false;
        for (ir_fn *fn = m->first; fn; fn = fn->next) {
            if (!map_get(&unsettled, map_ptr(fn)) || open_call(&unsettled, fn))
                continue;
            map_set(&unsettled, map_ptr(fn), NULL);
            progress = true;
        }
    }
    for (ir_fn *fn = m->first; fn; fn = fn->next) {
        if (!map_get(&unsettled, map_ptr(fn)))
            continue;
        verifier v = {.module = m, .fn = fn, .after = after, .diags = diags, .scratch = scratch};
        verify_error(&v, open_call(&unsettled, fn), E_CALL,
                     "functions do not call themselves, nor each other in a circle");
        break;
    }
}

bool
ir_verify(const ir_module *m, ir_stage stage, const char *after, diag_list *diags)
{
    unsigned errors = diags->errors;
    arena *scratch = arena_new();
    mem_owner owns;
    mem_own(&owns, mem_release_arena, scratch);
    for (const ir_fn *fn = m->first; fn; fn = fn->next)
        check_fn(m, fn, stage, after, diags, scratch);
    if (diags->errors == errors)
        check_recursion(m, after, diags, scratch);
    mem_disown(&owns);
    arena_free(scratch);
    return diags->errors == errors;
}

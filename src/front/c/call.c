/* Calls of the user's functions: the callee's tree is generated in place, its parameters bound.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/c/gen.h"

/* A parameter that the callee never changes needs no variable. */
void
fc_bind_scalar(gen *g, decl *d, value v)
{
    if (!d->written && !d->address_taken) {
        d->object = fc_object_of_value(g, d->name, v);
        d->object->type = d->type;
        return;
    }
    d->object = fc_object_local(g, d->name, d->type);
    for (uint32_t i = 0; i < d->object->nleaves; i++)
        rg_build_set(g->b, d->object->leaves[i].var,
                     d->type->kind == TYPE_SCALAR ? v.scalar : v.leaves[i]);
    place whole = fc_place_of(d->object);
    if (v.pointers)
        fc_slots_store(g, &whole, v.pointers, NULL);
}

static bool
is_narrow(rg_dtype d)
{
    return d == RG_BOOL || (!fc_is_float_dtype(d) && fc_dtype_bits(d) < 32);
}

/* Whether an argument of a call without a prototype, where nothing converts it, is what a parameter takes. */
static bool
is_promoted(rg_dtype parameter, rg_dtype argument)
{
    if (parameter == RG_F32 || argument == RG_F64)
        return fc_is_float_dtype(parameter) && fc_is_float_dtype(argument);
    return parameter == argument || (is_narrow(parameter) && argument == RG_I32) ||
           (!fc_is_float_dtype(parameter) && !fc_is_float_dtype(argument) &&
            fc_dtype_bits(parameter) == fc_dtype_bits(argument));
}

/* A struct of another file is seen as its own by the one that gets a pointer of this type to it. */
static bool
fit_record(gen *g, const ctype *pointer, place *at, const node *n)
{
    ctype *wanted = pointer->kind == TYPE_POINTER ? pointer->elem : NULL, *given = at->type;
    if (!wanted || wanted->kind != TYPE_STRUCT || !given || given->kind != TYPE_STRUCT ||
        given->rec->unit == wanted->rec->unit)
        return true;
    if (!fc_same_record(given->rec, wanted->rec)) {
        fc_fail(g, ERR_POINTER_CAST, n->place, given->name, wanted->name);
        return false;
    }
    if (wanted->rec->nfields)
        at->type = wanted;
    return true;
}

bool
fc_arguments(gen *g, decl *fn, const node *n, value *args)
{
    for (uint32_t i = 0; i < fn->nparams; i++) {
        front_error error;
        const ctype *t = fn->params[i]->type;
        const char *problem = fc_variable_problem(t, &error);
        if (problem) {
            fc_fail(g, error, fn->params[i]->place, problem);
            return false;
        }
        args[i] = fc_expr(g, n->list[i]);
        if (t->kind == TYPE_STRUCT   ? !args[i].leaves
            : t->kind == TYPE_SCALAR ? !args[i].scalar
                                     : !args[i].at.object)
            return false;
        if (!fit_record(g, t, &args[i].at, n->list[i]))
            return false;
        if (t->kind == TYPE_SCALAR && !is_promoted(t->dtype, args[i].type->dtype))
            fc_fail(g, ERR_UNCONVERTED, n->place, fn->name);
        if (t->kind == TYPE_SCALAR)
            args[i] = fc_scalar_value(fn->params[i]->type, fc_convert(g, t->dtype, args[i].scalar));
    }
    return true;
}

static bool
forget_pointer(const node *n, void *user)
{
    for (uint32_t i = 0; n->kind == S_DECL && i < n->count; i++)
        n->list[i]->decl->pointer = NULL;
    return true;
}

/* All arguments are evaluated before the first parameter is bound: they may mention the same names.
 */
static bool
bind_arguments(gen *g, decl *fn, const node *n)
{
    value *args = arena_new_n(g->arena, value, n->count + 1);
    if (!fc_arguments(g, fn, n, args))
        return false;
    for (uint32_t i = fn->nparams; i < n->count; i++)
        fc_effect(g, n->list[i]);
    fc_at_node(g, n);
    /* What its variables pointed to when it was generated before says nothing of this call. */
    fc_node_walk(fn->body, forget_pointer, NULL);
    for (uint32_t i = 0; i < fn->nparams; i++)
        fn->params[i]->numbered = fc_has_number(g, n->list[i]);
    for (uint32_t i = 0; i < fn->nparams; i++)
        if (fn->params[i]->type->kind != TYPE_POINTER)
            fc_bind_scalar(g, fn->params[i], args[i]);
    fc_pointers_bind(g, fn, args);
    return true;
}

void
fc_function_body(gen *g, decl *fn, frame *f)
{
    rg_label on_break = g->on_break, on_continue = g->on_continue;
    frame *outer = g->frame;
    g->frame = f;
    if (fn->type->kind == TYPE_SCALAR || fn->type->kind == TYPE_STRUCT)
        f->result = fc_object_local(g, "result", fn->type);
    bool jumps = fc_function_jumps(fn);
    if (jumps && fn->type->kind == TYPE_POINTER) {
        f->result = fc_object_local(g, fn->name, fn->type);
        f->result->pointers[0]->returned = true;
    }
    if (jumps)
        f->exit = rg_build_block(g->b);
    if (f->outer)
        rg_build_inline_push(g->b, rg_str_of(fn->name));
    fc_stmt(g, fn->body);
    if (f->outer)
        rg_build_inline_pop(g->b);
    if (jumps)
        rg_build_end(g->b);
    g->dead = false;
    g->frame = outer;
    g->on_break = on_break;
    g->on_continue = on_continue;
}

static value
inline_body(gen *g, decl *fn, const node *n)
{
    frame f = {.outer = g->frame, .fn = fn};
    f.path = g->frame && g->frame->path ? fc_call_path(g, g->frame->path, fn, n) : NULL;
    fc_function_body(g, fn, &f);
    value v = {.type = n->type};
    place p = f.result ? fc_place_of(f.result) : (place){0};
    if (f.result && n->type->kind != TYPE_POINTER) {
        v = fc_load(g, &p);
        v.type = n->type;
    } else if (n->type->kind == TYPE_POINTER) {
        v.at = !f.pointer_set ? fc_nowhere(g, n->type->elem) : f.result ? fc_slot_read(g, &p, n) : f.pointer;
        if (!fit_record(g, n->type, &v.at, n))
            v.at = fc_nowhere(g, n->type->elem);
    }
    return v;
}

static value
refuse_call(gen *g, const node *n, front_error error)
{
    fc_fail(g, error, n->place, n->decl->name);
    return fc_nothing(g, n->type);
}

static bool
is_not_start(const node *n, void *user)
{
    return !(n->kind == E_CALL && n->decl && strstr(n->decl->name, "va_start"));
}

/* Whether a function with `...` looks at what that stands for. */
static bool
takes_the_rest(const decl *fn)
{
    return !fc_node_walk(fn->body, is_not_start, NULL);
}

/* One error for all calls of a function. */
static value
refuse_missing(gen *g, const node *n)
{
    uint32_t calls = fc_project_calls(g->project, n->decl->name);
    const char *more = calls > 1 ? fc_format(g->arena, " (and %u more call%s)", calls - 1, calls > 2 ? "s" : "") : "";
    fc_fail_name(g, ERR_NO_BODY, n->place, n->decl->name, more, fc_project_remedy(g->project, n->decl));
    return fc_nothing(g, n->type);
}

static bool
is_of_memory(const node *call)
{
    return fc_allocation(call) || strcmp(call->decl->name, "realloc") == 0 || strcmp(call->decl->name, "free") == 0;
}

static value call_pointer(gen *g, const node *n);

value
fc_call(gen *g, const node *n)
{
    decl *fn = n->decl;
    value v;
    if (!fn)
        return call_pointer(g, n);
    if (fc_derivative_call(g, n, &v))
        return v;
    if (fn->refused)
        return fc_nothing(g, n->type);
    if (!fn->body) {
        if (strcmp(fn->name, "free") == 0 && n->count == 1) {
            place p = fc_pointer(g, n->list[0]); /* what was allocated lives as long as the launch */
            if (p.refused || p.object->kind == OBJECT_NULL || p.object->allocated)
                return (value){.type = n->type};
        }
        if (fc_report_call(g, n, &v) || fc_memory_call(g, n, &v) || fc_omp_call(g, n, &v) || fc_math_call(g, n, &v))
            return v;
        if (fc_ending_call(g, n))
            return fc_nothing(g, n->type);
        if (is_of_memory(n))
            return refuse_call(g, n, fc_sized_error(g, n, ERR_ALLOCATION));
        return refuse_missing(g, n);
    }
    if (fn->variadic && takes_the_rest(fn)) {
        if (!fn->noreturn)
            return refuse_call(g, n, ERR_VARARGS);
        fc_ending_call(g, n);
        return fc_nothing(g, n->type);
    }
    front_error error;
    if (fn->type->kind != TYPE_VOID && fn->type->kind != TYPE_POINTER &&
        fc_type_problem(fn->type, &error))
        return refuse_call(g, n, error);
    if (n->count == fn->nparams && (fn->vjp || fn->jvp))
        return fc_own_call(g, n);
    if (fc_is_slow(g, fn))
        return fc_slow_call(g, n);
    if (fn->variadic ? n->count < fn->nparams : n->count != fn->nparams)
        return refuse_call(g, n, ERR_ARGUMENT_COUNT);
    bindings *outer = fc_recursion_enter(g, fn, n);
    if (!outer)
        return fc_nothing(g, n->type);
    bool active = fn->active, bound = bind_arguments(g, fn, n);
    fn->active = true;
    v = bound ? inline_body(g, fn, n) : fc_nothing(g, n->type);
    fn->active = active;
    fc_recursion_leave(outer);
    return v;
}

/* A call of one of several functions, the elements of an array, which the run chooses: a branch for each. */
static value
call_element(gen *g, const node *n, rg_value number, decl *const *functions, uint32_t count)
{
    front_error error;
    bool gives = n->type->kind == TYPE_SCALAR || (n->type->kind == TYPE_STRUCT && !fc_type_problem(n->type, &error));
    object *result = gives ? fc_object_local(g, "result", n->type) : NULL;
    place to = {0};
    if (!gives && n->type->kind != TYPE_VOID) {
        fc_fail(g, ERR_FUNCTION_POINTER, n->place);
        return fc_nothing(g, n->type);
    }
    if (result)
        to = fc_place_of(result);
    number = fc_convert(g, RG_I64, number);
    for (uint32_t k = 0; k < count; k++) {
        node call = *n;
        call.kid[0] = NULL;
        call.decl = functions[k];
        if (!call.decl)
            continue; /* null: it is not called */
        rg_build_if(g->b, rg_build_2(g->b, RG_OP_EQ, number, fc_int_value(g, RG_I64, k)));
        value v = fc_call(g, &call);
        if (result)
            fc_store(g, &to, &v, n);
        rg_build_end(g->b);
    }
    return result ? fc_load(g, &to) : (value){.type = n->type};
}

/* A call through a pointer to a function: inlining often shows which one that is. */
static value
call_pointer(gen *g, const node *n)
{
    const node *pointer = n->kid[0];
    place element = {0}, p;
    rg_value number;
    decl **functions;
    while (pointer->kind == E_CAST || (pointer->kind == E_DEREF && pointer->type->kind == TYPE_FUNCTION))
        pointer = pointer->kid[0];
    if (pointer->kind == E_SUBSCRIPT || pointer->kind == E_MEMBER) {
        element = fc_lvalue(g, pointer);
        uint32_t count = fc_slot_functions(g, &element, &number, &functions);
        if (count)
            return call_element(g, n, number, functions, count);
    }
    if (!element.object)
        p = fc_pointer(g, n->kid[0]);
    else
        p = fc_slot_read(g, &element, pointer);
    if (!p.refused && p.object->kind == OBJECT_FUNCTION) {
        node call = *n;
        call.kid[0] = NULL;
        call.decl = p.object->function;
        return fc_call(g, &call);
    }
    if (!p.refused)
        fc_fail(g, p.object->kind == OBJECT_NULL ? ERR_NULL_POINTER : ERR_FUNCTION_POINTER, n->place);
    return fc_nothing(g, n->type);
}

/* Parameters of kernels: what a launch brings for each. SPDX-License-Identifier: Apache-2.0
 *
 * A scalar is a scalar, a pointer an array. A struct is its fields, one by one:
 *
 *     struct net { int n; double *w; struct { double lr; } with; };
 *     struct net net     net.n, net.with.lr: scalars; net.w: an array
 *     struct net *net    the same, if the pointer leads to one struct; a field that is written is an array of no axes
 *     struct net *net    ... to several: arrays of the scalars, rows net.w[i]
 *     double **A         rows A[i]
 *
 * Of a struct with pointers, only what the kernel mentions is brought. A pointer in one is null if its array has no elements. */
#include "front/c/census.h"

typedef struct launch {
    gen *g;
    decl *param;
    uint32_t record;       /* number of the group of fields that are arrays of structs; 0: none */
    list(object *) made;   /* arrays, whose inner extents the types know */
    list(const record *) inside; /* structs that are being brought: a list has no end that is known */
} launch;

/* -- leaves
 * ------------------------------------------------------------------------------------ */
/* by value; an array in a struct: one scalar for each element */
static void
bring_scalar(launch *l, leaf *to)
{
    gen *g = l->g;
    if (to->rank == 0) {
        to->value = rg_build_param_scalar(g->b, rg_str_of(to->name), to->dtype, l->param->place);
        return;
    }
    uint32_t count = 1;
    for (uint32_t k = 0; k < to->rank; k++)
        count *= (uint32_t)to->dim[k];
    rg_value *elements = arena_new_n(g->arena, rg_value, count + 1);
    for (uint32_t e = 0; e < count; e++) {
        const char *name = fc_format(g->arena, "%s.%u", to->name, e);
        elements[e] = rg_build_param_scalar(g->b, rg_str_of(name), to->dtype, l->param->place);
    }
    to->var = NULL;
    to->value = (rg_value)(void *)elements; /* gathered once the body begins */
}

/* record: the struct whose elements the array is a field of; NULL: it is an array of its own */
static void
bring_buffer(launch *l, const object *o, leaf *to, bool flat, const record *record, uint32_t record_axes)
{
    rg_build_buffer b = {.name = rg_str_of(to->name), .dtype = to->dtype, .rank = to->rank, .flat = flat};
    b.constant = o->constant;
    b.place = l->param->place;
    if (record && l->record) {
        b.record = l->record;
        b.field_offset = to->offset;
        b.record_size = record->size;
        b.inner_axes = to->rank - record_axes;
    }
    to->value = rg_build_param_buffer(l->g->b, &b);
}

/* The scalars of one struct that holds pointers. Behind a pointer, those that the kernel writes are arrays. */
static void
bring_fields(launch *l, const object *o, const ctype *t, uint32_t *next)
{
    gen *g = l->g;
    while (t->kind == TYPE_ARRAY)
        t = t->elem;
    for (uint32_t i = 0; i < t->rec->nfields; i++) {
        const field *f = &t->rec->fields[i];
        const ctype *of = f->type;
        while (of->kind == TYPE_ARRAY)
            of = of->elem;
        if (f->hidden || of->kind == TYPE_POINTER)
            continue;
        if (of->kind == TYPE_STRUCT) {
            bring_fields(l, o, of, next);
            continue;
        }
        leaf *to = &o->leaves[(*next)++];
        bool mentioned = fc_is_mentioned(g->census, t->rec, i), behind = o->kind == OBJECT_BUFFER;
        to->held = !mentioned || (behind && to->rank == 0 && !fc_is_written(g->census, t->rec, i));
        if (!mentioned)
            to->value = to->rank ? rg_build_array(g->b, to->dtype, fc_elements_below(to, 0)) : fc_zero_value(g, to->dtype);
        else if (behind && !to->held)
            bring_buffer(l, o, to, false, NULL, 0);
        else
            bring_scalar(l, to);
    }
}

/* -- pointers
 * ------------------------------------------------------------------------------------ */
static place bring_behind(launch *l, const char *name, ctype *elem, uint32_t outer, bool array);

static bool
can_be_brought(const launch *l, const ctype *elem)
{
    front_error error;
    for (size_t i = 0; i < l->inside.n; i++)
        if (elem->kind == TYPE_STRUCT && l->inside.at[i] == elem->rec)
            return false;
    return elem->kind != TYPE_VOID && elem->kind != TYPE_FUNCTION && !fc_variable_problem(elem, &error);
}

static void
bring_slot(launch *l, slot *s, uint32_t outer, bool assigned)
{
    gen *g = l->g;
    ctype *elem = s->type->elem;
    s->assigned = assigned;
    bool array = fc_used_as_array(g->census, elem);
    if (!can_be_brought(l, elem))
        return; /* an error where it is read */
    if (outer || (s->rank && s->count == 1)) {
        s->kind = SLOT_ROWS;
        s->target[0].at = bring_behind(l, s->name, elem, s->rank, array);
        return;
    }
    for (uint32_t k = 0; k < s->count; k++) {
        const char *name = s->rank ? fc_format(g->arena, "%s.%u", s->name, k) : s->name;
        s->target[k].at = bring_behind(l, name, elem, 0, array);
    }
}

/* The pointers of a type under `outer` axes that the kernel mentions; holder: the struct that has it as field `number`. */
static void
bring_slots(launch *l, const object *o, const ctype *t, uint32_t outer, uint32_t *next, const record *holder, uint32_t number)
{
    while (t->kind == TYPE_ARRAY)
        t = t->elem;
    if (t->kind == TYPE_POINTER)
        bring_slot(l, o->pointers[(*next)++], outer,
                   holder ? fc_is_written(l->g->census, holder, number) : fc_are_assigned(l->g->census, t->elem));
    if (t->kind != TYPE_STRUCT)
        return;
    list_push(l->g->arena, &l->inside, t->rec);
    for (uint32_t i = 0; i < t->rec->nfields; i++) {
        const field *f = &t->rec->fields[i];
        const ctype *of = f->type;
        while (!f->hidden && of->kind == TYPE_ARRAY)
            of = of->elem;
        if (f->hidden)
            continue;
        if (of->kind == TYPE_POINTER && !fc_is_mentioned(l->g->census, t->rec, i))
            (*next)++;
        else
            bring_slots(l, o, of, outer, next, t->rec, i);
    }
    (void)list_pop(&l->inside);
}

/* What a pointer to `elem` leads to, under the axes of what holds it. array: elements in a row; else one struct */
static place
bring_behind(launch *l, const char *name, ctype *elem, uint32_t outer, bool array)
{
    gen *g = l->g;
    int64_t open[MAX_AXES];
    uint32_t rank = outer + array, next = 0, slots = 0;
    memset(open, -1, sizeof(open));
    object *o = fc_object_new(g, OBJECT_BUFFER, name, elem, rank < MAX_AXES ? rank : MAX_AXES, open);
    const ctype *t = elem;
    uint32_t record_axes = rank;
    for (; t->kind == TYPE_ARRAY; t = t->elem)
        record_axes++;
    o->constant = fc_is_deep_constant(elem);
    o->param = l->param;
    list_push(g->arena, &l->made, o);
    if (rank == 0 && t->kind == TYPE_STRUCT) {
        bring_fields(l, o, elem, &next);
    } else {
        bool open_first = !l->param->nextents || !l->param->extents[0] || l->made.n > 1;
        for (uint32_t i = 0; i < o->nleaves; i++)
            bring_buffer(l, o, &o->leaves[i], open_first && o->leaves[i].rank == 1 && t->kind != TYPE_STRUCT,
                         t->kind == TYPE_STRUCT ? t->rec : NULL, record_axes);
    }
    fc_slots_new(g, o, SLOT_FIXED, rank, open);
    bring_slots(l, o, elem, rank, &slots, NULL, 0);
    return (place){.object = o, .type = elem, .n = rank};
}

/* -- parameters
 * ------------------------------------------------------------------------------------ */
static void
struct_or_scalar(launch *l)
{
    gen *g = l->g;
    decl *d = l->param;
    uint32_t slots = 0, next = 0;
    object *o = fc_object_new(g, OBJECT_VALUE, d->name, d->type, 0, NULL);
    o->constant = true;
    if (fc_mentions_pointers(g->census, d->type))
        bring_fields(l, o, d->type, &next);
    for (uint32_t i = next; i < o->nleaves; i++)
        bring_scalar(l, &o->leaves[i]);
    fc_slots_new(g, o, SLOT_FIXED, 0, NULL);
    bring_slots(l, o, d->type, 0, &slots, NULL, 0);
    d->object = o;
}

static void
pointer_parameter(launch *l, uint32_t number)
{
    decl *d = l->param;
    ctype *elem = d->type->elem;
    bool pointers = fc_mentions_pointers(l->g->census, elem);
    if (!pointers)
        l->record = number + 1;
    bool array = !pointers || d->nextents || fc_used_as_array(l->g->census, elem);
    pointer_var *v = arena_one(l->g->arena, pointer_var);
    *v = (pointer_var){.name = d->name, .fixed = true, .shared = true};
    v->at = bring_behind(l, d->name, elem, 0, array);
    d->object = NULL;
    d->pointer = v;
}

/* Whether it stands for a value: a reference of C++ through which nothing is written. */
static bool
refers_to_value(const decl *d)
{
    const ctype *t = d->type->elem;
    return d->reference && t->constant && (t->kind == TYPE_SCALAR || t->kind == TYPE_STRUCT);
}

static void
value_parameter(launch *l)
{
    decl *d = l->param;
    ctype *reference = d->type;
    d->type = reference->elem;
    struct_or_scalar(l);
    d->type = reference;
    d->pointer = arena_one(l->g->arena, pointer_var);
    *d->pointer = (pointer_var){.name = d->name, .fixed = true, .shared = true, .at = fc_place_of(d->object)};
}

/* What a launch cannot bring; false: it can. */
static bool
refuse(gen *g, const decl *d)
{
    front_error error;
    const ctype *t = d->type;
    while (t->kind == TYPE_POINTER)
        t = t->elem;
    const char *problem = fc_variable_problem(t, &error);
    bool nothing = t->kind == TYPE_STRUCT && t->rec->pointers && !t->rec->leaves && !fc_mentions_pointers(g->census, t);
    if (nothing || (problem && error == ERR_TYPE) || t->kind == TYPE_VOID || t->kind == TYPE_FUNCTION)
        fc_fail(g, ERR_PARAM_TYPE, d->place, d->name, d->type->name);
    else if (problem)
        fc_fail(g, error, d->place, problem);
    else
        return false;
    return true;
}

/* -- extents
 * --------------------------------------------------------------------------------------- */
static void
declared_extents(gen *g, const decl *d)
{
    const object *o = d->pointer->at.object;
    for (uint32_t axis = 0; axis < d->nextents; axis++) {
        const node *e = d->extents[axis];
        if (!e)
            continue;
        if (!fc_expr_is_plain(e)) {
            fc_fail(g, ERR_EXTENT, e->place, d->name);
            continue;
        }
        rg_value v = fc_convert(g, RG_I64, fc_scalar(g, e));
        for (uint32_t i = 0; i < o->nleaves; i++)
            rg_build_extent_is(g->b, o->leaves[i].value, axis, v);
    }
}

/* Those that types know and no declaration names. */
static void
inner_extents(gen *g, const object *o, const decl *d)
{
    for (uint32_t i = 0; i < o->nleaves; i++) {
        const leaf *l = &o->leaves[i];
        for (uint32_t axis = 0; axis < l->rank; axis++) {
            bool written = l->held || (d && axis < d->nextents && d->extents[axis]);
            if (!written && l->dim[axis] >= 0)
                rg_build_extent_is(g->b, l->value, axis, fc_int_value(g, RG_I64, l->dim[axis]));
        }
    }
}

/* Pointers that the kernel assigns are kept; what they are at first, the launch says. */
static void
open_slot(gen *g, slot *s)
{
    const object *o = s->target[0].at.object;
    rg_value extent[MAX_AXES] = {0};
    if (!o || (s->kind == SLOT_ROWS && !o->nleaves))
        return; /* an error where it is assigned */
    for (uint32_t i = 0; s->kind == SLOT_ROWS && i < s->rank; i++)
        extent[i] = rg_build_extent(g->b, o->leaves[0].value, i);
    fc_slot_open(g, s, extent);
}

/* Whether a pointer of a struct is null, and which ones move. */
static void
open_slots(gen *g, const object *o)
{
    for (uint32_t i = 0; o->pointers && i < fc_type_pointers(o->type); i++) {
        slot *s = o->pointers[i];
        for (uint32_t k = 0; s->kind == SLOT_FIXED && k < s->count; k++) {
            place *at = &s->target[k].at;
            const leaf *first = at->object && at->object->nleaves ? &at->object->leaves[0] : NULL;
            if (first && first->rank && !first->held)
                at->null = rg_build_2(g->b, RG_OP_EQ, rg_build_extent(g->b, first->value, 0), fc_int_value(g, RG_I64, 0));
        }
        if (s->assigned)
            open_slot(g, s);
    }
}

bool
fc_declare_parameters(gen *g, decl *fn)
{
    bool ok = true;
    launch *l = arena_new_n(g->arena, launch, fn->nparams + 1);
    for (uint32_t i = 0; i < fn->nparams; i++) {
        l[i] = (launch){.g = g, .param = fn->params[i]};
        if (refuse(g, fn->params[i]))
            ok = false;
        else if (fn->params[i]->type->kind == TYPE_POINTER && refers_to_value(fn->params[i]))
            value_parameter(&l[i]);
        else if (fn->params[i]->type->kind == TYPE_POINTER)
            pointer_parameter(&l[i], i);
        else
            struct_or_scalar(&l[i]);
    }
    rg_build_shape_begin(g->b);
    for (uint32_t i = 0; ok && i < fn->nparams; i++) {
        const decl *d = fn->params[i];
        if (d->type->kind == TYPE_POINTER)
            declared_extents(g, d);
        for (size_t k = 0; k < l[i].made.n; k++)
            inner_extents(g, l[i].made.at[k], d->pointer && l[i].made.at[k] == d->pointer->at.object ? d : NULL);
    }
    rg_build_shape_end(g->b);
    for (uint32_t i = 0; ok && i < fn->nparams; i++) {
        if (fn->params[i]->type->kind != TYPE_POINTER)
            open_slots(g, fn->params[i]->object);
        for (size_t k = 0; k < l[i].made.n; k++)
            open_slots(g, l[i].made.at[k]);
    }
    return ok;
}

/* -- the body
 * -------------------------------------------------------------------------------------- */
static void
gather_elements(gen *g, leaf *l)
{
    uint32_t count = 1;
    for (uint32_t k = 0; k < l->rank; k++)
        count *= (uint32_t)l->dim[k];
    rg_value *elements = (rg_value *)(void *)l->value;
    rg_value array = rg_build_array(g->b, l->dtype, count);
    for (uint32_t e = 0; e < count; e++)
        array = rg_build_insert(g->b, array, fc_int_value(g, RG_I64, e), elements[e]);
    l->value = array;
}

void
fc_open_parameters(gen *g, decl *fn)
{
    for (uint32_t i = 0; i < fn->nparams; i++) {
        decl *d = fn->params[i];
        if (d->type->kind == TYPE_POINTER && !refers_to_value(d)) {
            place at = d->pointer->at;
            if (d->written || d->address_taken)
                fc_pointer_declare(g, d, NULL, &at);
            continue;
        }
        for (uint32_t k = 0; k < d->object->nleaves; k++)
            if (d->object->leaves[k].rank && !d->object->leaves[k].held)
                gather_elements(g, &d->object->leaves[k]);
        if (!d->reference && (d->written || d->address_taken)) {
            place from = fc_place_of(d->object);
            value v = fc_load(g, &from);
            object *o = fc_object_local(g, d->name, d->type);
            place to = fc_place_of(o);
            fc_store(g, &to, &v, fn->body);
            d->object = o;
        }
    }
}

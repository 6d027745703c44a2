/* Pointers that objects hold: fields of structs, elements of arrays, variables whose address is taken.
 * SPDX-License-Identifier: Apache-2.0
 *
 * All elements of an array are one slot. Which array an element points into is known while the kernel is made, for each
 * element of a small array and for all elements of a large one; where in it, and whether it is null, is in variables:
 *
 *     double *row[4];        slot `row`, rank 1       row[i] = a + i * m;    a for all; index[0] of row, element i
 *     struct net *net;       a launch brings `net.w`  net->w[k]              fixed: the array net.w, under k
 *     double **A;            ... and rows of `A`      A[i][k]                rows: the array A, under i and k */
#include "front/c/slot.h"

enum { LOCAL_SLOTS = 4096 /* elements whose indices are local arrays; more are in buffers */ };

/* -- making them
 * --------------------------------------------------------------------------- */
uint32_t
fc_type_pointers(const ctype *t)
{
    while (t->kind == TYPE_ARRAY)
        t = t->elem;
    return t->kind == TYPE_POINTER ? 1 : t->kind == TYPE_STRUCT ? t->rec->pointers : 0;
}

uint64_t
fc_slot_elements(const slot *s, uint32_t n)
{
    uint64_t count = 1;
    for (uint32_t i = n; i < s->rank; i++)
        count = s->dim[i] < 0 || count > INT32_MAX ? 0 : count * (uint64_t)s->dim[i];
    return count;
}

typedef struct making {
    gen *g;
    object *object;
    uint32_t next, rank;
    int64_t dim[MAX_AXES];
} making;

static void
add_slots(making *m, const char *name, ctype *t)
{
    uint32_t rank = m->rank;
    for (; t->kind == TYPE_ARRAY && m->rank < MAX_AXES; t = t->elem)
        m->dim[m->rank++] = t->length;
    if (t->kind == TYPE_POINTER) {
        slot *s = m->object->pointers[m->next++] = arena_one(m->g->arena, slot);
        s->number = ++m->g->slots;
        s->name = name;
        s->type = t;
        s->shared = !m->g->in_thread;
        s->rank = m->rank;
        memcpy(s->dim, m->dim, sizeof(s->dim));
        uint64_t count = fc_slot_elements(s, 0);
        s->count = count && count <= TOLD_APART ? (uint32_t)count : 1;
        s->target = arena_new_n(m->g->arena, slot_target, s->count);
    }
    for (uint32_t i = 0; t->kind == TYPE_STRUCT && i < t->rec->nfields; i++) {
        const field *f = &t->rec->fields[i];
        if (!f->hidden)
            add_slots(m, f->name[0] ? fc_format(m->g->arena, "%s.%s", name, f->name) : name, f->type);
    }
    m->rank = rank;
}

void
fc_slots_new(gen *g, object *o, slot_kind kind, uint32_t outer, const int64_t *dims)
{
    uint32_t n = fc_type_pointers(o->type);
    if (!n)
        return;
    making m = {.g = g, .object = o, .rank = outer};
    for (uint32_t k = 0; k < outer; k++)
        m.dim[k] = dims[k];
    o->pointers = arena_new_n(g->arena, slot *, n);
    add_slots(&m, o->name, o->type);
    for (uint32_t i = 0; i < n; i++)
        o->pointers[i]->kind = kind;
}

static ctype *
keeper_type(gen *g, rg_dtype dtype, uint32_t rank, const int64_t *dim)
{
    ctype *t = arena_one(g->arena, ctype);
    *t = (ctype){.kind = TYPE_SCALAR, .dtype = dtype, .length = -1, .name = dtype == RG_BOOL ? "_Bool" : "long"};
    for (uint32_t i = rank; i-- > 0;) {
        ctype *outer = arena_one(g->arena, ctype);
        *outer = (ctype){.kind = TYPE_ARRAY, .elem = t, .length = dim[i], .name = t->name};
        t = outer;
    }
    return t;
}

/* what is kept of each element */
static object *
keeper(gen *g, const slot *s, rg_dtype dtype, uint32_t outer, const rg_value *extent)
{
    uint64_t count = fc_slot_elements(s, 0);
    if (count && count <= LOCAL_SLOTS)
        return fc_object_local(g, s->name, keeper_type(g, dtype, count == 1 ? 0 : s->rank, s->dim));
    rg_value all[MAX_AXES];
    for (uint32_t i = 0; i < s->rank; i++)
        all[i] = i < outer ? extent[i] : fc_int_value(g, RG_I64, s->dim[i]);
    return fc_object_sized(g, s->name, keeper_type(g, dtype, 0, NULL), s->rank, all, NULL);
}

static void
make_keepers(gen *g, slot *s, uint32_t given, const rg_value *extent)
{
    s->null = keeper(g, s, RG_BOOL, given, extent);
    for (uint32_t k = 0; k < (s->rank ? countof(s->index) / 2 : countof(s->index)); k++)
        s->index[k] = keeper(g, s, RG_I64, given, extent);
    if (s->count == fc_slot_elements(s, 0))
        s->selector = keeper(g, s, RG_I32, given, extent);
    s->made_in = ir_build_region(g->b);
    fc_chosen_begin(g, s);
}

place
fc_slot_element(gen *g, const slot *s, const place *p, uint64_t number)
{
    place e = *p;
    for (uint32_t axis = s->rank; axis-- > p->n;) {
        e.index[axis] = fc_int_value(g, RG_I32, (int64_t)(number % (uint64_t)s->dim[axis]));
        number /= (uint64_t)s->dim[axis];
    }
    e.n = s->rank;
    return e;
}

void
fc_slots_stored(gen *g, object *o, uint32_t outer, const rg_value *extent)
{
    int64_t dims[MAX_AXES];
    uint64_t known;
    for (uint32_t i = 0; i < outer; i++)
        dims[i] = extent && rg_value_is_const(extent[i], &known) && known <= TOLD_APART ? (int64_t)known : -1;
    fc_slots_new(g, o, SLOT_STORED, outer, dims);
    uint32_t given = outer;
    for (const ctype *t = o->type; extent && t->kind == TYPE_ARRAY; t = t->elem)
        given++;
    for (uint32_t i = 0; i < fc_type_pointers(o->type); i++)
        make_keepers(g, o->pointers[i], given, extent);
}

void
fc_slot_open(gen *g, slot *s, const rg_value *extent)
{
    place all = {.n = s->rank};
    bool rows = s->kind == SLOT_ROWS;
    s->kind = SLOT_STORED;
    make_keepers(g, s, s->rank, extent);
    for (uint32_t k = 0; k < s->count; k++) {
        s->target[k].nulls |= s->target[k].at.null != NULL;
        place e = fc_slot_element(g, s, &(place){0}, k);
        if (s->target[k].at.null && !rows)
            fc_slot_keep(g, s->null, &e, s->target[k].at.null);
        if (s->many && s->target[k].at.object)
            fc_slot_keep(g, s->selector, &e, fc_chosen_selector(g, s, &s->target[k].at));
    }
    for (uint32_t i = 0; rows && i < s->rank; i++)
        rg_build_for(g->b, fc_int_value(g, RG_I64, 0), extent[i], 1, &all.index[i]);
    for (uint32_t i = 0; rows && i < s->rank; i++)
        fc_slot_keep(g, s->index[i], &all, all.index[i]);
    for (uint32_t i = 0; rows && i < s->rank; i++)
        rg_build_end(g->b);
}

void
fc_slots_of_value(gen *g, object *o, const place *pointers)
{
    fc_slots_new(g, o, SLOT_FIXED, 0, NULL);
    for (uint32_t i = 0; i < fc_type_pointers(o->type); i++)
        for (uint32_t k = 0; k < o->pointers[i]->count; k++)
            o->pointers[i]->target[k].at = *pointers++;
}

slot_target *
fc_slot_target(gen *g, slot *s, uint32_t k)
{
    slot_target *t = &s->target[k];
    if (t->init)
        t->at = fc_pointer(g, t->init);
    return t;
}

void
fc_slot_initialise(slot *s, uint64_t number, const node *init)
{
    s->unknown |= s->count != fc_slot_elements(s, 0);
    if (number < s->count)
        s->target[number].init = init;
}

/* -- which element
 * --------------------------------------------------------------------------- */
/* Row by row; NULL: the first. */
static rg_value
element_number(gen *g, const slot *s, const place *p)
{
    rg_value number = NULL;
    for (uint32_t i = 0; i < s->rank; i++) {
        rg_value part = i < p->n ? p->index[i] : NULL;
        uint64_t stride = fc_slot_elements(s, i + 1);
        if (part && stride != 1)
            part = rg_build_2(g->b, RG_OP_MUL, fc_convert(g, RG_I64, part), fc_int_value(g, RG_I64, (int64_t)stride));
        number = fc_index_add(g, number, part);
    }
    return number;
}

int
fc_slot_number(gen *g, const slot *s, const place *p)
{
    uint64_t number = 0, bits;
    for (uint32_t i = 0; i < s->rank && s->count > 1; i++) {
        bits = 0;
        if (i < p->n && p->index[i] && !rg_value_is_const(p->index[i], &bits))
            return -1;
        number = number * (uint64_t)s->dim[i] + bits;
    }
    return number < s->count ? (int)number : -1;
}

rg_value
fc_slot_kept(gen *g, object *o, const place *p)
{
    place at = fc_place_of(o);
    at.n = o->leaves[0].rank;
    memcpy(at.index, p->index, sizeof(at.index));
    return fc_load_leaf(g, &at, 0);
}

void
fc_slot_keep(gen *g, object *o, const place *p, rg_value v)
{
    place at = fc_place_of(o);
    at.n = o->leaves[0].rank;
    memcpy(at.index, p->index, sizeof(at.index));
    fc_store_leaf(g, &at, 0, v);
}

/* -- reading
 * --------------------------------------------------------------------------- */
/* The place that element p of the slot has in a target. */
static place
pointed_to(gen *g, slot *s, const slot_target *t, const place *p)
{
    place at = t->at;
    at.walks |= at.n > 1 && s->kind != SLOT_ROWS && !at.object->turns;
    if (s->kind == SLOT_ROWS) {
        at.walks |= p->walks;
        memcpy(at.index, p->index, s->rank * sizeof(*at.index));
    }
    if (s->kind != SLOT_STORED)
        return at;
    at.null = t->nulls ? fc_slot_kept(g, s->null, p) : NULL;
    if (!s->many && fc_rows_read(g, s, p, &at, g->at))
        return at;
    for (uint32_t i = 0; i < at.n; i++)
        at.index[i] = s->many && s->many->still ? NULL : fc_slot_kept(g, s->index[i], p);
    return at;
}

/* One of the values, by the element's number. */
static rg_value
select_by(gen *g, rg_value number, const rg_value *values, uint32_t n)
{
    rg_value v = values[0];
    for (uint32_t k = 1; k < n; k++) {
        rg_value is = rg_build_2(g->b, RG_OP_EQ, fc_convert(g, RG_I64, number), fc_int_value(g, RG_I64, k));
        v = rg_build_3(g->b, RG_OP_SELECT, is, values[k], v);
    }
    return v;
}

rg_value
fc_subscript_on(gen *g, const place *p, uint32_t axis)
{
    rg_value v = axis < p->n ? p->index[axis] : NULL;
    return v ? fc_convert(g, RG_I64, v) : fc_int_value(g, RG_I64, 0);
}

/* Where an element points whose number the run knows: into the one array of all, or into what a selector picks. */
static place
pointed_by_number(gen *g, slot *s, const place *p, rg_place where)
{
    choices all = {.g = g};
    const slot_target *first = NULL;
    bool nulls = false;
    for (uint32_t k = 0; k < s->count; k++) {
        slot_target *t = fc_slot_target(g, s, k);
        t->read = true;
        nulls |= t->nulls;
        if (!t->at.object)
            continue;
        fc_choices_of_place(&all, &t->at);
        first = first ? first : t;
    }
    if (s->many && (first || nulls)) {
        slot_target any = {.at = first ? first->at : fc_chosen_any(g, s), .nulls = nulls};
        return fc_chosen_place(g, s, p, pointed_to(g, s, &any, p), where);
    }
    if (!first)
        return nulls ? fc_null_place(g, NULL) : (place){0};
    pointer_var *v = fc_pointer_to(g, &all, s->name);
    if (v->nchoices > 1 && g->in_thread) {
        fc_fail(g, ERR_POINTER_ELEMENT, where, s->name);
        return fc_nowhere(g, s->type->elem);
    }
    if (!fc_choices_agree(g, v, where))
        return fc_nowhere(g, s->type->elem);
    slot_target any = {.at = first->at, .nulls = nulls};
    place at = pointed_to(g, s, &any, p);
    rg_value number = element_number(g, s, p), *values = arena_new_n(g->arena, rg_value, s->count);
    for (uint32_t i = 0; s->kind == SLOT_FIXED && i < at.n; i++) {
        for (uint32_t k = 0; k < s->count; k++)
            values[k] = s->target[k].at.object ? fc_subscript_on(g, &s->target[k].at, i) : fc_int_value(g, RG_I64, 0);
        at.index[i] = select_by(g, number, values, s->count);
    }
    if (v->nchoices > 1) {
        for (uint32_t k = 0; k < s->count; k++)
            values[k] = s->target[k].at.object ? fc_selector_for(g, v, &s->target[k].at) : fc_int_value(g, RG_I32, 0);
        v->selector = rg_build_var(g->b, rg_str_of(s->name), (rg_type){RG_I32, 0});
        rg_build_set(g->b, v->selector, select_by(g, number, values, s->count));
        at.object = fc_picked(g, v);
        at.leaf = v->choices[0].leaf;
        at.type = v->choices[0].type;
    }
    return at;
}

place
fc_slot_get(gen *g, slot *s, const place *p, rg_place where)
{
    int k = fc_slot_number(g, s, p);
    if (s->refused)
        return fc_nowhere(g, s->type->elem);
    if (k < 0)
        return pointed_by_number(g, s, p, where);
    slot_target *t = fc_slot_target(g, s, (uint32_t)k);
    if (!t->at.object && s->many && t->nulls) /* it may be assigned before this is reached again */
        t->at = fc_chosen_any(g, s);
    if (!t->at.object && !t->nulls)
        return (place){0};
    t->read = true;
    if (!t->at.object)
        return fc_null_place(g, NULL);
    place at = pointed_to(g, s, t, p);
    return s->many ? fc_chosen_place(g, s, p, at, where) : at;
}

slot *
fc_slot_at(const place *p)
{
    return p->object->pointers ? p->object->pointers[p->pointer] : NULL;
}

void
fc_slot_not_followed(gen *g, const place *p, rg_place where)
{
    if (fc_is_news(g, ERR_POINTER_FIELD, p->object))
        fc_fail(g, ERR_POINTER_FIELD, where, p->object->name);
}

place
fc_slot_read(gen *g, const place *p, const node *n)
{
    slot *s = p->refused || (fc_slot_at(p) && fc_slot_at(p)->unknown) ? NULL : fc_slot_at(p);
    ctype *elem = n->type->kind == TYPE_POINTER ? n->type->elem : NULL;
    if (!s) {
        if (!p->refused)
            fc_slot_not_followed(g, p, n->place);
        return fc_nowhere(g, elem);
    }
    place at = fc_slot_get(g, s, p, n->place);
    if (at.object)
        return at;
    if (s->kind == SLOT_STORED)
        fc_fail(g, ERR_POINTER_UNSET, n->place, s->name);
    else if (fc_is_news(g, ERR_LAUNCH_POINTER, s))
        fc_fail(g, ERR_LAUNCH_POINTER, n->place, s->name);
    return fc_nowhere(g, elem);
}

void
fc_slot_choices(choices *c, const place *p)
{
    slot *s = fc_slot_at(p);
    c->unknown |= !s;
    for (uint32_t k = 0; s && k < s->count; k++) {
        const slot_target *t = fc_slot_target(c->g, s, k);
        c->null |= t->nulls;
        if (t->at.object && !s->many)
            fc_choices_of_place(c, &t->at);
    }
    if (s && s->many)
        fc_chosen_choices(c, s);
}

uint32_t
fc_slot_functions(gen *g, const place *p, rg_value *number, decl ***out)
{
    slot *s = p->refused ? NULL : fc_slot_at(p);
    if (!s || s->type->elem->kind != TYPE_FUNCTION || s->count < 2 || fc_slot_number(g, s, p) >= 0)
        return 0;
    *number = element_number(g, s, p);
    *out = arena_new_n(g->arena, decl *, s->count);
    for (uint32_t k = 0; k < s->count; k++) {
        const slot_target *t = fc_slot_target(g, s, k);
        if (t->at.object && t->at.object->kind == OBJECT_FUNCTION)
            (*out)[k] = t->at.object->function;
    }
    return s->count;
}

/* -- places of pointers
 * --------------------------------------------------------------------------- */
bool
fc_field_refused(gen *g, const field *f, const node *n)
{
    if (f->hidden && fc_is_news(g, (front_error)f->hidden, f))
        fc_fail(g, (front_error)f->hidden, n->place, f->hidden == ERR_TYPE ? f->type->name : f->name);
    return f->hidden != 0;
}

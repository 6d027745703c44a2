/* Storage: objects as leaves, places in them, loads and stores. SPDX-License-Identifier: Apache-2.0
 */
#include "front/c/gen.h"

#include "ir/ir.h"

/* -- what types consist of
 * ------------------------------------------------------------------------- */
uint32_t
fc_type_leaves(const ctype *t)
{
    while (t->kind == TYPE_ARRAY)
        t = t->elem;
    return t->kind == TYPE_STRUCT ? t->rec->leaves : t->kind == TYPE_POINTER ? 0 : 1;
}

int64_t
fc_type_size(const ctype *t)
{
    switch (t->kind) {
    case TYPE_SCALAR:
        return ir_bytes(t->dtype);
    case TYPE_STRUCT:
        return t->rec->size;
    case TYPE_POINTER:
        return sizeof(void *);
    case TYPE_ARRAY: {
        int64_t size = fc_type_size(t->elem);
        return t->length < 0 || size < 0 ? -1 : t->length * size;
    }
    default:
        return -1;
    }
}

const char *
fc_type_problem(const ctype *t, front_error *error)
{
    if (t->is_volatile) {
        *error = ERR_VOLATILE;
        return t->name;
    }
    switch (t->kind) {
    case TYPE_SCALAR:
        return NULL;
    case TYPE_ARRAY:
        return t->elem->kind == TYPE_POINTER ? fc_variable_problem(t->elem, error) : fc_type_problem(t->elem, error);
    case TYPE_STRUCT:
        /* fields that kernels cannot have are errors where they are mentioned; one that has no others is one here */
        if (!t->rec->nfields || t->rec->leaves || t->rec->pointers || !t->rec->fields[0].hidden)
            return NULL;
        *error = (front_error)t->rec->fields[0].hidden;
        return t->rec->fields[0].name;
    default:
        *error = t->kind == TYPE_BAD ? (front_error)t->problem : ERR_TYPE;
        return t->name;
    }
}

const char *
fc_variable_problem(const ctype *t, front_error *error)
{
    if (t->kind != TYPE_POINTER || t->is_volatile)
        return fc_type_problem(t, error);
    if (t->elem->kind == TYPE_VOID || t->elem->kind == TYPE_FUNCTION)
        return NULL;
    return fc_variable_problem(t->elem, error);
}

typedef struct layout {
    gen *g;
    object *o;
    uint32_t next;
    uint32_t rank;
    int64_t dim[MAX_AXES];
    bool deep; /* more axes than a leaf can have */
} layout;

static void
add_leaves(layout *l, const char *name, const ctype *t, uint32_t offset)
{
    uint32_t rank = l->rank;
    for (; t->kind == TYPE_ARRAY; t = t->elem) {
        if (l->rank < MAX_AXES)
            l->dim[l->rank++] = t->length;
        else
            l->deep = true;
    }
    if (t->kind == TYPE_STRUCT) {
        for (uint32_t i = 0; i < t->rec->nfields; i++) {
            const field *f = &t->rec->fields[i];
            if (f->hidden)
                continue;
            const char *full = f->name[0] ? fc_format(l->g->arena, "%s.%s", name, f->name) : name;
            add_leaves(l, full, f->type, offset + f->offset);
        }
    } else if (t->kind != TYPE_POINTER) {
        leaf *to = &l->o->leaves[l->next++];
        to->name = name;
        to->dtype = t->kind == TYPE_SCALAR ? t->dtype : RG_I32;
        to->rank = l->rank;
        memcpy(to->dim, l->dim, sizeof(l->dim));
        to->offset = offset;
        if (fc_dtype_bits(to->dtype) == 8 && to->rank)
            to->use = arena_one(l->g->arena, text_use);
    }
    l->rank = rank;
}

object *
fc_object_new(gen *g, object_kind kind, const char *name, ctype *t, uint32_t outer,
              const int64_t *dims)
{
    object *o = arena_one(g->arena, object);
    o->number = g->objects++;
    if (kind == OBJECT_BUFFER)
        map_set(&g->buffers, (uint64_t)o->number + 1, o);
    o->kind = kind;
    o->name = name;
    o->type = t;
    o->shared = !g->in_thread;
    o->nleaves = fc_type_leaves(t);
    o->leaves = arena_new_n(g->arena, leaf, o->nleaves + 1);
    layout l = {.g = g, .o = o, .rank = outer};
    for (uint32_t i = 0; i < outer; i++)
        l.dim[i] = dims[i];
    add_leaves(&l, name, t, 0);
    if (l.deep)
        fc_fail(g, ERR_RANK, (rg_place){0}, name);
    return o;
}

/* Elements of a local leaf; 0: too many, or not known. */
static uint32_t
leaf_length(const leaf *l)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < l->rank; i++) {
        if (l->dim[i] < 0 || (n *= (uint64_t)l->dim[i]) > INT32_MAX)
            return 0;
    }
    return (uint32_t)n;
}

static void
make_variable(gen *g, leaf *l)
{
    rg_type t = {l->dtype, 0};
    if (l->rank) {
        t.length = leaf_length(l);
        if (t.length == 0) {
            fc_fail(g, ERR_LARGE, (rg_place){0}, l->name);
            t.length = 1;
        }
    }
    l->var = rg_build_var(g->b, rg_str_of(l->name), t);
}

object *
fc_object_local(gen *g, const char *name, ctype *t)
{
    object *o = fc_object_new(g, OBJECT_LOCAL, name, t, 0, NULL);
    for (uint32_t i = 0; i < o->nleaves; i++)
        make_variable(g, &o->leaves[i]);
    fc_slots_stored(g, o, 0, NULL);
    return o;
}

static rg_value
named_temp(gen *g, const leaf *l, uint32_t rank, const rg_value *extent)
{
    rg_value v = rg_build_temp(g->b, l->dtype, rank, extent);
    v->name = arena_str(g->module->arena, rg_str_of(l->name));
    return v;
}

object *
fc_object_temp(gen *g, const char *name, ctype *t)
{
    object *o = fc_object_new(g, OBJECT_BUFFER, name, t, 0, NULL);
    for (uint32_t i = 0; i < o->nleaves; i++) {
        leaf *l = &o->leaves[i];
        rg_value extent[MAX_AXES];
        for (uint32_t k = 0; k < l->rank; k++)
            extent[k] = fc_int_value(g, RG_I64, l->dim[k]);
        l->value = named_temp(g, l, l->rank, extent);
    }
    fc_slots_stored(g, o, 0, NULL);
    return o;
}

object *
fc_object_sized(gen *g, const char *name, ctype *t, uint32_t outer, const rg_value *extent, const threads *each)
{
    int64_t open[MAX_AXES];
    memset(open, -1, sizeof(open));
    uint32_t rows = each ? each->rank : 0;
    object *o = fc_object_new(g, OBJECT_BUFFER, name, t, outer, open);
    uint32_t given = outer;
    for (const ctype *of = t; of->kind == TYPE_ARRAY; of = of->elem)
        given++;
    for (uint32_t i = 0; i < o->nleaves; i++) {
        leaf *l = &o->leaves[i];
        rg_value all[2 * MAX_AXES];
        for (uint32_t k = 0; k < l->rank; k++)
            all[k] = k < given ? extent[k] : fc_int_value(g, RG_I64, l->dim[k]);
        for (uint32_t k = 0; k < rows; k++)
            all[l->rank + k] = each->at[k];
        if (l->rank + rows > MAX_AXES) {
            fc_fail(g, ERR_RANK, (rg_place){0}, name);
            return NULL;
        }
        l->value = named_temp(g, l, l->rank + rows, all);
        l->value->def->own = rows > 0;
    }
    o->shared &= !rows;
    fc_slots_stored(g, o, outer, extent);
    return o;
}

object *
fc_object_of_value(gen *g, const char *name, value v)
{
    object *o = fc_object_new(g, OBJECT_VALUE, name, v.type, 0, NULL);
    o->constant = true;
    for (uint32_t i = 0; i < o->nleaves; i++)
        o->leaves[i].value = v.type->kind == TYPE_SCALAR ? v.scalar : v.leaves[i];
    if (v.pointers)
        fc_slots_of_value(g, o, v.pointers);
    return o;
}

/* -- indices
 * --------------------------------------------------------------------------------------- */
static bool
is_zero(rg_value v)
{
    uint64_t bits;
    return !v || (rg_value_is_const(v, &bits) && bits == 0);
}

rg_value
fc_index_add(gen *g, rg_value x, rg_value y)
{
    if (is_zero(x))
        return y;
    if (is_zero(y))
        return x;
    return rg_build_2(g->b, RG_OP_ADD, fc_convert(g, RG_I64, x), fc_convert(g, RG_I64, y));
}

/* Row-major number of an element under n indices; the other axes are 0. i64. */
static rg_value
flat_index(gen *g, const leaf *l, uint32_t n, const rg_value *index)
{
    rg_value sum = NULL;
    for (uint32_t i = 0; i < n; i++) {
        int64_t stride = 1;
        for (uint32_t k = i + 1; k < l->rank; k++)
            stride *= l->dim[k];
        rg_value part = index[i];
        if (is_zero(part))
            continue;
        part = fc_convert(g, RG_I64, part);
        if (stride != 1)
            part = rg_build_2(g->b, RG_OP_MUL, part, fc_int_value(g, RG_I64, stride));
        sum = fc_index_add(g, sum, part);
    }
    return sum ? sum : fc_int_value(g, RG_I64, 0);
}

/* -- places
 * ---------------------------------------------------------------------------------------- */
place
fc_place_of(object *o)
{
    return (place){.object = o, .type = o->type};
}

place
fc_place_member(const place *p, uint32_t number)
{
    const field *f = &p->type->rec->fields[number];
    place m = *p;
    m.leaf += f->leaf;
    m.pointer += f->pointer;
    m.type = f->type;
    m.fixed = true;
    return m;
}

place
fc_place_element(gen *g, const place *p, rg_value index)
{
    place e = *p;
    e.type = p->type->elem;
    e.fixed = false;
    if (e.n < MAX_AXES)
        e.index[e.n++] = index;
    return e;
}

place
fc_place_move(gen *g, const place *p, rg_value by, const node *n)
{
    place m = *p;
    if (is_zero(by) || m.refused || m.object->kind == OBJECT_NULL)
        return m;
    if (m.n == 0 || m.fixed) {
        fc_fail(g, ERR_POINTER_MOVE, n->place);
        return m;
    }
    if (fc_dtype_bits(rg_value_type(by).dtype) < 32)
        by = fc_convert(g, RG_I32, by);
    m.walks |= m.n > 1 && !m.object->turns;
    m.index[m.n - 1] = fc_index_add(g, m.index[m.n - 1], by);
    return m;
}

/* -- loads
 * ----------------------------------------------------------------------------------------- */
uint32_t
fc_whole_indices(gen *g, const place *p, uint32_t rank, rg_value *out)
{
    rg_build_in_rows(g->b, !p->walks);
    for (uint32_t i = 0; i < rank; i++)
        out[i] = i < p->n && p->index[i] ? p->index[i] : fc_int_value(g, RG_I32, 0);
    for (uint32_t i = 0; p->object->rows && i < g->thread.rank; i++)
        out[rank++] = g->thread.at[i];
    return rank;
}

static rg_value
load_element(gen *g, const leaf *l, object_kind kind, const place *p)
{
    rg_value index[MAX_AXES];
    uint32_t rank;
    switch (l->held ? OBJECT_VALUE : kind) {
    case OBJECT_LOCAL:
        if (l->rank == 0)
            return rg_build_get(g->b, l->var);
        return rg_build_extract(g->b, rg_build_get(g->b, l->var),
                                flat_index(g, l, p->n, p->index));
    case OBJECT_VALUE:
        if (l->rank == 0)
            return l->value;
        return rg_build_extract(g->b, l->value, flat_index(g, l, p->n, p->index));
    case OBJECT_BUFFER:
        rank = fc_whole_indices(g, p, l->rank, index);
        return g->atomic_read ? rg_build_load_atomic(g->b, l->value, rank, index)
                              : rg_build_load(g->b, RG_PRIMAL, l->value, rank, index);
    case OBJECT_NULL:
    case OBJECT_FUNCTION:
        break; /* refused before */
    }
    return NULL;
}

uint32_t
fc_elements_below(const leaf *l, uint32_t n)
{
    uint64_t count = 1;
    for (uint32_t i = n; i < l->rank; i++)
        count *= l->dim[i] > 0 ? (uint64_t)l->dim[i] : 1;
    return (uint32_t)count;
}

place
fc_place_below(gen *g, const leaf *l, const place *p, uint32_t flat)
{
    place e = *p;
    uint32_t rest = flat;
    for (uint32_t axis = l->rank; axis-- > p->n;) {
        uint32_t dim = l->dim[axis] > 0 ? (uint32_t)l->dim[axis] : 1;
        e.index[axis] = fc_int_value(g, RG_I32, rest % dim);
        rest /= dim;
    }
    e.n = l->rank;
    return e;
}

static rg_value
load_array(gen *g, const leaf *l, object_kind kind, const place *p)
{
    if (p->n == 0 && kind == OBJECT_LOCAL)
        return rg_build_copy(g->b, rg_build_get(g->b, l->var));
    if (p->n == 0 && kind == OBJECT_VALUE)
        return rg_build_copy(g->b, l->value);
    uint32_t count = fc_elements_below(l, p->n);
    rg_value array = rg_build_array(g->b, l->dtype, count);
    for (uint32_t i = 0; i < count; i++) {
        place e = fc_place_below(g, l, p, i);
        array =
            rg_build_insert(g->b, array, fc_int_value(g, RG_I64, i), load_element(g, l, kind, &e));
    }
    return array;
}

rg_value
fc_load_leaf(gen *g, const place *p, uint32_t which)
{
    const leaf *l = &p->object->leaves[p->leaf + which];
    fc_array_read(g, p->object);
    if (l->use) {
        l->use->read = true;
        if (l->use->formatted)
            fc_fail(g, ERR_FORMATTED, (rg_place){0}, l->name);
    }
    return l->rank > p->n ? load_array(g, l, p->object->kind, p)
                          : load_element(g, l, p->object->kind, p);
}

value
fc_load(gen *g, const place *p)
{
    value v = {.type = p->type};
    if (p->type->kind == TYPE_SCALAR) {
        v.scalar = fc_load_leaf(g, p, 0);
        return v;
    }
    uint32_t n = fc_type_leaves(p->type);
    v.leaves = arena_new_n(g->arena, rg_value, n + 1);
    for (uint32_t i = 0; i < n; i++)
        v.leaves[i] = fc_load_leaf(g, p, i);
    v.pointers = fc_slots_load(g, p);
    return v;
}

/* -- stores
 * ---------------------------------------------------------------------------------------- */
static void
store_element(gen *g, leaf *l, object_kind kind, const place *p, rg_value v)
{
    rg_value index[MAX_AXES];
    v = fc_convert(g, l->dtype, v); /* only after an error does it have another type */
    if (kind == OBJECT_BUFFER) {
        uint32_t rank = fc_whole_indices(g, p, l->rank, index);
        rg_build_store(g->b, RG_PRIMAL, l->value, rank, index, v);
    } else if (kind == OBJECT_LOCAL && l->rank == 0) {
        rg_build_set(g->b, l->var, v);
    } else if (kind == OBJECT_LOCAL) {
        rg_value flat = flat_index(g, l, p->n, p->index);
        rg_build_set(g->b, l->var, rg_build_insert(g->b, rg_build_get(g->b, l->var), flat, v));
    }
}

static void
store_array(gen *g, leaf *l, object_kind kind, const place *p, rg_value array)
{
    if (p->n == 0 && kind == OBJECT_LOCAL) {
        rg_build_set(g->b, l->var, array);
        return;
    }
    uint32_t count = fc_elements_below(l, p->n);
    for (uint32_t i = 0; i < count; i++) {
        place e = fc_place_below(g, l, p, i);
        store_element(g, l, kind, &e, rg_build_extract(g->b, array, fc_int_value(g, RG_I64, i)));
    }
}

bool
fc_is_teams(const gen *g, const object *o)
{
    return g->team_loop && o->shared && !o->param && (o->team || !g->regions) &&
           (o->kind == OBJECT_LOCAL || o->kind == OBJECT_BUFFER);
}

/* Variables of kernel level are read-only in threads. */
bool
fc_may_write(gen *g, const place *p, const node *n)
{
    if (p->refused)
        return false;
    if (p->object->read_only) {
        fc_fail(g, ERR_DERIVE_WRITE, n->place, p->object->name);
        return false;
    }
    if (p->object->param && p->object->constant) {
        fc_fail(g, ERR_CONST_WRITE, n->place, p->object->name);
        return false;
    }
    if (fc_is_teams(g, p->object)) {
        fc_fail(g, ERR_OMP_TEAM, n->place, p->object->name);
        return false;
    }
    if (g->in_thread && p->object->updated.declared && p->object->updated.loop == g->loop) {
        fc_fail(g, ERR_OMP_REDUCED, n->place, p->object->name);
        return false;
    }
    if (p->object->kind == OBJECT_LOCAL && p->object->shared && g->in_thread) {
        if (fc_is_news(g, ERR_RACE_SCALAR, p->object))
            fc_fail(g, ERR_RACE_SCALAR, n->place, p->object->name);
        return false;
    }
    return p->object->kind != OBJECT_VALUE;
}

void
fc_store_leaf(gen *g, const place *p, uint32_t which, rg_value v)
{
    leaf *l = &p->object->leaves[p->leaf + which];
    assert(!l->held && "the census saw that it is not written");
    if (l->rank > p->n)
        store_array(g, l, p->object->kind, p, v);
    else
        store_element(g, l, p->object->kind, p, v);
}

void
fc_store_scalar(gen *g, const place *p, rg_value v, const node *n)
{
    if (fc_may_write(g, p, n))
        fc_store_leaf(g, p, 0, v);
}

/* the first field of a struct that no leaf holds; NULL: there is none */
static const char *
hidden_field(const ctype *t)
{
    while (t->kind == TYPE_ARRAY)
        t = t->elem;
    for (uint32_t i = 0; t->kind == TYPE_STRUCT && i < t->rec->nfields; i++) {
        const field *f = &t->rec->fields[i];
        const char *inner = f->hidden || f->type->kind == TYPE_POINTER ? f->name : hidden_field(f->type);
        if (inner)
            return inner;
    }
    return NULL;
}

bool
fc_hides_fields(gen *g, const place *p, const node *n)
{
    const char *hidden = p->object->param ? hidden_field(p->type) : NULL;
    if (hidden)
        fc_fail(g, ERR_FIELD_COPY, n->place, hidden);
    return hidden != NULL;
}

void
fc_store(gen *g, const place *p, const value *v, const node *n)
{
    if (p->type->kind == TYPE_SCALAR) {
        fc_store_scalar(g, p, v->scalar, n);
        return;
    }
    if (!fc_may_write(g, p, n) || !v->leaves || fc_hides_fields(g, p, n))
        return;
    if (v->pointers)
        fc_slots_store(g, p, v->pointers, n);
    for (uint32_t i = 0; i < fc_type_leaves(p->type); i++)
        fc_store_leaf(g, p, i, v->leaves[i]);
}

/* Initialisers: lists with elided braces and designators, for variables and for constant tables.
 * The walk yields (leaf, number of the element, expression); what to do with each is the sink's
 * business. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/gen.h"

#include "ir/ir.h"

/* A part of the object being initialised: leaves from `leaf` on, elements from `element` on. */
typedef struct part {
    const ctype *type;
    uint32_t leaf, pointer;
    bool hidden; /* no leaf holds it */
    uint64_t index[MAX_AXES];
    uint32_t n;
} part;

typedef struct sink sink;
struct sink {
    gen *g;
    object *object;
    bool (*put)(sink *s, const part *to, const node *value); /* NULL: a null pointer; false stops */
    uint8_t **data;  /* constants: one array for each leaf */
    bool designated; /* there was a designator: parts may be initialised again */
};

typedef struct items {
    node **at;
    uint32_t n, next;
} items;

static part
element_part(const part *p, uint64_t i)
{
    part e = *p;
    e.type = p->type->elem;
    if (e.n < MAX_AXES)
        e.index[e.n++] = i;
    return e;
}

static part
field_part(const part *p, uint32_t i)
{
    part f = *p;
    const field *of = &p->type->rec->fields[i];
    f.type = of->type;
    f.leaf += of->leaf;
    f.pointer += of->pointer;
    f.hidden |= of->hidden != 0;
    return f;
}

static bool
is_single(const part *p)
{
    return p->type->kind == TYPE_SCALAR || p->type->kind == TYPE_POINTER;
}

static bool init_part(sink *s, const part *to, items *in, bool braced);

/* char c[8] = "text": what the text leaves is zero. */
static bool
init_string(sink *s, const part *to, const node *item)
{
    size_t n = item->bits;
    const ctype *t = to->type;
    if (t->kind != TYPE_ARRAY || t->elem->kind != TYPE_SCALAR || fc_dtype_bits(t->elem->dtype) != 8 ||
        !fc_is_plain_string(item)) {
        fc_fail(s->g, ERR_STRING, item->place);
        return false;
    }
    for (int64_t i = 0; i < t->length; i++) {
        char c = (size_t)i < n ? item->text[i] : 0;
        node value = {.kind = E_INT, .type = t->elem, .bits = (uint64_t)(int64_t)c, .place = item->place};
        part e = element_part(to, (uint64_t)i);
        if (!s->put(s, &e, &value))
            return false;
    }
    return true;
}

/* Whether a list in braces stands for a constructor's arguments, or leaves a part to a constructor. */
static bool
needs_constructor(const ctype *t, uint32_t items)
{
    const record *r = t->kind == TYPE_STRUCT ? t->rec : NULL;
    return r && (r->made == MADE_BY_CONSTRUCTORS || (r->made == MADE_IN_PARTS && items < r->nfields));
}

/* One initialiser for `to`: a list of its own, a whole value, or (braces elided) the next items. */
static bool
init_from(sink *s, const part *to, items *in)
{
    const node *item = in->at[in->next];
    if (to->hidden) {
        in->next++;
        return true;
    }
    if (item->kind == E_INIT) {
        items inner = {item->list, item->count, 0};
        in->next++;
        if (needs_constructor(to->type, item->count)) {
            fc_fail(s->g, ERR_EXPRESSION, item->place, "a constructor");
            return false;
        }
        return init_part(s, to, &inner, true);
    }
    bool whole = is_single(to) ||
                 (to->type->kind == TYPE_STRUCT && item->type && item->type->kind == TYPE_STRUCT &&
                  fc_same_record(item->type->rec, to->type->rec));
    if (whole) {
        in->next++;
        return s->put(s, to, item);
    }
    if (item->kind == E_STRING) {
        in->next++;
        return init_string(s, to, item);
    }
    return init_part(s, to, in, false);
}

/* A list for a part that has values already replaces all of it. */
static bool
clear_part(sink *s, const part *to)
{
    uint64_t count = to->type->kind == TYPE_ARRAY    ? (uint64_t)to->type->length
                     : to->type->kind == TYPE_STRUCT ? to->type->rec->nfields
                                                     : 0;
    if (to->hidden)
        return true;
    if (to->type->kind == TYPE_POINTER)
        return s->put(s, to, NULL);
    if (to->type->kind == TYPE_SCALAR) {
        node zero = {.kind = E_INT, .type = (ctype *)to->type};
        return s->put(s, to, &zero);
    }
    for (uint64_t i = 0; i < count; i++) {
        part p = to->type->kind == TYPE_ARRAY ? element_part(to, i) : field_part(to, (uint32_t)i);
        if (!clear_part(s, &p))
            return false;
    }
    return true;
}

/* Follows a designator; *position receives the number of the element or field of `to` itself. */
static bool
init_designated(sink *s, const part *to, const node *d, uint64_t *position)
{
    part at = *to;
    bool first = true;
    for (uint32_t i = 0; i < d->count; i++) {
        int64_t number = 0;
        if (at.type->kind == TYPE_STRUCT) {
            const char *name = d->list[i]->text ? d->list[i]->text : "";
            number = fc_field_named(at.type->rec, name);
            if (number == at.type->rec->nfields) {
                fc_fail(s->g, ERR_INIT, d->place);
                return false;
            }
            bool found = strcmp(at.type->rec->fields[number].name, name) == 0;
            at = field_part(&at, (uint32_t)number);
            i -= !found && at.type->kind == TYPE_STRUCT; /* an anonymous struct has it */
        } else if (at.type->kind == TYPE_ARRAY && fc_is_constant_node(d->list[i], &number)) {
            at = element_part(&at, (uint64_t)number);
        } else {
            fc_fail(s->g, ERR_INIT, d->place);
            return false;
        }
        if (first)
            *position = (uint64_t)number;
        first = false;
    }
    node *one[1] = {d->kid[0]};
    items inner = {one, 1, 0};
    if (d->kid[0]->kind == E_INIT && s->designated && !clear_part(s, &at))
        return false;
    s->designated = true;
    return init_from(s, &at, &inner);
}

/* Elements or fields of `to` in order, from the items that are left. */
static bool
init_part(sink *s, const part *to, items *in, bool braced)
{
    if (is_single(to))
        return in->next >= in->n || init_from(s, to, in);
    uint64_t count =
        to->type->kind == TYPE_ARRAY ? (uint64_t)to->type->length : to->type->rec->nfields;
    for (uint64_t i = 0; in->next < in->n; i++) {
        const node *item = in->at[in->next];
        if (item->kind == E_DESIGNATED) {
            if (!braced)
                return true; /* it belongs to the list around */
            in->next++;
            if (!init_designated(s, to, item, &i))
                return false;
            continue;
        }
        if (i >= count)
            return true;
        part p = to->type->kind == TYPE_ARRAY ? element_part(to, i) : field_part(to, (uint32_t)i);
        if (!init_from(s, &p, in))
            return false;
    }
    return true;
}

static bool
init_whole(sink *s, const node *init)
{
    part all = {.type = s->object->type};
    node *one[1] = {(node *)init};
    items in = {one, 1, 0};
    return init_from(s, &all, &in);
}

/* -- variables
 * ------------------------------------------------------------------------------------- */
static bool
put_pointer(sink *s, const part *to, const node *item)
{
    gen *g = s->g;
    place at, p = {.object = s->object, .pointer = to->pointer, .n = to->n};
    for (uint32_t i = 0; i < to->n; i++)
        p.index[i] = fc_int_value(g, RG_I32, (int64_t)to->index[i]);
    if (item)
        at = fc_pointer(g, item);
    if (s->object->pointers)
        fc_slot_assign(g, &p, item ? &at : NULL, item, true);
    return true;
}

static bool
put_variable(sink *s, const part *to, const node *item)
{
    gen *g = s->g;
    if (to->type->kind == TYPE_POINTER)
        return put_pointer(s, to, item);
    value v = fc_expr(g, item);
    place p = fc_place_of(s->object);
    p.leaf = to->leaf;
    p.pointer = to->pointer;
    p.type = (ctype *)to->type;
    p.n = to->n;
    for (uint32_t i = 0; i < to->n; i++)
        p.index[i] = fc_int_value(g, RG_I32, (int64_t)to->index[i]);
    fc_at_node(g, item);
    if (p.type->kind == TYPE_SCALAR && v.scalar)
        v.scalar = fc_convert(g, p.type->dtype, v.scalar);
    fc_store(g, &p, &v, item);
    return true;
}

static bool fill_data(gen *g, object *o, const node *init, uint8_t ***data);

static bool
is_list_of_constants(gen *g, const object *o, const node *init)
{
    return init->kind == E_INIT && o->kind == OBJECT_LOCAL && o->nleaves == 1 && !o->pointers &&
           o->leaves[0].rank > 0 && fc_constant_initialiser(g, o->type, init);
}

static uint64_t
leaf_count(const leaf *l)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < l->rank; i++)
        n *= l->dim[i] > 0 ? (uint64_t)l->dim[i] : 1;
    return n;
}

/* A buffer keeps what an earlier round of a loop left in it. */
static void
zero_buffers(gen *g, object *o)
{
    for (uint32_t i = 0; i < o->nleaves; i++) {
        leaf *l = &o->leaves[i];
        rg_value index[MAX_AXES];
        for (uint32_t k = 0; k < l->rank; k++)
            rg_build_for(g->b, fc_int_value(g, RG_I64, 0), fc_int_value(g, RG_I64, l->dim[k]), 1,
                         &index[k]);
        rg_build_in_rows(g->b, true);
        rg_build_store(g->b, RG_PRIMAL, l->value, l->rank, index, fc_zero_value(g, l->dtype));
        for (uint32_t k = 0; k < l->rank; k++)
            rg_build_end(g->b);
    }
}

/* The object was just declared: elements of a variable without an initialiser are zero already. */
void
fc_init_object(gen *g, object *o, const node *init)
{
    uint8_t **data;
    if (o->kind == OBJECT_BUFFER && init->kind == E_INIT)
        zero_buffers(g, o);
    if (is_list_of_constants(g, o, init) && fill_data(g, o, init, &data)) {
        leaf *l = &o->leaves[0];
        rg_value t = rg_build_table(g->b, l->dtype, (uint32_t)leaf_count(l), data[0]);
        rg_build_set(g->b, l->var, rg_build_copy(g->b, t));
        return;
    }
    sink s = {.g = g, .object = o, .put = put_variable};
    init_whole(&s, init);
    if (init->kind == E_INIT)
        fc_slots_default(g, o, init);
}

/* -- constants
 * ------------------------------------------------------------------------------------- */
static void
put_bits(uint8_t *data, rg_dtype d, uint64_t i, uint64_t bits)
{
    unsigned size = ir_bytes(d);
    memcpy(data + i * size, &bits, size); /* little-endian, as all supported hosts are */
}

static bool
put_constant(sink *s, const part *to, const node *item)
{
    const leaf *l = &s->object->leaves[to->leaf];
    uint64_t bits, element = 0;
    if (to->type->kind == TYPE_POINTER) {
        slot *pointer = s->object->pointers ? s->object->pointers[to->pointer] : NULL;
        for (uint32_t i = 0; pointer && i < to->n; i++)
            element = element * (uint64_t)pointer->dim[i] + to->index[i];
        if (pointer)
            fc_slot_initialise(pointer, element, item);
        return true;
    }
    if (to->type->kind != TYPE_SCALAR || !fc_constant_bits(s->g, item, l->dtype, &bits))
        return false;
    for (uint32_t i = 0; i < l->rank; i++)
        element = element * (uint64_t)l->dim[i] + (i < to->n ? to->index[i] : 0);
    if (element < leaf_count(l))
        put_bits(s->data[to->leaf], l->dtype, element, bits);
    return true;
}

static bool
fill_data(gen *g, object *o, const node *init, uint8_t ***data)
{
    sink s = {.g = g, .object = o, .put = put_constant};
    s.data = arena_new_n(g->arena, uint8_t *, o->nleaves + 1);
    for (uint32_t i = 0; i < o->nleaves; i++)
        s.data[i] = arena_alloc(g->arena, leaf_count(&o->leaves[i]) * 8 + 8);
    *data = s.data;
    return !init || init_whole(&s, init);
}

bool
fc_constant_initialiser(gen *g, const ctype *t, const node *init)
{
    uint8_t **data;
    object *o = fc_object_new(g, OBJECT_VALUE, "", (ctype *)t, 0, NULL);
    return fill_data(g, o, init, &data);
}

bool
fc_variable_refused(gen *g, decl *d, bool constant)
{
    const char *writer = constant ? NULL : fc_writer(g, d);
    if (writer)
        fc_fail(g, ERR_MUTABLE_STATIC, d->place, d->name, writer);
    else if (d->elsewhere)
        fc_fail_name(g, ERR_EXTERN, d->place, d->name, "", fc_project_remedy(g->project, d));
    d->refused |= writer || d->elsewhere;
    return d->refused;
}

/* A variable of static storage that nobody writes, or a local const table. */
object *
fc_constant_object(gen *g, decl *d)
{
    front_error error;
    const char *problem = fc_type_problem(d->type, &error);
    if (d->refused)
        return NULL;
    if (problem) {
        d->refused = true;
        fc_fail(g, error, d->place, problem);
        return NULL;
    }
    if (fc_variable_refused(g, d, fc_is_deep_constant(d->type)))
        return NULL;
    object *o = fc_object_new(g, OBJECT_VALUE, d->name, d->type, 0, NULL);
    uint8_t **data;
    o->constant = true;
    fc_slots_new(g, o, SLOT_FIXED, 0, NULL);
    if (!fill_data(g, o, d->init, &data))
        fc_fail(g, ERR_INIT, d->init->place);
    for (uint32_t i = 0; i < o->nleaves; i++) {
        leaf *l = &o->leaves[i];
        uint64_t bits = 0;
        memcpy(&bits, data[i], ir_bytes(l->dtype));
        if (fc_is_signed_dtype(l->dtype))
            bits = ir_wrap(l->dtype, bits);
        l->value = l->rank ? rg_build_table(g->b, l->dtype, (uint32_t)leaf_count(l), data[i])
                           : rg_build_bits(g->b, l->dtype, bits);
    }
    for (uint32_t i = 0; i < fc_type_pointers(o->type); i++)
        for (uint32_t k = 0; k < o->pointers[i]->count; k++)
            o->pointers[i]->target[k].nulls = !o->pointers[i]->target[k].init;
    return o;
}

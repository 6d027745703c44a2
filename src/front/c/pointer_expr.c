/* Pointer expressions: null pointers, casts, sums, choices, comparisons.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/c/omp.h"
#include "front/c/pointer.h"

/* -- null
 * --------------------------------------------------------------------------- */
rg_value
fc_pointer_is_set(gen *g, const place *p)
{
    return p->null ? rg_build_1(g->b, RG_OP_NOT, p->null) : rg_build_int(g->b, RG_BOOL, !p->refused);
}

place
fc_pointed(gen *g, const place *p, const node *n)
{
    if (p->refused)
        return *p;
    front_error error = p->object->kind == OBJECT_NULL ? ERR_NULL_POINTER : ERR_FUNCTION_POINTER;
    if (p->object->kind != OBJECT_NULL && p->object->kind != OBJECT_FUNCTION)
        return *p;
    fc_fail(g, error, n->place);
    return fc_nowhere(g, p->type);
}

/* -- pointer expressions
 * --------------------------------------------------------------------------- */
static place
failed(gen *g, const node *n, front_error error, const char *what)
{
    node bad = {.kind = E_BAD,
                .bits = error,
                .text = what,
                .place = n->place,
                .type = n->type && n->type->kind == TYPE_POINTER ? n->type->elem : NULL};
    return fc_lvalue(g, &bad);
}

/* What `to` sees of p, which may have been a pointer to void: its first part of that type. */
static bool
seen_as(gen *g, const ctype *to, place *p)
{
    while (!fc_same_elements(to, p->type)) {
        if (p->type->kind != TYPE_ARRAY || p->object->kind == OBJECT_BUFFER)
            return false;
        *p = fc_place_element(g, p, NULL);
    }
    return true;
}

/* (T *)malloc(...): the array that was made for it; without a cast what the caller's cast says */
static bool
allocated_place(gen *g, const node *n, place *out)
{
    const node *call = fc_allocation(n);
    object *o = call ? fc_sized_object(g, call) : NULL;
    if (!o || o->local == o || !fc_same_elements(n->type->elem, o->local ? o->type->elem : o->type))
        return false;
    place before = fc_reallocates(call) ? fc_pointer(g, call->list[0]) : (place){0};
    *out = fc_sized_place(g, o);
    o->team = g->regions > 0 && !o->rows; /* unless it is assigned to what threads share */
    static const node nothing = {.kind = E_INIT};
    if (before.object && before.object->kind == OBJECT_BUFFER && !before.refused)
        fc_copy_memory(g, out, &before, call);
    if (fc_clears(call) && o->local)
        fc_init_object(g, out->object, &nothing);
    else if (fc_clears(call) && o->rows && !g->in_thread)
        fc_scratch_cleared(g, out, call);
    else if (fc_clears(call))
        fc_clear(g, out, call);
    return true;
}

static place
pointer_cast(gen *g, const node *n)
{
    const node *inner = n->kid[0];
    if (fc_is_null_node(n))
        return fc_null_place(g, n->type->elem);
    place memory;
    if (allocated_place(g, n, &memory))
        return memory;
    if (!inner->type || inner->type->kind == TYPE_SCALAR)
        return failed(g, n, ERR_POINTER_VALUE, "a number turned into a pointer");
    place p = fc_pointer(g, inner);
    if (!p.refused && p.object->kind != OBJECT_NULL && !seen_as(g, n->type->elem, &p)) {
        fc_fail(g, ERR_POINTER_CAST, n->place, fc_format(g->arena, "%s *", p.type->name), n->type->name);
        return fc_nowhere(g, n->type->elem);
    }
    return p;
}

static place
pointer_sum(gen *g, const node *n)
{
    bool left = n->kid[0]->type->kind == TYPE_POINTER;
    place p = fc_pointer(g, n->kid[left ? 0 : 1]);
    rg_value by = fc_scalar(g, n->kid[left ? 1 : 0]);
    fc_at_node(g, n);
    if (n->op == RG_OP_SUB)
        by = rg_build_1(g->b, RG_OP_NEG, fc_convert(g, RG_I64, by));
    return fc_place_move(g, &p, by, n);
}

bool
fc_same_array(const place *x, const place *y)
{
    return x->n == y->n && x->leaf == y->leaf &&
           (x->object == y->object ||
            (x->object->choice && y->object->choice && x->object->choice == y->object->choice));
}

/* c ? p : q into different arrays: a pointer without a name, whose selector is chosen. */
static bool
choose_array(gen *g, const node *n, rg_value c, place *x, const place *y)
{
    choices all = {.g = g};
    fc_choices_of_place(&all, x);
    fc_choices_of_place(&all, y);
    pointer_var *v = fc_pointer_to(g, &all, "?:");
    if (!fc_choices_agree(g, v, n->place))
        return false;
    v->selector = rg_build_var(g->b, RG_STR("chosen"), (rg_type){RG_I32, 0});
    rg_build_set(g->b, v->selector, rg_build_3(g->b, RG_OP_SELECT, c, fc_selector_for(g, v, x), fc_selector_for(g, v, y)));
    x->object = fc_picked(g, v);
    x->leaf = v->choices[0].leaf;
    x->type = v->choices[0].type;
    return true;
}

/* whether c ? x : y is null */
static rg_value
choose_null(gen *g, rg_value c, const place *x, const place *y)
{
    if (!x->null && !y->null)
        return NULL;
    rg_value no = rg_build_int(g->b, RG_BOOL, 0);
    return rg_build_3(g->b, RG_OP_SELECT, c, x->null ? x->null : no, y->null ? y->null : no);
}

/* c ? x : y within one array: the indices are chosen. */
static place
choose_place(gen *g, const node *n, rg_value c, place x, place y)
{
    if (x.refused || y.refused)
        return x.refused ? x : y;
    rg_value null = choose_null(g, c, &x, &y);
    if (x.object->kind == OBJECT_NULL || y.object->kind == OBJECT_NULL) {
        place chosen = x.object->kind == OBJECT_NULL ? y : x;
        chosen.null = null;
        return chosen;
    }
    if ((!fc_same_array(&x, &y) || x.object->choice) && !choose_array(g, n, c, &x, &y))
        return fc_nowhere(g, x.type);
    x.null = null;
    x.walks |= y.walks;
    for (uint32_t i = 0; i < x.n; i++) {
        if (!x.index[i] && !y.index[i])
            continue;
        rg_value a = x.index[i] ? fc_convert(g, RG_I64, x.index[i]) : fc_int_value(g, RG_I64, 0);
        rg_value b = y.index[i] ? fc_convert(g, RG_I64, y.index[i]) : fc_int_value(g, RG_I64, 0);
        x.index[i] = rg_build_3(g->b, RG_OP_SELECT, c, a, b);
    }
    return x;
}

/* c ? p : q, and p ?: q */
static place
pointer_choice(gen *g, const node *n)
{
    place x, y;
    rg_value c;
    uint64_t known;
    bool elvis = n->kind == E_ELVIS;
    if (elvis) {
        x = fc_pointer(g, n->kid[0]);
        c = fc_pointer_is_set(g, &x);
    } else {
        c = fc_condition(g, n->kid[0], false);
    }
    if (rg_value_is_const(c, &known))
        return known && elvis ? x : fc_pointer(g, n->kid[known || elvis ? 1 : 2]);
    if (!elvis)
        x = fc_pointer(g, n->kid[1]);
    y = fc_pointer(g, n->kid[elvis ? 1 : 2]);
    fc_at_node(g, n);
    return choose_place(g, n, c, x, y);
}

place
fc_pointer(gen *g, const node *n)
{
    place p;
    const decl *root;
    if (n->type && n->type->kind == TYPE_FUNCTION && n->kind == E_DEREF)
        return fc_pointer(g, n->kid[0]);
    switch (n->kind) {
    case E_REF:
        return n->decl->kind == DECL_FUNCTION ? fc_function_place(g, n) : fc_pointer_read(g, n->decl, n);
    case E_DECAY:
        p = fc_lvalue(g, n->kid[0]);
        if (p.refused)
            return fc_nowhere(g, n->type->elem);
        if (p.type->kind != TYPE_ARRAY)
            return failed(g, n, ERR_POINTER_VALUE, "this pointer");
        return fc_place_element(g, &p, NULL);
    case E_MEMBER:
    case E_SUBSCRIPT:
    case E_DEREF:
        p = fc_lvalue(g, n);
        return fc_slot_read(g, &p, n);
    case E_ADDR:
        if (n->kid[0]->type && n->kid[0]->type->kind == TYPE_FUNCTION)
            return fc_pointer(g, n->kid[0]);
        return fc_lvalue(g, n->kid[0]);
    case E_CAST:
        return pointer_cast(g, n);
    case E_BINARY:
        return pointer_sum(g, n);
    case E_INT:
        if (fc_is_null_node(n))
            return fc_null_place(g, NULL);
        return failed(g, n, ERR_POINTER_VALUE, "a number turned into a pointer");
    case E_ELVIS:
    case E_COND:
        return pointer_choice(g, n);
    case E_ASSIGN:
    case E_COMPOUND:
    case E_INC:
    case E_CALL:
    case E_STATEMENTS:
    case E_COMMA: {
        place memory;
        if (allocated_place(g, n, &memory))
            return memory;
        value v = fc_expr(g, n);
        return v.at.object ? v.at : failed(g, n, ERR_POINTER_VALUE, "this pointer");
    }
    case E_STRING:
        return fc_string_place(g, n);
    case E_BAD:
        return failed(g, n, (front_error)n->bits, n->text);
    default:
        root = fc_lvalue_root(n);
        if (root && root->refused)
            return fc_nowhere(g, n->type && n->type->kind == TYPE_POINTER ? n->type->elem : NULL);
        return failed(g, n,
                      n->type && n->type->kind == TYPE_POINTER &&
                              (n->kind == E_MEMBER || n->kind == E_SUBSCRIPT || n->kind == E_DEREF)
                          ? ERR_POINTER_POINTER
                          : ERR_POINTER_VALUE,
                      "this pointer");
    }
}

static rg_value
index_at(gen *g, const place *p, uint32_t axis)
{
    rg_value v = axis < p->n ? p->index[axis] : NULL;
    return v ? fc_convert(g, RG_I64, v) : fc_int_value(g, RG_I64, 0);
}

rg_value
fc_element_number(gen *g, const place *p, uint32_t axes)
{
    rg_value number = axes ? index_at(g, p, 0) : fc_int_value(g, RG_I64, 0);
    const leaf *l = axes > 1 ? &p->object->leaves[p->leaf] : NULL;
    for (uint32_t i = 1; i < axes; i++) {
        rg_value extent = l->dim[i] >= 0 ? fc_int_value(g, RG_I64, l->dim[i])
                                         : fc_convert(g, RG_I64, rg_build_extent(g->b, l->value, i));
        number = rg_build_2(g->b, RG_OP_ADD, rg_build_2(g->b, RG_OP_MUL, number, extent), index_at(g, p, i));
    }
    return number;
}

/* Whether x, now, is choice i of those that it may be; NULL: it is never another. */
static rg_value
is_choice(gen *g, const place *x, uint32_t i)
{
    return x->object->choice ? rg_build_2(g->b, RG_OP_EQ, x->object->selector, fc_int_value(g, RG_I32, i)) : NULL;
}

/* p == q where they may point into different arrays: the same array and the same element. */
static rg_value
same_place(gen *g, const place *x, const place *y)
{
    rg_value same_array = rg_build_int(g->b, RG_BOOL, 0);
    const pointer_var *v = x->object->choice, *w = y->object->choice;
    for (uint32_t i = 0; i < (v ? v->nchoices : 1); i++)
        for (uint32_t k = 0; k < (w ? w->nchoices : 1); k++) {
            const place *p = v ? &v->choices[i] : x, *q = w ? &w->choices[k] : y;
            if (p->object != q->object || p->leaf != q->leaf)
                continue;
            rg_value a = is_choice(g, x, i), b = is_choice(g, y, k);
            rg_value both = a && b ? rg_build_2(g->b, RG_OP_AND, a, b) : a ? a : b;
            if (!both)
                both = rg_build_int(g->b, RG_BOOL, 1);
            same_array = rg_build_2(g->b, RG_OP_OR, same_array, both);
        }
    rg_value same = rg_build_2(g->b, RG_OP_EQ, fc_element_number(g, x, x->n), fc_element_number(g, y, y->n));
    return rg_build_2(g->b, RG_OP_AND, same, same_array);
}

static rg_value
same_element(gen *g, const place *x, const place *y)
{
    if (fc_same_array(x, y) && !x->object->choice)
        return rg_build_2(g->b, RG_OP_EQ, fc_element_number(g, x, x->n), fc_element_number(g, y, y->n));
    return same_place(g, x, y);
}

/* p == q where one of them may be null */
static rg_value
same_pointer(gen *g, const place *x, const place *y)
{
    if (!x->null && !y->null)
        return same_element(g, x, y);
    if (x->object->kind == OBJECT_NULL || y->object->kind == OBJECT_NULL) {
        const place *other = x->object->kind == OBJECT_NULL ? y : x;
        return other->null ? other->null : rg_build_int(g->b, RG_BOOL, 0);
    }
    rg_value set = rg_build_2(g->b, RG_OP_AND, fc_pointer_is_set(g, x), fc_pointer_is_set(g, y));
    rg_value same = rg_build_2(g->b, RG_OP_AND, set, same_element(g, x, y));
    if (!x->null || !y->null)
        return same;
    return rg_build_2(g->b, RG_OP_OR, same, rg_build_2(g->b, RG_OP_AND, x->null, y->null));
}

rg_value
fc_pointer_compare(gen *g, const node *n)
{
    place x = fc_pointer(g, n->kid[0]), y = fc_pointer(g, n->kid[1]);
    fc_at_node(g, n);
    if (x.refused || y.refused)
        return rg_build_int(g->b, RG_BOOL, 0);
    if (n->op == RG_OP_EQ || n->op == RG_OP_NE) {
        rg_value same = same_pointer(g, &x, &y);
        return n->op == RG_OP_EQ ? same : rg_build_1(g->b, RG_OP_NOT, same);
    }
    if (!fc_same_array(&x, &y)) {
        fc_fail(g, ERR_POINTER_COMPARE, n->place);
        return rg_build_int(g->b, RG_BOOL, 0);
    }
    return rg_build_2(g->b, n->op, fc_element_number(g, &x, x.n), fc_element_number(g, &y, y.n));
}

rg_value
fc_pointer_difference(gen *g, const node *n)
{
    place x = fc_pointer(g, n->kid[0]), y = fc_pointer(g, n->kid[1]);
    fc_at_node(g, n);
    if (!fc_same_array(&x, &y) && !x.refused && !y.refused)
        fc_fail(g, ERR_POINTER_COMPARE, n->place);
    return rg_build_2(g->b, RG_OP_SUB, fc_element_number(g, &x, x.n), fc_element_number(g, &y, y.n));
}

/* switch: a chain of ifs where no case falls into the next, else a block with a flag that says that
 * a case was entered. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/gen.h"

typedef struct section {
    list(const node *) labels; /* S_CASE, S_DEFAULT */
    list(const node *) body;
    bool is_default;
    bool ends; /* its last statement leaves the switch */
} section;

typedef list(section) sections;

static bool
ends_in_jump(const node *n)
{
    if (n->kind == S_BLOCK)
        return n->count && ends_in_jump(n->list[n->count - 1]);
    return n->kind == S_BREAK || n->kind == S_CONTINUE || n->kind == S_RETURN;
}

static void
add_labelled(gen *g, sections *all, const node *n)
{
    section *s = all->n ? &list_last(all) : NULL;
    if (!s || s->body.n) {
        list_push(g->arena, all, (section){0});
        s = &list_last(all);
    }
    list_push(g->arena, &s->labels, n);
    s->is_default |= n->kind == S_DEFAULT;
    if (n->kid[2]->kind == S_CASE || n->kid[2]->kind == S_DEFAULT)
        add_labelled(g, all, n->kid[2]);
    else
        list_push(g->arena, &s->body, n->kid[2]);
}

static void
split(gen *g, sections *all, const node *body)
{
    const node *one[1] = {body};
    bool block = body->kind == S_BLOCK;
    uint32_t count = block ? body->count : 1;
    for (uint32_t i = 0; i < count; i++) {
        const node *n = block ? body->list[i] : one[0];
        if (n->kind == S_CASE || n->kind == S_DEFAULT)
            add_labelled(g, all, n);
        else if (all->n)
            list_push(g->arena, &list_last(all).body, n);
    }
    for (size_t i = 0; i < all->n; i++)
        all->at[i].ends = all->at[i].body.n && ends_in_jump(list_last(&all->at[i].body));
}

/* Declarations between the labels are visible in all sections after them. */
static void
declare_ahead(gen *g, const node *body)
{
    for (uint32_t i = 0; body->kind == S_BLOCK && i < body->count; i++) {
        const node *n = body->list[i];
        while (n->kind == S_CASE || n->kind == S_DEFAULT)
            n = n->kid[2];
        for (uint32_t k = 0; n->kind == S_DECL && k < n->count; k++) {
            decl *d = n->list[k]->decl;
            front_error error;
            if (d->type->kind != TYPE_POINTER && !d->lasting && !fc_type_problem(d->type, &error))
                d->object = fc_object_local(g, d->name, d->type);
        }
    }
}

static rg_value
label_matches(gen *g, const node *label, rg_value v)
{
    rg_dtype d = rg_value_type(v).dtype;
    uint64_t lo, hi;
    if (!fc_constant_bits(g, label->kid[0], d, &lo) ||
        (label->kid[1] && !fc_constant_bits(g, label->kid[1], d, &hi))) {
        fc_fail(g, ERR_INIT, label->place);
        lo = hi = 0;
    }
    fc_at_node(g, label);
    if (!label->kid[1])
        return rg_build_2(g->b, RG_OP_EQ, v, rg_build_bits(g->b, d, lo));
    return rg_build_2(g->b, RG_OP_AND, rg_build_2(g->b, RG_OP_GE, v, rg_build_bits(g->b, d, lo)),
                      rg_build_2(g->b, RG_OP_LE, v, rg_build_bits(g->b, d, hi)));
}

/* Any of the section's own labels; NULL if it has default only. */
static rg_value
section_matches(gen *g, const section *s, rg_value v)
{
    rg_value any = NULL;
    for (size_t i = 0; i < s->labels.n; i++) {
        if (s->labels.at[i]->kind == S_DEFAULT)
            continue;
        rg_value one = label_matches(g, s->labels.at[i], v);
        any = any ? rg_build_2(g->b, RG_OP_OR, any, one) : one;
    }
    return any;
}

static void
section_body(gen *g, const section *s)
{
    for (size_t i = 0; i < s->body.n; i++) {
        const node *n = s->body.at[i];
        /* declared ahead: only the initialisation is left */
        for (uint32_t k = 0; n->kind == S_DECL && k < n->count; k++) {
            decl *d = n->list[k]->decl;
            if (!d->object || d->type->kind == TYPE_POINTER || d->lasting)
                fc_declare(g, d);
            else if (d->init)
                fc_init_object(g, d->object, d->init);
        }
        if (n->kind != S_DECL)
            fc_stmt(g, n);
    }
}

/* No section falls through: nested ifs, default last. */
static void
chain(gen *g, const sections *all, rg_value v)
{
    unsigned open = 0;
    const section *otherwise = NULL;
    for (size_t i = 0; i < all->n; i++) {
        const section *s = &all->at[i];
        if (s->is_default) {
            otherwise = s;
            continue;
        }
        rg_build_if(g->b, section_matches(g, s, v));
        section_body(g, s);
        rg_build_else(g->b);
        open++;
    }
    if (otherwise)
        section_body(g, otherwise);
    while (open--)
        rg_build_end(g->b);
}

static rg_value
default_matches(gen *g, const sections *all, rg_value v)
{
    rg_value any = NULL;
    for (size_t i = 0; i < all->n; i++) {
        rg_value one = section_matches(g, &all->at[i], v);
        if (one)
            any = any ? rg_build_2(g->b, RG_OP_OR, any, one) : one;
    }
    return any ? rg_build_1(g->b, RG_OP_NOT, any) : rg_build_int(g->b, RG_BOOL, 1);
}

static void
falling(gen *g, const sections *all, rg_value v)
{
    rg_var entered = rg_build_var(g->b, RG_STR("entered"), (rg_type){RG_BOOL, 0});
    bool falls = false; /* into the section at hand */
    for (size_t i = 0; i < all->n; i++) {
        const section *s = &all->at[i];
        rg_value c = section_matches(g, s, v);
        if (s->is_default) {
            rg_value d = default_matches(g, all, v);
            c = c ? rg_build_2(g->b, RG_OP_OR, c, d) : d;
        }
        if (falls)
            c = rg_build_2(g->b, RG_OP_OR, c, rg_build_get(g->b, entered));
        rg_build_if(g->b, c);
        section_body(g, s);
        if (!s->ends)
            rg_build_set(g->b, entered, rg_build_int(g->b, RG_BOOL, 1));
        rg_build_end(g->b);
        falls |= !s->ends;
    }
}

void
fc_switch_stmt(gen *g, const node *n)
{
    rg_value v = fc_scalar(g, n->kid[0]);
    sections all = {0};
    split(g, &all, n->kid[1]);
    bool falls = false;
    for (size_t i = 0; i + 1 < all.n; i++)
        falls |= !all.at[i].ends;
    fc_at_node(g, n);
    rg_label before = g->on_break;
    g->on_break = rg_build_block(g->b);
    declare_ahead(g, n->kid[1]);
    if (falls)
        falling(g, &all, v);
    else
        chain(g, &all, v);
    rg_build_end(g->b);
    g->on_break = before;
}

/* #pragma omp atomic. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/loop.h"

/* -- recognising the statement
 * --------------------------------------------------------------------- */
static const node *
stripped(const node *n)
{
    while (n && n->kind == E_CAST && n->type->kind == TYPE_SCALAR)
        n = n->kid[0];
    return n;
}

/* Whether two expressions are written alike. */
static bool
same_tree(const node *x, const node *y)
{
    if (!x || !y)
        return x == y;
    if (x->kind == E_CAST && y->kind != E_CAST)
        return stripped(x) != x && same_tree(stripped(x), y);
    if (y->kind == E_CAST && x->kind != E_CAST)
        return stripped(y) != y && same_tree(x, stripped(y));
    if (x->kind != y->kind || x->op != y->op || x->decl != y->decl || x->bits != y->bits ||
        x->number != y->number || x->count != y->count)
        return false;
    for (size_t i = 0; i < 4; i++) {
        if (!same_tree(x->kid[i], y->kid[i]))
            return false;
    }
    for (uint32_t i = 0; i < x->count; i++) {
        if (!same_tree(x->list[i], y->list[i]))
            return false;
    }
    return true;
}

static bool
rmw_of(rg_op op, bool reversed, atomic_form *f)
{
    switch (op) {
    case RG_OP_SUB:
        f->negative = true;
        f->op = RG_RMW_ADD;
        return !reversed;
    case RG_OP_ADD:
        f->op = RG_RMW_ADD;
        return true;
    case RG_OP_MUL:
        f->op = RG_RMW_MUL;
        return true;
    case RG_OP_AND:
        f->op = RG_RMW_AND;
        return true;
    case RG_OP_OR:
        f->op = RG_RMW_OR;
        return true;
    case RG_OP_XOR:
        f->op = RG_RMW_XOR;
        return true;
    default:
        return false;
    }
}

/* x++, x op= v, x = x op v, x = v op x */
static bool
read_update(const node *n, atomic_form *f)
{
    n = stripped(n);
    f->target = n->kid[0];
    if (n->kind == E_INC) {
        f->op = RG_RMW_ADD;
        f->negative = n->bits & INC_MINUS;
        return true;
    }
    if (n->kind == E_COMPOUND) {
        f->operand = n->kid[1];
        return rmw_of(n->op, false, f);
    }
    if (n->kind != E_ASSIGN)
        return false;
    const node *v = stripped(n->kid[1]);
    if (v->kind != E_BINARY)
        return false;
    bool left = same_tree(n->kid[0], stripped(v->kid[0]));
    if (!left && !same_tree(n->kid[0], stripped(v->kid[1])))
        return false;
    f->operand = v->kid[left ? 1 : 0];
    return rmw_of(v->op, !left, f);
}

/* The target compared with `with`, then replaced by `by`. */
static bool
read_comparison(const node *c, const node *target, const node *by, atomic_form *f)
{
    c = stripped(c);
    if (c->kind != E_BINARY)
        return false;
    bool left = same_tree(stripped(c->kid[0]), target);
    if (!left && !same_tree(stripped(c->kid[1]), target))
        return false;
    const node *with = c->kid[left ? 1 : 0];
    bool less = c->op == RG_OP_LT || c->op == RG_OP_LE;
    f->target = target;
    f->operand = by;
    if (c->op == RG_OP_EQ) {
        f->op = RG_RMW_CAS;
        f->compare = with;
        return true;
    }
    f->op = less == left ? RG_RMW_MAX : RG_RMW_MIN;
    return (less || c->op == RG_OP_GT || c->op == RG_OP_GE) &&
           same_tree(stripped(with), stripped(by));
}

/* if (x < e) { x = e; }   x = x < e ? e : x */
static bool
read_compare(const node *n, atomic_form *f)
{
    n = fc_only_statement(n);
    if (n->kind == S_IF && !n->kid[2]) {
        const node *set = fc_only_statement(n->kid[1]);
        return set->kind == E_ASSIGN && read_comparison(n->kid[0], set->kid[0], set->kid[1], f);
    }
    if (n->kind != E_ASSIGN)
        return false;
    const node *v = stripped(n->kid[1]);
    if (v->kind != E_COND || !same_tree(stripped(v->kid[2]), n->kid[0]))
        return false;
    return read_comparison(v->kid[0], n->kid[0], v->kid[1], f);
}

static bool
is_copy_of(const node *n, const node *target)
{
    return n->kind == E_ASSIGN && same_tree(stripped(n->kid[1]), target);
}

/* v = x++; v = x op= w; v = x = x op w; { v = x; x op= w; } { x op= w; v = x; } { v = x; x = w; }
 */
static bool
read_capture(const node *n, atomic_form *f)
{
    n = fc_only_statement(n);
    if (n->kind == E_ASSIGN) {
        const node *u = stripped(n->kid[1]);
        if (!read_update(u, f))
            return false;
        f->capture = n->kid[0];
        f->after = u->kind != E_INC || (u->bits & INC_PREFIX);
        return true;
    }
    if (n->kind != S_BLOCK || n->count != 2)
        return false;
    const node *one = n->list[0], *two = n->list[1];
    if (read_update(one, f) && is_copy_of(two, f->target)) {
        f->capture = two->kid[0];
        f->after = true;
        return true;
    }
    *f = (atomic_form){0};
    if (one->kind != E_ASSIGN)
        return false;
    if (read_update(two, f) && is_copy_of(one, f->target)) {
        f->capture = one->kid[0];
        return true;
    }
    *f = (atomic_form){0};
    if (two->kind != E_ASSIGN || !is_copy_of(one, two->kid[0]))
        return false;
    f->target = two->kid[0];
    f->op = RG_RMW_EXCHANGE;
    f->operand = two->kid[1];
    f->capture = one->kid[0];
    return true;
}

bool
fc_atomic_form_read(const node *n, atomic_form *f)
{
    *f = (atomic_form){0};
    const node *s = fc_only_statement(n->kid[0]);
    switch (n->directive->kind) {
    case OMP_ATOMIC_UPDATE:
        return read_update(s, f);
    case OMP_ATOMIC_CAPTURE:
        return read_capture(n->kid[0], f);
    case OMP_ATOMIC_COMPARE:
        return read_compare(n->kid[0], f);
    case OMP_ATOMIC_WRITE:
        if (s->kind != E_ASSIGN)
            return false;
        f->target = s->kid[0];
        f->operand = s->kid[1];
        f->op = RG_RMW_EXCHANGE;
        return true;
    default:
        return false;
    }
}

/* -- generating
 * ------------------------------------------------------------------------------------ */
static rg_value
combine(gen *g, rg_rmw op, rg_value old, rg_value v)
{
    static const rg_op ops[] = {
        [RG_RMW_ADD] = RG_OP_ADD, [RG_RMW_MIN] = RG_OP_MIN, [RG_RMW_MAX] = RG_OP_MAX,
        [RG_RMW_MUL] = RG_OP_MUL, [RG_RMW_AND] = RG_OP_AND, [RG_RMW_OR] = RG_OP_OR,
        [RG_RMW_XOR] = RG_OP_XOR};
    return op == RG_RMW_EXCHANGE ? v : rg_build_2(g->b, ops[op], old, v);
}

static rg_value
operand_of(gen *g, const atomic_form *f, rg_dtype d)
{
    rg_value v;
    if (f->operand)
        v = fc_convert(g, d, fc_scalar(g, f->operand));
    else
        v = fc_is_float_dtype(d) ? rg_build_float(g->b, d, 1) : fc_int_value(g, d, 1);
    return f->negative ? rg_build_1(g->b, RG_OP_NEG, v) : v;
}

static void
buffer_atomic(gen *g, const node *n, const atomic_form *f, const place *p)
{
    const leaf *l = &p->object->leaves[p->leaf];
    rg_value index[MAX_AXES];
    rg_value v = operand_of(g, f, l->dtype);
    rg_value compare = f->compare ? fc_convert(g, l->dtype, fc_scalar(g, f->compare)) : NULL;
    fc_at_node(g, n->kid[0]);
    fc_whole_indices(g, p, l->rank, index);
    rg_value old = rg_build_rmw(g->b, RG_PRIMAL, f->op, true, l->value, l->rank, index, v, compare);
    if (!f->capture)
        return;
    place to = fc_lvalue(g, f->capture);
    rg_value kept = f->after ? combine(g, f->op, old, v) : old;
    fc_store_scalar(g, &to, fc_convert(g, to.type->dtype, kept), f->capture);
}

void
fc_atomic_stmt(gen *g, const node *n)
{
    atomic_form f;
    if (!g->in_thread || n->directive->kind == OMP_ATOMIC_READ) {
        g->atomic_read = g->in_thread;
        fc_stmt(g, n->kid[0]);
        g->atomic_read = false;
        return;
    }
    if (!fc_atomic_form_read(n, &f) || !f.target->type || f.target->type->kind != TYPE_SCALAR) {
        fc_fail(g, ERR_ATOMIC_FORM, n->kid[0]->place);
        return;
    }
    place p = fc_lvalue(g, f.target);
    if (p.refused)
        return;
    if ((p.object->read_only || p.object->constant) && !fc_may_write(g, &p, f.target))
        return;
    if (p.object->kind == OBJECT_BUFFER)
        buffer_atomic(g, n, &f, &p);
    else if (p.object->kind == OBJECT_LOCAL && !p.object->shared)
        fc_stmt(g, n->kid[0]); /* a reduction's own copy, or the thread's own variable */
    else
        fc_fail(g, ERR_ATOMIC_PLACE, n->kid[0]->place, p.object->name);
}

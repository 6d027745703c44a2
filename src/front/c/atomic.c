/* #pragma omp atomic, and what else changes one value. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/omp.h"

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

/* target = target op operand; reversed: operand op target */
static bool
rmw_of(rg_op op, bool reversed, atomic_form *f)
{
    bool floats = f->target->type->kind == TYPE_SCALAR && fc_is_float_dtype(f->target->type->dtype);
    switch (op) {
    case RG_OP_SUB:
        f->negative = !reversed;
        f->op = RG_RMW_ADD;
        break;
    case RG_OP_ADD:
        f->op = RG_RMW_ADD;
        return true;
    case RG_OP_DIV:
        f->inverse = floats && !reversed;
        f->op = RG_RMW_MUL;
        break;
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
    case RG_OP_SHL:
    case RG_OP_SHR:
        break;
    default:
        return false;
    }
    if (f->negative || f->inverse)
        return true;
    f->op = RG_RMW_CAS;
    f->tried = true;
    f->by = op;
    f->reversed = reversed;
    return !floats;
}

/* x++, x op= v, x = x op v, x = v op x */
static bool
read_update(const node *n, atomic_form *f)
{
    n = stripped(n);
    *f = (atomic_form){.target = n->kid[0]};
    if (n->kind != E_INC && n->kind != E_COMPOUND && n->kind != E_ASSIGN)
        return false;
    if (!f->target->type || f->target->type->kind != TYPE_SCALAR)
        return false;
    if (n->kind == E_INC) {
        f->op = RG_RMW_ADD;
        f->negative = n->bits & INC_MINUS;
        return true;
    }
    if (n->kind == E_COMPOUND) {
        f->operand = n->kid[1];
        return rmw_of(n->op, false, f);
    }
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

/* x = fmax(x, e) */
static bool
read_extreme(const node *n, const node *target, atomic_form *f)
{
    static const struct {
        const char *name;
        rg_rmw op;
    } table[] = {{"fmax", RG_RMW_MAX}, {"fmaxf", RG_RMW_MAX}, {"fmin", RG_RMW_MIN}, {"fminf", RG_RMW_MIN}};
    for (size_t i = 0; i < countof(table) && n->decl && n->decl->system && n->count == 2; i++) {
        if (strcmp(n->decl->name, table[i].name) != 0)
            continue;
        bool left = same_tree(stripped(n->list[0]), target);
        f->target = target;
        f->op = table[i].op;
        f->operand = n->list[left ? 1 : 0];
        return left || same_tree(stripped(n->list[1]), target);
    }
    return false;
}

/* if (x < e) { x = e; }   x = x < e ? e : x   x = x > e ? x : e   x = fmax(x, e) */
static bool
read_compare(const node *n, atomic_form *f)
{
    *f = (atomic_form){0};
    n = stripped(fc_only_statement(n));
    if (n->kind == S_IF && !n->kid[2]) {
        const node *set = fc_only_statement(n->kid[1]);
        return set->kind == E_ASSIGN && read_comparison(n->kid[0], set->kid[0], set->kid[1], f);
    }
    if (n->kind != E_ASSIGN)
        return false;
    const node *v = stripped(n->kid[1]);
    if (v->kind == E_CALL)
        return read_extreme(v, n->kid[0], f);
    if (v->kind != E_COND)
        return false;
    if (same_tree(stripped(v->kid[2]), n->kid[0]))
        return read_comparison(v->kid[0], n->kid[0], v->kid[1], f);
    if (!same_tree(stripped(v->kid[1]), n->kid[0]) || !read_comparison(v->kid[0], n->kid[0], v->kid[2], f) ||
        f->op == RG_RMW_CAS)
        return false;
    f->op = f->op == RG_RMW_MAX ? RG_RMW_MIN : RG_RMW_MAX;
    return true;
}

static bool
read_change(const node *n, atomic_form *f)
{
    return read_update(n, f) || read_compare(n, f);
}

static bool
is_copy_of(const node *n, const node *target)
{
    return n->kind == E_ASSIGN && same_tree(stripped(n->kid[1]), target);
}

/* { v = x; x op= w; }   { x op= w; v = x; }   { v = x; x = w; } */
static bool
read_two(const node *one, const node *two, atomic_form *f)
{
    if (read_change(one, f) && is_copy_of(two, f->target)) {
        f->capture = two->kid[0];
        f->after = true;
        return true;
    }
    if (one->kind != E_ASSIGN)
        return false;
    if (read_change(two, f) && is_copy_of(one, f->target)) {
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

/* if (x == e) { x = d; } else { v = x; }, with the condition given */
static bool
read_exchange(const node *condition, const node *n, atomic_form *f)
{
    const node *set = fc_only_statement(n->kid[1]), *other = n->kid[2] ? fc_only_statement(n->kid[2]) : NULL;
    if (set->kind != E_ASSIGN || !read_comparison(condition, set->kid[0], set->kid[1], f) || f->op != RG_RMW_CAS)
        return false;
    if (other) {
        f->capture = other->kid[0];
        f->unequal = true;
    }
    return !other || is_copy_of(other, f->target);
}

/* v = x++; v = x op= w; v = x = x op w; and two statements; { r = x == e; if (r) ... } */
static bool
read_capture(const node *n, atomic_form *f)
{
    *f = (atomic_form){0};
    n = fc_only_statement(n);
    if (n->kind == E_ASSIGN) {
        const node *u = stripped(n->kid[1]);
        if (!read_change(u, f))
            return false;
        f->capture = n->kid[0];
        f->after = u->kind != E_INC || (u->bits & INC_PREFIX);
        return true;
    }
    if (n->kind == S_IF)
        return read_exchange(n->kid[0], n, f);
    if (n->kind != S_BLOCK || n->count != 2)
        return false;
    const node *one = fc_only_statement(n->list[0]), *two = fc_only_statement(n->list[1]);
    if (read_two(one, two, f))
        return true;
    *f = (atomic_form){0};
    if (one->kind != E_ASSIGN || two->kind != S_IF || !same_tree(stripped(two->kid[0]), one->kid[0]))
        return false;
    f->result = one->kid[0];
    return read_exchange(one->kid[1], two, f);
}

bool
fc_update_form_read(const node *n, atomic_form *f)
{
    return read_change(fc_only_statement(n), f) && f->op <= RG_RMW_XOR;
}

bool
fc_atomic_form_read(const node *n, atomic_form *f)
{
    const node *s = fc_only_statement(n->kid[0]);
    switch (n->directive->kind) {
    case OMP_ATOMIC_UPDATE:
        return read_update(s, f);
    case OMP_ATOMIC_CAPTURE:
        return read_capture(n->kid[0], f);
    case OMP_ATOMIC_COMPARE:
        return read_compare(n->kid[0], f);
    case OMP_ATOMIC_WRITE:
    case OMP_ATOMIC_READ:
        *f = (atomic_form){.op = RG_RMW_EXCHANGE};
        if (s->kind != E_ASSIGN)
            return false;
        bool reads = n->directive->kind == OMP_ATOMIC_READ;
        f->target = reads ? stripped(s->kid[1]) : s->kid[0];
        f->operand = reads ? NULL : s->kid[1];
        f->capture = reads ? s->kid[0] : NULL;
        return true;
    default:
        return false;
    }
}

/* -- generating
 * ------------------------------------------------------------------------------------ */
rg_value
fc_combine(gen *g, rg_rmw op, rg_value old, rg_value v)
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
    rg_value v, one = fc_is_float_dtype(d) ? rg_build_float(g->b, d, 1) : fc_int_value(g, d, 1);
    v = f->operand ? fc_convert(g, d, fc_scalar(g, f->operand)) : one;
    if (f->inverse)
        return rg_build_2(g->b, RG_OP_DIV, one, v);
    return f->negative ? rg_build_1(g->b, RG_OP_NEG, v) : v;
}

/* What the target becomes; y: the operand, in its own type. */
static rg_value
changed(gen *g, const atomic_form *f, rg_dtype kept, rg_value old, rg_value y)
{
    bool shift = f->by == RG_OP_SHL || f->by == RG_OP_SHR;
    rg_dtype own = rg_value_type(y).dtype, computed = fc_common_dtype(kept, own);
    if (shift)
        computed = fc_promoted(f->reversed ? own : kept);
    rg_value x = fc_convert(g, computed, old);
    y = fc_convert(g, computed, y);
    return fc_convert(g, kept, fc_arithmetic(g, f->by, f->reversed ? y : x, f->reversed ? x : y));
}

/* Computed from what is there and exchanged for it, until it still was. Returns what was there then. */
static rg_value
try_update(gen *g, const atomic_form *f, const leaf *l, uint32_t rank, const rg_value *index, rg_value y)
{
    rg_var seen = rg_build_var(g->b, rg_str_of("seen"), (rg_type){l->dtype, 0});
    rg_build_set(g->b, seen, rg_build_load_atomic(g->b, l->value, rank, index));
    rg_label loop = rg_build_loop(g->b);
    rg_value old = rg_build_get(g->b, seen);
    rg_value found = rg_build_rmw(g->b, RG_PRIMAL, RG_RMW_CAS, true, l->value, rank, index, changed(g, f, l->dtype, old, y), old);
    rg_build_set(g->b, seen, found);
    rg_build_leave_if(g->b, rg_build_2(g->b, RG_OP_EQ, found, old), loop);
    rg_build_end(g->b);
    return rg_build_get(g->b, seen);
}

static void
keep(gen *g, const node *variable, rg_value v)
{
    place to = fc_lvalue(g, variable);
    fc_store_scalar(g, &to, fc_convert(g, to.type->dtype, v), variable);
}

void
fc_atomic_update(gen *g, const node *n, const atomic_form *f, const place *p)
{
    const leaf *l = &p->object->leaves[p->leaf];
    rg_value index[MAX_AXES], old, v;
    rg_value compare = f->compare ? fc_convert(g, l->dtype, fc_scalar(g, f->compare)) : NULL;
    v = f->tried ? fc_scalar(g, f->operand) : operand_of(g, f, l->dtype);
    fc_at_node(g, n);
    uint32_t rank = fc_whole_indices(g, p, l->rank, index);
    if (f->tried)
        old = try_update(g, f, l, rank, index, v);
    else
        old = rg_build_rmw(g->b, RG_PRIMAL, f->op, true, l->value, rank, index, v, compare);
    rg_value equal = f->compare ? rg_build_2(g->b, RG_OP_EQ, old, compare) : NULL, kept = old;
    if (f->after && f->tried)
        kept = changed(g, f, l->dtype, old, v);
    else if (f->after)
        kept = equal ? rg_build_3(g->b, RG_OP_SELECT, equal, v, old) : fc_combine(g, f->op, old, v);
    if (f->result)
        keep(g, f->result, equal);
    if (f->unequal)
        rg_build_if(g->b, rg_build_1(g->b, RG_OP_NOT, equal));
    if (f->capture)
        keep(g, f->capture, kept);
    if (f->unequal)
        rg_build_end(g->b);
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
        fc_atomic_update(g, n->kid[0], &f, &p);
    else if (p.object->kind == OBJECT_LOCAL && !p.object->shared)
        fc_stmt(g, n->kid[0]); /* a reduction's own copy, or the thread's own variable */
    else
        fc_fail(g, ERR_ATOMIC_PLACE, n->kid[0]->place, p.object->name);
}

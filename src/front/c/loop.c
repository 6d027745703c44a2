/* Loops. A `for` whose count is known on entry becomes a counted loop; all others are endless loops
 * that are left. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/census.h"
#include "front/c/loop.h"

#include "ir/ir.h"

/* -- the form of a counted for
 * --------------------------------------------------------------------- */
static const node *
without_casts(const node *n)
{
    while (n->kind == E_CAST && n->type->kind == TYPE_SCALAR)
        n = n->kid[0];
    return n;
}

static bool
is_counter(const node *n, const decl *d)
{
    n = without_casts(n);
    return n->kind == E_REF && n->decl == d;
}

static bool
read_init(const node *init, loop_form *f)
{
    if (!init)
        return false;
    if (init->kind == S_DECL && init->count == 1 && init->list[0]->decl->init) {
        f->counter = init->list[0]->decl;
        f->lo = f->counter->init;
        f->own = true;
    } else if (init->kind == E_ASSIGN && init->kid[0]->kind == E_REF) {
        f->counter = init->kid[0]->decl;
        f->lo = init->kid[1];
    } else {
        return false;
    }
    const ctype *t = f->counter->type;
    return t->kind == TYPE_SCALAR && !fc_is_float_dtype(t->dtype) &&
           fc_dtype_bits(t->dtype) >= 32 && !f->counter->lasting && f->lo->kind != E_INIT;
}

static bool
read_condition(const node *c, loop_form *f)
{
    if (!c || c->kind != E_BINARY || c->kid[0]->type->kind != TYPE_SCALAR ||
        c->kid[1]->type->kind != TYPE_SCALAR)
        return false;
    rg_op op = c->op;
    bool left = is_counter(c->kid[0], f->counter);
    if (!left && !is_counter(c->kid[1], f->counter))
        return false;
    if (!left) { /* b > i */
        static const rg_op mirrored[] = {RG_OP_EQ, RG_OP_NE, RG_OP_GT,
                                         RG_OP_GE, RG_OP_LT, RG_OP_LE};
        op = op >= RG_OP_EQ && op <= RG_OP_GE ? mirrored[op - RG_OP_EQ] : op;
    }
    f->hi = c->kid[left ? 1 : 0];
    f->compare = c->kid[0]->type->dtype;
    f->inclusive = op == RG_OP_LE || op == RG_OP_GE;
    f->down = op == RG_OP_GT || op == RG_OP_GE;
    f->unequal = op == RG_OP_NE;
    return !fc_is_float_dtype(f->compare) && fc_dtype_bits(f->compare) >= 32 &&
           (op == RG_OP_NE || (op >= RG_OP_LT && op <= RG_OP_GE));
}

static bool
read_step(const node *s, loop_form *f)
{
    const node *by = NULL;
    bool minus = false;
    if (!s)
        return false;
    s = without_casts(s);
    if (s->kind == E_INC && is_counter(s->kid[0], f->counter)) {
        f->step = s->bits & INC_MINUS ? -1 : 1;
        return true;
    }
    if (s->kind == E_COMPOUND && is_counter(s->kid[0], f->counter)) {
        by = s->kid[1];
        minus = s->op == RG_OP_SUB;
        if (s->op != RG_OP_ADD && s->op != RG_OP_SUB)
            return false;
    } else if (s->kind == E_ASSIGN && is_counter(s->kid[0], f->counter)) {
        const node *sum = without_casts(s->kid[1]);
        if (sum->kind != E_BINARY || (sum->op != RG_OP_ADD && sum->op != RG_OP_SUB))
            return false;
        minus = sum->op == RG_OP_SUB;
        if (is_counter(sum->kid[0], f->counter))
            by = sum->kid[1];
        else if (!minus && is_counter(sum->kid[1], f->counter))
            by = sum->kid[0];
    }
    if (!by || by->type->kind != TYPE_SCALAR || fc_is_float_dtype(by->type->dtype))
        return false;
    int64_t step;
    if (fc_is_constant_node(by, &step) && step != 0) {
        f->step = minus ? -step : step;
        return true;
    }
    f->by = by;
    f->minus = minus;
    return true;
}

bool
fc_loop_form_read(const node *n, loop_form *f)
{
    *f = (loop_form){.body = n->kid[3]};
    if (!read_init(n->kid[0], f) || !read_condition(n->kid[1], f) || !read_step(n->kid[2], f))
        return false;
    if (f->unequal) { /* only reached exactly: one step at a time */
        f->down = f->step == -1;
        return f->step == 1 || f->step == -1;
    }
    if (f->by) {
        return f->minus == f->down;
    }
    return (f->step < 0) == f->down;
}

/* -- whether a bound stands still
 * ------------------------------------------------------------------- */
/* Memory is known to stand still only where the kernel promised not to write it. */
static bool
is_constant_memory(const node *n)
{
    while (n->kind == E_SUBSCRIPT || n->kind == E_DEREF || n->kind == E_DECAY ||
           n->kind == E_MEMBER)
        n = n->kid[0];
    if (n->kind != E_REF)
        return false;
    if (n->type->kind == TYPE_POINTER)
        return n->decl->pointer && n->decl->pointer->fixed && n->decl->pointer->at.object->constant;
    return n->decl->object && n->decl->object->constant;
}

typedef struct standing {
    gen *g;
    const node *body;
    const census *body_census; /* made when it is asked for */
} standing;

static bool stands_still(standing *s, const node *n);

/* A field that the body does not assign to, whatever pointer leads to it. */
static bool
field_stands_still(standing *s, const node *n)
{
    const record *r = n->kid[0]->type->rec;
    if (!s->g->census || fc_is_addressed(s->g->census, r, (uint32_t)n->bits))
        return false;
    if (!s->body_census)
        s->body_census = fc_census(s->g->arena, s->body);
    return !fc_is_written(s->body_census, r, (uint32_t)n->bits);
}

/* Whether an lvalue always means the same storage. */
static bool
place_stands_still(standing *s, const node *n)
{
    switch (n->kind) {
    case E_REF:
        return true;
    case E_MEMBER:
    case E_DECAY:
        return place_stands_still(s, n->kid[0]);
    case E_DEREF:
        return stands_still(s, n->kid[0]);
    case E_SUBSCRIPT:
        return stands_still(s, n->kid[0]) && stands_still(s, n->kid[1]);
    default:
        return false;
    }
}

static bool
stands_still(standing *s, const node *n)
{
    switch (n->kind) {
    case E_INT:
    case E_FLOAT:
        return true;
    case E_UNARY:
    case E_PLUS:
    case E_LNOT:
    case E_CAST:
        return stands_still(s, n->kid[0]);
    case E_BINARY:
    case E_AND:
    case E_OR:
        return stands_still(s, n->kid[0]) && stands_still(s, n->kid[1]);
    case E_DECAY:
        return place_stands_still(s, n->kid[0]);
    case E_REF:
        return n->decl->lasting || !fc_tree_writes(s->body, n->decl);
    case E_SUBSCRIPT:
    case E_DEREF:
        return is_constant_memory(n) && place_stands_still(s, n);
    case E_MEMBER: {
        const decl *root = fc_lvalue_root(n);
        bool unwritten = root && n->type->kind == TYPE_SCALAR && (root->lasting || !fc_tree_writes(s->body, root));
        return (unwritten || is_constant_memory(n) || field_stands_still(s, n)) && place_stands_still(s, n);
    }
    default:
        return false;
    }
}

static bool
count_is_known(gen *g, const node *n, const loop_form *f)
{
    if (f->unequal || f->by || fc_tree_writes(n->kid[3], f->counter))
        return false;
    /* hi's neighbour must not wrap: `i >= 0` of an unsigned counter never ends */
    if (f->down && f->inclusive && !fc_is_signed_dtype(f->compare))
        return false;
    if (fc_body_breaks(n->kid[3]) || fc_tree_returns(n->kid[3]))
        return false;
    standing s = {.g = g, .body = n->kid[3]};
    return !fc_tree_mentions(f->hi, f->counter) && stands_still(&s, f->hi);
}

/* -- bounds
 * ---------------------------------------------------------------------------------------- */
void
fc_loop_bounds(gen *g, const loop_form *f, rg_value *lo, rg_value *hi)
{
    *lo = fc_convert(g, f->compare, fc_convert(g, f->counter->type->dtype, fc_scalar(g, f->lo)));
    *hi = fc_convert(g, f->compare, fc_scalar(g, f->hi));
    if (f->inclusive)
        *hi =
            rg_build_2(g->b, f->down ? RG_OP_SUB : RG_OP_ADD, *hi, fc_int_value(g, f->compare, 1));
}

/* Iterations, of the type of the bounds; by: the step's size. Not positive if there are none. */
rg_value
fc_loop_count(gen *g, const loop_form *f, rg_value lo, rg_value hi, rg_value by)
{
    rg_value span =
        f->down ? rg_build_2(g->b, RG_OP_SUB, lo, hi) : rg_build_2(g->b, RG_OP_SUB, hi, lo);
    rg_value up = rg_build_2(g->b, RG_OP_SUB, by, fc_int_value(g, f->compare, 1));
    rg_value count = rg_build_2(g->b, RG_OP_DIV, rg_build_2(g->b, RG_OP_ADD, span, up), by);
    if (fc_is_signed_dtype(f->compare))
        return count;
    /* an unsigned span below 0 has wrapped */
    rg_value any = rg_build_2(g->b, f->down ? RG_OP_GT : RG_OP_LT, lo, hi);
    return rg_build_3(g->b, RG_OP_SELECT, any, count, fc_int_value(g, f->compare, 0));
}

/* What the counter holds after the loop. */
static rg_value
final_counter(gen *g, const loop_form *f, rg_value lo, rg_value hi)
{
    int64_t size = f->step < 0 ? -f->step : f->step;
    if (size == 1)
        return rg_build_2(g->b, f->down ? RG_OP_MIN : RG_OP_MAX, lo, hi);
    rg_value by = fc_int_value(g, f->compare, size);
    rg_value count = rg_build_2(g->b, RG_OP_MAX, fc_loop_count(g, f, lo, hi, by),
                                fc_int_value(g, f->compare, 0));
    rg_value way = rg_build_2(g->b, RG_OP_MUL, count, by);
    return rg_build_2(g->b, f->down ? RG_OP_SUB : RG_OP_ADD, lo, way);
}

void
fc_name_index(gen *g, rg_value index, const decl *counter)
{
    index->name = arena_str(g->module->arena, rg_str_of(counter->name));
}

void
fc_bind_counter(gen *g, decl *d, rg_value v)
{
    d->object =
        fc_object_of_value(g, d->name, fc_scalar_value(d->type, fc_convert(g, d->type->dtype, v)));
}

/* -- generating
 * ------------------------------------------------------------------------------------ */
typedef struct saved_jumps {
    rg_label on_break, on_continue;
} saved_jumps;

static saved_jumps
enter_loop(gen *g, rg_label loop)
{
    saved_jumps s = {g->on_break, g->on_continue};
    g->on_break = loop;
    return s;
}

static void
leave_loop(gen *g, saved_jumps s)
{
    g->on_break = s.on_break;
    g->on_continue = s.on_continue;
}

/* The body, in a block of its own if it has a continue. */
void
fc_loop_body(gen *g, const node *body)
{
    bool block = fc_body_continues(body);
    if (block)
        g->on_continue = rg_build_block(g->b);
    fc_stmt(g, body);
    if (block)
        rg_build_end(g->b);
}

static void
counted_loop(gen *g, const node *n, const loop_form *f)
{
    rg_value lo, hi, index;
    fc_loop_bounds(g, f, &lo, &hi);
    fc_at_node(g, n);
    object *before = f->counter->object;
    saved_jumps s = enter_loop(g, 0);
    if (!fc_unroll(g, f, lo, hi)) {
        g->on_break = rg_build_for(g->b, lo, hi, f->step, &index);
        index->region->op->closed = f->inclusive; /* with the greatest number as its last it would not end */
        fc_name_index(g, index, f->counter);
        fc_bind_counter(g, f->counter, index);
        fc_loop_body(g, f->body);
        rg_build_end(g->b);
    }
    leave_loop(g, s);
    f->counter->object = before;
    if (!f->own && before) {
        place to = fc_place_of(before);
        rg_value last = final_counter(g, f, lo, hi);
        fc_store_scalar(g, &to, fc_convert(g, f->counter->type->dtype, last), n->kid[0]);
    }
}

void
fc_loop_for(gen *g, const node *n)
{
    loop_form f;
    if (fc_loop_form_read(n, &f) && count_is_known(g, n, &f)) {
        counted_loop(g, n, &f);
        return;
    }
    fc_stmt(g, n->kid[0]);
    fc_at_node(g, n);
    rg_label loop = rg_build_loop(g->b);
    saved_jumps s = enter_loop(g, loop);
    if (n->kid[1])
        rg_build_leave_if(g->b, fc_condition(g, n->kid[1], true), loop);
    fc_loop_body(g, n->kid[3]);
    if (n->kid[2])
        fc_effect(g, n->kid[2]);
    rg_build_end(g->b);
    leave_loop(g, s);
}

/* the condition before the body, or behind it */
void
fc_loop_while(gen *g, const node *n)
{
    fc_at_node(g, n);
    rg_label loop = rg_build_loop(g->b);
    saved_jumps s = enter_loop(g, loop);
    if (n->kind == S_DO)
        fc_loop_body(g, n->kid[1]);
    rg_build_leave_if(g->b, fc_condition(g, n->kid[0], true), loop);
    if (n->kind == S_WHILE)
        fc_loop_body(g, n->kid[1]);
    rg_build_end(g->b);
    leave_loop(g, s);
}

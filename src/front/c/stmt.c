/* Statements and local variables. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/gen.h"

/* -- variables
 * ------------------------------------------------------------------------------------- */
bool
fc_has_open_length(const ctype *t)
{
    for (; t->kind == TYPE_ARRAY; t = t->elem) {
        if (t->length < 0)
            return true;
    }
    return false;
}

static void
declare_object(gen *g, decl *d)
{
    bool shared = !g->in_thread && d->temp;
    d->object = shared ? d->temp : fc_object_local(g, d->name, d->type);
    d->object->team = g->regions > 0;
    if (d->init)
        fc_init_object(g, d->object, d->init);
}

/* An array whose size the run knows is a buffer, or a thread's part of one, made when the kernel began. */
static void
declare_sized(gen *g, decl *d)
{
    d->object = fc_sized_object(g, d);
    d->refused = !d->object;
    if (d->object)
        d->object->team = g->regions > 0;
    else
        fc_fail(g, fc_sized_error(g, d, ERR_VLA_SIZE), d->place, d->name);
}

void
fc_declare(gen *g, decl *d)
{
    front_error error;
    const ctype *t = d->type;
    rg_build_at(g->b, d->place);
    g->at = d->place;
    const char *problem = fc_variable_problem(t, &error);
    d->refused = problem != NULL;
    d->numbered = fc_has_number(g, d->init);
    if (problem) {
        fc_fail(g, error, d->place, problem);
        return;
    }
    if (d->lasting)
        return; /* made when the kernel began */
    if (t->kind == TYPE_POINTER)
        fc_pointer_declare(g, d, d->init, NULL);
    else if (fc_has_open_length(t))
        declare_sized(g, d);
    else
        declare_object(g, d);
}

/* -- return
 * ---------------------------------------------------------------------------------------- */
static void
return_pointer(gen *g, const node *n)
{
    frame *f = g->frame;
    place to = fc_pointer(g, n->kid[0]), whole = f->result ? fc_place_of(f->result) : (place){0};
    fc_at_node(g, n);
    if (f->result)
        fc_slot_assign(g, &whole, &to, n, true);
    f->pointer = to;
    f->pointer_set = true;
}

static void
return_stmt(gen *g, const node *n)
{
    frame *f = g->frame;
    if (f->in_thread) {
        fc_fail(g, ERR_BREAK_PARALLEL, n->place, "return");
        return;
    }
    if (f->fn->type->kind == TYPE_POINTER && n->kid[0] && f->outer) {
        return_pointer(g, n);
    } else if (n->kid[0] && f->result) {
        value v = fc_expr(g, n->kid[0]);
        place to = fc_place_of(f->result);
        fc_at_node(g, n);
        fc_store(g, &to, &v, n);
    } else if (n->kid[0]) {
        fc_effect(g, n->kid[0]);
    }
    if (f->exit)
        rg_build_leave(g->b, f->exit);
}

/* -- the rest
 * -------------------------------------------------------------------------------------- */
static bool
always_jumps(const node *n)
{
    while (n->kind == S_BLOCK && n->count)
        n = n->list[n->count - 1];
    return n->kind == S_RETURN || n->kind == S_BREAK || n->kind == S_CONTINUE;
}

/* Up to what is never reached, which may use a pointer that is null here. */
static void
block_stmt(gen *g, const node *n)
{
    g->dead = false;
    for (uint32_t i = 0; i < n->count && !g->dead; i++)
        fc_stmt(g, n->list[i]);
}

/* A branch that is known to be dead is not generated: it may use a pointer that is null here. */
static void
if_stmt(gen *g, const node *n)
{
    rg_value c = fc_condition(g, n->kid[0], false);
    uint64_t known;
    fc_at_node(g, n);
    if (rg_value_is_const(c, &known)) {
        const node *taken = n->kid[known ? 1 : 2];
        fc_stmt(g, taken);
        g->dead = taken && always_jumps(taken);
        return;
    }
    rg_build_if(g->b, c);
    fc_stmt(g, n->kid[1]);
    if (n->kid[2]) {
        rg_build_else(g->b);
        fc_stmt(g, n->kid[2]);
    }
    rg_build_end(g->b);
    g->dead = false;
}

static void
jump(gen *g, const node *n, rg_label label)
{
    fc_at_node(g, n);
    if (label)
        rg_build_leave(g->b, label);
    else
        fc_fail(g, ERR_BREAK_PARALLEL, n->place, n->kind == S_BREAK ? "break" : "continue");
}

void
fc_stmt(gen *g, const node *n)
{
    if (!n)
        return;
    switch (n->kind) {
    case S_BAD:
        fc_fail(g, (front_error)n->bits, n->place, n->text ? n->text : "");
        break;
    case S_BLOCK:
        block_stmt(g, n);
        break;
    case S_DECL:
        for (uint32_t i = 0; i < n->count; i++)
            fc_declare(g, n->list[i]->decl);
        break;
    case S_IF:
        if (!fc_array_update(g, n))
            if_stmt(g, n);
        break;
    case S_FOR:
        fc_loop_for(g, n);
        break;
    case S_WHILE:
    case S_DO:
        fc_loop_while(g, n);
        break;
    case S_SWITCH:
        fc_switch_stmt(g, n);
        break;
    case S_CASE:
    case S_DEFAULT:
        fc_fail(g, ERR_CASE_PLACE, n->place);
        break;
    case S_BREAK:
        jump(g, n, g->on_break);
        break;
    case S_CONTINUE:
        jump(g, n, g->on_continue);
        break;
    case S_RETURN:
        return_stmt(g, n);
        break;
    case S_NULL:
        break;
    case S_OMP:
        fc_omp_stmt(g, n);
        break;
    default:
        if (!fc_array_update(g, n))
            fc_effect(g, n);
        break;
    }
    if (n->kind != S_BLOCK && n->kind != S_IF)
        g->dead = false;
}

/* Which writes may follow a read. SPDX-License-Identifier: Apache-2.0 */
#include "analysis/writes.h"

#include "analysis/access.h"

/* So many writes of one buffer are looked at; of more, any may follow. */
enum { MOST_WRITES = 64 };

typedef struct write_list {
    uint32_t n;
    const ir_op *at[MOST_WRITES];
} write_list;

struct ir_writes {
    uint32_t n;
    write_list **of;     /* by id of the root */
    write_list unknown;  /* of buffers that cannot be told */
    map *still;          /* load -> (void *)STILL or MOVES, once it has been asked for */
};

enum { STILL = 1, MOVES };

typedef struct noting {
    ir_writes *w;
    const ir_op *op;
} noting;

static void
note_root_write(ir_value *root, void *user)
{
    noting *n = user;
    write_list *list = ir_root_known(root) ? n->w->of[root->id] : &n->w->unknown;
    if (!list)
        list = n->w->of[root->id] = arena_one(root->region->fn->module->arena, write_list);
    if (list->n < MOST_WRITES)
        list->at[list->n] = n->op;
    list->n++;
}

static void
note_reached_write(ir_value *buffer, unsigned plane, unsigned does, void *user)
{
    if (does & IR_CHANGES)
        ir_buffer_roots(buffer, note_root_write, user);
}

static bool
note_writes(ir_op *op, void *user)
{
    noting n = {user, op};
    ir_each_reached(op, note_reached_write, &n);
    return true;
}

const ir_writes *
ir_writes_find(ir_fn *fn)
{
    arena *a = fn->module->arena;
    ir_writes *w = arena_one(a, ir_writes);
    *w = (ir_writes){.n = fn->next_id, .of = arena_new_n(a, write_list *, fn->next_id + 1), .still = arena_one(a, map)};
    w->still->in = a;
    ir_walk(fn->body, note_writes, w);
    return w;
}

/* Whether a is over when b begins, each time: in the region where their ways part, outside of loops. */
static bool
is_over_before(const ir_op *a, const ir_op *b)
{
    const ir_region *r = ir_common_region(a->parent, b->parent);
    for (const ir_region *around = r; around && around->op; around = around->op->parent)
        if (around->op->code != RG_OP_IF)
            return false;
    const ir_op *first = ir_ancestor_in((ir_op *)a, r);
    for (const ir_op *op = ir_ancestor_in((ir_op *)b, r)->prev; op; op = op->prev)
        if (op == first)
            return true;
    return false;
}

typedef struct standing {
    const ir_writes *w;
    const ir_op *load;
    bool still;
} standing;

static bool
comes_too_early(const ir_op *write, const ir_op *load)
{
    bool elements = load->code == RG_OP_LOAD && ir_is_access(write) && write->args[0]->type.kind == IR_BUFFER;
    return write->plane != load->plane || is_over_before(write, load) || (elements && !access_reaches_after(load, write, NULL));
}

static void
check_write_list(standing *s, const write_list *list)
{
    for (uint32_t i = 0; list && i < list->n && s->still; i++)
        s->still = list->n <= MOST_WRITES && comes_too_early(list->at[i], s->load);
}

static void
root_stands(ir_value *root, void *user)
{
    standing *s = user;
    s->still &= ir_root_known(root);
    check_write_list(s, &s->w->unknown);
    check_write_list(s, root->id < s->w->n ? s->w->of[root->id] : NULL);
}

bool
ir_stands_still(const ir_writes *w, const ir_op *load)
{
    uintptr_t known = (uintptr_t)map_get(w->still, map_ptr(load));
    if (known)
        return known == STILL;
    standing s = {w, load, !(load->plane & RG_ADJOINT)};
    ir_buffer_roots(load->args[0], root_stands, &s);
    map_set(w->still, map_ptr(load), (void *)(uintptr_t)(s.still ? STILL : MOVES));
    return s.still;
}

bool
ir_leaves_alone(ir_footprints *f, const ir_op *op, const ir_value *array)
{
    return !(ir_effects_on(ir_footprint(f, op), array, RG_PRIMAL) & IR_CHANGES);
}

/* Whether the ops of a region from `from` up to `to` (excluded) leave it alone. */
static bool
left_alone_between(ir_footprints *f, const ir_op *from, const ir_op *to, const ir_value *array)
{
    for (const ir_op *op = from; op != to; op = op->next)
        if (!ir_leaves_alone(f, op, array))
            return false;
    return true;
}

bool
ir_left_alone_before(ir_footprints *f, const ir_op *task, const ir_op *reader, const ir_value *array)
{
    for (const ir_op *at = reader; at != task; at = at->parent->op) {
        if (!left_alone_between(f, at->parent->first, at, array))
            return false;
        const ir_op *around = at->parent->op;
        if (around != task && around->code != RG_OP_IF && !ir_leaves_alone(f, around, array))
            return false; /* in its next iteration */
    }
    return true;
}

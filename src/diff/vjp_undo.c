/* Local arrays walk back with the reverse sweep. SPDX-License-Identifier: Apache-2.0
 *
 *   %a1 = insert %a, %i, %x        reverse:  %s = insert %s, %i, recall %old      (%old = extract %a, %i)
 *   %v = extract %a1, %j           where %v is wanted: extract %s, %j
 *
 * %s, the undone array, begins as the array is when its thread ends, or the iteration that declares it: then it is recorded once for
 * each. Undoing an insert puts back what it replaced, so that %s is what the array was wherever the reverse stands, and what was read from
 * the array can be read again instead of being recorded: so can %x itself, before it is undone. That is done where a thread's sweep and its
 * reverse are one, for arrays that are read in deeper loops than written. */
#include "ir/edges.h"
#include "analysis/integers.h"
#include "diff/vjp.h"

struct vjp_undo {
    ir_value **root; /* by id: the `array` op's result that a local array goes back to */
    bool *unfit;     /* by id of a root: more than one way leads to it */
    bool *foreign;   /* by id: on some way it goes back to no root, but to a copy */
    uint64_t *reads, *writes; /* by id of a root: as often as loops around them suggest */
    rg_var *undone;  /* by id of a root; NULL: none */
    map olds;        /* copy of an insert -> what it replaced */
    bool *once;      /* by id of a root: no element is written twice, so that it was 0 before */
    bool *still;     /* nor read before it is written: nothing has to be undone */
    map inserts;     /* number -> the last op that inserts it */
    map inserted;    /* number -> what stood in the undone array when its insert was undone */
};

typedef struct vjp_undo undo_log;

/* -- what each array value goes back to ----------------------------------------------------------------------- */
static ir_value *
root_of(const undo_log *s, const ir_value *v)
{
    return v->type.kind == IR_ARRAY ? s->root[v->id] : NULL;
}

const ir_value *
vjp_root_of(const vjp *v, const ir_value *array)
{
    return root_of(v->undo, array);
}

static void
spoil(undo_log *s, const ir_value *v)
{
    const ir_value *root = root_of(s, v);
    if (root)
        s->unfit[root->id] = true;
}

/* result is what `v` was, on one of the ways */
static void
join_roots(undo_log *s, ir_value *result, const ir_value *v)
{
    if (result->type.kind != IR_ARRAY)
        return;
    ir_value *root = root_of(s, v);
    if (!s->root[result->id])
        s->root[result->id] = root;
    s->foreign[result->id] |= !root;
    if (s->foreign[result->id] || s->root[result->id] != root) {
        spoil(s, v);
        spoil(s, result);
    }
}

static uint64_t
weight_of(const ir_op *op, const ir_value *root)
{
    enum { OFTEN = 16 /* if nobody knows */ };
    uint64_t weight = 1;
    for (const ir_region *r = op->parent; r && r != root->region && r->op; r = r->op->parent)
        if (ir_is_loop(r->op) && weight < (uint64_t)1 << 40) {
            uint64_t most = ir_most_iterations(r->op);
            weight *= most > OFTEN ? OFTEN : most ? most : 1;
        }
    return weight;
}

static void find_roots(undo_log *s, const ir_region *r);

/* what control hands on: inits before what is inside is looked at */
static void
roots_of_control(undo_log *s, const ir_op *op)
{
    for (ir_edge e = {0}; ir_next_edge(op, &e);)
        if (e.from.by == op)
            join_roots(s, e.to, e.from.value);
    for (uint32_t i = 0; i < op->nregions; i++)
        find_roots(s, op->regions[i]);
    for (ir_edge e = {0}; ir_next_edge(op, &e);)
        join_roots(s, e.to, e.from.value);
}

static void
roots_of_op(undo_log *s, const ir_op *op)
{
    const ir_value *root = op->nargs ? root_of(s, op->args[0]) : NULL;
    switch ((rg_op)op->code) {
    case RG_OP_ARRAY:
    case RG_OP_COPY: /* (of which it is a copy is only read) */
        s->root[op->results[0]->id] = op->results[0];
        return;
    case RG_OP_INSERT:
        join_roots(s, op->results[0], op->args[0]);
        if (root)
            s->writes[root->id] += weight_of(op, root);
        map_set(&s->inserts, map_ptr(op->args[2]), (void *)(uintptr_t)op);
        return;
    case RG_OP_EXTRACT:
        if (root)
            s->reads[root->id] += weight_of(op, root);
        return;
    case RG_OP_IF:
    case RG_OP_FOR:
    case RG_OP_LOOP:
        roots_of_control(s, op);
        return;
    case RG_OP_YIELD:
    case RG_OP_EXIT_IF:
        return;
    default:
        break;
    }
    for (uint32_t i = 0; i < op->nargs; i++)
        spoil(s, op->args[i]);
    for (uint32_t i = 0; i < op->nregions; i++)
        find_roots(s, op->regions[i]);
}

static void
find_roots(undo_log *s, const ir_region *r)
{
    ir_for_ops(op, r) roots_of_op(s, op);
}

/* no derivative stands in the kernel itself, which walks back already */
static bool
has_no_derivative(ir_op *op, void *user)
{
    (void)user;
    return op->code != RG_OP_UNWIND && op->code != RG_OP_RECALL && op->code != RG_OP_CALL;
}

void
vjp_find_undone(vjp *v)
{
    arena *a = v->c->scratch;
    uint32_t n = v->from->next_id + 1;
    undo_log *s = v->undo = arena_one(a, undo_log);
    s->olds.in = s->inserts.in = s->inserted.in = a;
    s->root = arena_new_n(a, ir_value *, n);
    s->unfit = arena_new_n(a, bool, n);
    s->foreign = arena_new_n(a, bool, n);
    s->reads = arena_new_n(a, uint64_t, n);
    s->writes = arena_new_n(a, uint64_t, n);
    s->undone = arena_new_n(a, rg_var, n);
    s->once = arena_new_n(a, bool, n);
    s->still = arena_new_n(a, bool, n);
    if (ir_walk(v->from->body, has_no_derivative, NULL))
        find_roots(s, v->from->body);
}

/* -- opening, undoing, reading ---------------------------------------------------------------------------------- */
static bool
is_saving_worth_it(const undo_log *s, const ir_value *root)
{
    enum { OFTENER = 4, OFTENER_THAN_ONCE = 2 };
    uint64_t reads = s->reads[root->id], recorded = (root->region->op && ir_is_loop(root->region->op)) ? root->type.length : 0;
    return s->root[root->id] && !s->unfit[root->id] && reads && reads >= OFTENER * s->writes[root->id] &&
           reads >= OFTENER_THAN_ONCE * recorded;
}

/* the array as it is at the region's end */
static ir_value *
last_version(const undo_log *s, const ir_region *r, const ir_value *root)
{
    ir_value *last = NULL;
    ir_for_ops(op, r)
        for (uint32_t k = 0; k < op->nresults; k++)
            if (root_of(s, op->results[k]) == root)
                last = op->results[k];
    return last;
}

typedef struct consumed_query {
    const ir_value *array;
    bool consumed;
} consumed_query;

static bool
find_consumption(ir_op *op, void *user)
{
    consumed_query *q = user;
    if (op->code == RG_OP_EXTRACT || op->code == RG_OP_COPY)
        return true;
    for (uint32_t k = 0; k < op->nargs; k++)
        q->consumed |= op->args[k] == q->array;
    return true;
}

/* Whether a loop or branch takes the array and, since nobody asks for it, does not give it back: what it is when
 * the thread ends is not known then. */
static bool
is_lost(const ir_region *thread, const ir_value *last)
{
    consumed_query q = {last, false};
    ir_walk((ir_region *)(uintptr_t)thread, find_consumption, &q);
    return q.consumed;
}

void
vjp_close_undone(vjp *v, const ir_region *r)
{
    ir_for_ops(op, r) for (uint32_t k = 0; v->undo && k < op->nresults; k++)
        v->undo->undone[op->results[k]->id] = NULL;
}

void
vjp_open_undone(vjp *v, const ir_region *thread)
{
    undo_log *s = v->undo;
    vjp_find_once(v, thread, s->once, s->still);
    ir_for_ops(op, thread)
    {
        const ir_value *root = op->code == RG_OP_ARRAY || op->code == RG_OP_COPY ? op->results[0] : NULL;
        if (!root || !is_saving_worth_it(s, root) || is_lost(thread, last_version(s, thread, root)))
            continue;
        rg_type type = {(rg_dtype)root->type.dtype, root->type.length};
        rg_var var = s->undone[root->id] = rg_build_var(v->b, (rg_str){0}, type);
        rg_build_set(v->b, var, vjp_primal(v, last_version(s, thread, root)));
    }
}

static rg_var
undone_of(const vjp *v, const ir_value *array)
{
    const ir_value *root = v->undo ? root_of(v->undo, array) : NULL;
    return root ? v->undo->undone[root->id] : NULL;
}

static bool
is_still(const vjp *v, const ir_value *array)
{
    return v->undo->still[root_of(v->undo, array)->id];
}

typedef struct insert_query {
    const vjp *v;
    rg_var var; /* NULL: any */
} insert_query;

static bool
inserts_nothing(ir_op *op, void *user)
{
    const insert_query *q = user;
    rg_var var = op->code == RG_OP_INSERT ? undone_of(q->v, op->args[0]) : NULL;
    return !var || (q->var && q->var != var) || is_still(q->v, op->args[0]);
}

static bool
inserts(const vjp *v, const ir_op *op, rg_var var)
{
    insert_query q = {v, var};
    if (!inserts_nothing((ir_op *)(uintptr_t)op, &q))
        return true;
    for (uint32_t i = 0; i < op->nregions; i++)
        if (!ir_walk(op->regions[i], inserts_nothing, &q))
            return true;
    return false;
}

bool
vjp_moves_undone(const vjp *v, const ir_op *op)
{
    return inserts(v, op, NULL);
}

/* what the insert replaced */
static ir_value *
old_of(vjp *v, const ir_op *op)
{
    if (v->undo->once[root_of(v->undo, op->args[0])->id])
        return NULL;
    ir_op *copy = map_get(&v->instance_ops, map_ptr(op));
    ir_value *old = map_get(&v->undo->olds, map_ptr(copy));
    if (!old) {
        ir_op *extract = ir_op_new(v->fn, RG_OP_EXTRACT, 2, 0, op->loc);
        ir_op_arg(extract, v->fn, copy->args[0]);
        ir_op_arg(extract, v->fn, copy->args[1]);
        ir_insert_before(copy, extract);
        old = ir_op_result(extract, v->fn, op->args[2]->type, NULL);
        map_set(&v->undo->olds, map_ptr(copy), old);
    }
    return old;
}

/* value is what was found in the undone array; so is what the arm of an if that ran gave for it */
static void
note_inserted(vjp *v, const ir_value *value, ir_value *found)
{
    map_set(&v->undo->inserted, map_ptr(value), found);
    for (uint32_t i = 0; value->def && value->def->code == RG_OP_IF && i < 2; i++) {
        const ir_region *arm = value->def->regions[i];
        const ir_value *given = ir_terminator(arm)->args[value->index];
        if (given->region == arm) /* else it may be wanted where the other arm ran */
            note_inserted(v, given, found);
    }
}

void
vjp_forget_inserted(vjp *v, const ir_region *r)
{
    ir_for_ops(op, r) if (v->undo && op->code == RG_OP_INSERT)
        map_set(&v->undo->inserted, map_ptr(op->args[2]), NULL);
}

void
vjp_undo_insert(vjp *v, const ir_op *op)
{
    rg_var var = undone_of(v, op->args[0]);
    if (!var)
        return;
    const ir_op *now = v->now;
    v->now = NULL; /* the index as it was recorded: %s is still behind the insert */
    ir_value *index = vjp_primal(v, op->args[1]);
    v->now = now;
    note_inserted(v, op->args[2], rg_build_extract(v->b, rg_build_get(v->b, var), index));
    if (is_still(v, op->args[0]))
        return;
    ir_value *old = old_of(v, op);
    ir_emit e = vjp_at(v, op);
    old = old ? vjp_recalled(v, old) : ir_emit_const(&e, (rg_dtype)op->args[2]->type.dtype, 0);
    rg_build_set(v->b, var, rg_build_insert(v->b, rg_build_get(v->b, var), index, old));
}

/* Whether the array is, where `user` is reversed, as it was where `extract` read it (or an insert left it). */
static bool
is_unchanged(const vjp *v, const ir_op *extract, const ir_op *user, rg_var var)
{
    enum { LOOK = 64 };
    if (extract->code == RG_OP_EXTRACT && is_still(v, extract->args[0]))
        return true; /* (an insert has to be one that ran) */
    const ir_op *at = ir_ancestor_in((ir_op *)(uintptr_t)user, extract->parent), *op = extract->next;
    for (int n = 0; op && op != at && n < LOOK; op = op->next, n++)
        if (inserts(v, op, var))
            return false;
    if (!at || op != at)
        return false;
    return (at == user && at->code == RG_OP_INSERT) || !inserts(v, at, var);
}

/* A number that was inserted stands in the undone array until the insert has been undone. */
static ir_value *
read_inserted(vjp *v, const ir_value *value)
{
    const ir_op *insert = map_get(&v->undo->inserts, map_ptr(value));
    ir_value *found = map_get(&v->undo->inserted, map_ptr(value));
    if (found && ir_region_inside(ir_build_region(v->b), found->region))
        return found;
    rg_var var = insert ? undone_of(v, insert->args[0]) : NULL;
    if (!var || !is_unchanged(v, insert, v->now, var))
        return NULL;
    return rg_build_extract(v->b, rg_build_get(v->b, var), vjp_primal(v, insert->args[1]));
}

ir_value *
vjp_read_undone(vjp *v, const ir_value *value)
{
    if (!v->now || !v->undo || ir_is_const(value, NULL) || value->type.kind != IR_SCALAR ||
        ir_region_inside(ir_build_region(v->b), v->instance[value->id]->region))
        return NULL;
    ir_value *inserted = read_inserted(v, value);
    const ir_op *extract = value->def;
    if (inserted)
        return inserted;
    if (extract && extract->code == RG_OP_NEG) { /* as a product has it that is subtracted */
        ir_value *read = vjp_read_undone(v, extract->args[0]);
        return read ? rg_build_1(v->b, RG_OP_NEG, read) : NULL;
    }
    if (!extract || extract->code != RG_OP_EXTRACT)
        return NULL;
    rg_var var = undone_of(v, extract->args[0]);
    if (!var || !is_unchanged(v, extract, v->now, var))
        return NULL;
    return rg_build_extract(v->b, rg_build_get(v->b, var), vjp_primal(v, extract->args[1]));
}

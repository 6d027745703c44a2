/* Split launches read what they need where it stands after the forward launch. This refuses those whose
 * needed values do not stand still. SPDX-License-Identifier: Apache-2.0
 *
 * A needed load L of element e is right if no write W reaches e after L. Let C be the innermost region
 * around both. In one and the same iteration of the loops around C, W comes after L only if it stands
 * after it in C; then some subscript must differ by a constant. In a later iteration of a loop around C
 * (in any other thread, if it is parallel) some subscript must have moved on for good. */
#include "ad/vjp.h"
#include "ir/induction.h"

typedef struct split {
    const ir_fn *from;
    diag_list *diags;
    const ir_op *load;
    const ir_value *root;
    const ir_region *own_task; /* only writes in here matter: the load runs again right after this task */
    bool combined, refused;
    vec(ir_op *) writes; /* to buffers, in plane 0 */
    map places;          /* op -> its number in the kernel's order */
    uintptr_t ops;
} split;

/* -- when a write can reach the element ------------------------------------------------------------------------ */
typedef struct pair {
    const ir_op *load, *write;
    uint32_t axes;
    ir_affine difference[RG_MAX_RANK]; /* subscript of the write minus subscript of the load */
    ir_affine at[RG_MAX_RANK];         /* subscript of the load */
} pair;

static bool
never_equal_in_one_iteration(const pair *p)
{
    for (uint32_t k = 0; k < p->axes; k++)
        if (p->difference[k].known && p->difference[k].n == 0 && p->difference[k].constant)
            return true;
    return false;
}

static bool
invariant_in(const ir_affine *a, const ir_op *loop, const ir_value *but)
{
    for (unsigned i = 0; i < a->n; i++)
        if (a->term[i].symbol != but && ir_region_inside(a->term[i].symbol->region, loop->regions[0]))
            return false;
    return true;
}

static int64_t
coefficient_of(const ir_affine *a, const ir_value *symbol)
{
    for (unsigned i = 0; i < a->n; i++)
        if (a->term[i].symbol == symbol)
            return a->term[i].coefficient;
    return 0;
}

/* whether axis k keeps the write of a later iteration (another thread) away from the element */
static bool
moves_on(const pair *p, uint32_t k, const ir_op *loop, const ir_value *induction)
{
    ir_value *start;
    uint64_t step;
    int64_t c = coefficient_of(&p->at[k], induction);
    if (!c || !p->at[k].known || !p->difference[k].known || p->difference[k].n ||
        !ir_is_induction(loop, induction, &start, &step) || !step ||
        !invariant_in(&p->at[k], loop, induction))
        return false;
    if (loop->code == RG_OP_PARALLEL)
        return p->difference[k].constant == 0;
    const int64_t big = INT64_C(1) << 31;
    int64_t pace = (int64_t)step, apart = p->difference[k].constant;
    if (pace > big || pace < -big || c > big || c < -big || apart > big * big / 4 || apart < -big * big / 4)
        return false; /* near where sums wrap nothing is known */
    pace *= c;
    return pace > 0 ? apart + pace > 0 : apart + pace < 0;
}

static bool
never_equal_later(const pair *p, const ir_op *loop)
{
    uint32_t kept = 0, wanted = loop->code == RG_OP_PARALLEL ? loop->attr.rank : 1;
    for (uint32_t i = 0; i < loop->regions[0]->nparams; i++)
        for (uint32_t k = 0; k < p->axes; k++)
            if (moves_on(p, k, loop, loop->regions[0]->params[i])) {
                kept++;
                break;
            }
    return kept >= wanted;
}

static bool
stands_before(const ir_op *a, const ir_op *b, const map *places)
{
    if (places)
        return (uintptr_t)map_get(places, map_ptr(a)) < (uintptr_t)map_get(places, map_ptr(b));
    for (const ir_op *op = b->prev; op; op = op->prev)
        if (op == a)
            return true;
    return false;
}

/* -- whether subscripts stay in their rows ------------------------------------------------------------------------
 * C walks rows of an array through pointers: [0][m + j] is [1][j]. Subscripts of one axis prove something
 * only if those behind it stay inside their extents, or differ by a constant. */

/* a - b as a constant; false: not known to be one */
static bool
constant_difference(ir_affine a, ir_affine b, int64_t *difference)
{
    ir_affine d = ir_affine_minus(a, b);
    *difference = d.constant;
    return d.known && d.n == 0;
}

/* index + offset, `index` counted from a constant up (or down) to something that the extent covers */
static bool
counted_in_range(const ir_value *index, int64_t offset, ir_affine extent)
{
    const ir_op *loop = index->def ? NULL : index->region->op;
    bool parallel = loop && loop->code == RG_OP_PARALLEL;
    if (!parallel && !(loop && loop->code == RG_OP_FOR && index->index == 0))
        return false;
    const ir_value *lo = loop->args[parallel ? index->index : 0];
    const ir_value *hi = loop->args[parallel ? loop->attr.rank + index->index : 1];
    ir_affine first = ir_affine_of(lo), end = ir_affine_of(hi), none = {.known = true};
    if (!parallel && loop->attr.step < 0) { /* hi < index <= lo */
        ir_affine above = first;
        first = end;
        end = above;
        first.constant++;
        end.constant++;
    }
    int64_t from, room;
    return constant_difference(first, none, &from) && from + offset >= 0 &&
           constant_difference(extent, end, &room) && room - offset >= 0;
}

static bool
in_range(const ir_value *buffer, uint32_t axis, const ir_value *subscript)
{
    const ir_value *declared = ir_declared_extent(buffer, axis);
    ir_affine a = ir_affine_of(subscript), extent = declared ? ir_affine_of(declared) : (ir_affine){0};
    if (!a.known || a.n > 1)
        return false;
    if (a.n == 0) /* an array that is accessed has a first element */
        return a.constant == 0 ||
               (a.constant > 0 && extent.known && extent.n == 0 && a.constant < extent.constant);
    return extent.known && a.term[0].coefficient == 1 &&
           counted_in_range(a.term[0].symbol, a.constant, extent);
}

static bool
stays_in_rows(const pair *p)
{
    for (uint32_t k = 1; k < p->axes; k++) {
        if (p->difference[k].known && p->difference[k].n == 0)
            continue;
        if (!in_range(p->load->args[0], k, p->load->args[1 + k]) ||
            !in_range(p->write->args[0], k, p->write->args[1 + k]))
            return false;
    }
    return true;
}

bool
ad_reaches_after(const ir_op *load, const ir_op *write, const map *places)
{
    /* a call may read any element of its arrays */
    pair p = {load, write, load->code == RG_OP_CALL ? 0 : load->args[0]->type.rank, {{0}}, {{0}}};
    for (uint32_t k = 0; k < p.axes; k++) {
        p.at[k] = ir_affine_of(load->args[1 + k]);
        p.difference[k] = ir_affine_minus(ir_affine_of(write->args[1 + k]), p.at[k]);
    }
    if (!stays_in_rows(&p))
        p.axes = 0; /* no subscript proves anything */
    const ir_region *common = load->parent;
    while (!ir_region_inside(write->parent, common))
        common = common->op->parent;
    const ir_op *l = ir_ancestor_in((ir_op *)load, common), *w = ir_ancestor_in((ir_op *)write, common);
    if (l != w && stands_before(l, w, places) && !never_equal_in_one_iteration(&p))
        return true;
    for (const ir_region *r = common; r->op; r = r->op->parent)
        if (r->op->code != RG_OP_IF && !never_equal_later(&p, r->op))
            return true;
    return false;
}

/* -- every needed load against every write ------------------------------------------------------------------------ */
static void
refuse(split *s, const ir_op *write, const char *why)
{
    const ir_module *m = s->from->module;
    diag_add(s->diags, DIAG_ERROR, 530, ir_place(m, s->load->loc),
             "the gradient needs `%s` as it was here after the %s, but %s\n"
             "%swrite to another array",
             s->root->name ? s->root->name : "an array", s->combined ? "task" : "forward launch", why,
             s->combined ? "" : "launch forward and gradient combined (rg_launch_forward_vjp), or ");
    if (write)
        diag_add(s->diags, DIAG_NOTE, 530, ir_place(m, write->loc), "it is overwritten here");
    s->refused = true;
}

typedef struct may_be {
    const ir_value *root;
    bool found;
} may_be;

static void
compare_root(ir_value *root, void *user)
{
    may_be *q = user;
    q->found |= root == q->root;
}

static bool
note_op(ir_op *op, void *user)
{
    split *s = user;
    map_set(&s->places, map_ptr(op), (void *)++s->ops);
    if ((op->code == RG_OP_STORE || op->code == RG_OP_RMW) && !op->plane &&
        op->args[0]->type.kind == IR_BUFFER)
        vec_push(&s->writes, op);
    return true;
}

static bool
is_overwritten_by(split *s, ir_op *op)
{
    may_be q = {s->root, false};
    ir_buffer_roots(op->args[0], compare_root, &q);
    if (!q.found || (s->own_task && !ir_region_inside(op->parent, s->own_task)) ||
        !ad_reaches_after(s->load, op, &s->places))
        return false;
    refuse(s, op, "a later statement overwrites it");
    return true;
}

static void
check_root(ir_value *root, void *user)
{
    split *s = user;
    if (s->refused)
        return;
    s->root = root;
    if (root->def)
        refuse(s, NULL, "it is a buffer of the kernel that is gone when the launch ends");
    else
        for (size_t i = 0; i < s->writes.n && !is_overwritten_by(s, s->writes.at[i]); i++)
            continue;
}

static bool
check_load(ir_op *op, void *user)
{
    split *s = user;
    if (op->code != RG_OP_LOAD || op->plane || op->args[0]->type.kind != IR_BUFFER || !op->attr.data)
        return true;
    const vjp_origin *origin = op->attr.data;
    s->load = origin->op;
    s->root = origin->op->args[0];
    s->own_task = origin->right_after ? vjp_task_of(origin->op)->regions[0] : NULL;
    s->refused = false;
    if (origin->op->code == RG_OP_RMW)
        refuse(s, NULL, "it is the value that an atomic returned");
    else
        ir_buffer_roots(origin->op->args[0], check_root, s);
    return true;
}

/* A function that runs again in the reverse reads its arrays again: so they must stand still behind each call that reads them. */
typedef struct rereading {
    split *s;
    const ir_value *array; /* that a call in the reverse reads */
} rereading;

static bool
check_calls_of(ir_op *op, void *user)
{
    rereading *r = user;
    split *s = r->s;
    for (uint32_t i = 0; op->code == RG_OP_CALL && i < op->nargs && !s->refused; i++) {
        if (op->args[i]->type.kind != IR_BUFFER || !ir_may_be_same(op->args[i], r->array))
            continue;
        s->load = op;
        s->own_task = NULL;
        ir_buffer_roots(op->args[i], check_root, s);
    }
    return !s->refused;
}

/* of the reverse: a parameter of it is the kernel's of the same number */
static void
check_array_read(ir_value *root, void *user)
{
    split *s = user;
    s->refused = false;
    if (!root->def && !root->region->op)
        ir_walk(s->from->body, check_calls_of, &(rereading){s, s->from->body->params[root->index]});
}

static bool
check_call(ir_op *op, void *user)
{
    split *s = user;
    for (uint32_t i = 0; op->code == RG_OP_CALL && op->again && i < op->nargs; i++)
        if (op->args[i]->type.kind == IR_BUFFER)
            ir_buffer_roots(op->args[i], check_array_read, user);
    return !s->refused; /* every call of the kernel that reads those arrays has been looked at */
}

static void
release_split(void *object)
{
    split *s = object;
    vec_free(&s->writes);
    map_free(&s->places);
}

bool
ad_check_split(const ir_fn *vjp, const ir_fn *fn, bool combined, diag_list *diags)
{
    unsigned before = diags->errors;
    split s = {.from = fn, .combined = combined, .diags = diags};
    mem_owner owns;
    mem_own(&owns, release_split, &s);
    ir_walk(fn->body, note_op, &s);
    ir_walk(vjp->body, check_load, &s);
    ir_walk(vjp->body, check_call, &s);
    mem_disown(&owns);
    release_split(&s);
    return diags->errors == before;
}

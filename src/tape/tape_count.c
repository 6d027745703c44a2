/* How many bytes a thread, or the kernel, records. SPDX-License-Identifier: Apache-2.0
 *
 * Asked before anything is lowered: of the control flow, of what feeds it and of the frames' sizes. Where
 * all of that is known now and little enough for one page, the tape begins with that much room, and pushes
 * and pops look for no page's end. */
#include "analysis/integers.h"
#include "tape/tape.h"

enum {
    STEPS = 1 << 14,         /* of loops that are run through here */
    LEFT = 16
};

typedef struct counter {
    tape *t;
    const ir_known *bound;
    bool early; /* slots of traces are not known yet, nor who takes frames back: the sum of all pushes */
    uint32_t steps;
} counter;

/* Of a region or an op, from where its cursor begins: where it ends, and the highest that it comes to. */
typedef struct span {
    uint64_t net, most;
} span;

static uint64_t
page_room(const counter *c)
{
    const target *machine = c->t->fn->module->target;
    return machine->page - machine->page_header - 1;
}

/* of threads whose frames stay: what a page loses at its end is little */
static uint64_t
kept_room(const counter *c)
{
    return c->t->fn->module->target->page / 8;
}

static bool count_region(counter *c, const ir_region *r, span *out);

/* -- frames ---------------------------------------------------------------------------------------------------- */
bool
tape_own_frame(tape *t, const ir_op *op, uint64_t *bytes)
{
    *bytes = 0;
    if (!op->records)
        return true;
    const tape_frame *f = tape_frame_of(t, op);
    if ((f->segments && f->segments->eager) || !tape_fit_one_frame(f->slots.at, f->slots.n))
        return false;
    *bytes = tape_frame_bytes(t, f, tape_region_moves(t, op->regions[0]) && !tape_is_chain(t, op));
    return true;
}

static bool
own_frame(const counter *c, const ir_op *op, uint64_t *bytes)
{
    const tape_frame *f = op->records ? tape_frame_of(c->t, op) : NULL;
    if (f && f->segments)
        return false;
    if (!f || !c->early)
        return tape_own_frame(c->t, op, bytes);
    *bytes = tape_frame_bytes(c->t, f, tape_region_moves(c->t, op->regions[0]));
    return tape_fit_one_frame(f->slots.at, f->slots.n);
}

static void
append_span(span *s, span more)
{
    s->most = s->net + more.most > s->most ? s->net + more.most : s->most;
    s->net += more.net;
}

static bool
count_if(counter *c, const ir_op *op, span *out)
{
    span arms[2] = {{0}};
    uint64_t condition = 0;
    bool decided = ir_known_value(c->bound, op->args[0], &condition);
    for (uint32_t i = 0; i < 2; i++)
        if (!(decided && (condition & 1) == i) && !count_region(c, op->regions[i], &arms[i]))
            return false;
    out->net = arms[0].net > arms[1].net ? arms[0].net : arms[1].net;
    out->most = arms[0].most > arms[1].most ? arms[0].most : arms[1].most;
    return true;
}

static bool
count_iteration(counter *c, const ir_op *op, span *out)
{
    uint64_t frame;
    if (c->steps++ >= STEPS || !own_frame(c, op, &frame) || !count_region(c, op->regions[0], out))
        return false;
    append_span(out, (span){frame, frame});
    return out->most <= page_room(c);
}

/* Iterations that all take the same, whatever their number, are counted once. */
static bool
count_for(counter *c, const ir_op *op, span *out)
{
    uint64_t lo, hi;
    span each;
    *out = (span){0};
    if (!ir_known_value(c->bound, op->args[0], &lo) || !ir_known_value(c->bound, op->args[1], &hi))
        return false;
    uint64_t count = ir_iterations(op, lo, hi);
    if (!count)
        return true;
    if (count_iteration(c, op, &each)) {
        if (each.net && count > page_room(c) / each.net)
            return false;
        *out = (span){count * each.net, (count - 1) * each.net + each.most};
        return out->most <= page_room(c);
    }
    ir_known index = {op->regions[0]->params[0], lo, c->bound};
    c->bound = &index;
    bool fits = true;
    for (; count && fits; count--) {
        fits = count_iteration(c, op, &each);
        if (fits)
            append_span(out, each);
        fits = fits && out->most <= page_room(c);
        index.bits = ir_wrap((rg_dtype)index.index->type.dtype, index.bits + (uint64_t)op->attr.step);
    }
    c->bound = index.outer;
    return fits;
}

/* whether an exit is taken in the iteration that c->bound tells of; *sure: whether that is known of one at all */
static bool
leaves(const counter *c, const ir_region *body, bool *sure)
{
    uint64_t taken = 0;
    *sure = false;
    ir_for_ops(op, body)
    {
        bool known = op->code == RG_OP_EXIT_IF && ir_known_value(c->bound, op->args[0], &taken);
        *sure |= known;
        if (known && (taken & 1))
            return true;
    }
    return false;
}

/* Of a loop that a counter of its own ends, whatever else may end it before; `index` is bound to that. */
static bool
count_until(counter *c, const ir_op *op, ir_known *index, span *out)
{
    const ir_region *body = op->regions[0];
    const ir_value *next = ir_terminator(body)->args[index->index->index];
    bool sure;
    for (span each;; append_span(out, each)) {
        if (leaves(c, body, &sure)) { /* what stands before the exit is done once more */
            bool known = count_region(c, body, &each);
            append_span(out, (span){each.most, each.most}); /* whatever comes behind it takes back */
            return known && out->most <= page_room(c);
        }
        if (!sure || !count_iteration(c, op, &each) || out->net + each.most > page_room(c) ||
            !ir_known_value(index, next, &index->bits))
            return false;
    }
}

static bool
count_loop(counter *c, const ir_op *op, span *out)
{
    const ir_region *body = op->regions[0];
    ir_known index = {.outer = c->bound};
    bool known = false;
    for (uint32_t k = 0; !known && k < body->nparams; k++) {
        ir_type type = body->params[k]->type;
        if (type.kind != IR_SCALAR || type.lanes || !ir_is_int((rg_dtype)type.dtype) ||
            !ir_known_value(c->bound, op->args[k], &index.bits))
            continue;
        index.index = body->params[k];
        c->bound = &index;
        *out = (span){0};
        known = count_until(c, op, &index, out);
        c->bound = index.outer;
    }
    return known;
}

/* What is undone, or done any number of times, may push as long as it takes back what it pushed. */
static bool
count_balanced(counter *c, const ir_op *op, span *out)
{
    *out = (span){0};
    for (uint32_t i = 0; i < op->nregions; i++) {
        span one;
        if (!count_region(c, op->regions[i], &one) || one.net)
            return false;
        out->most = one.most > out->most ? one.most : out->most;
    }
    return true;
}

static bool
count_op(counter *c, const ir_op *op, span *out)
{
    if (op->code == RG_OP_IF)
        return count_if(c, op, out);
    if (op->code == RG_OP_FOR && tape_moves(c->t, op))
        return count_for(c, op, out);
    if (op->code == RG_OP_LOOP && tape_moves(c->t, op))
        return count_loop(c, op, out);
    if (tape_moves(c->t, op))
        return false;
    *out = (span){0};
    return c->early || count_balanced(c, op, out);
}

/* Ops that left frames, and the cursor before each: it returns there when these are spent. */
typedef struct left_behind {
    const ir_op *op[LEFT];
    uint64_t before[LEFT];
    uint32_t n;
} left_behind;

static void
forget_spent_frames(tape *t, left_behind *left, const ir_op *now, span *s)
{
    while (left->n) {
        const ir_op *by = tape_spent_by(t, left->op[left->n - 1]);
        if (!by || tape_number(t, by) > tape_number(t, now))
            break;
        s->net = left->before[--left->n];
    }
}

static bool
count_region(counter *c, const ir_region *r, span *out)
{
    left_behind left = {.n = 0};
    bool all = true; /* that left frames are in `left` */
    *out = (span){0};
    ir_for_ops(op, r)
    {
        span one;
        if (op->code == RG_OP_SNAPSHOT)
            return false;
        if (!op->nregions || op->code == RG_OP_PARALLEL)
            continue;
        if (!count_op(c, op, &one))
            return false;
        all = all && !c->early && (left.n < LEFT || !one.net);
        if (one.net && all) {
            left.op[left.n] = op;
            left.before[left.n++] = out->net;
        }
        append_span(out, one);
        if (all)
            forget_spent_frames(c->t, &left, op, out);
    }
    return true;
}

/* -- threads and kernels ----------------------------------------------------------------------------------------- */
static bool
drops_frames(tape *t, const ir_region *thread)
{
    for (size_t i = 0; i < t->segments.n; i++) {
        const ir_op *loop = t->segments.at[i]->loop;
        if (tape_frame_of(t, loop)->segments == t->segments.at[i] && ir_region_inside(loop->parent, thread))
            return true;
    }
    return false;
}

static uint64_t
most_of_thread(tape *t, const ir_op *parallel, const ir_region *body)
{
    counter c = {.t = t};
    bool keeps = parallel && parallel->records && tape_pushes(t, parallel);
    uint64_t frame = 0;
    span s;
    if ((keeps && !own_frame(&c, parallel, &frame)) || !count_region(&c, body, &s))
        return 0;
    append_span(&s, (span){frame, frame});
    return s.most <= (keeps ? kept_room(&c) : page_room(&c)) ? s.most : 0;
}

static void
count_thread(tape *t, const ir_op *parallel, ir_region *body)
{
    if (parallel && parallel->rewinds)
        return;
    tape_total *total = arena_one(t->scratch, tape_total);
    total->most = most_of_thread(t, parallel, body);
    if (!total->most)
        total->formula = tape_formula(t, parallel, body);
    total->drops = drops_frames(t, body);
    map_set(&t->counts, map_ptr(body), total);
}

static bool
count_parallel(ir_op *op, void *user)
{
    if (op->code == RG_OP_PARALLEL)
        count_thread(user, op, op->regions[0]);
    return true;
}

void
tape_count_all(tape *t)
{
    map_free(&t->counts);
    count_thread(t, NULL, t->fn->body);
    ir_walk(t->fn->body, count_parallel, t);
}

uint64_t
tape_most_bytes(tape *t, const ir_op *op)
{
    counter c = {.t = t, .early = true};
    span s;
    uintptr_t known = (uintptr_t)map_get(&t->counts, map_ptr(op));
    if (!known) {
        known = 1 + (uintptr_t)(count_op(&c, op, &s) ? s.most : TAPE_ANY);
        map_set(&t->counts, map_ptr(op), (void *)known);
    }
    return known - 1;
}

tape_total
tape_count_of(const tape *t, const ir_region *thread)
{
    const tape_total *total = map_get(&t->counts, map_ptr(thread));
    return total ? *total : (tape_total){0};
}

void
tape_has_room(ir_region *r)
{
    ir_for_ops(op, r)
    {
        if (op->code == RG_OP_TAPE_PUSH || op->code == RG_OP_TAPE_POP)
            op->in_page = true;
        for (uint32_t i = 0; op->code != RG_OP_PARALLEL && i < op->nregions; i++)
            tape_has_room(op->regions[i]);
    }
}

/* How many threads a group has: what lanes save against what they cost. SPDX-License-Identifier: Apache-2.0
 *
 * Both are estimated from the same walk over the loop's body, in simple operations: what one thread by itself takes,
 * and what a group takes. Vectors cost by the registers that they fill. What lanes do badly weighs most: elements
 * that lie apart (a gather takes longer than as many loads), sums into one element, whole-number division, lanes that
 * wait in a loop until the longest is done. And what code for one thread does well: loops over successive elements
 * that the compiler turns into vectors by itself, directions that lie side by side. The figures are fitted to the
 * bench's kernels on Zen 5. */
#include "lanes/lanes.h"

#include "analysis/effects.h"
#include "analysis/integers.h"
#include "analysis/rows.h"
#include "ir/recall.h"

#include <math.h>

enum {
    APART = 8,       /* each lane's element of a gather, a scatter */
    ONE_BY_ONE = 8,  /* each lane of what runs serially */
    ROW = 8,         /* of each lane one element, by rows (lower_rows.c), for a register */
    STREAMS = 9,     /* part of a group's work from which on the number of rows matters that it reads */
    ASK = 4,         /* a branch on a mask */
    MISSED = 3,      /* a branch that one thread takes and the next does not */
    INNER_VECTOR = 4, /* threads' worth of work that the compiler's own vectors do at once */
    MANY = 1000, /* operations of a thread that fill all registers with their values, and the processor with work */
    CACHE = 24 << 10, /* bytes of a group's local arrays that stay in the nearest cache beside what else is read */
    UNROLLED = 8, /* iterations that the compiler itself makes straight code of */
    PACE_DEPTH = 8 /* ops that a subscript is made of */
};
static const double waiting = 1.7; /* how much longer the longest of a group runs than their mean */

typedef struct price {
    double alone, group, rows; /* rows: of the group's what accesses by rows are */
} price;

static price price_of_region(lanes *l, const ir_region *r);

static double
registers_of(const lanes *l, ir_type t)
{
    unsigned bytes = t.dtype == RG_BOOL ? 1 : ir_bytes((rg_dtype)t.dtype);
    unsigned all = bytes * l->width, room = l->target->vector;
    return all <= room ? 1 : (double)all / room;
}

/* -- single ops ------------------------------------------------------------------------------------- */

static price
price_of_scalar(lanes *l, const ir_op *op)
{
    ir_type t = op->args[0]->type;
    bool is_float = ir_is_float((rg_dtype)t.dtype);
    double n = registers_of(l, op->results[0]->type), alone = 1, lane = 1;
    n = registers_of(l, t) > n ? registers_of(l, t) : n;
    switch ((int)op->code) {
    case RG_OP_DIV:
    case RG_OP_REM:
    case RG_OP_FLOORDIV:
    case RG_OP_FLOORMOD:
        alone = is_float ? 5 : ir_is_const(op->args[1], NULL) ? 3 : 10;
        lane = is_float ? 10 : ir_is_const(op->args[1], NULL) ? 6 : (double)ONE_BY_ONE * l->width / n;
        break;
    case RG_OP_SQRT:
    case RG_OP_RSQRT:
        alone = 8;
        lane = 14;
        break;
    }
    if (ir_ops[op->code].flags & IR_FUNCTION)
        alone = lane = l->target->function;
    bool counts = !is_float && (op->code == RG_OP_ADD || op->code == RG_OP_SUB || op->code == RG_OP_MUL || op->code == RG_OP_CAST);
    if (counts && !ir_is_float((rg_dtype)op->results[0]->type.dtype)) /* most is part of addresses, which move on with their loops */
        alone = 0.5;
    bool same = ir_is_uniform(&l->divergence, op->results[0]);
    return (price){alone, same ? alone : lane * n};
}

/* whether lower_rows takes it from or to memory by rows */
static bool
goes_by_rows(lanes *l, const ir_op *op)
{
    const ir_op *loop = op->parent->op;
    loop = loop && loop->code == RG_OP_IF ? loop->parent->op : loop; /* of a plain update and an atomic one */
    bool known = op->code != RG_OP_RMW || (op->rmw == RG_RMW_ADD && !op->nresults);
    if (!loop || (loop->code != RG_OP_FOR && loop->code != RG_OP_UNWIND) || !known || l->target->warp)
        return false;
    return !ir_loop_divergence_of(&l->divergence, loop)->varies && rows_goes_along(loop, op) &&
           rows_may_wait(&l->footprints, loop, op);
}

static price
price_of_access(lanes *l, const ir_op *op)
{
    bool adds = op->code == RG_OP_RMW, next = ir_is_successive_access(&l->divergence, op);
    bool shared = ir_is_uniform_access(&l->divergence, op);
    double n = registers_of(l, op->args[0]->type), apart = APART * (double)l->width + ASK;
    if (!next && !(shared && !adds) && goes_by_rows(l, op))
        return (price){adds ? 3 : 1.5, (adds ? ROW + 2 : ROW) * n, (adds ? ROW + 2 : ROW) * n};
    if (shared) {
        if (!adds)
            return (price){1.5, 1.5};
        return op->nresults ? (price){3, ONE_BY_ONE * (double)l->width} : (price){3, 6 + 6 * n};
    }
    if (!adds)
        return (price){1.5, next ? 1 + n : apart};
    if (op->nresults || op->rmw != RG_RMW_ADD || (op->atomic && !next))
        return (price){3, ONE_BY_ONE * (double)l->width};
    return (price){3, next ? 2 + 2 * n : 2 * apart};
}

static price
price_of_element(lanes *l, const ir_op *op)
{
    if (!ir_is_uniform(&l->divergence, op->args[1]))
        return (price){1.5, APART * (double)l->width};
    return (price){1, ir_is_uniform(&l->divergence, op->args[0]) ? 1 : registers_of(l, op->args[0]->type)};
}

/* -- control ------------------------------------------------------------------------------------------ */

/* of a loop; 0: not known */
static double
known_trips(const ir_op *op)
{
    uint64_t count = 0;
    if (op->code == RG_OP_UNWIND)
        ir_is_const(op->args[1], &count);
    else if (op->code == RG_OP_FOR)
        count = ir_fixed_iterations(op, &(bool){false});
    return (double)count;
}

/* a subscript that the index of the loop moves by one element, or not at all */
static bool
is_next(const ir_value *v, const ir_op *loop, bool *moves)
{
    const ir_region *body = loop->regions[0];
    if (!ir_region_inside(v->region, body))
        return true;
    if (v == body->params[0]) {
        *moves = true;
        return true;
    }
    if (!v->def || (v->def->code != RG_OP_ADD && v->def->code != RG_OP_CAST && v->def->code != RG_OP_CONST))
        return false;
    for (uint32_t i = 0; i < v->def->nargs; i++)
        if (!is_next(v->def->args[i], loop, moves))
            return false;
    return true;
}

static bool
steps_along(const ir_op *op, const ir_op *loop)
{
    bool moves = false;
    for (uint32_t i = 1; i <= ir_subscripts(op); i++) {
        if (i > 1 && moves)
            return false;
        if (!is_next(op->args[i], loop, &moves))
            return false;
    }
    return moves || op->code == RG_OP_LOAD;
}

/* whether the compiler makes vectors of this loop in code for one thread */
static bool
is_vector_loop(lanes *l, const ir_op *op)
{
    const ir_region *body = op->regions[0];
    if ((op->records && !lanes_is_silent(l, op)) || (op->code != RG_OP_FOR && op->code != RG_OP_UNWIND))
        return false;
    ir_for_ops(op_or_if, body)
    {
        const ir_op *inner = rows_plain(op, op_or_if);
        bool memory = ir_is_access(inner);
        bool plain = ir_ops[inner->code].form != IR_OTHER || inner->code == RG_OP_CONST || inner->code == RG_OP_YIELD;
        if (!plain && !(memory && steps_along(inner, op)))
            return false;
    }
    const ir_op *end = ir_terminator(body);
    for (uint32_t k = 0; k < end->nargs; k++)
        if (!end->args[k]->def || !end->args[k]->def->fast)
            return false;
    return true;
}

static bool
find_widest(ir_op *op, void *user)
{
    unsigned *widest = user;
    for (uint32_t i = 0; i < op->nresults && op->code != RG_OP_CONST; i++) {
        ir_type t = op->results[i]->type;
        bool number = t.kind <= IR_ARRAY && ir_is_float((rg_dtype)t.dtype);
        if (number && ir_bytes((rg_dtype)t.dtype) > *widest)
            *widest = ir_bytes((rg_dtype)t.dtype);
    }
    return true;
}

static unsigned
widest_float(const ir_op *op)
{
    unsigned widest = 4;
    ir_walk(op->regions[0], find_widest, &widest);
    return widest;
}

/* -- what the compiler makes vectors of, in code for one thread ----------------------------------------- */

enum { FAR = 1 << 16 }; /* elements by which a subscript moves that is not known to move by less */

/* by how many elements an iteration moves a subscript; index: the loop's */
static int
pace_of(const ir_value *v, const ir_value *index, unsigned depth)
{
    const ir_op *op = v->def;
    uint64_t by;
    if (v == index)
        return 1;
    if (!ir_region_inside(v->region, index->region) || !op) /* or the index of a loop inside */
        return 0;
    if (!depth || !ir_is_arithmetic(op) || op->nargs > 2)
        return FAR;
    int x = op->nargs ? pace_of(op->args[0], index, depth - 1) : 0, y = op->nargs > 1 ? pace_of(op->args[1], index, depth - 1) : 0;
    if ((!x && !y) || abs(x) >= FAR || abs(y) >= FAR)
        return x || y ? FAR : 0;
    switch ((int)op->code) {
    case RG_OP_CAST:
        return x;
    case RG_OP_NEG:
        return -x;
    case RG_OP_ADD:
        return x + y;
    case RG_OP_SUB:
        return x - y;
    case RG_OP_MUL:
        return !y && ir_is_const(op->args[1], &by) && by < FAR / (uint64_t)abs(x) ? x * (int)by : FAR;
    }
    return FAR;
}

/* the same of an access: of its last subscript, if the others stay */
static int
pace_of_access(const ir_op *op, const ir_value *index)
{
    bool buffer = ir_is_access(op);
    uint32_t n = buffer ? ir_subscripts(op) : 1;
    for (uint32_t i = 1; i < n; i++)
        if (pace_of(op->args[i], index, PACE_DEPTH))
            return FAR;
    return n ? pace_of(op->args[n], index, PACE_DEPTH) : 0;
}

/* Whether all of it is done for successive elements at once, where the short loops in it are straight code. `back`: some elements
 * follow each other backwards. */
static bool
runs_as_vectors(lanes *l, const ir_region *r, const ir_value *index, bool *back)
{
    ir_for_ops(op, r)
    {
        bool plain = ir_ops[op->code].form != IR_OTHER || op->code == RG_OP_CONST || op->code == RG_OP_YIELD;
        if ((op->code == RG_OP_FOR || op->code == RG_OP_UNWIND) && known_trips(op) > 0 && known_trips(op) <= UNROLLED) {
            if ((op->records && !lanes_is_silent(l, op)) || !runs_as_vectors(l, op->regions[0], index, back))
                return false;
        } else if (ir_is_access(op) || op->code == RG_OP_EXTRACT || op->code == RG_OP_INSERT) {
            int pace = pace_of_access(op, index);
            if (abs(pace) > 1 || (!pace && op->code != RG_OP_LOAD && op->code != RG_OP_EXTRACT))
                return false;
            *back |= pace < 0;
        } else if (!plain) {
            return false;
        }
    }
    return true;
}

/* Whether that is so of a loop, though it has loops in it. If it fills local arrays, it has iterations enough for a vector. */
static bool
becomes_vectors(lanes *l, const ir_op *loop)
{
    const ir_op *end = ir_terminator(loop->regions[0]);
    if (loop->records && !lanes_is_silent(l, loop))
        return false;
    for (uint32_t k = 0; k < end->nargs; k++)
        if (end->args[k]->type.kind == IR_ARRAY ? known_trips(loop) < UNROLLED : !end->args[k]->def || !end->args[k]->def->fast)
            return false;
    return runs_as_vectors(l, loop->regions[0], loop->regions[0]->params[0], &(bool){false});
}

/* Whether each thread of a group may run the loop for itself, with the compiler's vectors of iterations. */
static bool
may_run_along(lanes *l, const ir_op *op)
{
    const ir_op *maker = op->code == RG_OP_UNWIND ? ir_trace_maker(op->args[0]) : op;
    return (op->code == RG_OP_FOR || op->code == RG_OP_UNWIND) && !ir_loop_divergence_of(&l->divergence, op)->varies &&
           (!maker->records || lanes_is_silent(l, maker)) && !l->target->warp && is_vector_loop(l, op);
}

/* how many iterations those vectors do in the time of one */
static unsigned
vectors_of(const lanes *l, const ir_op *op)
{
    unsigned n = l->target->vector / widest_float(op) / 2;
    return n > INNER_VECTOR ? n : INNER_VECTOR;
}

static price
price_of_loop(lanes *l, const ir_op *op)
{
    price body = price_of_region(l, op->regions[0]);
    double known = known_trips(op), n = known > 0 ? known : l->target->trips;
    bool varies = ir_loop_divergence_of(&l->divergence, op)->varies;
    unsigned vector = vectors_of(l, op);
    bool straight = op->code == RG_OP_FOR && known > 0 && n <= UNROLLED;
    bool vectors = is_vector_loop(l, op) || (op->code == RG_OP_FOR && becomes_vectors(l, op));
    body.alone = vectors ? body.alone / vector : straight ? body.alone : body.alone + 2;
    body.group = varies ? (body.group + ASK) * waiting : body.group + 2;
    double along = may_run_along(l, op) ? l->width * n * body.alone : INFINITY;
    if (along < n * body.group)
        return (price){n * body.alone, along};
    return (price){n * body.alone, n * body.group, n * body.rows};
}

bool
lanes_runs_along(lanes *l, const ir_op *op)
{
    price body = price_of_region(l, op->regions[0]);
    double known = known_trips(op), n = known > 0 ? known : l->target->trips;
    return may_run_along(l, op) && price_of_loop(l, op).group < n * (body.group + 2);
}

static bool
has_rows(lanes *l, const ir_op *loop)
{
    ir_for_ops (op_or_if, loop->regions[0]) {
        const ir_op *op = rows_plain(loop, op_or_if);
        if (ir_is_access(op) && !ir_is_uniform_access(&l->divergence, op) && !ir_is_successive_access(&l->divergence, op) &&
            goes_by_rows(l, op))
            return true;
    }
    return false;
}

void
lanes_tell_loop(lanes *l, const ir_op *loop)
{
    if (loop->code != RG_OP_FOR && loop->code != RG_OP_UNWIND)
        return;
    pass_loop_way way = lanes_runs_along(l, loop) ? PASS_BY_ITSELF : has_rows(l, loop) ? PASS_BY_ROWS : PASS_TOGETHER;
    const ir_value *carried = NULL;
    const ir_op *end = ir_terminator(loop->regions[0]);
    for (uint32_t k = 0; k < end->nargs && !carried; k++)
        if (!end->args[k]->def || !end->args[k]->def->fast)
            carried = loop->regions[0]->params[1 + k];
    l->context->told_loop(l->context->user, loop, l->width, way, carried);
}

static price
price_of_if(lanes *l, const ir_op *op)
{
    const ir_op *plain = op->parent->op ? rows_plain(op->parent->op, op) : op;
    if (plain != op)
        return price_of_access(l, plain);
    price a = price_of_region(l, op->regions[0]), b = price_of_region(l, op->regions[1]);
    double alone = (a.alone + b.alone) / 2;
    if (ir_is_uniform(&l->divergence, op->args[0]))
        return (price){alone + 1, (a.group + b.group) / 2 + 1, (a.rows + b.rows) / 2};
    bool asked = a.group + b.group > 8;
    return (price){alone + MISSED, a.group + b.group + op->nresults + (asked ? 2 * ASK : 0), a.rows + b.rows};
}

static price
price_of_op(lanes *l, const ir_op *op)
{
    if (ir_ops[op->code].form != IR_OTHER)
        return price_of_scalar(l, op);
    switch ((int)op->code) {
    case RG_OP_LOAD:
    case RG_OP_STORE:
    case RG_OP_RMW:
        return price_of_access(l, op);
    case RG_OP_EXTRACT:
    case RG_OP_INSERT:
        return price_of_element(l, op);
    case RG_OP_RECALL:
        return (price){2, op->results[0]->type.kind == IR_SCALAR ? 2 * registers_of(l, op->results[0]->type) : 2};
    case RG_OP_IF:
        return price_of_if(l, op);
    case RG_OP_FOR:
    case RG_OP_LOOP:
    case RG_OP_UNWIND:
        return price_of_loop(l, op);
    case RG_OP_EXIT_IF:
        return (price){1, ir_is_uniform(&l->divergence, op->args[0]) ? 1 : ASK + op->nargs};
    case RG_OP_PRINT:
        return (price){100, 100.0 * l->width};
    }
    return (price){0, 0};
}

/* One of several directions that lie side by side: a thread by itself does as many of them as a register holds. */
static double
share_of_bundle(const lanes *l, const ir_op *op)
{
    const ir_value *v = op->nresults ? op->results[0] : op->nargs ? op->args[op->nargs - 1] : NULL;
    if (!op->bundle || !l->beside || !v || v->type.kind != IR_SCALAR)
        return 1;
    return (double)ir_bytes((rg_dtype)v->type.dtype) / l->target->vector;
}

static price
price_of_region(lanes *l, const ir_region *r)
{
    price sum = {0, 0, 0};
    ir_for_ops(op, r)
    {
        price p = price_of_op(l, op);
        p.alone *= share_of_bundle(l, op);
        sum.alone += p.alone;
        sum.group += p.group;
        sum.rows += p.rows;
    }
    return sum;
}

/* -- the choice ---------------------------------------------------------------------------------------- */

/* how many threads a row has, if that is known; else very many */
static uint64_t
threads_of_row(const ir_op *parallel)
{
    uint32_t rank = parallel->attr.rank;
    uint64_t lo, hi;
    if (!ir_is_const(parallel->args[rank - 1], &lo) || !ir_is_const(parallel->args[2 * rank - 1], &hi))
        return UINT64_MAX;
    return (int64_t)hi > (int64_t)lo ? hi - lo : 1;
}

static bool
find_beside(ir_op *op, void *user)
{
    *(bool *)user |= op->beside > 0;
    return !op->beside;
}

static bool
count_in_body(ir_op *op, void *user)
{
    *(unsigned *)user += op->code != RG_OP_CONST;
    return true;
}

static bool
add_local_array(ir_op *op, void *user)
{
    if (op->code == RG_OP_ARRAY)
        *(uint64_t *)user += (uint64_t)op->results[0]->type.length * ir_bytes((rg_dtype)op->results[0]->type.dtype);
    return true;
}

/* Two registers for each of the widest floats, so that what waits for one is passed by what works on the other; one where
 * there are very many, of which a second would only be spilled (products of 12x12 matrices took LLVM 8 s, not 1), and where local
 * arrays would leave the nearest cache. No more lanes than a row has threads. */
static unsigned
usual_width(const lanes *l, const ir_op *parallel, unsigned most_registers)
{
    unsigned widest = widest_float(parallel), width = 64, ops = 0;
    uint64_t arrays = 0;
    ir_walk(parallel->regions[0], count_in_body, &ops);
    ir_walk(parallel->regions[0], add_local_array, &arrays);
    bool two = most_registers > 1 && ops < MANY && arrays * 2 * (l->target->vector / widest) <= CACHE;
    unsigned registers = two ? 2 : 1;
    uint64_t row = threads_of_row(parallel);
    while (width > 8 && (width > registers * l->target->vector / widest || width >= 2 * row))
        width /= 2;
    return width;
}

/* A warp's lanes are there anyway. */
static unsigned
choose_warp(lanes *l, const ir_op *parallel)
{
    const pass_context *c = l->context;
    bool single = ir_is_single(parallel);
    l->width = l->target->warp;
    if (!single)
        lanes_check(l, parallel->regions[0]);
    unsigned width = single || l->refused ? 1 : l->width;
    if (c->told_lanes)
        c->told_lanes(c->user, parallel, width, 0, 0, single ? NULL : l->refused);
    return width;
}

/* for so many threads in a group, if not by itself */
static price
price_in_width(lanes *l, const ir_op *parallel, unsigned width)
{
    l->width = width;
    return width > 1 ? price_of_region(l, parallel->regions[0]) : (price){0, 0, 0};
}

unsigned
lanes_choose(lanes *l, const ir_op *parallel)
{
    const pass_context *c = l->context;
    if (l->target->warp)
        return choose_warp(l, parallel);
    l->beside = false;
    ir_walk(parallel->regions[0], find_beside, &l->beside);
    price p = price_in_width(l, parallel, c->lanes ? c->lanes : usual_width(l, parallel, 2));
    if (!c->lanes && p.rows * STREAMS > p.group) /* each row is a stream from memory */
        p = price_in_width(l, parallel, usual_width(l, parallel, 1));
    if (l->width > 1)
        lanes_check(l, parallel->regions[0]);
    uint64_t row = threads_of_row(parallel);
    bool back = false;
    if (runs_as_vectors(l, parallel->regions[0], parallel->regions[0]->params[parallel->attr.rank - 1], &back) && back)
        p.alone /= vectors_of(l, parallel);
    double n = row < l->width ? (double)row : l->width;
    bool pays = c->lanes || 1.2 * p.group < n * p.alone;
    unsigned width = l->refused || !pays ? 1 : l->width;
    if (c->told_lanes)
        c->told_lanes(c->user, parallel, width, n * p.alone, p.group, l->refused);
    return width;
}

/* Races of a parallel loop's threads for elements of arrays. SPDX-License-Identifier: Apache-2.0
 *
 * Threads run one after the other here, so a race cannot show in what they compute: it is found by who touched an
 * element before. Two threads may both read an element, or both update it atomically. In all other pairs the order of
 * threads decides what is read or left, also where both write the same value. */
#include "rt/interp/machine.h"

/* The first two threads that touched an element in one way: whoever comes later is another than one of them. */
typedef struct touch {
    uint64_t thread;
    const ir_op *op; /* NULL: none */
} touch;

typedef struct touches {
    touch by[INTERP_TOUCHES][2];
} touches;

void
interp_races_forget(interp_machine *m)
{
    map_free(&m->touched);
    arena_free(m->touched_arena);
    m->touched_arena = NULL;
}

static touches *
touches_of(interp_machine *m, const void *at)
{
    touches *t = map_get(&m->touched, map_ptr(at));
    if (t)
        return t;
    if (!m->touched_arena)
        m->touched_arena = arena_new();
    t = arena_one(m->touched_arena, touches);
    map_set(&m->touched, map_ptr(at), t);
    return t;
}

/* false: the whole group is at work, and so nobody in particular */
static bool
thread_at_work(const interp_machine *m, const ir_op *op, unsigned lane, uint64_t *thread)
{
    bool lanes = ir_lanes_of(op) && !op->by_row;
    *thread = m->thread + (lanes ? lane : 0);
    return lanes || m->group <= 1;
}

static const touch *
of_another(const touch by[2], uint64_t thread)
{
    for (unsigned k = 0; k < 2; k++)
        if (by[k].op && by[k].thread != thread)
            return &by[k];
    return NULL;
}

/* -- what the message says ------------------------------------------------------------------------------- */
typedef struct text {
    char at[128];
    size_t used;
} text;

static void __attribute__((format(printf, 2, 3)))
add(text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->at + t->used, sizeof t->at - t->used, format, args);
    va_end(args);
    t->used += n < 0 ? 0 : (size_t)n;
    t->used = t->used < sizeof t->at ? t->used : sizeof t->at - 1;
}

/* "iteration i = 3 reads it (line 7)" */
static text
deed(const interp_machine *m, const touch *by, interp_access access)
{
    static const char *const words[] = {"reads it", "writes it", "updates it atomically"};
    text t = {.used = 0};
    add(&t, "iteration ");
    /* "i = 3, j = 4" */
    const interp_domain *d = m->domain;
    for (uint32_t k = 0; k < d->rank; k++) {
        uint64_t below = 1;
        for (uint32_t inner = k + 1; inner < d->rank; inner++)
            below *= d->count[inner];
        int64_t i = (int64_t)(d->lo[k] + by->thread / below % d->count[k]);
        const char *name = d->body->params[k]->name;
        add(&t, "%s%s%s%lld", k ? ", " : "", name ? name : "", name ? " = " : "", (long long)i);
    }
    add(&t, " %s", words[access]);
    if (by->op->loc.line) /* IR text has no places */
        add(&t, " (line %u)", by->op->loc.line);
    return t;
}

static interp_flow
race(interp_frame *f, const ir_op *op, const interp_buffer *b, unsigned lane, const text *one, const text *two)
{
    text element = {.used = 0};
    /* "x[3][4]" */
    add(&element, "%s", b->name);
    for (unsigned k = 0; k < b->rank; k++)
        add(&element, "[%lld]", (long long)interp_index(f, op, b, k, lane));
    f->machine->report->race = true;
    return interp_fault(f, op, RT_FAULT_ASSERT, "race for `%.70s`: %.85s, %.85s", element.at, one->at, two->at);
}

interp_flow
interp_touch(interp_frame *f, const ir_op *op, const interp_buffer *b, unsigned lane, const void *at,
             interp_access access)
{
    interp_machine *m = f->machine;
    uint64_t thread;
    if (!m->parallel || !at || op->plane || !thread_at_work(m, op, lane, &thread))
        return FLOW_NEXT;
    touches *t = touches_of(m, at);
    for (unsigned before = 0; before < INTERP_TOUCHES; before++) {
        const touch *by = of_another(t->by[before], thread);
        if (!by || (before == (unsigned)access && access != INTERP_WRITES))
            continue;
        text one = deed(m, by, (interp_access)before), two = deed(m, &(touch){thread, op}, access);
        return race(f, op, b, lane, &one, &two);
    }
    touch *mine = t->by[access];
    if (mine[0].op && mine[0].thread != thread)
        mine++;
    if (!mine->op)
        *mine = (touch){thread, op};
    return FLOW_NEXT;
}

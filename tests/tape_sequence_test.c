/* Tapes of the host: random sequences of operations, against a reverse written by hand. SPDX-License-Identifier: Apache-2.0
 *   tape_sequence_test [--random SEED COUNT] */
#include "tape_place.h"

#include <stdlib.h>

/* -- random sequences, and their reverse by hand ----------------------------------------------------------------------- */

enum { ARRAYS = 4, OPS = 40, SEQUENCES = 60 };
typedef enum kind { STEP, PRODUCT, GATHER, TWICE, FILL, WRITE, WRITE_AT, COPY, STOP, CALL, KINDS } kind;

typedef struct op {
    kind what;
    int a, b, c;
    double s, data[N];
    int at[N];
    double before[ARRAYS][N]; /* what the arrays held */
} op;

static unsigned
next(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void
plan(op *o, unsigned *seed)
{
    o->what = (kind)(next(seed) % KINDS);
    o->a = (int)(next(seed) % ARRAYS);
    o->b = (o->a + 1 + (int)(next(seed) % (ARRAYS - 1))) % ARRAYS;
    do
        o->c = (int)(next(seed) % ARRAYS);
    while (o->c == o->a || o->c == o->b);
    o->s = 0.2 + (double)(next(seed) % 100) / 100;
    for (int i = 0; i < N; i++) {
        o->data[i] = (double)(next(seed) % 1000) / 700 - 0.6;
        o->at[i] = (int)(next(seed) % N);
    }
}

/* The primal, and `at` as it stands. */
static void
forward_by_hand(op *o, double v[ARRAYS][N], int at[N])
{
    memcpy(o->before, v, sizeof o->before);
    if (o->what == WRITE_AT)
        memcpy(at, o->at, sizeof o->at);
    else
        memcpy(o->at, at, sizeof o->at);
    for (int i = 0; i < N; i++) {
        double *a = &v[o->a][i], *b = &v[o->b][i], *c = &v[o->c][i];
        switch (o->what) {
        case STEP: *a = sin(*a) * *b * o->s + *a; break;
        case PRODUCT: *c = *a * *b * o->s; break;
        case GATHER: *b += o->before[o->a][o->at[i]]; break;
        case TWICE: *a *= 2; break;
        case FILL: *a = o->s; break;
        case WRITE: *a = o->data[i]; break;
        case COPY: *b = *a; break;
        case CALL: *a *= *b * *b + 1; break;
        default: break;
        }
    }
}

static void
reverse_by_hand(const op *o, double d[ARRAYS][N])
{
    for (int i = 0; i < N; i++) {
        double a = o->before[o->a][i], b = o->before[o->b][i];
        double *da = &d[o->a][i], *db = &d[o->b][i], *dc = &d[o->c][i];
        switch (o->what) {
        case STEP:
            *db += *da * sin(a) * o->s;
            *da *= cos(a) * b * o->s + 1;
            break;
        case PRODUCT:
            *da += *dc * b * o->s;
            *db += *dc * a * o->s;
            *dc = 0;
            break;
        case GATHER: d[o->a][o->at[i]] += *db; break;
        case TWICE: *da *= 2; break;
        case FILL:
        case WRITE:
        case STOP: *da = 0; break;
        case COPY:
            *da += *db;
            *db = 0;
            break;
        case CALL:
            *db += *da * a * 2 * b;
            *da *= b * b + 1;
            break;
        default: break;
        }
    }
}

/* a *= b * b + 1 on the host; its reverse has the old a from what it finds */
typedef struct call {
    const place *p;
    rg_array *a, *b;
} call;

static rg_status
call_forward(void *user)
{
    call *c = user;
    double a[N], b[N];
    get(c->p, c->a, RG_PRIMAL, a);
    get(c->p, c->b, RG_PRIMAL, b);
    for (int i = 0; i < N; i++)
        a[i] *= b[i] * b[i] + 1;
    put(c->p, c->a, RG_PRIMAL, a);
    return RG_OK;
}

static rg_status
call_reverse(void *user)
{
    call *c = user;
    double a[N], b[N], da[N], db[N];
    get(c->p, c->a, RG_PRIMAL, a);
    get(c->p, c->b, RG_PRIMAL, b);
    get(c->p, c->a, RG_ADJOINT, da);
    get(c->p, c->b, RG_ADJOINT, db);
    for (int i = 0; i < N; i++) {
        db[i] += da[i] * a[i] / (b[i] * b[i] + 1) * 2 * b[i];
        da[i] *= b[i] * b[i] + 1;
    }
    put(c->p, c->a, RG_ADJOINT, da);
    put(c->p, c->b, RG_ADJOINT, db);
    return RG_OK;
}

typedef struct world {
    rg_array *a[ARRAYS], *at;
    rg_args *step, *product, *gather, *twice;
    call calls[OPS];
} world;

static rg_status
record(const place *p, world *w, rg_tape *t, const op *o, call *c)
{
    rg_array *a = w->a[o->a], *b = w->a[o->b];
    switch (o->what) {
    case STEP:
        do_step(p, w->step, o->s, a, b);
        return RG_OK;
    case PRODUCT:
        set_product(w->product, o->s, a, b, w->a[o->c]);
        return rg_launch(p->queue, w->product, RG_FORWARD);
    case GATHER:
        GOOD(rg_args_set_array(w->gather, RG_STR("x"), a));
        GOOD(rg_args_set_array(w->gather, RG_STR("at"), w->at));
        GOOD(rg_args_set_array(w->gather, RG_STR("z"), b));
        return rg_launch(p->queue, w->gather, RG_FORWARD);
    case TWICE:
        GOOD(rg_args_set_array(w->twice, RG_STR("x"), a));
        return rg_launch(p->queue, w->twice, RG_FORWARD);
    case FILL:
        return rg_array_fill(p->queue, a, RG_PRIMAL, o->s);
    case WRITE:
        return rg_array_write(p->queue, a, RG_PRIMAL, o->data, STATE);
    case WRITE_AT:
        return rg_array_write(p->queue, w->at, RG_PRIMAL, o->at, sizeof o->at);
    case COPY:
        return rg_array_copy(p->queue, b, RG_PRIMAL, a, RG_PRIMAL);
    case STOP:
        return rg_tape_stop_gradient(t, a);
    case CALL: {
        *c = (call){.p = p, .a = a, .b = b};
        rg_tape_call_desc desc = RG_DESC(rg_tape_call_desc, .name = RG_STR("times"), .forward = call_forward,
                                         .reverse = call_reverse, .user = c, .reads = (rg_array *[]){a, b}, .read_count = 2,
                                         .writes = &a, .write_count = 1);
        return rg_tape_call(t, &desc);
    }
    default:
        return RG_OK;
    }
}

static world
make_world(const place *p)
{
    static const int first[N] = {0, 1, 2, 3, 4};
    world w = {.at = make_indices(p, first), .step = args_of(p, p->step), .product = args_of(p, p->product),
               .gather = args_of(p, p->gather), .twice = args_of(p, p->twice)};
    for (int k = 0; k < ARRAYS; k++)
        w.a[k] = make(p, (const char *const[]){"a", "b", "c", "d"}[k], true, N);
    return w;
}

static void
free_world(world *w)
{
    for (int k = 0; k < ARRAYS; k++)
        rg_array_destroy(w->a[k]);
    rg_array_destroy(w->at);
    rg_args_destroy(w->step);
    rg_args_destroy(w->product);
    rg_args_destroy(w->gather);
    rg_args_destroy(w->twice);
}

/* Whether the gradient was compared. */
static bool
test_random(const place *p, unsigned seed, int room)
{
    static op ops[OPS];
    static world w;
    double v[ARRAYS][N], d[ARRAYS][N], seeds[ARRAYS][N], read[N];
    int at[N] = {0, 1, 2, 3, 4}, n = 1 + (int)(next(&seed) % OPS);
    w = make_world(p);
    for (int k = 0; k < ARRAYS; k++) {
        for (int i = 0; i < N; i++) {
            v[k][i] = (double)(next(&seed) % 1000) / 800 - 0.5;
            seeds[k][i] = (double)(next(&seed) % 1000) / 500 - 1;
        }
        put(p, w.a[k], RG_PRIMAL, v[k]);
    }
    int kept = 2 * (ARRAYS + 1); /* what the host has written is kept beside the first state and the last one */
    for (int k = 0; k < n; k++) {
        plan(&ops[k], &seed);
        kept += ops[k].what == WRITE || ops[k].what == WRITE_AT;
    }
    uint64_t budget = room ? (uint64_t)(kept + room) * STATE : 0;
    rg_tape *t = begin(p, budget);
    for (int k = 0; k < n; k++) {
        forward_by_hand(&ops[k], v, at);
        GOOD(record(p, &w, t, &ops[k], &w.calls[k]));
    }
    GOOD(rg_tape_end(t));
    double largest = 0; /* sines of large numbers differ by their last bits */
    for (int k = 0; k < n; k++)
        for (int i = 0; i < ARRAYS * N; i++)
            largest = fmax(largest, fabs(ops[k].before[i / N][i % N]));
    bool judged = largest < 1e4;
    for (int round = 0; round < 2 && judged; round++) {
        memcpy(d, seeds, sizeof d);
        for (int k = 0; k < ARRAYS; k++)
            put(p, w.a[k], RG_ADJOINT, seeds[k]);
        for (int k = n; k-- > 0;)
            reverse_by_hand(&ops[k], d);
        GOOD(rg_tape_vjp(t));
        for (int k = 0; k < ARRAYS; k++) {
            get(p, w.a[k], RG_ADJOINT, read);
            check_close(read, d[k], 1e-10, "adjoint of a random sequence");
            get(p, w.a[k], RG_PRIMAL, read);
            check_close(read, v[k], 1e-12, "end of a random sequence");
        }
    }
    rg_tape_info info = RG_INIT(rg_tape_info);
    GOOD(rg_tape_get_info(t, &info));
    CHECK(!budget || info.peak <= budget, "%d of %d bytes", (int)info.peak, (int)budget);
    rg_tape_destroy(t);
    free_world(&w);
    return judged;
}

/* How many gradients were compared. */
static unsigned
test_sequences(const place *p, unsigned first, unsigned count)
{
    unsigned judged = 0;
    for (unsigned seed = first; seed < first + count; seed++)
        judged += test_random(p, seed, seed % 3 == 0 ? 0 : seed % 3 == 1 ? 1 : 1 + (int)(seed % 17));
    return judged;
}

int
main(int argc, char **argv)
{
    bool some = argc > 3 && strcmp(argv[1], "--random") == 0;
    unsigned seed = some ? (unsigned)atoi(argv[2]) : 1, count = some ? (unsigned)atoi(argv[3]) : SEQUENCES;
    for (const char *const *device = devices_to_test(); *device; device++) {
        check_on = *device;
        place p = open_place();
        unsigned judged = test_sequences(&p, seed, count);
        CHECK(2 * judged > count, "%u of %u sequences judged", judged, count);
        close_place(&p);
    }
    return check_done();
}

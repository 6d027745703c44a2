/* Tapes against two judges that share nothing with them: the same programs in plain C, with complex numbers for their floats
 * (a complex step has every digit of a derivative), and central differences of the whole. SPDX-License-Identifier: Apache-2.0
 *   tape_random_test [--random FIRST COUNT | --print NUMBER]
 *
 * A program is a list of operations on a few arrays: kernels as somebody would write them, in place and not, with loops whose
 * counts depend on data, control values that kernels make; fills, writes, copies, own reverses, stops; with budgets and
 * without. Some operations are done outside of the tape: while it is paused, in another queue, through a mapping, in memory
 * that is lent. Then rg_tape_vjp may refuse. What it does not refuse has to be right: to the gradient such values are
 * constants. */
#include "api_check.h"
#include "devices.h"

#include "api/api.h"

#include <complex.h>
#include <math.h>

static const char source[] =
    "#include <math.h>\n"
    "void decay(int n, double rate, double x[n]) {\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < n; i++) x[i] -= rate * x[i] * x[i] * x[i];\n"
    "}\n"
    "void add_scaled(int n, double a, const double x[n], double y[n]) {\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < n; i++) y[i] += a * x[i];\n"
    "}\n"
    "void smooth(int n, const double x[n], double y[n]) {\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        double left = i > 0 ? x[i - 1] : 0, right = i < n - 1 ? x[i + 1] : 0;\n"
    "        y[i] = 0.5 * x[i] + 0.25 * (left + right);\n"
    "    }\n"
    "}\n"
    "void sweep(int n, double c, double x[n]) {\n"
    "    for (int i = 1; i < n; i++) x[i] += c * x[i - 1] * x[i];\n"
    "}\n"
    "void root(int n, const double x[n], double y[n]) {\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        double f = y[i] * y[i] * y[i] + y[i] - x[i];\n"
    "        while (fabs(f) > 1e-3) {\n"
    "            y[i] -= f / (3 * y[i] * y[i] + 1);\n"
    "            f = y[i] * y[i] * y[i] + y[i] - x[i];\n"
    "        }\n"
    "    }\n"
    "}\n"
    "void scatter(int n, const int at[n], const double x[n], double y[n]) {\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        #pragma omp atomic\n"
    "        y[at[i]] += 0.3 * x[i] * x[i];\n"
    "    }\n"
    "}\n"
    "void choose(int n, const double x[n], int at[n]) {\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < n; i++) at[i] = x[i] > 0 ? i : n - 1 - i;\n"
    "}\n"
    "void repeat(int n, const int count[n], double x[n]) {\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < n; i++)\n"
    "        for (int k = 0; k < count[i]; k++) x[i] += 0.1 * sin(x[i]);\n"
    "}\n"
    "void multiply(int n, const double m[n][n], const double x[n], double y[n]) {\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        double sum = 0;\n"
    "        for (int j = 0; j < n; j++) sum += m[i][j] * x[j];\n"
    "        y[i] = 0.5 * sum;\n"
    "    }\n"
    "}\n"
    "void outer(int n, const double x[n], const double y[n], double m[n][n]) {\n"
    "    #pragma omp parallel for collapse(2)\n"
    "    for (int i = 0; i < n; i++)\n"
    "        for (int j = 0; j < n; j++) m[i][j] += 0.1 * x[i] * y[j];\n"
    "}\n"
    "void larger(int n, const double x[n], double y[n]) {\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < n; i++)\n"
    "        if (x[i] > y[i]) y[i] = x[i];\n"
    "}\n"
    "double product(int n, const double x[n], const double y[n]) {\n"
    "    double sum = 0;\n"
    "    #pragma omp parallel for reduction(+: sum)\n"
    "    for (int i = 0; i < n; i++) sum += x[i] * y[i];\n"
    "    return sum;\n"
    "}\n";

enum { N = 6, ROWS = 4, MATRIX = ROWS, SUM, ARRAYS, MOST = N * N, OPS = 40 };

typedef enum kind {
    DECAY, ADD_SCALED, SMOOTH, SWEEP, ROOT, SCATTER, CHOOSE, REPEAT, MULTIPLY, OUTER, LARGER, PRODUCT, KERNELS,
    FILL = KERNELS, WRITE, WRITE_AT, COPY, STOP, CALL, CALL_CONSTANT, KINDS
} kind;

static const char *const kernel_names[KERNELS] = {"decay", "add_scaled", "smooth",   "sweep", "root",   "scatter",
                                                  "choose", "repeat",    "multiply", "outer", "larger", "product"};

typedef enum outside { RECORDED, PAUSED, OTHER_QUEUE, MAPPED, RAW } outside;

typedef struct op {
    kind what;
    outside how;
    int a, b; /* reads a, writes b; outer and product read both */
    double s, data[MOST];
    int at[N];
    bool done;                /* the tape took it */
    double complex left[MOST]; /* in what it writes, where that is a constant */
} op;

typedef struct program {
    op ops[OPS];
    int n;
    double first[ARRAYS][MOST];
    int first_at[N];
    bool adjoint[ARRAYS], lent[ARRAYS], scalar; /* scalar: the factor of add_scaled has a derivative */
    bool validate, meddles;
    uint64_t budget;
} program;

static int
count_of(int array)
{
    return array == MATRIX ? N * N : array == SUM ? 1 : N;
}

/* -- in plain C ----------------------------------------------------------------------------------------------------- */

typedef struct state {
    double complex v[ARRAYS][MOST]; /* what arrays hold */
    double complex end[ARRAYS][MOST]; /* what they held behind the last operation on the tape that knew them */
    bool known[ARRAYS];
    int at[N];
    uint64_t path; /* the decisions that data made */
} state;

/* What is added to first contents, and to the scalar. */
typedef struct nudge {
    double complex by[ARRAYS][MOST], scalar;
} nudge;

static void
decide(state *s, int what)
{
    s->path = (s->path ^ (uint64_t)what) * 0x9e3779b97f4a7c15u + 1;
}

static double complex
find_root(state *s, double complex x, double complex y)
{
    double complex f = y * y * y + y - x;
    for (; fabs(creal(f)) > 1e-3; f = y * y * y + y - x) {
        y -= f / (3 * y * y + 1);
        decide(s, 1);
    }
    decide(s, 0);
    return y;
}

static void
write_at(state *s, const op *o)
{
    for (int i = 0; i < N; i++) {
        s->at[i] = o->what == WRITE_AT ? o->at[i] : creal(s->v[o->a][i]) > 0 ? i : N - 1 - i;
        decide(s, s->at[i]);
    }
}

/* The array that it writes; -1: the indices. */
static int
written(const op *o)
{
    switch (o->what) {
    case CHOOSE:
    case WRITE_AT: return -1;
    case OUTER: return MATRIX;
    case PRODUCT: return SUM;
    default: return o->b;
    }
}

static void
calculate(const op *o, state *s, double complex scalar)
{
    double complex *a = s->v[o->a], *b = s->v[o->b], *m = s->v[MATRIX], before[MOST], factor = o->s + scalar;
    memcpy(before, b, sizeof before);
    if (written(o) < 0)
        write_at(s, o);
    if (o->what == PRODUCT)
        s->v[SUM][0] = 0;
    for (int i = 0; i < count_of(o->b); i++) {
        switch (o->what) {
        case DECAY: b[i] -= o->s * b[i] * b[i] * b[i]; break;
        case ADD_SCALED: b[i] += factor * a[i]; break;
        case SMOOTH: b[i] = 0.5 * a[i] + 0.25 * ((i > 0 ? a[i - 1] : 0) + (i < N - 1 ? a[i + 1] : 0)); break;
        case SWEEP: b[i] += i ? o->s * b[i - 1] * b[i] : 0; break;
        case ROOT: b[i] = find_root(s, a[i], b[i]); break;
        case SCATTER: b[s->at[i]] += 0.3 * a[i] * a[i]; break;
        case REPEAT:
            for (int k = 0; k < s->at[i]; k++)
                b[i] += 0.1 * csin(b[i]);
            break;
        case MULTIPLY:
            b[i] = 0;
            for (int j = 0; j < N; j++)
                b[i] += 0.5 * m[i * N + j] * a[j];
            break;
        case OUTER:
            for (int j = 0; j < N; j++)
                m[i * N + j] += 0.1 * a[i] * b[j];
            break;
        case LARGER:
            decide(s, creal(a[i]) > creal(b[i]));
            b[i] = creal(a[i]) > creal(b[i]) ? a[i] : b[i];
            break;
        case PRODUCT: s->v[SUM][0] += a[i] * b[i]; break;
        case FILL: b[i] = o->s; break;
        case WRITE: b[i] = o->data[i]; break;
        case COPY: b[i] = a[i]; break;
        case CALL:
        case CALL_CONSTANT: b[i] = before[i] * (a[i] * a[i] + 1); break;
        default: break;
        }
    }
}

static bool
knows(const op *o, int array)
{
    bool reads = array == o->a && o->what != DECAY && o->what != SWEEP && o->what != REPEAT && o->what != FILL &&
                 o->what != WRITE && o->what != WRITE_AT && o->what != STOP;
    reads |= array == o->b && (o->what == OUTER || o->what == PRODUCT);
    return reads || array == written(o) || (array == MATRIX && o->what == MULTIPLY);
}

static void
add_nudge(state *s, int array, const nudge *n)
{
    for (int i = 0; i < count_of(array); i++)
        s->v[array][i] += n->by[array][i];
}

/* base: this run says what the constants are. */
static void
step(op *o, state *s, const nudge *n, bool base)
{
    int w = written(o);
    calculate(o, s, n->scalar);
    if (w >= 0 && base)
        memcpy(o->left, s->v[w], sizeof o->left);
    if (w >= 0 && (o->how || o->what == STOP || o->what == CALL_CONSTANT)) {
        memcpy(s->v[w], o->left, sizeof o->left);
        if (o->how && !s->known[w]) { /* the tape begins with that */
            add_nudge(s, w, n);
            memcpy(s->end[w], s->v[w], sizeof s->v[w]);
        }
    }
    for (int k = 0; k < ARRAYS && !o->how; k++)
        s->known[k] |= knows(o, k);
    if (w >= 0 && !o->how)
        memcpy(s->end[w], s->v[w], sizeof s->v[w]);
}

static void
run(program *p, const nudge *n, bool base, state *s)
{
    memset(s, 0, sizeof *s);
    for (int k = 0; k < ARRAYS; k++) {
        for (int i = 0; i < count_of(k); i++)
            s->v[k][i] = p->first[k][i];
        add_nudge(s, k, n);
        memcpy(s->end[k], s->v[k], sizeof s->v[k]);
    }
    memcpy(s->at, p->first_at, sizeof s->at);
    for (int k = 0; k < p->n; k++)
        if (p->ops[k].done)
            step(&p->ops[k], s, n, base);
}

static double complex
objective(const program *p, const state *s, double seeds[ARRAYS][MOST])
{
    double complex sum = 0;
    for (int k = 0; k < ARRAYS; k++)
        for (int i = 0; i < count_of(k) && p->adjoint[k]; i++)
            sum += seeds[k][i] * s->end[k][i];
    return sum;
}

typedef struct gradient {
    double by[ARRAYS][MOST], scalar;
} gradient;

static void
by_complex_steps(program *p, double seeds[ARRAYS][MOST], gradient *g)
{
    static state s;
    static nudge n;
    const double h = 1e-40;
    memset(&n, 0, sizeof n);
    for (int k = 0; k < ARRAYS; k++)
        for (int i = 0; i < count_of(k); i++) {
            n.by[k][i] = h * I;
            run(p, &n, false, &s);
            n.by[k][i] = 0;
            g->by[k][i] = cimag(objective(p, &s, seeds)) / h;
        }
    n.scalar = h * I;
    run(p, &n, false, &s);
    g->scalar = cimag(objective(p, &s, seeds)) / h;
}

static double
draw(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (1 << 24);
}

static int
pick(unsigned *seed, int n)
{
    return (int)(draw(seed) * n);
}

static unsigned differences; /* gradients that were compared with them */

/* Along one direction; where no decision changes. */
static void
check_differences(program *p, double seeds[ARRAYS][MOST], const gradient *found, unsigned seed)
{
    static state base, ahead, back;
    static nudge n;
    const double h = 1e-5;
    double want = 0, scale = 1;
    memset(&n, 0, sizeof n);
    run(p, &n, false, &base);
    for (int k = 0; k < ARRAYS; k++)
        for (int i = 0; i < count_of(k) && p->adjoint[k]; i++) {
            double d = draw(&seed) - 0.5;
            n.by[k][i] = h * d;
            want += d * found->by[k][i];
            scale += fabs(d * found->by[k][i]);
        }
    run(p, &n, false, &ahead);
    for (int k = 0; k < ARRAYS; k++)
        for (int i = 0; i < count_of(k); i++)
            n.by[k][i] = -n.by[k][i];
    run(p, &n, false, &back);
    if (ahead.path != base.path || back.path != base.path)
        return;
    differences++;
    double difference = creal(objective(p, &ahead, seeds) - objective(p, &back, seeds)) / (2 * h);
    CHECK(fabs(difference - want) < 1e-4 * scale, "central difference %.9g, gradient %.9g", difference, want);
}

/* -- on a tape -------------------------------------------------------------------------------------------------------- */

typedef struct place {
    rg_queue *queue, *other; /* of one device */
    rg_module *module;
    rg_kernel *kernels[KERNELS];
} place;

typedef struct call {
    struct world *w;
    const op *o;
} call;

typedef struct world {
    const place *at;
    rg_array *a[ARRAYS], *indices, *factor;
    rg_args *args[KERNELS];
    rg_tape *tape;
    call calls[OPS];
    double lent[ARRAYS][MOST];
    bool reversing;
} world;

static place
open_place(void)
{
    place p;
    rg_queue *queues[2];
    devices_desc desc = {.device = rg_str_of(check_on)};
    GOOD(devices_open_two(&desc, queues));
    p.queue = queues[0], p.other = queues[1];
    GOOD(rg_module_from_c(rg_str_of(source), NULL, &p.module));
    for (int k = 0; k < KERNELS; k++)
        GOOD(rg_module_get_kernel(p.module, rg_str_of(kernel_names[k]), &p.kernels[k]));
    return p;
}

static void
close_place(const place *p)
{
    rg_module_destroy(p->module);
    rg_queue_destroy(p->other);
    rg_queue_destroy(p->queue);
}

static void
put(const world *w, int array, unsigned plane, const double *v)
{
    GOOD(rg_array_write(w->at->queue, w->a[array], plane, v, (size_t)count_of(array) * sizeof *v));
}

static void
get(const world *w, int array, unsigned plane, double *v)
{
    GOOD(rg_array_read(w->at->queue, w->a[array], plane, v, (size_t)count_of(array) * sizeof *v));
}

static void
make_world(world *w, const place *at, const program *p)
{
    memset(w, 0, sizeof *w);
    w->at = at;
    for (int k = 0; k < KERNELS; k++) {
        GOOD(rg_args_create(at->queue, at->kernels[k], &w->args[k]));
        GOOD(rg_args_set_int(w->args[k], RG_STR("n"), N));
    }
    for (int k = 0; k < SUM; k++) {
        rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = k == MATRIX ? 2 : 1, .shape = {N, N}, .adjoint = p->adjoint[k],
                                     .name = rg_str_of((const char *const[]){"a", "b", "c", "d", "m"}[k]),
                                     .data = p->lent[k] ? w->lent[k] : NULL);
        GOOD(rg_array_create(at->queue, &desc, &w->a[k]));
    }
    rg_array_desc indices = RG_DESC(rg_array_desc, .dtype = RG_I32, .rank = 1, .shape = {N}, .name = RG_STR("at"));
    rg_array_desc factor = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {1}, .adjoint = true, .name = RG_STR("factor"));
    GOOD(rg_array_create(at->queue, &indices, &w->indices));
    GOOD(rg_array_create(at->queue, &factor, &w->factor));
    GOOD(rg_args_get_array(w->args[PRODUCT], rg_str_of("return"), &w->a[SUM]));
    GOOD(rg_array_require(at->queue, w->a[SUM], RG_ADJOINT));
    for (int k = 0; k < ARRAYS; k++)
        put(w, k, RG_PRIMAL, p->first[k]);
    GOOD(rg_array_write(at->queue, w->indices, RG_PRIMAL, p->first_at, sizeof p->first_at));
}

static void
free_world(world *w)
{
    rg_tape_destroy(w->tape);
    for (int k = 0; k < SUM; k++)
        rg_array_destroy(w->a[k]);
    rg_array_destroy(w->indices), rg_array_destroy(w->factor);
    for (int k = 0; k < KERNELS; k++)
        rg_args_destroy(w->args[k]);
}

/* b *= a * a + 1, on the host; the reverse finds what that left */
static rg_status
call_forward(void *user)
{
    call *c = user;
    double a[MOST], b[MOST];
    get(c->w, c->o->a, RG_PRIMAL, a);
    get(c->w, c->o->b, RG_PRIMAL, b);
    for (int i = 0; i < N; i++)
        b[i] *= a[i] * a[i] + 1;
    put(c->w, c->o->b, RG_PRIMAL, b);
    return RG_OK;
}

static rg_status
call_reverse(void *user)
{
    call *c = user;
    double a[MOST], b[MOST], da[MOST] = {0}, db[MOST];
    if (!c->w->a[c->o->b]->plane[RG_ADJOINT])
        return RG_OK;
    bool wanted = c->w->a[c->o->a]->plane[RG_ADJOINT];
    get(c->w, c->o->a, RG_PRIMAL, a);
    get(c->w, c->o->b, RG_PRIMAL, b);
    get(c->w, c->o->b, RG_ADJOINT, db);
    if (wanted)
        get(c->w, c->o->a, RG_ADJOINT, da);
    for (int i = 0; i < N; i++) {
        da[i] += db[i] * b[i] / (a[i] * a[i] + 1) * 2 * a[i];
        db[i] *= a[i] * a[i] + 1;
    }
    put(c->w, c->o->b, RG_ADJOINT, db);
    if (wanted)
        put(c->w, c->o->a, RG_ADJOINT, da);
    return RG_OK;
}

static rg_status
launch(world *w, rg_queue *queue, const program *p, const op *o)
{
    rg_args *args = w->args[o->what];
    rg_array *a = w->a[o->a], *b = w->a[o->b];
    switch (o->what) {
    case DECAY:
    case SWEEP:
        GOOD(rg_args_set_float(args, o->what == DECAY ? RG_STR("rate") : RG_STR("c"), o->s));
        GOOD(rg_args_set_array(args, RG_STR("x"), b));
        break;
    case REPEAT:
        GOOD(rg_args_set_array(args, RG_STR("count"), w->indices));
        GOOD(rg_args_set_array(args, RG_STR("x"), b));
        break;
    case CHOOSE:
        GOOD(rg_args_set_array(args, RG_STR("at"), w->indices));
        GOOD(rg_args_set_array(args, RG_STR("x"), a));
        break;
    case ADD_SCALED:
        GOOD(rg_args_set_float(args, RG_STR("a"), o->s));
        GOOD(rg_args_set_companion(args, RG_STR("a"), p->scalar ? w->factor : NULL));
        break;
    case SCATTER: GOOD(rg_args_set_array(args, RG_STR("at"), w->indices)); break;
    case MULTIPLY:
    case OUTER: GOOD(rg_args_set_array(args, RG_STR("m"), w->a[MATRIX])); break;
    default: break;
    }
    if (o->what != DECAY && o->what != SWEEP && o->what != REPEAT && o->what != CHOOSE) {
        GOOD(rg_args_set_array(args, RG_STR("x"), a));
        GOOD(rg_args_set_array(args, RG_STR("y"), b));
    }
    return rg_launch(queue, args, RG_FORWARD);
}

static rg_status
write_mapped(world *w, const op *o)
{
    void *data;
    GOOD(rg_array_map(w->at->queue, w->a[o->b], RG_PRIMAL, true, &data));
    memcpy(data, o->data, (size_t)count_of(o->b) * sizeof *o->data);
    rg_array_unmap(w->a[o->b], RG_PRIMAL);
    return RG_OK;
}

static rg_status
do_operation(world *w, rg_queue *queue, const program *p, const op *o)
{
    if (o->what < KERNELS)
        return launch(w, queue, p, o);
    if (o->how == MAPPED)
        return write_mapped(w, o);
    if (o->how == RAW) {
        memcpy(w->lent[o->b], o->data, (size_t)count_of(o->b) * sizeof *o->data);
        return RG_OK;
    }
    call *c = &w->calls[o - p->ops];
    *c = (call){w, o};
    rg_tape_call_desc desc = RG_DESC(rg_tape_call_desc, .name = RG_STR("multiplied"), .forward = call_forward,
                                     .reverse = o->what == CALL ? call_reverse : NULL, .user = c, .reads = &w->a[o->a],
                                     .read_count = 1, .writes = &w->a[o->b], .write_count = 1);
    switch (o->what) {
    case FILL: return rg_array_fill(queue, w->a[o->b], RG_PRIMAL, o->s);
    case WRITE: return rg_array_write(queue, w->a[o->b], RG_PRIMAL, o->data, (size_t)count_of(o->b) * sizeof *o->data);
    case WRITE_AT: return rg_array_write(queue, w->indices, RG_PRIMAL, o->at, sizeof o->at);
    case COPY: return rg_array_copy(queue, w->a[o->b], RG_PRIMAL, w->a[o->a], RG_PRIMAL);
    case STOP: return rg_tape_stop_gradient(w->tape, w->a[o->b]);
    default: return rg_tape_call(w->tape, &desc);
    }
}

static rg_status
record(world *w, const program *p, const op *o)
{
    if (o->how == PAUSED)
        GOOD(rg_tape_pause(w->tape));
    if (o->how == OTHER_QUEUE)
        GOOD(rg_queue_wait(w->at->other, w->at->queue));
    rg_status status = do_operation(w, o->how == OTHER_QUEUE ? w->at->other : w->at->queue, p, o);
    if (o->how == OTHER_QUEUE)
        GOOD(rg_queue_wait(w->at->queue, w->at->other));
    if (o->how == PAUSED)
        GOOD(rg_tape_resume(w->tape));
    return status;
}

/* -- random programs -------------------------------------------------------------------------------------------------- */

static void
plan(program *p, op *o, unsigned *seed)
{
    *o = (op){.what = (kind)pick(seed, KINDS), .a = pick(seed, ROWS), .b = pick(seed, ROWS), .s = 0.05 + 0.3 * draw(seed)};
    if (o->a == o->b && o->what != OUTER && o->what != PRODUCT) /* read twice, by these */
        o->b = (o->a + 1) % ROWS;
    if ((o->what == FILL || o->what == WRITE || o->what == STOP) && pick(seed, 5) == 0)
        o->b = MATRIX;
    for (int i = 0; i < MOST; i++)
        o->data[i] = 2 * draw(seed) - 1;
    for (int i = 0; i < N; i++)
        o->at[i] = pick(seed, N);
    bool can = o->what < KERNELS || o->what == FILL || o->what == WRITE || o->what == WRITE_AT || o->what == COPY;
    if (!p->meddles || !can || pick(seed, 8))
        return;
    o->how = pick(seed, 2) ? PAUSED : OTHER_QUEUE;
    if (o->what == WRITE && pick(seed, 2))
        o->how = p->validate && p->lent[o->b] ? RAW : MAPPED;
}

static void
plan_program(program *p, unsigned *seed, bool shares_memory)
{
    memset(p, 0, sizeof *p);
    p->n = 3 + pick(seed, OPS - 3);
    p->scalar = pick(seed, 2);
    p->meddles = pick(seed, 3) == 0;
    p->validate = pick(seed, 2);
    p->budget = pick(seed, 3) == 0 ? 0 : 600 + (uint64_t)(draw(seed) * draw(seed) * 4000);
    for (int k = 0; k < ARRAYS; k++) {
        p->adjoint[k] = k == SUM || pick(seed, 8) > 0;
        p->lent[k] = shares_memory && k < SUM && pick(seed, 4) == 0;
        for (int i = 0; i < count_of(k); i++)
            p->first[k][i] = 2 * draw(seed) - 1;
    }
    for (int i = 0; i < N; i++)
        p->first_at[i] = pick(seed, N);
    for (int k = 0; k < p->n; k++)
        plan(p, &p->ops[k], seed);
}

/* What the tape may refuse to take, and then has not done. */
static bool
may_refuse(const program *p, rg_status status)
{
    bool inactive = false;
    for (int k = 0; k < ARRAYS; k++)
        inactive |= !p->adjoint[k];
    return status == RG_BUDGET ? p->budget > 0
                               : status == RG_INVALID && inactive && strstr(rg_error_message(), "depends on an array with an adjoint");
}

static void
print_program(const program *p)
{
    static const char *const others[] = {"fill", "write", "write at", "copy", "stop", "call", "call, constant"};
    static const char *const how[] = {"", ", paused", ", in another queue", ", mapped", ", in lent memory"};
    printf("budget %d%s, no adjoint:", (int)p->budget, p->validate ? ", validated" : "");
    for (int k = 0; k < ARRAYS; k++)
        printf("%s", p->adjoint[k] ? "" : (const char *const[]){" a", " b", " c", " d", " m", ""}[k]);
    printf("\n");
    for (int k = 0; k < p->n; k++) {
        const op *o = &p->ops[k];
        printf("%2d %s %c %c%s%s\n", k, o->what < KERNELS ? kernel_names[o->what] : others[o->what - KERNELS], 'a' + o->a,
               o->b == MATRIX ? 'm' : 'a' + o->b, how[o->how], o->done ? "" : ", refused");
    }
}

static void
record_all(world *w, program *p, unsigned number)
{
    rg_tape_desc desc = RG_DESC(rg_tape_desc, .budget = p->budget, .validate = p->validate);
    GOOD(rg_tape_begin(w->at->queue, &desc, &w->tape));
    for (int k = 0; k < p->n; k++) {
        op *o = &p->ops[k];
        rg_status status = record(w, p, o);
        o->done = !status;
        CHECK(o->done || (!o->how && may_refuse(p, status)), "program %u on %s, operation %d (%d): %s", number, check_on, k,
              (int)o->what, rg_error_message());
    }
    GOOD(rg_tape_end(w->tape));
}

static bool
stays_small(program *p, state *s)
{
    static nudge none;
    run(p, &none, true, s);
    for (int k = 0; k < ARRAYS; k++)
        for (int i = 0; i < count_of(k); i++)
            if (!(fabs(creal(s->v[k][i])) < 1e3))
                return false;
    return true;
}

static void
check_array(const world *w, int array, unsigned plane, const double *want, double tolerance, const char *what, unsigned number)
{
    double found[MOST];
    get(w, array, plane, found);
    for (int i = 0; i < count_of(array); i++)
        CHECK(fabs(found[i] - want[i]) <= tolerance, "program %u on %s: %s of array %d, element %d is %.17g, not %.17g", number,
              check_on, what, array, i, found[i], want[i]);
}

typedef struct tally {
    unsigned judged, meddled, refused, again;
} tally;

static void
check_primals(const world *w, const state *s, unsigned number)
{
    double want[MOST];
    for (int k = 0; k < ARRAYS; k++) {
        for (int i = 0; i < count_of(k); i++)
            want[i] = creal(s->v[k][i]);
        check_array(w, k, RG_PRIMAL, want, 1e-10, "contents", number);
    }
}

static void
check_gradient(const world *w, program *p, double seeds[ARRAYS][MOST], unsigned number)
{
    gradient want;
    double scale = 1, found;
    by_complex_steps(p, seeds, &want);
    for (int k = 0; k < ARRAYS; k++)
        for (int i = 0; i < count_of(k); i++)
            scale = fmax(scale, fabs(want.by[k][i]));
    for (int k = 0; k < ARRAYS; k++)
        if (p->adjoint[k])
            check_array(w, k, RG_ADJOINT, want.by[k], 1e-10 * scale, "adjoint", number);
    GOOD(rg_array_read(w->at->queue, w->factor, RG_ADJOINT, &found, sizeof found));
    if (p->scalar)
        CHECK(fabs(found - want.scalar) <= 1e-10 * fmax(scale, fabs(want.scalar)),
              "program %u on %s: adjoint of the factor is %.17g, not %.17g", number, check_on, found, want.scalar);
    check_differences(p, seeds, &want, number);
}

/* One reverse, from seeds of its own. false: it was refused, and has done nothing. */
static bool
reverse(const world *w, program *p, const state *base, unsigned number, unsigned *seed)
{
    double seeds[ARRAYS][MOST] = {0};
    for (int k = 0; k < ARRAYS; k++) {
        for (int i = 0; i < count_of(k); i++)
            seeds[k][i] = 2 * draw(seed) - 1;
        if (p->adjoint[k])
            put(w, k, RG_ADJOINT, seeds[k]);
    }
    GOOD(rg_array_fill(w->at->queue, w->factor, RG_ADJOINT, 0));
    rg_status status = rg_tape_vjp(w->tape);
    CHECK(!status || (status == RG_INVALID && p->meddles && strstr(rg_error_message(), "not on the tape")), "program %u on %s: %s",
          number, check_on, rg_error_message());
    check_primals(w, base, number);
    if (!status) {
        check_gradient(w, p, seeds, number);
        return true;
    }
    for (int k = 0; k < ARRAYS; k++)
        if (p->adjoint[k])
            check_array(w, k, RG_ADJOINT, seeds[k], 0, "seed", number);
    return false;
}

static void
judge(world *w, program *p, unsigned number, unsigned *seed, tally *all)
{
    static state base;
    bool meddled = false;
    rg_tape_info info = RG_INIT(rg_tape_info);
    for (int k = 0; k < p->n; k++)
        meddled |= p->ops[k].how != RECORDED;
    if (!stays_small(p, &base))
        return;
    p->meddles = meddled;
    bool done = reverse(w, p, &base, number, seed);
    if (done)
        reverse(w, p, &base, number, seed);
    GOOD(rg_tape_get_info(w->tape, &info));
    CHECK(!p->budget || info.peak <= p->budget, "program %u on %s: %d bytes", number, check_on, (int)info.peak);
    all->judged += done;
    all->meddled += done && meddled;
    all->refused += !done;
    all->again += info.recomputed > 0;
}

static void
test_programs(const place *at, unsigned first, unsigned count, bool show, bool print)
{
    static program p;
    static world w;
    tally all = {0};
    differences = 0;
    for (unsigned number = first; number < first + count; number++) {
        unsigned seed = number * 2654435761u;
        plan_program(&p, &seed, devices_share_memory(at->queue));
        make_world(&w, at, &p);
        record_all(&w, &p, number);
        judge(&w, &p, number, &seed, &all);
        if (print)
            print_program(&p);
        free_world(&w);
    }
    if (show)
        printf("%s: %u of %u programs judged, %u of them with writes outside of the tape; %u refused; %u ran states again; %u gradients "
               "compared with differences\n", check_on, all.judged, count, all.meddled, all.refused, all.again, differences);
    if (!show && !print)
        CHECK(2 * all.judged > count && all.refused > 0 && all.meddled > 0 && all.again > 0 && differences > all.judged,
              "%u %u %u %u %u", all.judged, all.refused, all.meddled, all.again, differences);
}

/* -- a relaxation ------------------------------------------------------------------------------------------------------
 * As programs have them: the host reads a residual after each step and decides from that whether there is another one. */

static void
add_op(program *p, world *w, op o)
{
    CHECK(p->n < OPS, "%d operations", p->n);
    p->ops[p->n] = o;
    GOOD(record(w, p, &p->ops[p->n]));
    p->ops[p->n++].done = true;
}

static void
relax(program *p, world *w, int *steps)
{
    double residual = 10;
    for (*steps = 0; residual > 0.3 && *steps < 6; ++*steps) {
        add_op(p, w, (op){.what = MULTIPLY, .a = 0, .b = 1});
        add_op(p, w, (op){.what = CHOOSE, .a = 1, .b = 0});
        add_op(p, w, (op){.what = REPEAT, .a = 1, .b = 1});
        add_op(p, w, (op){.what = ROOT, .a = 1, .b = 0});
        add_op(p, w, (op){.what = PRODUCT, .a = 0, .b = 0});
        get(w, SUM, RG_PRIMAL, &residual);
    }
    add_op(p, w, (op){.what = CALL, .a = 0, .b = 2});
    add_op(p, w, (op){.what = COPY, .a = 2, .b = 3});
    add_op(p, w, (op){.what = STOP, .a = 3, .b = 3});
    add_op(p, w, (op){.what = OUTER, .a = 0, .b = 2});
    add_op(p, w, (op){.what = ADD_SCALED, .how = PAUSED, .a = 0, .b = 3, .s = 2}); /* to look at */
}

static void
test_relaxation(const place *at, uint64_t budget)
{
    static program p;
    static world w;
    static state base;
    int steps;
    unsigned seed = 7;
    rg_tape_desc desc = RG_DESC(rg_tape_desc, .budget = budget);
    p = (program){.budget = budget};
    for (int k = 0; k < ARRAYS; k++) {
        p.adjoint[k] = true;
        for (int i = 0; i < count_of(k); i++)
            p.first[k][i] = k == MATRIX ? draw(&seed) / 2 : draw(&seed);
    }
    make_world(&w, at, &p);
    GOOD(rg_tape_begin(at->queue, &desc, &w.tape));
    relax(&p, &w, &steps);
    GOOD(rg_tape_end(w.tape));
    CHECK(steps > 1 && steps < 6, "%d steps", steps);
    CHECK(stays_small(&p, &base), "it converges");
    for (int losses = 0; losses < 2; losses++)
        CHECK(reverse(&w, &p, &base, 0, &seed), "it is not refused");
    free_world(&w);
}

int
main(int argc, char **argv)
{
    bool random = argc > 3 && strcmp(argv[1], "--random") == 0, print = argc > 2 && strcmp(argv[1], "--print") == 0;
    for (const char *const *device = devices_to_test(); *device; device++) {
        check_on = *device;
        place at = open_place();
        if (random || print) {
            test_programs(&at, (unsigned)atoi(argv[2]), print ? 1 : (unsigned)atoi(argv[3]), random, print);
        } else {
            test_relaxation(&at, 0);
            test_relaxation(&at, 3000);
            test_programs(&at, 1, 60, false, false);
        }
        close_place(&at);
    }
    return check_done();
}

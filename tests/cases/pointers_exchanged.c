// Pointers that objects hold change between arrays: exchanged, rotated, null at first, in structs of the launch.
// kernel: swapped
// args: n=4 steps=5 u[4]=0.5,-1,2,0.25 w[4]=1,0.3,-0.2,0.7
// split: any
// kernel: rotated
// args: n=4 steps=4 x[4]=0.5,-1,2,0.25 y[4]=0
// split: any
// kernel: halves
// args: n=3 steps=5 u[3]=0.5,-1,0.25 v[3]=1,0.3,-0.2 w[3]=0.1,0.2,0.7
// split: any
// kernel: brought_flat
// args: n=4 steps=3 a[4]=0.5,-1,2,0.25 b[4]=1,0.3,-0.2,0.7 c[4]=0.1,0.2,0.3,0.4
// split: any
// kernel: brought
// args: s.n=4 steps=3 s.a[4]=0.5,-1,2,0.25 s.b[4]=1,0.3,-0.2,0.7 s.c[4]=0.1,0.2,0.3,0.4
// split: any
// skip: gcc
// expect: s.a=0.4804,-0.91985,2.0156,0.2896 s.b=0.4712015,-0.879538,2.024288,0.308816 return=0.7335697434
// kernel: found
// args: n=4 steps=5 a[4]=0.5,-1,0.8,0.25 b[4]=1,0.3,-0.2,0.7 c[4]=0.1,0.4,0.3,0.2
// split: any
// kernel: again
// args: n=3 u[3]=0.5,-1,0.25 w[3]=1,0.3,-0.2 y[3]=1,2,3
// split: any
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

typedef struct {
    int n;
    double *now, *next;
} grid;

static void
exchange(double **a, double **b)
{
    double *t = *a;
    *a = *b;
    *b = t;
}

static void
sweep(const grid *g)
{
    #pragma omp parallel for
    for (int i = 0; i < g->n; i++)
        g->next[i] = 0.5 * g->now[i] + 0.25 * sin(g->now[(i + 1) % g->n]);
}

/* by a function, in a loop around a parallel one, and not in all turns */
void
swapped(int n, int steps, double *u, double *w)
{
    grid g = {n, u, w};
    for (int t = 0; t < steps; t++) {
        sweep(&g);
        if (t % 3 == 2)
            continue;
        exchange(&g.now, &g.next);
        g.now[t % n] += 0.3 * g.next[1];
    }
    u[0] += 2 * g.now[n - 1];
}

typedef struct {
    double *a, *b, *c;
} levels;

static levels *
allocate(int n, const double *x)
{
    levels *s = malloc(sizeof *s);
    s->a = malloc(n * sizeof(double));
    s->b = malloc(n * sizeof(double));
    s->c = calloc(n, sizeof(double));
    for (int i = 0; i < n; i++) {
        s->a[i] = x[i];
        s->b[i] = 0.3 * x[i];
    }
    return s;
}

/* memory that the struct's maker allocated */
void
rotated(int n, int steps, const double *x, double *y)
{
    levels *s = allocate(n, x);
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++)
            s->c[i] = 2 * s->b[i] - s->a[i] + 0.1 * s->b[(i + 1) % n] * s->b[i];
        double *free_one = s->a;
        s->a = s->b;
        s->b = s->c;
        s->c = free_one;
    }
    for (int i = 0; i < n; i++)
        y[i] = s->b[i] * s->c[i];
    free(s->a), free(s->b), free(s->c), free(s);
}

typedef struct {
    double *p, scale;
} half;

static double *
either(double *a, double *b, int k)
{
    if (k & 1)
        return a;
    return b + 1;
}

/* elements of arrays, whole structs, what a function returns */
void
halves(int n, int steps, double *u, double *v, double *w)
{
    double *both[2] = {u, w};
    half x = {u, 1}, y = {v, 2};
    for (int t = 0; t < steps; t++) {
        double *first = both[0];
        both[0] = both[1];
        both[1] = first;
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            both[0][i] = 0.5 * both[1][i] + 0.1 * v[n - 1 - i];
        if (t % 3 != 1) {
            half h = x;
            x = y;
            y = h;
        }
        x.p[0] += 0.1 * y.scale * both[t & 1][1];
        x.scale += 0.1 * y.p[2];
        either(u, v, t)[1] *= 1.1;
    }
    w[0] += x.scale * y.p[0];
}

typedef struct {
    int n;
    double *a, *b;
    const double *c;
} brought_by;

double
brought(brought_by *s, int steps)
{
    double sum = 0;
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < s->n; i++)
            s->b[i] = s->a[i] + 0.1 * s->a[(i + 1) % s->n] * s->c[i];
        exchange(&s->a, &s->b);
        sum += s->a[0] * s->b[t % s->n];
    }
    return sum;
}

double
brought_flat(int n, int steps, double *a, double *b, const double *c)
{
    brought_by s = {n, a, b, c};
    return brought(&s, steps);
}

/* null at first; one of three later */
void
found(int n, int steps, double *a, double *b, double *c)
{
    struct {
        double *best, *before;
    } s = {NULL, NULL};
    for (int t = 0; t < steps; t++) {
        if (!s.best || c[t % n] > 0.25) {
            s.before = s.best;
            s.best = t % 2 ? b : a;
        }
        if (s.before)
            s.before[0] += 0.3 * s.best[1];
        if (t == 3)
            s.best = c;
        s.best[t % n] *= 1.1;
    }
}

typedef struct {
    double (*f)(double x, const double *p);
    const double *p;
} function;

static double
line(double x, const double *p)
{
    return x * p[0];
}

static double
parabola(double x, const double *p)
{
    return x * x * p[0] + p[1];
}

/* a struct that is used again, in the block where it is declared */
void
again(int n, double *u, double *w, double *y)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double k[2] = {w[i], 2};
        function f = {line, u};
        y[i] *= f.f(u[i], f.p);
        f.f = parabola;
        f.p = k;
        y[i] += f.f(u[i], f.p);
    }
}

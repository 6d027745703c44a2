// Pointers of the launch's structs and rows that a kernel lets point elsewhere, and pointers that functions return.
// kernel: rotate_state_flat
// args: n=3 x[4]=0.5,-1,2,0.25 cache[9]=1,2,-1,0.5,0.3,-0.7,1.5,0.2,0.9
// split: any
// expect: x=0.5,-1,2,0.25 cache=1.0,2.0,-1.0,1.0,-0.7,1.3,5.0,-1.8,6.125
// kernel: rotate_state
// args: s.n=3 s.x[4]=0.5,-1,2,0.25 s.row[1]=0 s.cache[9]=1,2,-1,0.5,0.3,-0.7,1.5,0.2,0.9
// split: any
// skip: gcc
// expect: s.x=0.5,-1,2,0.25 s.cache=1.0,2.0,-1.0,1.0,-0.7,1.3,5.0,-1.8,6.125
// kernel: eliminate_flat
// args: n=3 a[9]=0.1,2,-1,3,0.25,1.5,0.75,-2,1.25 b[3]=1,-2,0.5
// split: any
// kernel: eliminate
// args: n=3 A[3][3]=0.1,2,-1,3,0.25,1.5,0.75,-2,1.25 b[3]=1,-2,0.5
// split: any
// skip: gcc
// expect: b=4.679802955665026,-4.689655172413794,-9.911330049261085
// kernel: maybe_flat
// args: n=3 x[4]=0.5,-1,2,0.25 cache[9]=1,2,-1,0.5,0.3,-0.7,1.5,0.2,0.9
// split: any
// expect: x=1,-2,4,0.25 cache=1,2,-1,0.5,0.3,-0.7,1.5,0.2,0.9
// kernel: maybe
// args: s.n=3 s.x[4]=0.5,-1,2,0.25 s.row[1]=7 s.cache[9]=1,2,-1,0.5,0.3,-0.7,1.5,0.2,0.9
// split: any
// skip: gcc
// expect: s.x=1,-2,4,0.25 s.row=7 s.cache=1,2,-1,0.5,0.3,-0.7,1.5,0.2,0.9
#include <math.h>
#include <stdlib.h>

typedef struct {
    int n;
    double *x, *row, *cache;
} state;

static double *
entry(const state *s, int i)
{
    if (i < 0)
        return NULL;
    if (i >= s->n)
        return &s->cache[(s->n - 1) * s->n];
    return s->cache + i * s->n;
}

double *
rotate_state(state *s)
{
    for (int l = 0; l < s->n; l++) {
        s->row = s->cache + l * s->n;
        for (int i = 0; i < s->n; i++)
            s->row[i] += s->x[i] * l;
    }
    s->x++;
    double *last = entry(s, 7), *none = entry(s, -1);
    for (int i = 0; i < s->n; i++)
        last[i] *= none ? 0 : 1 + s->x[i] * (i + s->x[0]);
    return last;
}

void
rotate_state_flat(int n, double *x, double *cache)
{
    state s = {n, x, NULL, cache};
    rotate_state(&s);
}

void
eliminate(int n, double **A, double *b)
{
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(A[i][k]) > fabs(A[p][k]))
                p = i;
        double *row = A[k], value = b[k];
        A[k] = A[p];
        A[p] = row;
        b[k] = b[p];
        b[p] = value;
        for (int i = k + 1; i < n; i++) {
            double q = A[i][k] / A[k][k];
            for (int j = k; j < n; j++)
                A[i][j] -= q * A[k][j];
            b[i] -= q * b[k];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++)
            b[i] -= A[i][j] * b[j];
        b[i] /= A[i][i];
    }
}

void
eliminate_flat(int n, double *a, double *b)
{
    double *A[8];
    for (int i = 0; i < n; i++)
        A[i] = a + i * n;
    eliminate(n, A, b);
}

/* an assignment that does not happen, and one in a loop that may not run */
void
maybe(state *s)
{
    if (s->n > 3)
        s->x = s->cache;
    for (int i = 0; i < s->n; i++)
        s->x[i] *= 2;
    for (int i = 4; i < s->n; i++)
        s->row = s->x + i;
    if (s->n > 4)
        s->cache[0] = s->row[0];
}

void
maybe_flat(int n, double *x, double *cache)
{
    state s = {n, x, NULL, cache};
    maybe(&s);
}

// Reductions over arrays, and arrays of a team's thread that are merged: sums, products, minima and maxima of their elements.
// args: n=7 k[7]=0,1,2,0,1,0,3 x[7]=0.5,1.5,-0.4,0.3,0.9,-2,0.7 h[4]=1,2,3,4 lo[2]=5,6 hi[4]=-9,-9,-9,0.1 p[2]=1,2 loss[2]=0
// skip: bits
// split: any
#include <math.h>
typedef struct cell {
    double mass, move[2];
} cell;
static void
spread(double *to, int k, double v)
{
    to[k] += v * v;
    to[(k + 1) % 4] -= sin(v);
}
void
omp_array_reduction(int n, const int k[n], const double x[n], double h[4], double lo[2], double hi[4], double p[2], double loss[2])
{
    double before[4];
    for (int j = 0; j < 4; j++)
        before[j] = h[j] * h[j];
    #pragma omp parallel for reduction(+ : h[:4], before) reduction(min : lo[0:2])
    for (int i = 0; i < n; i++) {
        spread(h, k[i], x[i]);
        before[k[i]] += x[i] * x[(i + 1) % n];
        lo[i & 1] = fmin(lo[i & 1], x[i] * x[i]);
    }
    #pragma omp parallel for reduction(max : hi[:4])
    for (int i = 0; i < n; i++)
        if (hi[k[i]] < x[i] * h[k[i]])
            hi[k[i]] = x[i] * h[k[i]];
    #pragma omp parallel for reduction(* : p[:2])
    for (int i = 0; i < n; i++)
        p[i & 1] *= 1 + x[i] * lo[0];
    #pragma omp parallel
    {
        cell mine[4] = {{0}};
        #pragma omp for nowait
        for (int i = 0; i < n; i++) {
            cell *c = &mine[k[i]];
            c->mass += x[i] * hi[k[i]];
            c->move[i & 1] += before[k[i]] * x[i];
        }
        #pragma omp critical
        for (int j = 0; j < 4; j++) {
            loss[0] += mine[j].mass * mine[j].mass;
            loss[1] += mine[j].move[0] * mine[j].move[1];
        }
    }
}

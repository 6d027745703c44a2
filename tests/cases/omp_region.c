// A parallel region: loops that its threads share, variables that each of them has, sums of each thread.
// args: n=6 x[6]=0.5,1.5,-0.4,0.3,0.9,-2 y[6]=0 part[64]=0 loss[3]=0
// skip: bits
// split: any
#include <omp.h>
int omp_in_parallel(void);

static void
scale(int n, double *y, double factor)
{
    double t;
    #pragma omp for
    for (int i = 0; i < n; i++) {
        t = y[i] * factor;
        y[i] = t * t;
    }
}

void
omp_region(int n, const double x[n], double y[n], double part[64], double loss[3])
{
    double total = 0, most = -100, half = 0.5;
    int i, j, nt = 1;
    omp_set_num_threads(4);
    #pragma omp parallel private(j) firstprivate(half) num_threads(4) reduction(max : most)
    {
        int id = omp_get_thread_num();
        double v, mine = 0;
        const double *p;
        #pragma omp single
        nt = omp_get_num_threads();
        #pragma omp for schedule(static) nowait
        for (i = 0; i < n; i++) {
            v = x[i] * half;
            p = &x[n - 1 - i];
            for (j = 0; j < 3; j++)
                v += *p * j;
            y[i] = v;
        }
        #pragma omp barrier
        #pragma omp for reduction(+ : total)
        for (i = 0; i < n; i++)
            total += y[i] * x[i];
        #pragma omp for
        for (i = 1; i < n; i++) {
            mine += x[i] * x[i - 1];
            if (most < y[i])
                most = y[i];
        }
        part[id] = mine;
        for (i = id; i < id; i++)
            part[i] = 0;
        #pragma omp for private(j)
        for (i = 0; i < n; i++)
            for (j = 0; j < 2; j++)
                y[i] *= 1 + 0.1 * j;
        #pragma omp barrier
        #pragma omp master
        loss[0] = total;
        scale(n, y, 1.5);
        #pragma omp critical (name)
        loss[1] += mine;
    }
    for (j = 0; j < nt; j++)
        loss[2] += part[j] * most;
    if (omp_in_parallel())
        loss[2] = 0;
    for (j = 0; j < 64; j++)
        part[j] = 0;
}

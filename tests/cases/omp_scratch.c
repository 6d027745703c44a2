// Memory that a parallel region allocates for its threads and one loop uses; the region stands in time steps.
// kernel: omp_scratch
// args: n=5 m=3 steps=2 x[5][3]=0.5,1.5,-0.4,0.3,0.9,0.2,-0.7,1.1,0.6,-0.3,0.8,0.1,1.2,-0.5,0.4 out[5]=0
// split: refused
// kernel: merged
// args: n=7 x[7]=0.5,0.9,-0.4,0.3,0.9,0.2,-0.7 h[3]=0.1,0.2,0.3 y[7]=0
// split: any
#include <math.h>
#include <stdlib.h>

static double *
vector(int n)
{
    double *p = malloc(n * sizeof(double));
    if (!p)
        exit(1);
    return p;
}

static void
smooth(int n, int m, double x[n][m], double *out)
{
    #pragma omp parallel
    {
        double *t = vector(m), pair[m][2], few[3], *zeros = calloc(m, sizeof *zeros);
        if (t == NULL || !zeros)
            exit(2);
        #pragma omp for schedule(static)
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < m; k++) {
                t[k] = x[i][k] * x[i][k];
                pair[k][0] = t[k];
                pair[k][1] = sin(t[k]);
                few[k % 3] = t[k];
                zeros[k / 2] += t[k];
            }
            for (int k = 0; k < m; k++) {
                out[i] += pair[k][1] * pair[0][0] + few[0] + zeros[k];
                zeros[k] = 0;
            }
        }
        free(t);
        free(zeros);
        #pragma omp for
        for (int i = 0; i < n; i++)
            x[i][0] = sin(out[i]);
    }
}

void
omp_scratch(int n, int m, int steps, double x[n][m], double out[n])
{
    for (int s = 0; s < steps; s++)
        smooth(n, m, x, out);
    smooth(n - 1, m, x, out);
}

/* allocated sums of each thread, which a critical section merges, beside memory that one thread allocates for all */
void
merged(int n, const double *x, double *h, double *y)
{
    double *shared = NULL;
    #pragma omp parallel
    {
        double *mine = calloc(3, sizeof *mine);
        #pragma omp single
        shared = malloc(n * sizeof *shared);
        #pragma omp for
        for (int i = 0; i < n; i++) {
            mine[(int)(x[i] * 3 + 3) % 3] += x[i] * x[i];
            shared[i] = 2 * x[i];
        }
        #pragma omp critical
        for (int k = 0; k < 3; k++)
            h[k] += mine[k] * mine[k];
        free(mine);
        #pragma omp for
        for (int i = 0; i < n; i++)
            y[i] = shared[n - 1 - i] * x[i];
        #pragma omp single
        free(shared);
    }
}

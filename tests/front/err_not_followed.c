// Memory that outlives its turn; const that is cast away.
#include <stdlib.h>
double
best_of(int n, const double *x)
{
    double *best = NULL, most = -1, s = 0;
    for (int k = 0; k < 3; k++) {
        double *p = malloc(n * sizeof(double)); // error: E0415
        for (int i = 0; i < n; i++)
            p[i] = x[i] * k;
        if (p[0] > most) {
            if (best)
                free(best);
            best = p;
            most = p[0];
        } else {
            free(p);
        }
    }
    for (int i = 0; i < n; i++)
        s += best[i]; // error: E0437
    return s;
}
void
written_const(int n, const int *idx)
{
    int *w = (int *)idx;
    for (int i = 0; i < n; i++)
        w[i] = 2; // error: E0477
    #pragma omp atomic
    w[0] += 1; // error: E0477
}
static double table[3] = {1, 2, 3}; // error: E0421
static void
change(const double *p)
{
    ((double *)p)[0] = 7;
}
double
through_const(const double *x)
{
    change(table);
    return table[0] * x[0];
}

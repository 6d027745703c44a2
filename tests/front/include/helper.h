/* Included by includes.c: a directive in an included file. */
#ifndef HELPER_H
#define HELPER_H
#define TIMES(k) ((k) * 1.5)
static void
accumulate_into(int n, double *x, double f)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] += f;
}
#endif

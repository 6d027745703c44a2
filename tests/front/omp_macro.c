// Directives from macros and under #if.
// args: n=4 x[4]=1,2,3,4 s[1]=0
#define PARALLEL _Pragma("omp parallel for")
#define ADD(target, value) \
    do { \
        _Pragma("omp atomic") \
        target += value; \
    } while (0)
#ifdef _OPENMP
#define OFFSET 1
#else
#define OFFSET 2
#endif
void
omp_macro(int n, double x[n], double s[1])
{
#if 0
    #pragma omp critical
#endif
    PARALLEL
    for (int i = 0; i < n; i++) {
        ADD(s[0], x[i]);
        ADD(s[0], OFFSET);
    }
    /* #pragma omp barrier */
    PARALLEL
    for (int i = 0; i < n; i++)
        x[i] *= 2;
}

// Parallel regions whose loops carry a thread's variables, or ask for its number.
#include <omp.h>
static int
number(void)
{
    return omp_get_thread_num() + 1; // error: E0471
}
static void
count(int n, const int k[n], int total[8])
{
    int bins[8] = {0};
    #pragma omp for
    for (int i = 0; i < n; i++) {
        bins[k[i] & 7]++;
        bins[0] *= 2; // error: E0469
    }
    #pragma omp critical
    for (int b = 0; b < 8; b++)
        total[b] += bins[b];
}
static void
add(int n, const int k[n], double *bins, double *sum)
{
    #pragma omp for
    for (int i = 0; i < n; i++) {
        bins[k[i]]++;
        *sum += k[i]; // error: E0469
        #pragma omp atomic
        bins[k[i]]--;
    }
}
static double
last(double *seen, double x)
{
    double d = x - *seen;
    *seen = x;
    return d;
}
void
err_omp_regions(int n, const double x[n], double part[8], double hist[8][8], const int k[n], int total[8])
{
    double shared = 0;
    #pragma omp parallel firstprivate(n)
    {
        int id = omp_get_thread_num(), next = id + 1, i;
        double before = 0, *mine = hist[id], scratch[3], seen = 0, two = 0, kept = 0;
        #pragma omp for // error: E0469
        for (i = 0; i < n; i++) {
            part[i] = x[i] - before;
            before = x[i];
        }
        #pragma omp for
        for (i = 0; i < n; i++) {
            part[id] += x[i]; // error: E0471 E0461
            hist[next][k[i]]++; // error: E0471
            mine[k[i]]++; // error: E0471
            hist[number()][k[i]]++;
            hist[omp_get_thread_num()][k[i]]++; // error: E0471
            shared += x[i]; // error: E0460
        }
        #pragma omp for
        for (i = 0; i < n; i++) {
            scratch[0] = x[i]; // error: E0469
            part[i] = scratch[0];
            scratch[1] += x[i]; // error: E0469
        }
        #pragma omp for // error: E0469
        for (i = 0; i < n; i++)
            part[i] = last(&seen, x[i]);
        #pragma omp for // error: E0469
        for (i = 0; i < n; i++) {
            two += x[i];
            two *= 2;
        }
        #pragma omp for // error: E0469
        for (i = 0; i < n; i++) {
            if (x[i] > 0)
                kept = x[i];
            part[i] = kept;
        }
        int found = 0, once;
        #pragma omp for // error: E0469
        for (i = 0; i < n; i++)
            if (x[i] < 0)
                found = 1;
        once = 1;
        for (int t = 0; t < 2; t++) {
            part[t] = once;
            #pragma omp for // error: E0469
            for (i = 0; i < n; i++)
                once = k[i];
        }
        part[1] += found;
        count(n, k, total);
        add(n, k, scratch, &two);
        add(n, k, part, &two);
    }
    omp_set_lock((omp_lock_t *)0); // error: E0473
}
void
err_loop_in_switch(int n, const double *x, double *y)
{
    double t;
    #pragma omp parallel private(t)
    {
        t = 0;
        switch (n) {
        case 8:
            #pragma omp for // error: E0469
            for (int i = 0; i < n; i++) {
                t = x[i];
                y[i] = t;
            }
        }
        y[0] = t;
    }
}
void
err_memory_of_threads(int n, const double *x, double *y)
{
    #pragma omp parallel
    {
        double *t = __builtin_malloc(n * sizeof *t);
        #pragma omp for
        for (int i = 0; i < n; i++) {
            t[0] = x[i]; // error: E0469
            y[i] = t[0];
        }
        #pragma omp for
        for (int i = 0; i < n; i++)
            y[i] += t[1];
        __builtin_free(t);
    }
}

// private, firstprivate, shared, default, schedule, num_threads, linear and simd are accepted.
// args: n=4 x[4]=0.5,1.5,-0.4,0.3 y[4]=0
#include <math.h>

void
clauses(int n, const double x[n], double y[n])
{
    double scale = 0.5 + x[0], t = 7.0, u = 1.0;
    #pragma omp parallel for default(none) shared(n, x, y) firstprivate(scale, u) private(t) \
        schedule(static, 2) num_threads(2)
    for (int i = 0; i < n; i++) {
        t = scale * x[i];
        scale = t * t;
        y[i] = scale * u;
        u = 1.0;
        scale = 0.5 + x[0];
    }
    #pragma omp simd
    for (int i = 0; i < n; i++)
        y[i] += 0.25 * x[i];
    int j = n - 1;
    #pragma omp parallel for linear(j : -1)
    for (int i = 0; i < n; i++) {
        y[j] += 0.5 * x[i];
        j--;
    }
    y[0] -= j * x[1];
}

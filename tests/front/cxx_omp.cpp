// Clauses that name references; directives in templates.
// args: n=4 x[4]=3,-1,4,1.5 out[4]=0 loss[1]=1
#include <cmath>
static void total(int n, const double *x, double &sum, double &most)
{
    #pragma omp parallel for reduction(+ : sum) reduction(max : most)
    for (int i = 0; i < n; i++) { sum += x[i]; if (x[i] > most) most = x[i]; }
}
static void other(int n, const double *x, double *y, double &t)
{
    #pragma omp parallel for private(t)
    for (int i = 0; i < n; i++) { t = x[i]; y[i] += 2 * t; }
    #pragma omp parallel for firstprivate(t)
    for (int i = 0; i < n; i++) { y[i] += 2 * (t + x[i]); }
}
template <class T> static void add(int n, const T *x, T &s) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        #pragma omp atomic
        s += x[i];
}
static void truth(int n, const double *x, bool &all)
{
    #pragma omp parallel reduction(&& : all) num_threads(1)
    {
        all = all && x[0] > 0;
    }
    #pragma omp parallel for reduction(&& : all)
    for (int i = 0; i < n; i++) all = all && x[i] > -5;
}
extern "C" void cxx_omp(int n, const double *x, double *out, double &loss)
{
    double s = 1, m = -5, t = 2, q = 0;
    total(n, x, s, m);
    total(n, x, loss, m);
    other(n, x, out, t);
    add(n, x, loss);
    add(n, x, q);
    bool all = true;
    truth(n, x, all);
    out[2] += all;
    out[0] += s + 10 * m + 100 * t + q;
}

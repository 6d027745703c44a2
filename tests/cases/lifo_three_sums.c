// A loss of three sums, one of them counted only where the norm is large: two tasks whose frames lie on the tapes, of
// which the inner one can be undone only after a condition on a sum.
// args: n=40 m=7 p=0.8 q=0.7 x[40]=0.3,-0.9,0.4 ya[40]=0.4,-0.2,0.9,1.3 yb[40]=0.5,0.1,-0.7
// seed: return=1
// skip: bits
#include <math.h>

double
lifo_three_sums(int n, int m, double p, double q, const double x[n], const double ya[n], const double yb[n])
{
    double norm = 0, ra = 0, rb = 0;
    #pragma omp parallel for reduction(+ : norm)
    for (int i = 0; i < n; i++)
        norm += x[i] * x[i];
    #pragma omp parallel for reduction(+ : ra)
    for (int i = 0; i < n; i++) {
        double v = ya[i];
        for (int t = 0; t < m; t++)
            v = sin(v) * p;
        ra += v;
    }
    #pragma omp parallel for reduction(+ : rb)
    for (int i = 0; i < n; i++) {
        double v = yb[i];
        for (int t = 0; t < m; t++)
            v = cos(v) * q;
        rb += v;
    }
    double loss = norm + ra * ra;
    if (norm > 1)
        loss += rb * rb;
    return loss;
}

// kernel: lifo_product
// args: n=40 m=7 p=0.8 q=0.7 x[40]=0.3,-0.9,0.4 ya[40]=0.4,-0.2,0.9,1.3 yb[40]=0.5,0.1,-0.7
// seed: return=1
// skip: bits
double
lifo_product(int n, int m, double p, double q, const double x[n], const double ya[n], const double yb[n])
{
    double s = 0, ra = 0, rb = 0;
    #pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < n; i++)
        s += x[i] * x[i];
    #pragma omp parallel for reduction(+ : ra)
    for (int i = 0; i < n; i++) {
        double v = ya[i];
        for (int t = 0; t < m; t++)
            v = sin(v) * p;
        ra += v;
    }
    #pragma omp parallel for reduction(+ : rb)
    for (int i = 0; i < n; i++) {
        double v = yb[i];
        for (int t = 0; t < m; t++)
            v = cos(v) * q;
        rb += v;
    }
    return s + ra * ra + rb * rb * floor(s);
}

// A task reads an array through a derivative, a later task overwrites the array: the two keep their order where the first
// one is undone at once.
// args: n=40 A[40]=1.5,2.5,-3.5 x[40]=0.5,1.5,-0.4 B[40]=0
// seed: return=1 B=0.5
// skip: gcc fd bits
#include <math.h>
#include <retrograd/kernel.h>

static double
scaled(double x, const double *data, int i)
{
    double sum = 0;
    for (int k = 0; k <= i % 3; k++) /* a loop: the call is one until all differentiation is done */
        sum += data[i] * k;
    return x * sum;
}

double
fused_calls(int n, double A[n], double x[n], double B[n])
{
    double loss = 0;
    #pragma omp parallel for reduction(+ : loss)
    for (int i = 0; i < n; i++) {
        double g;
        rg_grad(scaled, (2.0, A, i), (&g, 0, 0));
        B[i] = floor(g);
        loss += x[i] * x[i];
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        A[i] = 5;
    return loss;
}

// What the gradient multiplies is gone after the launch: a split launch would take 5 for it.
// kernel: fused_gradient
// args: n=40 A[40]=1.5,2.5,-3.5 x[40]=0.5,1.5,-0.4
// seed: return=1
// split: refused
// skip: gcc fd bits
double
fused_gradient(int n, double A[n], double x[n])
{
    double loss = 0;
    #pragma omp parallel for reduction(+ : loss)
    for (int i = 0; i < n; i++) {
        double g;
        rg_grad(scaled, (2.0, A, i), (&g, 0, 0));
        loss += floor(g) * x[i];
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        A[i] = 5;
    return loss;
}

// An array that the derivative reads is chosen at run time.
// kernel: chosen_gradient
// args: n=40 flag=1 x[40]=0.5,1.5,-0.4 z[40]=0.3,-0.2,0.9,1.1 out[40]=0
// skip: gcc
void
chosen_gradient(int n, int flag, double x[n], double z[n], double out[n])
{
    double *data = x;
    if (flag)
        data = z;
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double g;
        rg_grad(scaled, (0.5, data, i), (&g, 0, 0));
        out[i] = g * g;
    }
}

// Local arrays that a task hands to a derivative are recalled where the task is undone at once.
// kernel: fused_arrays
// args: n=40 x[40]=0.5,1.5,-0.4 low[4]=0.3,0.4,0.5,0.6
// seed: return=1
// skip: gcc bits
static void
pair(double s, const double *f, double *to)
{
    to[0] = s * f[0] * sin(f[1]);
    to[1] = f[1] * f[1] * s + to[0];
}

double
fused_arrays(int n, double x[n], double low[4])
{
    double s = 0, r = 0;
    #pragma omp parallel for reduction(+ : r)
    for (int i = 0; i < n; i++)
        r += x[i] * x[i] * 0.1;
    #pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < n; i++) {
        double a[2] = {0.1 * x[i], 0.2}, b[2] = {0.5, x[i]}, c[2] = {0.3, 0.296}, ds = 0, d[2] = {x[i], 0.5};
        double v = low[0] * x[i];
        for (int k = 0; k < 3; k++) {
            d[k & 1] = d[1 - (k & 1)] * a[0] + v;
            rg_vjp(pair, (v, d, a), 0, (&ds, c, b));
        }
        s += c[0] + b[1] * ds + d[0];
    }
    return s * s * 0.01 + r;
}

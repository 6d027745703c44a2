// Functions that read arrays of the kernel, whose derivatives by other arguments are taken; the kernel's gradient
// goes through to the arrays too, from several threads to the same elements, and through two levels.
// args: n=3 m=4 x[3]=0.4,-0.3,0.9 data[4]=0.5,1.5,-0.7,0.2 w[2][4]=0.1,0.2,0.3,0.4,-0.5,0.6,0.7,-0.8 y[3][4]=0
// seed: y=1,-0.5,2,0.25
// skip: gcc
#include <math.h>
#include <retrograd/kernel.h>

static double
misfit(double x, const double *data, int m, const double w[][4])
{
    double sum = 0.0;
    for (int k = 0; k < m; k++) {
        double r = sin(x * data[k]) - w[1][k] * x;
        sum += r * r * data[(k + 1) % m];
    }
    return sum;
}

static double
slope(double x, const double *data, int m, const double w[][4])
{
    double g;
    rg_grad(misfit, (x, data, m, w), (&g, 0, 0, 0));
    return g * data[0];
}

void
derive_buffers(int n, int m, const double x[n], const double *data, const double w[2][4], double y[n][4])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double g, h;
        y[i][0] = rg_grad(misfit, (x[i], data, m, w), (&g, 0, 0, 0)) * g;
        y[i][1] = slope(x[i], data, m, w);
        rg_grad(slope, (x[i], data + 1, m - 1, w), (&h, 0, 0, 0));
        y[i][2] = h * g;
        y[i][3] = rg_jvp(slope, (x[i], data, m, w), (0.5, 0, 0, 0));
    }
}

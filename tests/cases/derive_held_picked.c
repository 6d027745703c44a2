// A function reads an array, of structs too, that its thread writes to before and after, through a pointer that may be another's;
// and what the pointer points to, at one place of the kernel's serial code and in a task.
// args: n=4 flag=1 x[4]=0.4,-0.3,0.9,0.2 y[4]=0.5,0.7,-0.7,0.2 z[4]=0.3,-0.2,0.8,1.1 s.at[4]=0.2,0.4,0.6,-0.3 s.by[4]=1.5,0.5,0.8,1.2 out[4]=0
// split: refused
// skip: gcc
#include <math.h>
#include <retrograd/kernel.h>

struct spring {
    double at, by;
};

static double
stretch(double x, const double *y, const struct spring *s, int first, int end)
{
    double sum = 0.0;
    for (int k = first; k < end; k++)
        sum += sin(x * y[k]) * y[k] * s[k].by + s[k].at * x * x;
    return sum;
}

void
derive_held_picked(int n, int flag, const double x[n], double y[n], double z[n], struct spring s[n], double out[n])
{
    double *p = y, g;
    if (flag)
        p = z;
    rg_grad(stretch, (x[0], p, s, 0, n), (&g, 0, 0, 0, 0));
    z[1] += g;
    rg_grad(stretch, (g, p, s, 0, n), (&g, 0, 0, 0, 0));
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double h;
        p[i] = 0.5 * x[i] * p[i];
        s[i].by *= p[i];
        rg_grad(stretch, (x[i], y, s, i, i + 1), (&h, 0, 0, 0, 0));
        out[i] = h * g;
        p[i] += 0.5 * x[i] * h;
        rg_grad(stretch, (x[i], p, s, i, i + 1), (&h, 0, 0, 0, 0));
        out[i] += h;
        z[i] *= 1.0 + h;
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        s[i].at = out[i] * s[i].by;
        y[i] += z[i] * z[i];
    }
}

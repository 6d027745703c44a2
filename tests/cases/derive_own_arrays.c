// A linear solve with its own reverse: the adjoint of b is another solve, with the transpose. Cramer's rule stands
// for a solver whose steps one would not want to unwind.
// args: n=2 a[2]=3.5,-2.25 y[2]=0 z[2]=0
// seed: y=1,2 z=0.5,-1
// skip: gcc
#include <math.h>
#include <retrograd/kernel.h>

static void
solve(const double m[2][2], const double b[2], double x[2])
{
    double det = m[0][0] * m[1][1] - m[0][1] * m[1][0];
    x[0] = (b[0] * m[1][1] - m[0][1] * b[1]) / det;
    x[1] = (m[0][0] * b[1] - b[0] * m[1][0]) / det;
}

static void
solve_vjp(const double m[2][2], const double b[2], const double x[2], double gm[2][2], double gb[2],
          double gx[2])
{
    double t[2][2] = {{m[0][0], m[1][0]}, {m[0][1], m[1][1]}}, u[2];
    solve(t, gx, u);
    for (int i = 0; i < 2; i++) {
        gb[i] = u[i];
        for (int k = 0; k < 2; k++)
            gm[i][k] = -u[i] * x[k];
        gx[i] = 0.0;
    }
}
RG_CUSTOM_VJP(solve, solve_vjp);

static double
energy(double a, const double b[2])
{
    double m[2][2] = {{a, 0.5}, {sin(a), 2.0}}, x[2];
    solve(m, b, x);
    return x[0] * x[1] + x[0];
}

void
derive_own_arrays(int n, const double a[n], double y[n], double z[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double b[2] = {a[i] * a[i], 1.0}, gb[2], ga;
        y[i] = energy(a[i], b);
        rg_grad(energy, (a[i], b), (&ga, gb));
        z[i] = ga * gb[0] + gb[1];
    }
}

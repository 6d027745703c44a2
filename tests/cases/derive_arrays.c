// Gradients by local arrays, by rows of a kernel's array, by a flat pointer, by structs and by what a pointer
// into the middle of an array points to.
// args: n=3 x[3][4]=0.3,-0.7,1.1,0.4,0.9,0.2,-0.5,1.3,0.6,0.8,-0.2,0.1 flat[12]=0.5,0.1,-0.3,0.7 y[3][6]=0
// seed: y=1,0.5,-0.25,2,0.75,-1
// skip: gcc
#include <math.h>
#include <retrograd/kernel.h>

struct pair {
    double a;
    int times;
    double b[2];
};

static double
product(const double *p, int n)
{
    double v = 1.0;
    for (int i = 0; i < n; i++)
        v *= p[i] + sin(p[(i + 1) % n]);
    return v;
}

static double
around(const double p[], double scale)
{
    return p[0] * p[1] * scale + cos(p[0]);
}

static double
weigh(struct pair s, const struct pair *t)
{
    double v = s.a * t->b[1];
    for (int i = 0; i < s.times; i++)
        v += sin(v) * s.b[i % 2] + t->a * v;
    return v;
}

static double
plane(double m[2][2])
{
    return m[0][0] * m[1][1] - exp(m[0][1]) * m[1][0];
}

void
derive_arrays(int n, const double x[n][4], const double *flat, double y[n][6])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double g[4], h[2], e[8] = {0}, scale;
        double v = rg_grad(product, (x[i], 4), (g, 0));
        y[i][0] = v * g[i];
        rg_grad(around, (flat + 4 * i + 1, g[1]), (h, &scale));
        y[i][1] = h[0] * h[1] + scale;
        double local[5];
        for (int k = 0; k < 5; k++)
            local[k] = x[i][k % 4] * (k + 1);
        rg_grad(around, (&local[i + 1], 0.5), (e + 2, 0));
        y[i][2] = e[2] + 2.0 * e[3] + e[4];
        struct pair s = {x[i][0], i, {x[i][1], x[i][2]}}, t = {0.1, 0, {0.2, x[i][3]}}, gs, gt;
        rg_grad(weigh, (s, &t), (&gs, &gt));
        y[i][3] = gs.a * gs.b[0] + gs.b[1] + gt.a * gt.b[1];
        struct pair along = {1.0, 0, {0.5, 0.25}};
        y[i][4] = rg_jvp(weigh, (s, &t), (along, &gt));
        double m[2][2] = {{x[i][0], x[i][1]}, {x[i][2], x[i][3]}}, d[2][2];
        rg_grad(plane, (m), (d));
        y[i][5] = d[0][0] + d[0][1] * d[1][0] + d[1][1];
    }
}

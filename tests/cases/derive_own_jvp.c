// Own forward derivatives: alone, where the reverse is their transpose; and beside an own reverse.
// args: n=3 a[3]=0.3,1.7,4.5 y[3]=0 z[3]=0
// seed: y=1,-0.5,2 z=1,1,1
// skip: gcc
#include <math.h>
#include <retrograd/kernel.h>

static double
angle(double y, const double x[1], int sign)
{
    return sign * atan2(y, x[0]);
}

static double
angle_jvp(double y, const double x[1], int sign, double value, double ty, const double tx[1])
{
    return sign * (x[0] * ty - y * tx[0]) / (x[0] * x[0] + y * y);
}
RG_CUSTOM_JVP(angle, angle_jvp);

static float
cube(float x)
{
    return x * x * x;
}

static void
cube_vjp(float x, float value, float seed, float *gx)
{
    *gx += seed * 3.0f * x * x;
}

static float
cube_jvp(float x, float value, float tx)
{
    return 3.0f * x * x * tx;
}
RG_CUSTOM_VJP(cube, cube_vjp);
RG_CUSTOM_JVP(cube, cube_jvp);

static double
both(double a, double b)
{
    double x[1] = {b};
    return angle(a, x, -2) * cube((float)b);
}

void
derive_own_jvp(int n, const double a[n], double y[n], double z[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double ga, gb;
        y[i] = both(a[i], 0.5 * a[i] + 1.0);
        rg_grad(both, (a[i], 1.5), (&ga, &gb));
        z[i] = ga + gb * gb;
    }
}

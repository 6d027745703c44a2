// A charged particle falls through a field, the gradient of a potential, until it meets the ground; how far from 0
// that is depends on a charge's place w, which gradient descent moves. Outer and inner derivatives by reverse and
// forward mode, all four ways: a gradient in a loop without a bound, differentiated in a loop without a bound.
// args: n=1 start[1]=0 best[1][4]=0 landing[1]=0
// expect: landing=3.199079002508199 best=0.2071918746486116,0.2071918746486116,0.2071918746486116,0.2071918746486116
// skip: gcc fd second duality directions
// tol: 1e-8
#include <math.h>
#include <retrograd/kernel.h>

static double
potential(double x, double y, double w)
{
    double a = x - 10.0, b = y - (10.0 - w);
    return 1.0 / sqrt(a * a + b * b) + 1.0 / sqrt(a * a + y * y);
}

#define LANDING(name, GRADIENT)                                                                    \
    static double name(double w)                                                                   \
    {                                                                                              \
        double x = 0.0, y = 8.0, vx = 0.75, vy = 0.0, dt = 0.1;                                    \
        for (;;) {                                                                                 \
            double gx, gy;                                                                         \
            GRADIENT(x, y, w);                                                                     \
            x += dt * vx;                                                                          \
            y += dt * vy;                                                                          \
            if (y <= 0.0) {                                                                        \
                double t = -y / vy, at = x + t * vx;                                               \
                return at * at;                                                                    \
            }                                                                                      \
            vx -= dt * gx;                                                                         \
            vy -= dt * gy;                                                                         \
        }                                                                                          \
    }
#define BY_REVERSE(x, y, w) rg_grad(potential, (x, y, w), (&gx, &gy, 0))
#define BY_FORWARD(x, y, w)                                                                        \
    gx = rg_jvp(potential, (x, y, w), (1, 0, 0)), gy = rg_jvp(potential, (x, y, w), (0, 1, 0))
LANDING(land_r, BY_REVERSE)
LANDING(land_f, BY_FORWARD)

#define DESCENT(name, f, SLOPE)                                                                    \
    static double name(double w)                                                                   \
    {                                                                                              \
        double value = f(w), g, eta = 1e-5;                                                        \
        int improved = 0;                                                                          \
        SLOPE(f, w);                                                                               \
        for (;;) {                                                                                 \
            if (fabs(g) <= 1e-5)                                                                   \
                return w;                                                                          \
            if (improved == 10) {                                                                  \
                eta *= 2.0;                                                                        \
                improved = 0;                                                                      \
                continue;                                                                          \
            }                                                                                      \
            double next = w - eta * g;                                                             \
            if (fabs(w - next) <= 1e-5)                                                            \
                return w;                                                                          \
            double there = f(next);                                                                \
            if (there < value) {                                                                   \
                w = next;                                                                          \
                value = there;                                                                     \
                SLOPE(f, w);                                                                       \
                improved++;                                                                        \
            } else {                                                                               \
                eta /= 2.0;                                                                        \
                improved = 0;                                                                      \
            }                                                                                      \
        }                                                                                          \
    }
#define SLOPE_REVERSE(f, w) rg_grad(f, (w), (&g))
#define SLOPE_FORWARD(f, w) g = rg_jvp(f, (w), (1))
DESCENT(descend_rr, land_r, SLOPE_REVERSE)
DESCENT(descend_rf, land_f, SLOPE_REVERSE)
DESCENT(descend_fr, land_r, SLOPE_FORWARD)
DESCENT(descend_ff, land_f, SLOPE_FORWARD)

void
derive_particle(int n, const double start[n], double best[n][4], double landing[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        landing[i] = land_r(start[i]);
        best[i][0] = descend_rr(start[i]);
        best[i][1] = descend_rf(start[i]);
        best[i][2] = descend_fr(start[i]);
        best[i][3] = descend_ff(start[i]);
    }
}

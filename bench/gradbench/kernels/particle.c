/* particle: where a charge must stand so that a particle that falls through the field lands at 0. The field
 * is the gradient of a potential, in a loop without a bound; gradient descent differentiates that loop, in
 * one without a bound. Names end with the outer and the inner mode: reverse, forward.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <retrograd/kernel.h>

static double
potential(double x, double y, double w)
{
    double a = x - 10.0, b = y - (10.0 - w);
    return 1.0 / sqrt(a * a + b * b) + 1.0 / sqrt(a * a + y * y);
}

static void
field_r(double x, double y, double w, double g[2])
{
    rg_grad(potential, (x, y, w), (&g[0], &g[1], 0));
}

static void
field_f(double x, double y, double w, double g[2])
{
    g[0] = rg_jvp(potential, (x, y, w), (1.0, 0.0, 0));
    g[1] = rg_jvp(potential, (x, y, w), (0.0, 1.0, 0));
}

/* the square of the place where the particle meets the ground */
#define LANDING(name, field)                                                                       \
    static double name(double w)                                                                   \
    {                                                                                              \
        double x = 0.0, y = 8.0, vx = 0.75, vy = 0.0, dt = 0.1, g[2];                              \
        for (;;) {                                                                                 \
            field(x, y, w, g);                                                                     \
            x += dt * vx;                                                                          \
            y += dt * vy;                                                                          \
            if (y <= 0.0) {                                                                        \
                double landed = x - y / vy * vx;                                                   \
                return landed * landed;                                                            \
            }                                                                                      \
            vx -= dt * g[0];                                                                       \
            vy -= dt * g[1];                                                                       \
        }                                                                                          \
    }
LANDING(land_r, field_r)
LANDING(land_f, field_f)

#define SLOPE_R(name, f)                                                                           \
    static double name(double w)                                                                   \
    {                                                                                              \
        double g;                                                                                  \
        rg_grad(f, (w), (&g));                                                                     \
        return g;                                                                                  \
    }
#define SLOPE_F(name, f)                                                                           \
    static double name(double w)                                                                   \
    {                                                                                              \
        return rg_jvp(f, (w), (1.0));                                                              \
    }
SLOPE_R(slope_rr, land_r)
SLOPE_R(slope_rf, land_f)
SLOPE_F(slope_fr, land_r)
SLOPE_F(slope_ff, land_f)

/* steps grow after ten good ones and shrink after a bad one */
#define DESCENT(name, f, slope)                                                                    \
    static double name(double w)                                                                   \
    {                                                                                              \
        double value = f(w), g = slope(w), rate = 1e-5;                                            \
        int good = 0;                                                                              \
        while (fabs(g) > 1e-5) {                                                                   \
            if (good == 10) {                                                                      \
                rate *= 2.0;                                                                       \
                good = 0;                                                                          \
                continue;                                                                          \
            }                                                                                      \
            double next = w - rate * g;                                                            \
            if (fabs(w - next) <= 1e-5)                                                            \
                break;                                                                             \
            double there = f(next);                                                                \
            if (there < value) {                                                                   \
                w = next;                                                                          \
                value = there;                                                                     \
                g = slope(w);                                                                      \
                good++;                                                                            \
            } else {                                                                               \
                rate /= 2.0;                                                                       \
                good = 0;                                                                          \
            }                                                                                      \
        }                                                                                          \
        return w;                                                                                  \
    }
DESCENT(descend_rr, land_r, slope_rr)
DESCENT(descend_rf, land_f, slope_rf)
DESCENT(descend_fr, land_r, slope_fr)
DESCENT(descend_ff, land_f, slope_ff)

// kernel: particle_rr
// args: start[1]=0 best[1]=0
// expect: best=0.2071918746486116
// skip: gcc fd second duality
// tol: 1e-10
void
particle_rr(const double start[1], double best[1])
{
    best[0] = descend_rr(start[0]);
}

// kernel: particle_rf
// args: start[1]=0 best[1]=0
// expect: best=0.2071918746486116
// skip: gcc fd second duality
// tol: 1e-10
void
particle_rf(const double start[1], double best[1])
{
    best[0] = descend_rf(start[0]);
}

// kernel: particle_fr
// args: start[1]=0 best[1]=0
// expect: best=0.2071918746486116
// skip: gcc fd second duality
// tol: 1e-10
void
particle_fr(const double start[1], double best[1])
{
    best[0] = descend_fr(start[0]);
}

// kernel: particle_ff
// args: start[1]=0 best[1]=0
// expect: best=0.2071918746486116
// skip: gcc fd second duality
// tol: 1e-10
void
particle_ff(const double start[1], double best[1])
{
    best[0] = descend_ff(start[0]);
}

/* saddle: the p whose greatest height over all q is least, and that q. Gradient descent on p differentiates
 * all of a gradient descent on q. Names end with the outer and the inner mode: reverse, forward.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <retrograd/kernel.h>

static double
height(const double p[2], const double q[2])
{
    return p[0] * p[0] + p[1] * p[1] - (q[0] * q[0] + q[1] * q[1]);
}

/* what the descent on q makes least */
static double
depth(const double q[2], const double p[2])
{
    return -height(p, q);
}

#define SLOPE_R(name, f)                                                                           \
    static void name(const double at[2], const double other[2], double g[2])                       \
    {                                                                                              \
        rg_grad(f, (at, other), (g, 0));                                                           \
    }
#define SLOPE_F(name, f)                                                                           \
    static void name(const double at[2], const double other[2], double g[2])                       \
    {                                                                                              \
        double right[2] = {1.0, 0.0}, up[2] = {0.0, 1.0};                                          \
        g[0] = rg_jvp(f, (at, other), (right, 0));                                                 \
        g[1] = rg_jvp(f, (at, other), (up, 0));                                                    \
    }

/* Moves `at` to where f(at, other) is least: steps grow after ten good ones and shrink after a bad one. */
#define DESCENT(name, f, slope)                                                                    \
    static void name(double at[2], const double other[2])                                          \
    {                                                                                              \
        double value = f(at, other), g[2], rate = 1e-5;                                            \
        int good = 0;                                                                              \
        slope(at, other, g);                                                                       \
        while (hypot(g[0], g[1]) > 1e-5) {                                                         \
            if (good == 10) {                                                                      \
                rate *= 2.0;                                                                       \
                good = 0;                                                                          \
                continue;                                                                          \
            }                                                                                      \
            double next[2] = {at[0] - rate * g[0], at[1] - rate * g[1]};                           \
            if (hypot(at[0] - next[0], at[1] - next[1]) <= 1e-5)                                   \
                break;                                                                             \
            double there = f(next, other);                                                         \
            if (there < value) {                                                                   \
                at[0] = next[0];                                                                   \
                at[1] = next[1];                                                                   \
                value = there;                                                                     \
                slope(at, other, g);                                                               \
                good++;                                                                            \
            } else {                                                                               \
                rate /= 2.0;                                                                       \
                good = 0;                                                                          \
            }                                                                                      \
        }                                                                                          \
    }

#define GREATEST(name, descend)                                                                    \
    static double name(const double p[2], const double start[2])                                   \
    {                                                                                              \
        double q[2] = {start[0], start[1]};                                                        \
        descend(q, p);                                                                             \
        return height(p, q);                                                                       \
    }

SLOPE_R(inner_slope_r, depth)
SLOPE_F(inner_slope_f, depth)
DESCENT(inner_r, depth, inner_slope_r)
DESCENT(inner_f, depth, inner_slope_f)
GREATEST(greatest_r, inner_r)
GREATEST(greatest_f, inner_f)
SLOPE_R(slope_rr, greatest_r)
SLOPE_R(slope_rf, greatest_f)
SLOPE_F(slope_fr, greatest_r)
SLOPE_F(slope_ff, greatest_f)
DESCENT(outer_rr, greatest_r, slope_rr)
DESCENT(outer_rf, greatest_f, slope_rf)
DESCENT(outer_fr, greatest_r, slope_fr)
DESCENT(outer_ff, greatest_f, slope_ff)

#define SADDLE(name, outer, inner)                                                                 \
    static void name(const double start[2], double best[4])                                        \
    {                                                                                              \
        double from[2] = {start[0], start[1]}, p[2] = {from[0], from[1]}, q[2] = {from[0], from[1]}; \
        outer(p, from);                                                                            \
        inner(q, p);                                                                               \
        best[0] = p[0];                                                                            \
        best[1] = p[1];                                                                            \
        best[2] = q[0];                                                                            \
        best[3] = q[1];                                                                            \
    }
SADDLE(find_rr, outer_rr, inner_r)
SADDLE(find_rf, outer_rf, inner_f)
SADDLE(find_fr, outer_fr, inner_r)
SADDLE(find_ff, outer_ff, inner_f)

// kernel: saddle_rr
// args: start[2]=1 best[4]=0
// expect: best=8.246324826140356e-06
// skip: gcc fd second duality
// tol: 1e-14
void
saddle_rr(const double start[2], double best[4])
{
    find_rr(start, best);
}

// kernel: saddle_rf
// args: start[2]=1 best[4]=0
// expect: best=8.246324826140356e-06
// skip: gcc fd second duality
// tol: 1e-14
void
saddle_rf(const double start[2], double best[4])
{
    find_rf(start, best);
}

// kernel: saddle_fr
// args: start[2]=1 best[4]=0
// expect: best=8.246324826140356e-06
// skip: gcc fd second duality
// tol: 1e-14
void
saddle_fr(const double start[2], double best[4])
{
    find_fr(start, best);
}

// kernel: saddle_ff
// args: start[2]=1 best[4]=0
// expect: best=8.246324826140356e-06
// skip: gcc fd second duality
// tol: 1e-14
void
saddle_ff(const double start[2], double best[4])
{
    find_ff(start, best);
}

// The least of the greatest: gradient descent on p1, whose function is a gradient ascent on p2, through which the
// outer gradient goes. Outer and inner derivatives by reverse and forward mode, all four ways.
// args: n=1 start[1][2]=1 best[1][4][4]=0
// expect: best=8.246324826140356e-06
// skip: gcc fd second duality
// tol: 1e-8
#include <math.h>
#include <retrograd/kernel.h>

static double
height(const double p[2], const double q[2])
{
    return p[0] * p[0] + p[1] * p[1] - (q[0] * q[0] + q[1] * q[1]);
}

/* gradient descent of f(p, other) over p[2], from where p stands */
#define DESCENT(f, p, other, SLOPE)                                                                \
    do {                                                                                           \
        double value = f(p, other), eta = 1e-5, g[2];                                              \
        int improved = 0;                                                                          \
        SLOPE(f, p, other);                                                                        \
        for (;;) {                                                                                 \
            if (sqrt(g[0] * g[0] + g[1] * g[1]) <= 1e-5)                                           \
                break;                                                                             \
            if (improved == 10) {                                                                  \
                eta *= 2.0;                                                                        \
                improved = 0;                                                                      \
                continue;                                                                          \
            }                                                                                      \
            double next[2] = {p[0] - eta * g[0], p[1] - eta * g[1]};                               \
            double dx = p[0] - next[0], dy = p[1] - next[1];                                       \
            if (sqrt(dx * dx + dy * dy) <= 1e-5)                                                   \
                break;                                                                             \
            double there = f(next, other);                                                         \
            if (there < value) {                                                                   \
                p[0] = next[0];                                                                    \
                p[1] = next[1];                                                                    \
                value = there;                                                                     \
                SLOPE(f, p, other);                                                                \
                improved++;                                                                        \
            } else {                                                                               \
                eta /= 2.0;                                                                        \
                improved = 0;                                                                      \
            }                                                                                      \
        }                                                                                          \
    } while (0)

#define BY_REVERSE(f, p, other) rg_grad(f, (p, other), (g, 0))
#define BY_FORWARD(f, p, other)                                                                    \
    do {                                                                                           \
        double along[2] = {1.0, 0.0}, across[2] = {0.0, 1.0};                                      \
        g[0] = rg_jvp(f, (p, other), (along, 0));                                                  \
        g[1] = rg_jvp(f, (p, other), (across, 0));                                                 \
    } while (0)

/* minus the height, as a function of q */
static double
depth(const double q[2], const double p[2])
{
    return -height(p, q);
}

#define GREATEST(name, SLOPE)                                                                      \
    static double name(const double p[2], const double start[2])                                   \
    {                                                                                              \
        double q[2] = {start[0], start[1]};                                                        \
        DESCENT(depth, q, p, SLOPE);                                                               \
        return height(p, q);                                                                       \
    }
GREATEST(greatest_r, BY_REVERSE)
GREATEST(greatest_f, BY_FORWARD)

#define SADDLE(name, greatest, OUTER, INNER)                                                       \
    static void name(const double start[2], double best[4])                                        \
    {                                                                                              \
        double p[2] = {start[0], start[1]}, q[2] = {start[0], start[1]};                           \
        DESCENT(greatest, p, start, OUTER);                                                        \
        DESCENT(depth, q, p, INNER);                                                               \
        best[0] = p[0];                                                                            \
        best[1] = p[1];                                                                            \
        best[2] = q[0];                                                                            \
        best[3] = q[1];                                                                            \
    }
SADDLE(saddle_rr, greatest_r, BY_REVERSE, BY_REVERSE)
SADDLE(saddle_rf, greatest_f, BY_REVERSE, BY_FORWARD)
SADDLE(saddle_fr, greatest_r, BY_FORWARD, BY_REVERSE)
SADDLE(saddle_ff, greatest_f, BY_FORWARD, BY_FORWARD)

void
derive_saddle(int n, const double start[n][2], double best[n][4][4])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double from[2] = {start[i][0], start[i][1]};
        saddle_rr(from, best[i][0]);
        saddle_rf(from, best[i][1]);
        saddle_fr(from, best[i][2]);
        saddle_ff(from, best[i][3]);
    }
}

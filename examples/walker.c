/* A soft robot on uneven ground: masses, springs that are muscles, and feet that hit the ground at a
 * time of impact which a loop finds. One kernel is the whole simulation. Plain C: gcc -fopenmp compiles
 * it too. SPDX-License-Identifier: Apache-2.0 */
// A triangle that lands on the ground, for the test of cases:
// kernel: walk
// split: any
// args: steps=6 n=3 links=6 muscles=3 waves=2 first[4]=0,2,4,6 other[6]=1,2,0,2,0,1 muscle[6]=0,1,0,2,1,2
// args: rest[3]=0.1 reach[3]=0.2 weight[3][3]=0.3,-0.2,0.1,0.4,0.5,-0.3 pull[6][3]=0 loss[1]=0
// args: x[7][3][2]=0,0.03,0.1,0.02,0.05,0.11,0 v[7][3][2]=0.2,-3,0.1,-3.1,0.3,-3,0
#include <math.h>

static const double time_step = 0.004, stiffness = 9000.0, drag = 12.0, gravity = 9.8, grip = 0.05;

static double
ground(double x)
{
    return 0.02 * sin(7.0 * x);
}

static double
slope(double x)
{
    return 0.14 * cos(7.0 * x);
}

/* How long a mass at (x, y) with this velocity flies before it is in the ground: at most time_step.
 * A secant gives the first guess, Newton's method the rest. */
static double
time_of_impact(double x, double y, double vx, double vy)
{
    double before = y - ground(x);
    double after = y + time_step * vy - ground(x + time_step * vx);
    if (after > 0.0)
        return time_step;
    if (before <= 0.0)
        return 0.0;
    double t = time_step * before / (before - after), gap;
    while (fabs(gap = y + t * vy - ground(x + t * vx)) > 1e-12)
        t -= gap / (vy - slope(x + t * vx) * vx);
    return fmin(fmax(t, 0.0), time_step);
}

/* links: the springs of mass i are number first[i] .. first[i + 1] - 1, to mass other[k], driven by
 * muscle[k]. rest: lengths; reach: how much of it a muscle can add or take away; weight[m]: a muscle's
 * amplitudes of the waves, then its offset. pull: the muscles' lengths, x, v: the masses, at every
 * moment. */
void
walk(int steps, int n, int links, int muscles, int waves, const int first[n + 1], const int other[links],
     const int muscle[links], const double rest[muscles], const double reach[muscles],
     const double weight[muscles][waves + 1],
     double pull[steps][muscles], double x[steps + 1][n][2], double v[steps + 1][n][2], double loss[1])
{
    #pragma omp parallel for collapse(2)
    for (int t = 0; t < steps; t++)
        for (int m = 0; m < muscles; m++) {
            double s = weight[m][waves];
            for (int k = 0; k < waves; k++)
                s += weight[m][k] * sin(12.0 * time_step * t + 6.283185307179586 * k / waves);
            pull[t][m] = rest[m] * (1.0 + reach[m] * tanh(s));
        }
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            double px = x[t][i][0], py = x[t][i][1], fx = 0.0, fy = -gravity;
            for (int k = first[i]; k < first[i + 1]; k++) {
                double dx = x[t][other[k]][0] - px, dy = x[t][other[k]][1] - py;
                double length = sqrt(dx * dx + dy * dy);
                double f = stiffness * (length - pull[t][muscle[k]]) / length;
                fx += f * dx;
                fy += f * dy;
            }
            double keep = exp(-drag * time_step);
            double vx = keep * v[t][i][0] + time_step * fx, vy = keep * v[t][i][1] + time_step * fy;
            double fly = time_of_impact(px, py, vx, vy);
            px += fly * vx;
            py += fly * vy;
            if (fly < time_step) {
                /* in the ground's frame: what goes into it is lost, what goes along it mostly too */
                double tangent = slope(px), size = 1.0 / sqrt(1.0 + tangent * tangent);
                double along = grip * (vx + tangent * vy) * size;
                double away = fmax((vy - tangent * vx) * size, 0.0);
                vx = (along - tangent * away) * size;
                vy = (tangent * along + away) * size;
                px += (time_step - fly) * vx;
                py += (time_step - fly) * vy;
            }
            x[t + 1][i][0] = px;
            x[t + 1][i][1] = py;
            v[t + 1][i][0] = vx;
            v[t + 1][i][1] = vy;
        }
    }
    double sum = 0.0;
    #pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += x[steps][i][0];
    loss[0] = -sum / n;
}

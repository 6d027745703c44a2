/* SPDX-License-Identifier: Apache-2.0 */
#include "../unseen.h"

#include <math.h>

void kepler(int satellites, int times, const double *elements, const double *time, double *position);

enum { MOST = 30 };

void
make_kepler(bench_problem *p, double scale)
{
    int satellites = bench_count(800 * scale), times = 40;
    bench_int(p, "satellites", satellites);
    bench_int(p, "times", times);
    double *el = bench_array(p, "elements", RG_F64, 6 * satellites, 0, 0.0, 1.0)->initial;
    for (int s = 0; s < satellites; s++, el += 6) {
        el[0] = 1.1 + 3.0 * el[0];
        el[1] = 0.01 + 0.7 * el[1];
        for (int k = 2; k < 6; k++)
            el[k] *= 3.0;
    }
    bench_array(p, "time", RG_F64, times, 0, 0.0, 200.0);
    bench_output(p, "position", RG_F64, 3 * satellites * times, 0);
}

void
forward_kepler(void *const *data)
{
    kepler(INT(0), INT(1), data[2], data[3], data[4]);
}

void
hand_kepler(void *const *data, void *const *adjoint)
{
    int satellites = INT(0), times = INT(1);
    const double *time = data[3];
    double *time_a = adjoint[3];
    double kept_sin[MOST], kept_step[MOST], kept_slope[MOST], kept_cos[MOST];
    int most = 0;
    for (int s = 0; s < satellites; s++) {
        const double *el = (const double *)data[2] + 6 * s;
        double *el_a = (double *)adjoint[2] + 6 * s;
        double a = el[0], e = el[1], ci = cos(el[2]), si = sin(el[2]);
        double n = sqrt(1.0 / (a * a * a)), root = sqrt(1.0 - e * e), p = a * (1.0 - e * e);
        double k = 1.5 * 1.08262668e-3 * n / (p * p);
        double perigee_part = 2.0 - 2.5 * si * si, mean_part = 1.0 - 1.5 * si * si;
        double node_rate = -k * ci, perigee_rate = k * perigee_part, mean_rate = n + k * root * mean_part;
        double a_a = 0.0, e_a = 0.0, ci_a = 0.0, si_a = 0.0, root_a = 0.0;
        double node_rate_a = 0.0, perigee_rate_a = 0.0, mean_rate_a = 0.0, sums[3] = {0};
        for (int t = 0; t < times; t++) {
            double node = el[3] + node_rate * time[t], perigee = el[4] + perigee_rate * time[t];
            double mean = fmod(el[5] + mean_rate * time[t], 2.0 * M_PI), anomaly = e < 0.8 ? mean : M_PI;
            int count = 0;
            while (count < MOST) {
                double sine = sin(anomaly), cosine = cos(anomaly), slope = 1.0 - e * cosine;
                double step = (anomaly - e * sine - mean) / slope;
                kept_sin[count] = sine;
                kept_cos[count] = cosine;
                kept_slope[count] = slope;
                kept_step[count++] = step;
                anomaly -= step;
                if (fabs(step) < 1e-11)
                    break;
            }
            most = count > most ? count : most;
            double sine = sin(anomaly), cosine = cos(anomaly), xp = a * (cosine - e), yp = a * root * sine;
            double cw = cos(perigee), sw = sin(perigee), cn = cos(node), sn = sin(node);
            double x = xp * cw - yp * sw, y = xp * sw + yp * cw;
            double *out = (double *)data[4] + 3 * (s * times + t), *o = (double *)adjoint[4] + 3 * (s * times + t);
            out[0] = x * cn - y * ci * sn;
            out[1] = x * sn + y * ci * cn;
            out[2] = y * si;

            double across = o[1] * cn - o[0] * sn, x_a = o[0] * cn + o[1] * sn, y_a = ci * across + o[2] * si;
            double node_a = o[1] * out[0] - o[0] * out[1];
            ci_a += y * across;
            si_a += y * o[2];
            o[0] = o[1] = o[2] = 0.0;
            double xp_a = x_a * cw + y_a * sw, yp_a = y_a * cw - x_a * sw, perigee_a = y_a * x - x_a * y;
            a_a += xp_a * (cosine - e) + yp_a * root * sine;
            e_a -= xp_a * a;
            root_a += yp_a * a * sine;
            double anomaly_a = a * (yp_a * root * cosine - xp_a * sine), mean_a = 0.0;
            while (--count >= 0) {
                double f_a = -anomaly_a / kept_slope[count], slope_a = -f_a * kept_step[count];
                e_a -= f_a * kept_sin[count] + slope_a * kept_cos[count];
                mean_a -= f_a;
                anomaly_a = slope_a * e * kept_sin[count]; /* f's slope cancels the step's 1 */
            }
            if (e < 0.8)
                mean_a += anomaly_a;
            sums[0] += node_a;
            sums[1] += perigee_a;
            sums[2] += mean_a;
            node_rate_a += node_a * time[t];
            perigee_rate_a += perigee_a * time[t];
            mean_rate_a += mean_a * time[t];
            time_a[t] += node_a * node_rate + perigee_a * perigee_rate + mean_a * mean_rate;
        }
        double k_a = perigee_rate_a * perigee_part + mean_rate_a * root * mean_part - node_rate_a * ci;
        ci_a -= k * node_rate_a;
        si_a -= si * k * (5.0 * perigee_rate_a + 3.0 * root * mean_rate_a);
        root_a += mean_rate_a * k * mean_part;
        double n_a = mean_rate_a + k_a * k / n, p_a = -2.0 * k_a * k / p;
        el_a[0] += a_a + p_a * (1.0 - e * e) - 1.5 * n / a * n_a;
        el_a[1] += e_a - 2.0 * a * e * p_a - root_a * e / root;
        el_a[2] += si_a * ci - ci_a * si;
        for (int r = 0; r < 3; r++)
            el_a[3 + r] += sums[r];
    }
    hand_kept = 4 * sizeof(double) * (size_t)most;
}

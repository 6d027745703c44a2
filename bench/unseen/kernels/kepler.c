/* Positions of satellites from their mean elements, with the drifts that the earth's oblateness causes. Elements: semi-major
 * axis (earth radii), eccentricity, inclination, right ascension of the node, argument of perigee, mean anomaly at time 0.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#define MU 1.0
#define J2 1.08262668e-3

void
kepler(int satellites, int times, const double *elements, const double *time, double *position)
{
    #pragma omp parallel for
    for (int s = 0; s < satellites; s++) {
        const double *el = &elements[6 * s];
        double a = el[0], e = el[1], inclination = el[2];
        double n = sqrt(MU / (a * a * a));
        double p = a * (1.0 - e * e);
        double ci = cos(inclination), si = sin(inclination);
        double k = 1.5 * J2 * n / (p * p);
        double node_rate = -k * ci;
        double perigee_rate = k * (2.0 - 2.5 * si * si);
        double mean_rate = n + k * sqrt(1.0 - e * e) * (1.0 - 1.5 * si * si);
        for (int t = 0; t < times; t++) {
            double node = el[3] + node_rate * time[t];
            double perigee = el[4] + perigee_rate * time[t];
            double mean = fmod(el[5] + mean_rate * time[t], 2.0 * M_PI);
            double anomaly = e < 0.8 ? mean : M_PI;
            for (int iteration = 0; iteration < 30; iteration++) {
                double f = anomaly - e * sin(anomaly) - mean;
                double step = f / (1.0 - e * cos(anomaly));
                anomaly -= step;
                if (fabs(step) < 1e-11)
                    break;
            }
            double xp = a * (cos(anomaly) - e);
            double yp = a * sqrt(1.0 - e * e) * sin(anomaly);
            double cw = cos(perigee), sw = sin(perigee), cn = cos(node), sn = sin(node);
            double x = xp * cw - yp * sw, y = xp * sw + yp * cw;
            double *out = &position[3 * (s * times + t)];
            out[0] = x * cn - y * ci * sn;
            out[1] = x * sn + y * ci * cn;
            out[2] = y * si;
        }
    }
}

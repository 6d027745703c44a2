/* Positions of satellites from their mean elements, with the drifts that the earth's oblateness causes. Elements: semi-major
 * axis (earth radii), eccentricity, inclination, right ascension of the node, argument of perigee, mean anomaly at time 0.
 * SPDX-License-Identifier: Apache-2.0 */
#include "../both.h"

#define MU 1.0f
#define J2 1.08262668e-3f
#define PI 3.14159265f

KERNEL
kepler(int satellites, int times, const float *restrict elements, const float *restrict time, float *restrict position)
{
    THREADS (s, 0, satellites) {
        const float *el = &elements[6 * s];
        float a = el[0], e = el[1], inclination = el[2];
        float n = sqrtf(MU / (a * a * a));
        float p = a * (1.0f - e * e);
        float ci = cosf(inclination), si = sinf(inclination);
        float k = 1.5f * J2 * n / (p * p);
        float node_rate = -k * ci;
        float perigee_rate = k * (2.0f - 2.5f * si * si);
        float mean_rate = n + k * sqrtf(1.0f - e * e) * (1.0f - 1.5f * si * si);
        for (int t = 0; t < times; t++) {
            float node = el[3] + node_rate * time[t];
            float perigee = el[4] + perigee_rate * time[t];
            float mean = fmodf(el[5] + mean_rate * time[t], 2.0f * PI);
            float anomaly = e < 0.8f ? mean : PI;
            for (int iteration = 0; iteration < 30; iteration++) {
                float f = anomaly - e * sinf(anomaly) - mean;
                float step = f / (1.0f - e * cosf(anomaly));
                anomaly -= step;
                if (fabsf(step) < 1e-5f)
                    break;
            }
            float xp = a * (cosf(anomaly) - e);
            float yp = a * sqrtf(1.0f - e * e) * sinf(anomaly);
            float cw = cosf(perigee), sw = sinf(perigee), cn = cosf(node), sn = sinf(node);
            float x = xp * cw - yp * sw, y = xp * sw + yp * cw;
            float *out = &position[3 * (s * times + t)];
            out[0] = x * cn - y * ci * sn;
            out[1] = x * sn + y * ci * cn;
            out[2] = y * si;
        }
    }
}

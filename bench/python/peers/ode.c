/* Van der Pol oscillators, x'' = mu (1 - x^2) x' - x, from time 0 to 10 by the pair of Bogacki and Shampine, orders 3 and 2, with
 * steps that an error estimate accepts or rejects, halves or doubles. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

static float force(float mu, float x, float y)
{
    return mu * (1.0f - x * x) * y - x;
}

void ode(int n, const float mu[n], const float start[2][n], float loss[1])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float x = start[0][i], y = start[1][i], t = 0.0f, next = 0.05f;
        while (t < 10.0f) {
            float h = fminf(next, 10.0f - t);
            float k1 = y, l1 = force(mu[i], x, y);
            float k2 = y + 0.5f * h * l1, l2 = force(mu[i], x + 0.5f * h * k1, k2);
            float k3 = y + 0.75f * h * l2, l3 = force(mu[i], x + 0.75f * h * k2, k3);
            float x_new = x + h * (2.0f / 9.0f * k1 + 1.0f / 3.0f * k2 + 4.0f / 9.0f * k3);
            float y_new = y + h * (2.0f / 9.0f * l1 + 1.0f / 3.0f * l2 + 4.0f / 9.0f * l3);
            float l4 = force(mu[i], x_new, y_new);
            float ex = h * (-5.0f / 72.0f * k1 + 1.0f / 12.0f * k2 + 1.0f / 9.0f * k3 - 0.125f * y_new);
            float ey = h * (-5.0f / 72.0f * l1 + 1.0f / 12.0f * l2 + 1.0f / 9.0f * l3 - 0.125f * l4);
            float sx = ex / (1e-4f + 1e-4f * fabsf(x)), sy = ey / (1e-4f + 1e-4f * fabsf(y));
            float error = 0.5f * (sx * sx + sy * sy);
            if (error <= 1.0f) {
                x = x_new;
                y = y_new;
                t += h;
            }
            next = error > 1.0f ? 0.5f * h : error < 0.01f ? 2.0f * h : h;
        }
        #pragma omp atomic
        loss[0] += (x * x + y * y) / n;
    }
}

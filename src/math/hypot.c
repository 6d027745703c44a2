/* hypot. SPDX-License-Identifier: Apache-2.0
 *
 * The root of the rounded sum of squares, and one step of Newton's with the sum's exact rest.
 * Powers of two keep squares away from the ends of the range. */
#include "math/rgm.h"

#include <stdbool.h>

double
rgm_hypot(double x, double y)
{
    double a = fabs(x), b = fabs(y);
    bool swapped = a < b;
    double large = swapped ? b : a, small = swapped ? a : b;
    bool huge = large > 0x1p500, tiny = large < 0x1p-400;
    double scale = huge   ? 0x1p-600
                   : tiny ? 0x1p600
                          : 1.0,
           back = huge   ? 0x1p600
                  : tiny ? 0x1p-600
                         : 1.0;
    double u = large * scale, v = small * scale, u2 = u * u, v2 = v * v;
    double root = sqrt(u2 + v2), root2 = root * root;
    double lost = fma(u, u, -u2) + fma(v, v, -v2) - fma(root, root, -root2);
    /* Half of 1 / root to three bits, by a difference of exponents. */
    double inverse = rgm_from_bits(0x7fce6c0000000000 - rgm_bits(root));
    double result = fma(u2 - root2 + v2 + lost, inverse, root) * back;
    return a == INFINITY || b == INFINITY ? INFINITY : result;
}

float
rgm_hypotf(float x, float y)
{
    double u = x, v = y;
    float result = (float)sqrt(fma(u, u, v * v));
    return fabsf(x) == INFINITY || fabsf(y) == INFINITY ? INFINITY : result;
}

/* cbrt. SPDX-License-Identifier: Apache-2.0
 *
 * Two steps of Newton's kind towards x^(-1/3), which need no division, from an exponent divided by
 * three; then the root x y^2 and one step with its cube's exact rest. */
#include "math/rgm.h"

#include <stdbool.h>

double
rgm_cbrt(double x)
{
    double size = fabs(x);
    bool tiny = size < 0x1p-900;
    double a = tiny ? size * 0x1p120 : size;
    /* A third of the upper half of the bits. */
    uint64_t third = (rgm_bits(a) >> 32) * 0xaaaaaaab >> 33;
    double y = rgm_from_bits((0x553ef0ff - third) << 32);
    double e = fma(-(a * y), y * y, 1.0);
    double p =
        fma(e, fma(e, fma(e, 0x1.2709b2bf62bep-3, 0x1.61f9add3c0ca4p-3), 0x1.c71c71c71c71cp-3),
            0x1.5555555555555p-2);
    y = fma(y, e * p, y);
    e = fma(-(a * y), y * y, 1.0);
    y = fma(y, e * fma(e, 0x1.c71c71c71c71cp-3, 0x1.5555555555555p-2), y);
    double y2 = y * y, root = a * y2, square = root * root;
    double rest = fma(-square, root, a) - fma(root, root, -square) * root;
    root = fma(rest * 0x1.5555555555555p-2, y2, root);
    root = tiny ? root * 0x1p-40 : root;
    return size < INFINITY ? copysign(root, x) : x + x;
}

/* Rounded once from double. */
float
rgm_cbrtf(float x)
{
    float size = fabsf(x);
    double a = size;
    uint64_t third = (rgm_bits(a) >> 32) * 0xaaaaaaab >> 33;
    double y = rgm_from_bits((0x553ef0ff - third) << 32);
    double e = fma(-(a * y), y * y, 1.0);
    double p =
        fma(e, fma(e, fma(e, 0x1.2709b2bf62bep-3, 0x1.61f9add3c0ca4p-3), 0x1.c71c71c71c71cp-3),
            0x1.5555555555555p-2);
    y = fma(y, e * p, y);
    e = fma(-(a * y), y * y, 1.0);
    y = fma(y, e * 0x1.5555555555555p-2, y);
    return size < INFINITY ? copysignf((float)(a * (y * y)), x) : x + x;
}

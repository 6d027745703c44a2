/* asinf acosf atanf atan2f. SPDX-License-Identifier: Apache-2.0
 *
 * As in arc.c, in float. */
#include "math/rgm.h"

#include <stdbool.h>

#define HALF_PIF     0x1.921fb6p0f
#define HALF_PIF_LOW -0x1.777a5cp-25f

/* quarters pi/2 + t + rest; |t| <= pi/2. */
static inline float
from_basef(float quarters, float t, float rest)
{
    float base = quarters * HALF_PIF, sum = base + t;
    return sum + (rest + fmaf(quarters, HALF_PIF_LOW, t - (sum - base)));
}

/* -- asinf and acosf --------------------------------------------------------------------------- */
typedef struct arcf {
    float t, rest;
    bool half;
} arcf;

static inline arcf
arc_sinef(float size)
{
    bool half = size > 0.5f;
    float s = half ? fmaf(size, -0.5f, 0.5f) : size * size;
    float root = sqrtf(s), t = half ? root : size;
    float inverse = rgm_from_bitsf(0x7e7312c8 - rgm_bitsf(root));
    float p = fmaf(s, 0x1.1ac0e4p-5f, 0x1.0fec3ap-6f);
    p = fmaf(s, p, 0x1.ffbd92p-6f);
    p = fmaf(s, p, 0x1.6d3e74p-5f);
    p = fmaf(s, p, 0x1.3334cep-4f);
    p = fmaf(s, p, 0x1.555554p-3f);
    float rest = t * s * p;
    return (arcf){t, half ? fmaf(fmaf(-root, root, s), inverse, rest) : rest, half};
}

float
rgm_asinf(float x)
{
    arcf a = arc_sinef(fabsf(x));
    float scale = a.half ? -2.0f : 1.0f;
    return copysignf(from_basef(a.half ? 1.0f : 0.0f, scale * a.t, scale * a.rest), x);
}

float
rgm_acosf(float x)
{
    arcf a = arc_sinef(fabsf(x));
    bool negative = x < 0.0f;
    float scale = a.half ? 2.0f : 1.0f, quarters = a.half ? (negative ? 2.0f : 0.0f) : 1.0f;
    scale = negative == a.half ? -scale : scale;
    return from_basef(quarters, scale * a.t, scale * a.rest);
}

/* -- atanf and atan2f -------------------------------------------------------------------------- */
static inline float
arc_tangent_restf(float t, float low)
{
    float s = t * t;
    float p = fmaf(s, 0x1.c78b04p-10f, -0x1.51c7dap-7f);
    p = fmaf(s, p, 0x1.d462d8p-6f);
    p = fmaf(s, p, -0x1.a516p-5f);
    p = fmaf(s, p, 0x1.265b42p-4f);
    p = fmaf(s, p, -0x1.704154p-4f);
    p = fmaf(s, p, 0x1.c6b586p-4f);
    p = fmaf(s, p, -0x1.24917p-3f);
    p = fmaf(s, p, 0x1.9999c4p-3f);
    p = fmaf(s, p, -0x1.555556p-2f);
    return fmaf(t * s, p, fmaf(low * -0.5f, s, low));
}

float
rgm_atanf(float x)
{
    float size = fabsf(x), inverse = 1.0f / size;
    bool steep = size > 1.0f;
    float t = steep ? inverse : size;
    float low = steep && size < 0x1p30f ? fmaf(-t, size, 1.0f) * t : 0.0f;
    float rest = arc_tangent_restf(t, low);
    return copysignf(from_basef(steep ? 1.0f : 0.0f, steep ? -t : t, steep ? -rest : rest), x);
}

static inline float
anglef(float small, float large, bool steep, bool backward)
{
    float inverse = 1.0f / large, t = small * inverse, low = fmaf(-t, large, small) * inverse;
    float rest = arc_tangent_restf(t, low);
    bool from_above = steep != backward;
    return from_basef(steep      ? 1.0f
                      : backward ? 2.0f
                                 : 0.0f,
                      from_above ? -t : t, from_above ? -rest : rest);
}

static float
rgm_atan2f_slow(float y, float x)
{
    float across = fabsf(x), up = fabsf(y);
    bool steep = up > across, backward = rgm_bitsf(x) >> 31;
    float large = steep ? up : across, small = steep ? across : up;
    if (large == INFINITY) {
        large = 1.0f;
        small = small == INFINITY ? 1.0f : small * 0.0f;
    }
    float scale = large > 1.0f ? 0x1p-60f : 0x1p60f;
    large = large == 0.0f ? 1.0f : large * scale;
    float result = copysignf(anglef(small * scale, large, steep, backward), y);
    return x == x && y == y ? result : x + y;
}

float
rgm_atan2f(float y, float x)
{
    float across = fabsf(x), up = fabsf(y);
    bool steep = up > across, backward = rgm_bitsf(x) >> 31;
    float large = steep ? up : across, small = steep ? across : up;
    float result = copysignf(anglef(small, large, steep, backward), y);
    if (!(large >= 0x1p-80f && large <= 0x1p100f && small <= large))
        result = rgm_atan2f_slow(y, x);
    return result;
}

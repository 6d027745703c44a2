/* The math library: what its sources see. SPDX-License-Identifier: Apache-2.0
 *
 * One source, compiled twice. The host's compiler makes the functions that the interpreter and the folder call; our own
 * front end makes IR of them, which compiled code takes in, at any width. The bits are the same, because arithmetic is
 * exactly as written. So:
 *   - no contraction: fma() where it is meant;
 *   - of <math.h> only what is exact: fma sqrt fabs floor ceil rint trunc copysign, and the forms for float;
 *   - no cast of a float to an integer where it may be out of range or NaN (C leaves that open; and in lanes even the
 *     harmless ones cost five instructions: add 1.5 * 2^52 or 2^23 and take the low bits instead);
 *   - straight lines: `?:` and `if` become selects, both sides are evaluated in lanes. What is long and rare goes into a
 *     static function whose name ends in `_slow` (unique among all sources), called under an `if` or a `?:`: a call
 *     there stays a call, and runs in lanes only if some lane wants it.
 * Nobody looks at errno or the exception flags. Results at the edges are those of C's Annex F. */
#ifndef MATH_RGM_H
#define MATH_RGM_H

#include <math.h>
#include <stdint.h>

#ifdef __RETROGRAD__
uint64_t rgm_bits(double x);
double rgm_from_bits(uint64_t bits);
uint32_t rgm_bitsf(float x);
float rgm_from_bitsf(uint32_t bits);
#else
#include <string.h>
static inline uint64_t
rgm_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline double
rgm_from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline uint32_t
rgm_bitsf(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline float
rgm_from_bitsf(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
#endif

typedef struct rgm_pair {
    double sine, cosine;
} rgm_pair;
typedef struct rgm_pairf {
    float sine, cosine;
} rgm_pairf;

#define RGM1(NAME, name)                                                                                               \
    double rgm_##name(double x);                                                                                       \
    float rgm_##name##f(float x);
#define RGM2(NAME, name)                                                                                               \
    double rgm_##name(double x, double y);                                                                             \
    float rgm_##name##f(float x, float y);
#define RGM_TWO(NAME, name)                                                                                            \
    rgm_pair rgm_##name(double x);                                                                                     \
    rgm_pairf rgm_##name##f(float x);
#include "math/functions.def"
#undef RGM1
#undef RGM2
#undef RGM_TWO

#ifndef __RETROGRAD__
/* for compiled code, where sincos is a call */
void rgm_sincos_places(double x, double *sine, double *cosine);
void rgm_sincosf_places(float x, float *sine, float *cosine);
#endif

#endif

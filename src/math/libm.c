/* Functions that the math library takes from libm. SPDX-License-Identifier: Apache-2.0 */
#include "math/rgm.h"

#define FROM_LIBM1(name)                                                                                               \
    double rgm_##name(double x) { return name(x); }
#define FROM_LIBM1F(name)                                                                                              \
    float rgm_##name##f(float x) { return name##f(x); }
#define FROM_LIBM2(name)                                                                                               \
    double rgm_##name(double x, double y) { return name(x, y); }
#define FROM_LIBM2F(name)                                                                                              \
    float rgm_##name##f(float x, float y) { return name##f(x, y); }

/* clang-format off */
FROM_LIBM1F(exp)
FROM_LIBM1F(exp2)
FROM_LIBM1F(expm1)
FROM_LIBM1F(log)
FROM_LIBM1F(log2)
FROM_LIBM1F(log10)
FROM_LIBM1F(log1p)
FROM_LIBM1F(sinh)
FROM_LIBM1F(cosh)
FROM_LIBM1F(tanh)
FROM_LIBM1F(asinh)
FROM_LIBM1F(acosh)
FROM_LIBM1F(atanh)
FROM_LIBM2F(pow)
/* clang-format on */

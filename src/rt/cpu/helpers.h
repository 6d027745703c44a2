/* Scalar operations that compiled code calls because no instruction does them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RT_CPU_HELPERS_H
#define RT_CPU_HELPERS_H

#include <stdint.h>

/* rounded to odd: a second rounding, to f16, then gives what one rounding would */
float rt_odd_float(double v);
/* frexp's two results; the exponent of inf and NaN is 0 */
double rt_fraction(double x);
float rt_fractionf(float x);
int32_t rt_exponent(double x);

#endif

/* The C compiler's kernels call our math library too, and so have its bits: included before
 * everything else. SPDX-License-Identifier: Apache-2.0 */
#ifndef __cplusplus
#define _GNU_SOURCE
#include <math.h>

#include "math/rgm.h"

#define cbrt    rgm_cbrt
#define exp     rgm_exp
#define exp2    rgm_exp2
#define expm1   rgm_expm1
#define log     rgm_log
#define log2    rgm_log2
#define log10   rgm_log10
#define log1p   rgm_log1p
#define sin     rgm_sin
#define cos     rgm_cos
#define tan     rgm_tan
#define asin    rgm_asin
#define acos    rgm_acos
#define atan    rgm_atan
#define sinh    rgm_sinh
#define cosh    rgm_cosh
#define tanh    rgm_tanh
#define asinh   rgm_asinh
#define acosh   rgm_acosh
#define atanh   rgm_atanh
#define erf     rgm_erf
#define erfc    rgm_erfc
#define lgamma  rgm_lgamma
#define tgamma  rgm_tgamma
#define pow     rgm_pow
#define atan2   rgm_atan2
#define hypot   rgm_hypot
#define cbrtf   rgm_cbrtf
#define expf    rgm_expf
#define exp2f   rgm_exp2f
#define expm1f  rgm_expm1f
#define logf    rgm_logf
#define log2f   rgm_log2f
#define log10f  rgm_log10f
#define log1pf  rgm_log1pf
#define sinf    rgm_sinf
#define cosf    rgm_cosf
#define tanf    rgm_tanf
#define asinf   rgm_asinf
#define acosf   rgm_acosf
#define atanf   rgm_atanf
#define sinhf   rgm_sinhf
#define coshf   rgm_coshf
#define tanhf   rgm_tanhf
#define asinhf  rgm_asinhf
#define acoshf  rgm_acoshf
#define atanhf  rgm_atanhf
#define erff    rgm_erff
#define erfcf   rgm_erfcf
#define lgammaf rgm_lgammaf
#define tgammaf rgm_tgammaf
#define powf    rgm_powf
#define atan2f  rgm_atan2f
#define hypotf  rgm_hypotf
#define sincos  rgm_sincos_places
#define sincosf rgm_sincosf_places
#endif

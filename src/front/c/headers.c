/* Headers that the front end knows by heart. They stand before the system's: what they declare is what kernels may
 * call, the same on every system, and a file that includes no others is parsed in a few milliseconds.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/c/parse.h"

/* __RG1(f) declares f, ff and fl; of the others a name says what is given (AND) or comes out (TO) */
#define C_BEGIN "#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
#define C_END   "#ifdef __cplusplus\n}\n#endif\n"
static const char math_h[] =
    "#ifndef __RG_MATH_H\n#define __RG_MATH_H\n" C_BEGIN
    "#define __RG1(n) double n(double); float n##f(float); long double n##l(long double);\n"
    "#define __RG2(n) double n(double, double); float n##f(float, float); long double n##l(long double, long double);\n"
    "#define __RG_TO(t, n) t n(double); t n##f(float); t n##l(long double);\n"
    "#define __RG_AND(n, t) double n(double, t); float n##f(float, t); long double n##l(long double, t);\n"
    "__RG1(sqrt) __RG1(cbrt) __RG1(exp) __RG1(exp2) __RG1(expm1) __RG1(log) __RG1(log2) __RG1(log10)\n"
    "__RG1(log1p) __RG1(sin) __RG1(cos) __RG1(tan) __RG1(asin) __RG1(acos) __RG1(atan) __RG1(sinh)\n"
    "__RG1(cosh) __RG1(tanh) __RG1(asinh) __RG1(acosh) __RG1(atanh) __RG1(erf) __RG1(erfc)\n"
    "__RG1(lgamma) __RG1(tgamma) __RG1(floor) __RG1(ceil) __RG1(round) __RG1(rint) __RG1(nearbyint)\n"
    "__RG1(trunc) __RG1(fabs) __RG1(logb)\n"
    "__RG2(pow) __RG2(atan2) __RG2(hypot) __RG2(fmod) __RG2(remainder) __RG2(fdim) __RG2(fmin)\n"
    "__RG2(fmax) __RG2(copysign) __RG2(nextafter)\n"
    "double fma(double, double, double); float fmaf(float, float, float);\n"
    "long double fmal(long double, long double, long double);\n"
    "__RG_AND(ldexp, int) __RG_AND(scalbn, int) __RG_AND(scalbln, long) __RG_AND(frexp, int *)\n"
    "__RG_AND(nexttoward, long double)\n"
    "double modf(double, double *); float modff(float, float *); long double modfl(long double, long double *);\n"
    "double remquo(double, double, int *); float remquof(float, float, int *);\n"
    "long double remquol(long double, long double, int *);\n"
    "double nan(const char *); float nanf(const char *); long double nanl(const char *);\n"
    "__RG_TO(int, ilogb) __RG_TO(long, lround) __RG_TO(long, lrint) __RG_TO(long long, llround)\n"
    "__RG_TO(long long, llrint)\n"
    "typedef float float_t; typedef double double_t;\n"
    "#define INFINITY __builtin_inff()\n"
    "#define NAN __builtin_nanf(\"\")\n"
    "#define HUGE_VAL __builtin_inf()\n"
    "#define HUGE_VALF __builtin_inff()\n"
    "#define HUGE_VALL __builtin_infl()\n"
    "#define FP_NAN 0\n#define FP_INFINITE 1\n#define FP_ZERO 2\n#define FP_SUBNORMAL 3\n#define FP_NORMAL 4\n"
    "#define FP_ILOGB0 (-2147483647 - 1)\n#define FP_ILOGBNAN (-2147483647 - 1)\n"
    "#define MATH_ERRNO 1\n#define MATH_ERREXCEPT 2\n#define math_errhandling 3\n"
    "#define fpclassify(x) __builtin_fpclassify(FP_NAN, FP_INFINITE, FP_NORMAL, FP_SUBNORMAL, FP_ZERO, x)\n"
    "#define isnan(x) __builtin_isnan(x)\n"
    "#define isinf(x) __builtin_isinf_sign(x)\n"
    "#define isfinite(x) __builtin_isfinite(x)\n"
    "#define isnormal(x) __builtin_isnormal(x)\n"
    "#define signbit(x) __builtin_signbit(x)\n"
    "#define isgreater(x, y) __builtin_isgreater(x, y)\n"
    "#define isgreaterequal(x, y) __builtin_isgreaterequal(x, y)\n"
    "#define isless(x, y) __builtin_isless(x, y)\n"
    "#define islessequal(x, y) __builtin_islessequal(x, y)\n"
    "#define islessgreater(x, y) __builtin_islessgreater(x, y)\n"
    "#define isunordered(x, y) __builtin_isunordered(x, y)\n"
    "#if !defined __STRICT_ANSI__ || defined _GNU_SOURCE || defined _DEFAULT_SOURCE || defined _XOPEN_SOURCE\n"
    "#define M_E 2.7182818284590452354\n"
    "#define M_LOG2E 1.4426950408889634074\n"
    "#define M_LOG10E 0.43429448190325182765\n"
    "#define M_LN2 0.69314718055994530942\n"
    "#define M_LN10 2.30258509299404568402\n"
    "#define M_PI 3.14159265358979323846\n"
    "#define M_PI_2 1.57079632679489661923\n"
    "#define M_PI_4 0.78539816339744830962\n"
    "#define M_1_PI 0.31830988618379067154\n"
    "#define M_2_PI 0.63661977236758134308\n"
    "#define M_2_SQRTPI 1.12837916709551257390\n"
    "#define M_SQRT2 1.41421356237309504880\n"
    "#define M_SQRT1_2 0.70710678118654752440\n"
    "#define MAXFLOAT 3.40282347e+38F\n"
    "#endif\n" C_END "#endif\n"
    /* in C++ its functions are overloaded as those of std are */
    "#if defined __cplusplus && !defined __RG_CMATH && !defined __RG_MATH_STD\n#define __RG_MATH_STD\n#include <cmath>\n"
    "using std::sqrt; using std::cbrt; using std::exp; using std::exp2; using std::expm1; using std::log; using std::log2;\n"
    "using std::log10; using std::log1p; using std::sin; using std::cos; using std::tan; using std::asin; using std::acos;\n"
    "using std::atan; using std::sinh; using std::cosh; using std::tanh; using std::asinh; using std::acosh; using std::atanh;\n"
    "using std::erf; using std::erfc; using std::lgamma; using std::tgamma; using std::floor; using std::ceil; using std::round;\n"
    "using std::rint; using std::nearbyint; using std::trunc; using std::fabs; using std::logb; using std::pow; using std::atan2;\n"
    "using std::hypot; using std::fmod; using std::remainder; using std::fdim; using std::fmin; using std::fmax;\n"
    "using std::copysign; using std::nextafter; using std::fma; using std::ldexp; using std::frexp; using std::modf;\n"
    "using std::lround; using std::llround; using std::lrint; using std::abs; using std::isnan; using std::isinf;\n"
    "using std::isfinite; using std::signbit;\n#endif\n";

static const char assert_h[] =
    "#undef assert\n"
    "#ifdef __cplusplus\nextern \"C\" void __rg_assert(bool, const char *);\n"
    "#else\nvoid __rg_assert(_Bool, const char *);\n#endif\n"
    "#ifdef NDEBUG\n"
    "#define assert(e) ((void)0)\n"
    "#else\n"
    "#define assert(e) __rg_assert((e), #e)\n"
    "#endif\n"
    "#if !defined __cplusplus && (!defined __STDC_VERSION__ || __STDC_VERSION__ < 202311L)\n"
    "#undef static_assert\n"
    "#define static_assert _Static_assert\n"
    "#endif\n";

static const char omp_h[] =
    "#pragma once\n" C_BEGIN
    "int omp_get_thread_num(void); int omp_get_num_threads(void); int omp_get_max_threads(void);\n"
    "void omp_set_num_threads(int); double omp_get_wtime(void); double omp_get_wtick(void);\n"
    "int omp_get_num_procs(void); int omp_in_parallel(void); int omp_get_thread_limit(void);\n"
    "void omp_set_dynamic(int); int omp_get_dynamic(void); void omp_set_nested(int); int omp_get_nested(void);\n"
    "int omp_get_level(void); int omp_get_active_level(void); int omp_get_ancestor_thread_num(int);\n"
    "int omp_get_team_size(int); void omp_set_max_active_levels(int); int omp_get_max_active_levels(void);\n"
    "typedef enum omp_sched_t { omp_sched_static = 1, omp_sched_dynamic, omp_sched_guided, omp_sched_auto }\n"
    "omp_sched_t; void omp_set_schedule(omp_sched_t, int); void omp_get_schedule(omp_sched_t *, int *);\n"
    "typedef enum omp_proc_bind_t { omp_proc_bind_false, omp_proc_bind_true, omp_proc_bind_master,\n"
    "omp_proc_bind_close, omp_proc_bind_spread } omp_proc_bind_t; omp_proc_bind_t omp_get_proc_bind(void);\n"
    "typedef struct { void *__rg; } omp_lock_t, omp_nest_lock_t;\n"
    "void omp_init_lock(omp_lock_t *); void omp_destroy_lock(omp_lock_t *); void omp_set_lock(omp_lock_t *);\n"
    "void omp_unset_lock(omp_lock_t *); int omp_test_lock(omp_lock_t *);\n"
    "void omp_init_nest_lock(omp_nest_lock_t *); void omp_destroy_nest_lock(omp_nest_lock_t *);\n"
    "void omp_set_nest_lock(omp_nest_lock_t *); void omp_unset_nest_lock(omp_nest_lock_t *);\n"
    "int omp_test_nest_lock(omp_nest_lock_t *);\n"
    "int omp_get_num_devices(void); int omp_get_default_device(void); void omp_set_default_device(int);\n"
    "int omp_get_initial_device(void); int omp_is_initial_device(void); int omp_get_num_teams(void);\n"
    "int omp_get_team_num(void); void *omp_target_alloc(__SIZE_TYPE__, int); void omp_target_free(void *, int);\n" C_END;

/* the part of include/retrograd/kernel.h that this compiler sees */
static const char kernel_h[] =
    "#pragma once\n" C_BEGIN
    "double __rg_grad(int, ...); double __rg_vjp(int, ...); double __rg_jvp(int, ...);\n" C_END
    "#define __RG_LIST(...) __VA_ARGS__\n"
    "#define rg_grad(f, args, grads) "
    "((__typeof__(f args))__rg_grad(((void)f args, 0), __RG_LIST grads))\n"
    "#define rg_vjp(f, args, seed, adjoints) "
    "((__typeof__(f args))__rg_vjp(((void)f args, 0), seed, __RG_LIST adjoints))\n"
    "#define rg_jvp(f, args, tangents) "
    "((__typeof__(f args))__rg_jvp(((void)f args, 0), __RG_LIST tangents))\n"
    "#define __RG_OWN(mode, f, g) "
    "__attribute__((unused)) static void (*const __rg_own_##mode##_##f[2])(void) = "
    "{(void (*)(void))f, (void (*)(void))g}\n"
    "#define RG_CUSTOM_VJP(f, f_vjp) __RG_OWN(vjp, f, f_vjp)\n"
    "#define RG_CUSTOM_JVP(f, f_jvp) __RG_OWN(jvp, f, f_jvp)\n";

#define HEADER(name, text)                                                                                             \
    {                                                                                                                  \
        FRONT_HEADER_DIR "/" name, name, text, sizeof(text) - 1, true                                                  \
    }
const front_header front_headers[] = {
    HEADER("math.h", math_h),
    HEADER("assert.h", assert_h),
    HEADER("omp.h", omp_h),
    HEADER("retrograd/kernel.h", kernel_h),
};
const size_t front_header_count = countof(front_headers);

/* The small headers that kernels include: declarations that the front end knows, so that no C
 * library needs to be installed and a parse takes a few milliseconds.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/c/parse.h"

/* every function of the table in math.c, for double and float; each X(name) makes both */
static const char math_h[] =
    "#pragma once\n"
    "#define __RG1(n) double n(double); float n##f(float);\n"
    "#define __RG2(n) double n(double, double); float n##f(float, float);\n"
    "__RG1(sqrt) __RG1(cbrt) __RG1(exp) __RG1(exp2) __RG1(expm1) __RG1(log) __RG1(log2) "
    "__RG1(log10)\n"
    "__RG1(log1p) __RG1(sin) __RG1(cos) __RG1(tan) __RG1(asin) __RG1(acos) __RG1(atan) "
    "__RG1(sinh)\n"
    "__RG1(cosh) __RG1(tanh) __RG1(asinh) __RG1(acosh) __RG1(atanh) __RG1(erf) __RG1(erfc)\n"
    "__RG1(lgamma) __RG1(tgamma) __RG1(floor) __RG1(ceil) __RG1(round) __RG1(rint) "
    "__RG1(nearbyint)\n"
    "__RG1(trunc) __RG1(fabs) __RG1(logb)\n"
    "__RG2(pow) __RG2(atan2) __RG2(hypot) __RG2(fmod) __RG2(remainder) __RG2(fdim) __RG2(fmin)\n"
    "__RG2(fmax) __RG2(copysign) __RG2(nextafter)\n"
    "double fma(double, double, double); float fmaf(float, float, float);\n"
    "double ldexp(double, int); float ldexpf(float, int);\n"
    "double scalbn(double, int); float scalbnf(float, int);\n"
    "double modf(double, double *); float modff(float, float *);\n"
    "double frexp(double, int *); float frexpf(float, int *);\n"
    "void sincos(double, double *, double *); void sincosf(float, float *, float *);\n"
    "int ilogb(double); int ilogbf(float);\n"
    "long lround(double); long lroundf(float); long lrint(double); long lrintf(float);\n"
    "long long llround(double); long long llroundf(float);\n"
    "long long llrint(double); long long llrintf(float);\n"
    "typedef float float_t; typedef double double_t;\n"
    "#define INFINITY __builtin_inff()\n"
    "#define NAN __builtin_nanf(\"\")\n"
    "#define HUGE_VAL __builtin_inf()\n"
    "#define HUGE_VALF __builtin_inff()\n"
    "#define isnan(x) __builtin_isnan(x)\n"
    "#define isinf(x) __builtin_isinf(x)\n"
    "#define isfinite(x) __builtin_isfinite(x)\n"
    "#define isnormal(x) __builtin_isnormal(x)\n"
    "#define signbit(x) __builtin_signbit(x)\n"
    "#define isgreater(x, y) __builtin_isgreater(x, y)\n"
    "#define isgreaterequal(x, y) __builtin_isgreaterequal(x, y)\n"
    "#define isless(x, y) __builtin_isless(x, y)\n"
    "#define islessequal(x, y) __builtin_islessequal(x, y)\n"
    "#define islessgreater(x, y) __builtin_islessgreater(x, y)\n"
    "#define isunordered(x, y) __builtin_isunordered(x, y)\n"
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
    "#define M_SQRT1_2 0.70710678118654752440\n";

static const char assert_h[] = "#undef assert\n"
                               "void __rg_assert(_Bool, const char *);\n"
                               "#ifdef NDEBUG\n"
                               "#define assert(e) ((void)0)\n"
                               "#else\n"
                               "#define assert(e) __rg_assert((e), #e)\n"
                               "#endif\n"
                               "#define static_assert _Static_assert\n";

static const char stdint_h[] =
    "#pragma once\n"
    "typedef __INT8_TYPE__ int8_t; typedef __UINT8_TYPE__ uint8_t;\n"
    "typedef __INT16_TYPE__ int16_t; typedef __UINT16_TYPE__ uint16_t;\n"
    "typedef __INT32_TYPE__ int32_t; typedef __UINT32_TYPE__ uint32_t;\n"
    "typedef __INT64_TYPE__ int64_t; typedef __UINT64_TYPE__ uint64_t;\n"
    "typedef int8_t int_least8_t; typedef uint8_t uint_least8_t;\n"
    "typedef int16_t int_least16_t; typedef uint16_t uint_least16_t;\n"
    "typedef int32_t int_least32_t; typedef uint32_t uint_least32_t;\n"
    "typedef int64_t int_least64_t; typedef uint64_t uint_least64_t;\n"
    "typedef int8_t int_fast8_t; typedef uint8_t uint_fast8_t;\n"
    "typedef int64_t int_fast16_t, int_fast32_t, int_fast64_t;\n"
    "typedef uint64_t uint_fast16_t, uint_fast32_t, uint_fast64_t;\n"
    "typedef __INTPTR_TYPE__ intptr_t; typedef __UINTPTR_TYPE__ uintptr_t;\n"
    "typedef __INTMAX_TYPE__ intmax_t; typedef __UINTMAX_TYPE__ uintmax_t;\n"
    "#define INT8_MIN (-128)\n#define INT8_MAX 127\n#define UINT8_MAX 255\n"
    "#define INT16_MIN (-32768)\n#define INT16_MAX 32767\n#define UINT16_MAX 65535\n"
    "#define INT32_MIN (-2147483647-1)\n#define INT32_MAX 2147483647\n#define UINT32_MAX "
    "4294967295U\n"
    "#define INT64_MIN (-9223372036854775807L-1)\n#define INT64_MAX 9223372036854775807L\n"
    "#define UINT64_MAX 18446744073709551615UL\n#define SIZE_MAX UINT64_MAX\n"
    "#define INTPTR_MAX INT64_MAX\n#define PTRDIFF_MAX INT64_MAX\n"
    "#define INT8_C(x) x\n#define INT16_C(x) x\n#define INT32_C(x) x\n#define INT64_C(x) x##L\n"
    "#define UINT8_C(x) x\n#define UINT16_C(x) x\n#define UINT32_C(x) x##U\n#define UINT64_C(x) "
    "x##UL\n";

static const char stdbool_h[] =
    "#pragma once\n#define bool _Bool\n#define true 1\n#define false 0\n";

static const char stddef_h[] = "#pragma once\n"
                               "typedef __SIZE_TYPE__ size_t; typedef __PTRDIFF_TYPE__ ptrdiff_t;\n"
                               "#define NULL ((void *)0)\n"
                               "#define offsetof(t, m) __builtin_offsetof(t, m)\n";

static const char float_h[] =
    "#pragma once\n"
    "#define FLT_RADIX 2\n#define FLT_MANT_DIG __FLT_MANT_DIG__\n#define DBL_MANT_DIG "
    "__DBL_MANT_DIG__\n"
    "#define FLT_EPSILON __FLT_EPSILON__\n#define DBL_EPSILON __DBL_EPSILON__\n"
    "#define FLT_MIN __FLT_MIN__\n#define DBL_MIN __DBL_MIN__\n"
    "#define FLT_MAX __FLT_MAX__\n#define DBL_MAX __DBL_MAX__\n"
    "#define FLT_TRUE_MIN __FLT_DENORM_MIN__\n#define DBL_TRUE_MIN __DBL_DENORM_MIN__\n"
    "#define FLT_DIG __FLT_DIG__\n#define DBL_DIG __DBL_DIG__\n"
    "#define FLT_MIN_EXP __FLT_MIN_EXP__\n#define FLT_MAX_EXP __FLT_MAX_EXP__\n"
    "#define DBL_MIN_EXP __DBL_MIN_EXP__\n#define DBL_MAX_EXP __DBL_MAX_EXP__\n";

static const char limits_h[] =
    "#pragma once\n"
    "#define CHAR_BIT 8\n#define SCHAR_MIN (-128)\n#define SCHAR_MAX 127\n#define UCHAR_MAX 255\n"
    "#define CHAR_MIN SCHAR_MIN\n#define CHAR_MAX SCHAR_MAX\n"
    "#define SHRT_MIN (-32768)\n#define SHRT_MAX 32767\n#define USHRT_MAX 65535\n"
    "#define INT_MIN (-2147483647-1)\n#define INT_MAX 2147483647\n#define UINT_MAX 4294967295U\n"
    "#define LONG_MIN (-9223372036854775807L-1)\n#define LONG_MAX 9223372036854775807L\n"
    "#define ULONG_MAX 18446744073709551615UL\n"
    "#define LLONG_MIN (-9223372036854775807LL-1)\n#define LLONG_MAX 9223372036854775807LL\n"
    "#define ULLONG_MAX 18446744073709551615ULL\n";

/* for a main() in the same file; kernels may use abs and printf */
static const char stdlib_h[] =
    "#pragma once\n#include <stddef.h>\n"
    "int abs(int); long labs(long); long long llabs(long long);\n"
    "void *malloc(size_t); void *calloc(size_t, size_t); void *realloc(void *, size_t);\n"
    "void free(void *); void *aligned_alloc(size_t, size_t); _Noreturn void exit(int);\n"
    "_Noreturn void abort(void);\n"
    "int atoi(const char *); double atof(const char *); int rand(void); void srand(unsigned);\n"
    "#define RAND_MAX 2147483647\n#define EXIT_SUCCESS 0\n#define EXIT_FAILURE 1\n";

static const char stdio_h[] =
    "#pragma once\n#include <stddef.h>\n"
    "typedef struct __rg_file FILE; extern FILE *stdin, *stdout, *stderr;\n"
    "int printf(const char *, ...); int fprintf(FILE *, const char *, ...); int puts(const char "
    "*);\n"
    "int putchar(int); int snprintf(char *, size_t, const char *, ...);\n"
    "FILE *fopen(const char *, const char *); int fclose(FILE *); int fflush(FILE *);\n"
    "size_t fread(void *, size_t, size_t, FILE *); size_t fwrite(const void *, size_t, size_t, "
    "FILE *);\n";

static const char string_h[] =
    "#pragma once\n#include <stddef.h>\n"
    "void *memcpy(void *, const void *, size_t); void *memset(void *, int, size_t);\n"
    "void *memmove(void *, const void *, size_t); int memcmp(const void *, const void *, size_t);\n"
    "size_t strlen(const char *); int strcmp(const char *, const char *);\n";

static const char omp_h[] =
    "#pragma once\n"
    "int omp_get_thread_num(void); int omp_get_num_threads(void); int omp_get_max_threads(void);\n"
    "void omp_set_num_threads(int); double omp_get_wtime(void);\n";

/* the part of include/retrograd/kernel.h that this compiler sees */
static const char kernel_h[] =
    "#pragma once\n"
    "double __rg_grad(int, ...); double __rg_vjp(int, ...); double __rg_jvp(int, ...);\n"
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

#define HEADER(name, text)                                                                         \
    {                                                                                              \
        FRONT_HEADER_DIR "/" name, text, sizeof(text) - 1                                          \
    }
const front_header front_headers[] = {
    HEADER("math.h", math_h),       HEADER("assert.h", assert_h),   HEADER("stdint.h", stdint_h),
    HEADER("inttypes.h", stdint_h), HEADER("stdbool.h", stdbool_h), HEADER("stddef.h", stddef_h),
    HEADER("float.h", float_h),     HEADER("limits.h", limits_h),   HEADER("stdlib.h", stdlib_h),
    HEADER("stdio.h", stdio_h),     HEADER("string.h", string_h),   HEADER("omp.h", omp_h),
    HEADER("retrograd/kernel.h", kernel_h),
};
const size_t front_header_count = countof(front_headers);

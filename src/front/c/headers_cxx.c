/* Headers of C++ that kernels in the style of C need: functions of std over those of C, and what takes and returns values instead of
 * references. Others are not found; what they declare, no kernel may reach. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/parse.h"

/* a float's function is the one for floats, an integer's the one for doubles */
static const char cmath_h[] =
    "#ifndef __RG_CMATH_H\n#define __RG_CMATH_H\n"
    "#define __RG_CMATH\n#include <math.h>\n#undef __RG_CMATH\n"
    "#pragma push_macro(\"float\")\n#undef float\n" /* -Dfloat=double */
    "#undef isnan\n#undef isinf\n#undef isfinite\n#undef isnormal\n#undef signbit\n#undef fpclassify\n#undef isgreater\n"
    "#undef isgreaterequal\n#undef isless\n#undef islessequal\n#undef islessgreater\n#undef isunordered\n"
    "extern \"C\" { int abs(int); long labs(long); long long llabs(long long); }\n"
    "namespace std {\n"
    "template <bool, class T> struct __rg_if {};\n"
    "template <class T> struct __rg_if<true, T> { typedef T type; };\n"
    "template <class T> struct __rg_number { static constexpr bool is = __is_integral(T) || __is_floating_point(T); };\n"
    "#define __RG_S1(n) using ::n; inline float n(float x) { return ::n##f(x); }\\\n"
    "template <class T> inline typename __rg_if<__is_integral(T), double>::type n(T x) { return ::n((double)x); }\n"
    "#define __RG_S2(n) using ::n; inline float n(float x, float y) { return ::n##f(x, y); }\\\n"
    "template <class T, class U> inline typename __rg_if<__rg_number<T>::is && __rg_number<U>::is, double>::type\\\n"
    " n(T x, U y) { return ::n((double)x, (double)y); }\n"
    "__RG_S1(sqrt) __RG_S1(cbrt) __RG_S1(exp) __RG_S1(exp2) __RG_S1(expm1) __RG_S1(log) __RG_S1(log2) __RG_S1(log10)\n"
    "__RG_S1(log1p) __RG_S1(sin) __RG_S1(cos) __RG_S1(tan) __RG_S1(asin) __RG_S1(acos) __RG_S1(atan) __RG_S1(sinh)\n"
    "__RG_S1(cosh) __RG_S1(tanh) __RG_S1(asinh) __RG_S1(acosh) __RG_S1(atanh) __RG_S1(erf) __RG_S1(erfc)\n"
    "__RG_S1(lgamma) __RG_S1(tgamma) __RG_S1(floor) __RG_S1(ceil) __RG_S1(round) __RG_S1(rint) __RG_S1(nearbyint)\n"
    "__RG_S1(trunc) __RG_S1(fabs) __RG_S1(logb)\n"
    "__RG_S2(pow) __RG_S2(atan2) __RG_S2(hypot) __RG_S2(fmod) __RG_S2(remainder) __RG_S2(fdim) __RG_S2(fmin)\n"
    "__RG_S2(fmax) __RG_S2(copysign) __RG_S2(nextafter)\n"
    "using ::fma; inline float fma(float x, float y, float z) { return ::fmaf(x, y, z); }\n"
    "using ::ldexp; inline float ldexp(float x, int n) { return ::ldexpf(x, n); }\n"
    "using ::frexp; inline float frexp(float x, int *n) { return ::frexpf(x, n); }\n"
    "using ::modf; inline float modf(float x, float *n) { return ::modff(x, n); }\n"
    "using ::lround; inline long lround(float x) { return ::lroundf(x); }\n"
    "using ::llround; inline long long llround(float x) { return ::llroundf(x); }\n"
    "using ::lrint; inline long lrint(float x) { return ::lrintf(x); }\n"
    "using ::abs; inline double abs(double x) { return ::fabs(x); } inline float abs(float x) { return ::fabsf(x); }\n"
    "inline long abs(long x) { return ::labs(x); } inline long long abs(long long x) { return ::llabs(x); }\n"
    "template <class T> constexpr bool isnan(T x) { return __builtin_isnan(x); }\n"
    "template <class T> constexpr bool isinf(T x) { return __builtin_isinf(x); }\n"
    "template <class T> constexpr bool isfinite(T x) { return __builtin_isfinite(x); }\n"
    "template <class T> constexpr bool signbit(T x) { return __builtin_signbit(x); }\n"
    "}\n#pragma pop_macro(\"float\")\n#endif\n";

static const char algorithm_h[] =
    "#pragma once\n#include <utility>\nnamespace std {\n"
    "template <class T> struct __rg_same { typedef T type; };\n"
    "template <class T> constexpr T max(T a, T b) { return a < b ? b : a; }\n"
    "template <class T> constexpr T min(T a, T b) { return b < a ? b : a; }\n"
    "template <class T> constexpr T clamp(T v, typename __rg_same<T>::type lo, typename __rg_same<T>::type hi)\n"
    "{ return v < lo ? lo : hi < v ? hi : v; }\n"
    "template <class T, class U> inline void fill(T *from, T *to, U v)\n"
    "{ for (long i = 0, n = to - from; i < n; i++) from[i] = v; }\n"
    "template <class T, class U> inline T *fill_n(T *to, long n, U v) { for (long i = 0; i < n; i++) to[i] = v; return to + n; }\n"
    "}\n";

static const char utility_h[] =
    "#pragma once\nnamespace std {\n"
    "template <class T> inline void swap(T &a, T &b) { T c = a; a = b; b = c; }\n"
    "template <class T> struct __rg_plain { typedef T type; }; template <class T> struct __rg_plain<T &> { typedef T type; };\n"
    "template <class T> constexpr typename __rg_plain<T>::type &&move(T &&v)\n"
    "{ return static_cast<typename __rg_plain<T>::type &&>(v); }\n"
    "}\n";

static const char array_h[] =
    "#pragma once\nnamespace std {\n"
    "template <class T, __SIZE_TYPE__ N> struct array { T elements[N]; typedef T value_type;\n"
    "T &operator[](__SIZE_TYPE__ i) { return elements[i]; } const T &operator[](__SIZE_TYPE__ i) const { return elements[i]; }\n"
    "T *data() { return elements; } const T *data() const { return elements; }\n"
    "T *begin() { return elements; } const T *begin() const { return elements; }\n"
    "T *end() { return elements + N; } const T *end() const { return elements + N; }\n"
    "constexpr __SIZE_TYPE__ size() const { return N; }\n"
    "void fill(const T &v) { for (__SIZE_TYPE__ i = 0; i < N; i++) elements[i] = v; } };\n"
    "}\n";

static const char limits_h[] =
    "#pragma once\n#pragma push_macro(\"float\")\n#undef float\nnamespace std {\n"
    "template <class T> struct numeric_limits;\n"
    "#define __RG_LIMITS(T, lo, low, hi, eps, inf, real, sign)\\\n"
    "template <> struct numeric_limits<T> { static constexpr bool is_integer = !real, is_signed = sign, has_infinity = real;\\\n"
    "static constexpr T min() { return lo; } static constexpr T max() { return hi; } static constexpr T lowest() { return low; }\\\n"
    "static constexpr T epsilon() { return eps; } static constexpr T infinity() { return inf; }\\\n"
    "static constexpr T quiet_NaN() { return real ? (T)__builtin_nan(\"\") : 0; } };\n"
    "__RG_LIMITS(float, __FLT_MIN__, -__FLT_MAX__, __FLT_MAX__, __FLT_EPSILON__, __builtin_inff(), true, true)\n"
    "__RG_LIMITS(double, __DBL_MIN__, -__DBL_MAX__, __DBL_MAX__, __DBL_EPSILON__, __builtin_inf(), true, true)\n"
    "__RG_LIMITS(int, -__INT_MAX__ - 1, -__INT_MAX__ - 1, __INT_MAX__, 0, 0, false, true)\n"
    "__RG_LIMITS(unsigned, 0, 0, __INT_MAX__ * 2U + 1, 0, 0, false, false)\n"
    "__RG_LIMITS(long, -__LONG_MAX__ - 1, -__LONG_MAX__ - 1, __LONG_MAX__, 0, 0, false, true)\n"
    "__RG_LIMITS(unsigned long, 0, 0, __LONG_MAX__ * 2UL + 1, 0, 0, false, false)\n"
    "}\n#pragma pop_macro(\"float\")\n";

#define STD(of, names) "#pragma once\n#include <" of ">\nnamespace std {\n" names "}\n"
static const char cstdint_h[] = STD("stdint.h", "using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; using ::uint8_t;\n"
                                                "using ::uint16_t; using ::uint32_t; using ::uint64_t; using ::intptr_t; using ::uintptr_t;\n");
static const char cstddef_h[] = STD("stddef.h", "using ::size_t; using ::ptrdiff_t; typedef decltype(nullptr) nullptr_t;\n");
static const char cstdlib_h[] = STD("stdlib.h", "using ::size_t; using ::malloc; using ::calloc; using ::free; using ::exit; using ::abort;\n"
                                                "using ::rand; using ::srand; using ::atoi; using ::atof;\n");
static const char cstring_h[] = STD("string.h", "using ::size_t; using ::memcpy; using ::memmove; using ::memset; using ::strlen;\n"
                                                "using ::strcmp;\n");
static const char cstdio_h[] = STD("stdio.h", "using ::printf; using ::fprintf; using ::puts; using ::putchar; using ::snprintf;\n");
static const char cassert_h[] = "#include <assert.h>\n";
static const char cfloat_h[] = "#include <float.h>\n";
static const char climits_h[] = "#include <limits.h>\n";

#define HEADER(name, text, alone)                                                                                      \
    {                                                                                                                  \
        FRONT_HEADER_DIR "/" name, name, text, sizeof(text) - 1, alone                                                 \
    }
const front_header front_cxx_headers[] = {
    HEADER("algorithm", algorithm_h, true), HEADER("array", array_h, true),      HEADER("cassert", cassert_h, true),
    HEADER("cfloat", cfloat_h, true),       HEADER("climits", climits_h, false), HEADER("cmath", cmath_h, true),
    HEADER("cstddef", cstddef_h, false),    HEADER("cstdint", cstdint_h, false), HEADER("cstdio", cstdio_h, false),
    HEADER("cstdlib", cstdlib_h, false),    HEADER("cstring", cstring_h, false), HEADER("limits", limits_h, true),
    HEADER("utility", utility_h, true),
};
const size_t front_cxx_header_count = countof(front_cxx_headers);

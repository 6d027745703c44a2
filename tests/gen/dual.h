/* Dual numbers in place of floats: the second oracle of whole programs. SPDX-License-Identifier: Apache-2.0
 *
 * A kernel that is compiled with `real` for its floats, by a C++17 compiler, one thread at a time, computes its values
 * and their derivatives along DIRECTIONS directions. Nothing here is shared with Retrograd, nor are the ways in which
 * derivatives are found. Derivatives in kernels are those of functions of dual<T, 1>, so that they have derivatives of
 * their own.
 *
 * Whatever decides which way a program goes says how close the decision was: two right compilers may round differently,
 * and a program with a near tie proves nothing. Nor does one that makes much of its roundings: to find out, all that is
 * not exact can be moved a little. */
#ifndef TESTS_GEN_DUAL_H
#define TESTS_GEN_DUAL_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

enum { DIRECTIONS = 4 };

/* The smallest gap between the sides of a comparison so far, beside their size. */
static double closest_tie = 1.0;

/* Results are moved by up to this, beside their size; 0: they are not. */
static double roundings = 0.0;

/* The same number by the same amount, each time. What has few digits is taken to be exact. */
static inline double
rounded(double v)
{
    uint64_t bits;
    if (roundings == 0.0 || (double)(float)v == v || !std::isfinite(v))
        return v;
    std::memcpy(&bits, &v, sizeof bits);
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
    return v * (1.0 + roundings * (std::ldexp((double)(bits >> 11), -52) - 1.0));
}

static inline double
bare(double v)
{
    return v;
}

static inline bool
alike(double a, double b)
{
    return a == b;
}

/* S: double, or dual numbers again. */
template <class S, int N> struct dual {
    S v, d[N];

    dual() : v(), d()
    {
    }
    template <class U, class = std::enable_if_t<std::is_arithmetic_v<U>>> dual(U constant) : v(constant), d()
    {
    }
    template <class T = S, class = std::enable_if_t<!std::is_arithmetic_v<T>>>
    dual(const S &constant) : v(constant), d()
    {
    }

    friend double bare(const dual &a)
    {
        return bare(a.v);
    }
    /* The same number by all that is known of it: no tie, whichever is taken. */
    friend bool alike(const dual &a, const dual &b)
    {
        bool same = alike(a.v, b.v);
        for (int k = 0; k < N; k++)
            same = same && alike(a.d[k], b.d[k]);
        return same;
    }
    friend void tie(const dual &a, const dual &b)
    {
        double x = bare(a), y = bare(b);
        if (alike(a, b))
            return;
        double gap = std::fabs(x - y) / (std::fabs(x) + std::fabs(y) + 1e-3);
        if (!(gap >= closest_tie))
            closest_tie = gap;
    }

    /* where S is dual numbers, it has been done */
    friend dual rounded(const dual &a)
    {
        return a;
    }

    /* value f, derivative slope: an exact zero stays one where the slope is infinite */
    static dual along(const S &f, const S &slope, const dual &a)
    {
        dual r;
        r.v = rounded(f);
        for (int k = 0; k < N; k++)
            r.d[k] = alike(a.d[k], S(0)) ? S(0) : rounded(slope * a.d[k]);
        return r;
    }
    static dual along(const S &f, const S &by_a, const dual &a, const S &by_b, const dual &b)
    {
        dual r = along(f, by_a, a), other = along(f, by_b, b);
        for (int k = 0; k < N; k++)
            r.d[k] = rounded(r.d[k] + other.d[k]);
        return r;
    }

    friend dual operator+(const dual &a, const dual &b)
    {
        return along(a.v + b.v, S(1), a, S(1), b);
    }
    friend dual operator-(const dual &a, const dual &b)
    {
        return along(a.v - b.v, S(1), a, S(-1), b);
    }
    friend dual operator*(const dual &a, const dual &b)
    {
        return along(a.v * b.v, b.v, a, a.v, b);
    }
    friend dual operator/(const dual &a, const dual &b)
    {
        return along(a.v / b.v, S(1) / b.v, a, -(a.v / b.v) / b.v, b);
    }
    dual operator-() const
    {
        return along(-v, S(-1), *this);
    }
    dual operator+() const
    {
        return *this;
    }
    dual &operator+=(const dual &b)
    {
        return *this = *this + b;
    }
    dual &operator-=(const dual &b)
    {
        return *this = *this - b;
    }
    dual &operator*=(const dual &b)
    {
        return *this = *this * b;
    }
    dual &operator/=(const dual &b)
    {
        return *this = *this / b;
    }

#define DUAL_COMPARE(op)                                                                                               \
    friend bool operator op(const dual &a, const dual &b)                                                              \
    {                                                                                                                  \
        tie(a, b);                                                                                                     \
        return bare(a) op bare(b);                                                                                     \
    }
    DUAL_COMPARE(<)
    DUAL_COMPARE(<=)
    DUAL_COMPARE(>)
    DUAL_COMPARE(>=)
    DUAL_COMPARE(==)
    DUAL_COMPARE(!=)
#undef DUAL_COMPARE

    /* near an integer it is a tie */
    explicit operator int() const
    {
        tie(*this, dual(std::rint(bare(v))));
        return (int)bare(v);
    }

#define DUAL_OF(name, slope)                                                                                           \
    friend dual name(const dual &a)                                                                                    \
    {                                                                                                                  \
        using namespace std;                                                                                           \
        const S &x = a.v;                                                                                              \
        S f = name(x);                                                                                                 \
        return along(f, slope, a);                                                                                     \
    }
    DUAL_OF(sin, cos(x))
    DUAL_OF(cos, -sin(x))
    DUAL_OF(tan, 1.0 + f * f)
    DUAL_OF(exp, f)
    DUAL_OF(exp2, f *M_LN2)
    DUAL_OF(expm1, f + 1.0)
    DUAL_OF(log, 1.0 / x)
    DUAL_OF(log1p, 1.0 / (1.0 + x))
    DUAL_OF(log2, 1.0 / (x * M_LN2))
    DUAL_OF(sqrt, 0.5 / f)
    DUAL_OF(cbrt, f / (3.0 * x))
    DUAL_OF(tanh, 1.0 - f * f)
    DUAL_OF(sinh, cosh(x))
    DUAL_OF(cosh, sinh(x))
    DUAL_OF(asinh, 1.0 / sqrt(x * x + 1.0))
    DUAL_OF(atan, 1.0 / (1.0 + x * x))
    DUAL_OF(asin, 1.0 / sqrt(1.0 - x * x))
    DUAL_OF(erf, exp(-(x *x)) * M_2_SQRTPI)
#undef DUAL_OF

#define DUAL_STEP(name)                                                                                                \
    friend dual name(const dual &a)                                                                                    \
    {                                                                                                                  \
        tie(a, dual(std::rint(2.0 * bare(a)) / 2.0));                                                                  \
        return dual(std::name(bare(a)));                                                                               \
    }
    DUAL_STEP(floor)
    DUAL_STEP(ceil)
    DUAL_STEP(round)
    DUAL_STEP(trunc)
    DUAL_STEP(rint)
#undef DUAL_STEP

    friend dual fabs(const dual &a)
    {
        tie(a, dual(0));
        return bare(a) < 0.0 ? -a : a;
    }
    friend dual fmin(const dual &a, const dual &b)
    {
        return a < b ? a : b;
    }
    friend dual fmax(const dual &a, const dual &b)
    {
        return a > b ? a : b;
    }
    friend dual fma(const dual &a, const dual &b, const dual &c)
    {
        return a * b + c;
    }
    friend dual pow(const dual &a, const dual &b)
    {
        using namespace std;
        S f = pow(a.v, b.v);
        return along(f, b.v * pow(a.v, b.v - 1.0), a, log(a.v) * f, b);
    }
    friend dual atan2(const dual &y, const dual &x)
    {
        using namespace std;
        S r = x.v * x.v + y.v * y.v;
        return along(atan2(y.v, x.v), x.v / r, y, -y.v / r, x);
    }
    friend dual hypot(const dual &a, const dual &b)
    {
        using namespace std;
        S f = hypot(a.v, b.v);
        return along(f, a.v / f, a, b.v / f, b);
    }
    friend dual copysign(const dual &a, const dual &b)
    {
        tie(a, dual(0));
        tie(b, dual(0));
        return (bare(a) < 0.0) == std::signbit(bare(b)) ? a : -a;
    }
};

typedef dual<double, DIRECTIONS> real;

/* -- derivatives in kernels ------------------------------------------------------------------------------------------
 * One for each kind of function that the generator has; f takes numbers of any type. A place may be NULL. */

template <class T> using seeded = dual<T, 1>;

template <class T>
static seeded<T>
seed(const T &v, const T &tangent)
{
    seeded<T> r(v);
    r.d[0] = tangent;
    return r;
}

/* f(a, b) */
template <class T, class F>
static T
jvp_scalars(F f, T a, T b, T da, T db)
{
    return f(seed(a, da), seed(b, db)).d[0];
}

template <class T, class F>
static T
vjp_scalars(F f, T a, T b, T w, T *ga, T *gb)
{
    T by_a = jvp_scalars<T>(f, a, b, 1, 0), by_b = jvp_scalars<T>(f, a, b, 0, 1);
    if (ga)
        *ga += w * by_a;
    if (gb)
        *gb += w * by_b;
    return f(a, b);
}

template <class T, class F>
static T
grad_scalars(F f, T a, T b, T *ga, T *gb)
{
    T by_a = jvp_scalars<T>(f, a, b, 1, 0), by_b = jvp_scalars<T>(f, a, b, 0, 1), value = f(a, b);
    if (ga)
        *ga = by_a;
    if (gb)
        *gb = by_b;
    return value;
}

/* f(a, p, k), p: L numbers that f only reads */
template <int L, class T, class F, class P>
static T
jvp_row(F f, T a, const P *p, int k, T da, const T *dp)
{
    seeded<T> row[L];
    for (int j = 0; j < L; j++)
        row[j] = seed<T>(T(p[j]), dp ? dp[j] : T(0));
    return f(seed(a, da), (const seeded<T> *)row, k).d[0];
}

template <int L, class T, class F, class P>
static T
row_slopes(F f, T a, const P *p, int k, T *slopes)
{
    T one[L], row[L];
    for (int j = 0; j < L; j++) {
        one[j] = 0;
        row[j] = p[j];
    }
    slopes[0] = jvp_row<L, T>(f, a, p, k, 1, one);
    for (int j = 0; j < L; j++) {
        one[j] = 1;
        slopes[1 + j] = jvp_row<L, T>(f, a, p, k, 0, one);
        one[j] = 0;
    }
    return f(a, (const T *)row, k);
}

template <int L, class T, class F, class P>
static T
grad_row(F f, T a, const P *p, int k, T *ga, T *gp)
{
    T slopes[1 + L], value = row_slopes<L, T>(f, a, p, k, slopes);
    if (ga)
        *ga = slopes[0];
    for (int j = 0; gp && j < L; j++)
        gp[j] = slopes[1 + j];
    return value;
}

template <int L, class T, class F, class P>
static T
vjp_row(F f, T a, const P *p, int k, T w, T *ga, T *gp)
{
    T slopes[1 + L], value = row_slopes<L, T>(f, a, p, k, slopes);
    if (ga)
        *ga += w * slopes[0];
    for (int j = 0; gp && j < L; j++)
        gp[j] += w * slopes[1 + j];
    return value;
}

/* f(a, data, k), data: an array of the kernel, a constant to this derivative alone */
template <class T, class F, class P>
static T
jvp_data(F f, T a, const P *data, int k, T da)
{
    return f(seed(a, da), data, k).d[0];
}

template <class T, class F, class P>
static T
grad_data(F f, T a, const P *data, int k, T *ga)
{
    *ga = jvp_data<T>(f, a, data, k, 1);
    return f(a, data, k);
}

/* void f(a, from, to), both of L numbers; f reads and writes to */
template <int L, class T, class F>
static void
jvp_map(F f, T a, const T *from, T *to, T da, const T *dfrom, T *dto)
{
    seeded<T> in[L], out[L];
    for (int j = 0; j < L; j++) {
        in[j] = seed<T>(from[j], dfrom ? dfrom[j] : T(0));
        out[j] = seed<T>(to[j], dto ? dto[j] : T(0));
    }
    f(seed(a, da), (const seeded<T> *)in, (seeded<T> *)out);
    for (int j = 0; j < L; j++) {
        to[j] = out[j].v;
        if (dto)
            dto[j] = out[j].d[0];
    }
}

template <int L, class T, class F>
static void
vjp_map(F f, T a, const T *from, T *to, T *ga, T *gfrom, T *gto)
{
    T before[L], after[L], weight[L], found[1 + 2 * L];
    for (int j = 0; j < L; j++) {
        before[j] = to[j];
        weight[j] = gto ? gto[j] : T(0);
    }
    for (int k = 0; k < 1 + 2 * L; k++) {
        T din[L], dout[L];
        for (int j = 0; j < L; j++) {
            din[j] = k == 1 + j;
            dout[j] = k == 1 + L + j;
            after[j] = before[j];
        }
        jvp_map<L, T>(f, a, from, after, T(k == 0), din, dout);
        found[k] = 0;
        for (int j = 0; j < L; j++)
            found[k] += weight[j] * dout[j];
    }
    for (int j = 0; j < L; j++)
        to[j] = after[j];
    if (ga)
        *ga += found[0];
    for (int j = 0; j < L; j++) {
        if (gfrom)
            gfrom[j] += found[1 + j];
        if (gto)
            gto[j] = found[1 + L + j];
    }
}

/* -- arguments --------------------------------------------------------------------------------------------------------
 */

/* One parameter, as whole_oracle.h has it: floats with DIRECTIONS tangents each, which lie behind each other, or
 * integers. */
typedef struct place {
    double *value, *tangent;
    int32_t *whole;
    int64_t count;
} place;

static inline real
take(const place &p, int64_t i)
{
    real r(p.value[i]);
    for (int k = 0; k < DIRECTIONS; k++)
        r.d[k] = p.tangent[k * p.count + i];
    return r;
}

static inline void
give(const place &p, int64_t i, const real &r)
{
    p.value[i] = r.v;
    for (int k = 0; k < DIRECTIONS; k++)
        p.tangent[k * p.count + i] = r.d[k];
}

static inline std::vector<real>
take_all(const place &p)
{
    std::vector<real> r(p.count);
    for (int64_t i = 0; i < p.count; i++)
        r[i] = take(p, i);
    return r;
}

static inline void
give_all(const place &p, const std::vector<real> &r)
{
    for (int64_t i = 0; i < p.count; i++)
        give(p, i, r[i]);
}

/* double g[n][m], which C++ has not */
struct rows {
    real *at;
    int columns;
    real *operator[](int i) const
    {
        return at + (int64_t)i * columns;
    }
};

#endif

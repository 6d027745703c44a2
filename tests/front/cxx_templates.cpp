// Instances of templates, constants of them, if constexpr.
// args: n=4 x[4]=3,-1,4,1.5 y[4]=0 z[4]=0 out[6]=0
#include <cmath>
#include <limits>
template <typename T> struct pair_of {
    T first, second;
};
template <typename T> static inline T square(const T &x) { T y = x; return y * x; }
template <int N, class T = double> T power(T x)
{
    if constexpr (N == 0)
        return 1;
    else
        return x * power<N - 1>(x);
}
template <class T, int N> T sum(const T (&a)[N])
{
    T s = 0;
    for (int i = 0; i < N; ++i)
        s += a[i];
    return s;
}
template <class T> pair_of<T> both(T a, T b) { return {a, b}; }
template <bool Add> static void update(double &to, double v) { to = Add ? to + v : to - v; }
template <class Real> static void kernel(int n, const Real *x, Real *y)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = square(x[i]) + power<3>(x[i]) + std::sqrt(std::abs(x[i]));
}
template <> void kernel<float>(int n, const float *x, float *y)
{
    for (int i = 0; i < n; i++)
        y[i] = 2 * x[i];
}
extern "C" void cxx_templates(int n, const double *x, double *y, const float *z, double *out)
{
    float w[2] = {0.5f, 0.25f}, u[2];
    kernel(n, x, y);
    kernel<float>(2, w, u);
    double a[3] = {1, 2, 3};
    auto p = both(x[0], x[1]);
    pair_of<int> q = both<int>(n, 2);
    out[0] = sum(a) + u[0] + u[1] + sum(w);
    out[1] = p.first + 10 * p.second + q.first + 10 * q.second;
    update<true>(out[2], 3);
    update<false>(out[2], 1);
    out[3] = std::numeric_limits<float>::max() > 1 && std::numeric_limits<int>::min() < 0;
    out[4] = power<5, int>(2) + z[0];
}

// C++ in the style of C: what references, templates, overloads, methods and lambdas' absence leave is C's arithmetic.
// args: n=6 k[6]=0,1,2,0,1,2 x[6]=0.5,1.5,-0.4,0.3,0.9,-2 p.at.x[3]=0.1,0.2,0.3 p.at.y[3]=0.4,0.5,0.6 p.mass[3]=1,2,3 y[6]=0 loss[2]=0
// skip: gcc
// skip: bits
#include <algorithm>
#include <cmath>
namespace sim {
template <class T> struct vec {
    T x, y;
    vec operator+(const vec &o) const { return {x + o.x, y + o.y}; }
    vec &operator*=(T s)
    {
        x *= s;
        y *= s;
        return *this;
    }
    T norm() const { return std::sqrt(x * x + y * y); }
};
struct body {
    vec<double> at;
    double mass;
};
struct options {
    double step = 0.25;
    int rounds = 3;
};
template <class T> inline T power(const T &x, int n)
{
    T r = 1;
    for (int i = 0; i < n; i++)
        r *= x;
    return r;
}
inline void relax(double &v, const double &target, const options &o)
{
    for (int i = 0; i < o.rounds; i++)
        v += o.step * (target - std::sin(v));
}
inline double &slot(double *a, int i) { return a[i]; }
}
extern "C" void cxx_style(int n, const int *k, const double *x, const sim::body *p, double *y, double &loss)
{
    using namespace sim;
    constexpr options with{0.5};
    double most = -100;
    #pragma omp parallel for reduction(max : most)
    for (int i = 0; i < n; i++) {
        const body &b = p[k[i]];
        auto at = b.at + vec<double>{x[i], 1};
        at *= b.mass;
        double v = std::max(at.norm(), 0.5) * std::min(x[i], 1.0);
        relax(v, x[i], with);
        slot(y, i) = power(v, 3) + std::pow(std::abs(x[i]), b.mass);
        most = std::max(most, y[i]);
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        #pragma omp atomic
        loss += y[i] * y[i];
    (&loss)[1] += most * most;
}

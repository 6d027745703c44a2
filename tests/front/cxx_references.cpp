// References, their temporaries, overloads, default arguments, namespaces, auto, casts.
// args: n=4 x[4]=3,-1,4,1.5 y[4]=0 out[8]=0
#include <cmath>
#include <algorithm>
namespace outer {
constexpr double rate = 0.5;
static const int table[3] = {4, 5, 6};
namespace inner {
inline void step(double &v, const double &a, int times = 2) { for (int t = 0; t < times; t++) v += a * rate; }
inline float size(float x) { return std::fabs(x); }
inline double size(double x) { return std::sqrt(x * x + 1); }
inline int size(int x) { return x < 0 ? -x : x; }
}
}
using namespace outer;
static double &element(double *a, int i) { return a[i]; }
static const double &larger(const double &a, const double &b) { return a < b ? b : a; }
static void twice(double &a, double &b) { a += 1; b += a; }
static void late(const double &a, double &b) { b += 1; b += a; }
static void fill(double (&a)[3], double v) { for (int i = 0; i < 3; i++) a[i] = v + i; }
static int count(bool b) { return b ? 1 : 0; }
enum class mode { slow = 2, fast = 7 };
extern "C" void cxx_references(int n, const double *x, double *y, double *out)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        auto v = x[i];
        const double &seen = v;
        double &to = y[i];
        inner::step(v, 2);
        outer::inner::step(v, x[i] + seen, 1);
        to = static_cast<float>(v) + larger(v, inner::size(x[i]));
        to += inner::size(static_cast<float>(-3)) + inner::size(-i) + double(i) / 2 + int{3};
        element(y, i) *= std::max(v, 1.0) - std::min(i, 2) + std::clamp(v, -1.0, 2.0);
    }
    double a = 1, b = 2, local[3], s = 0;
    twice(a, a);
    late(b, b);
    std::swap(a, b);
    fill(local, 2);
    double *p = y, *q = out;
    {
        double &r = a;
        r += local[2];
        double &&t = a + 1;
        t += 1;
        s = t;
    }
    double &either = n > 1 ? out[7] : out[6], &&copy = double(b);
    either = 9;
    copy += 1;
    if (n > 3) { either += copy; }
    out[0] = a;
    out[1] = b;
    out[2] = s + larger(a, 3) + count(n) + table[1] + static_cast<int>(mode::fast);
    out[3] = std::pow(x[0], 2) + std::abs(x[1]) + std::abs(-3) + std::floor(2.5f) + std::fmax(x[1], 2.0);
    if (q != nullptr)
        out[4] = *p + double() + (true ? 1 : 2);
    bool flag{};
    flag = flag or n > 2;
    out[5] = flag and not false;
    const char letter = 'a';
    out[6] = letter + sizeof(double) + std::isnan(x[0]);
}

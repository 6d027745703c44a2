// Headers of the standard library that the front end brings.
// args: n=3 x[3]=3,-1,4 out[6]=0
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cstdint>
#include <cassert>
#include <cfloat>
#include <climits>
using v3 = std::array<double, 3>;
static v3 cross(const v3 &a, const v3 &b) { return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]}; }
static double dot(const v3 &a, const v3 &b) { double s = 0; for (std::size_t i = 0; i < a.size(); i++) s += a[i] * b[i]; return s; }
extern "C" void cxx_headers(int n, const double *x, double *out)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        v3 a = {x[i], 1, 2}, b{{2, x[i], 1}}, c;
        c = cross(a, b);
        c[0] += 1;
        c.fill(dot(a, c));
        out[i] = c[1] + a.data()[2];
        std::array<std::array<int, 2>, 2> m{};
        m[1][0] = i;
        out[i] += m[1][0] + m[0][1];
    }
    assert(n > 0);
    int32_t k = INT_MAX;
    double t[3];
    std::memset(t, 0, sizeof t);
    std::memcpy(out + 3, x, 3 * sizeof(double));
    out[3] += t[0] + (k > 5) + DBL_EPSILON;
}

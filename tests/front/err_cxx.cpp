// What of C++ is not compiled; kernels that do not reach it are.
#include <cmath>
#include <vector>
struct base {
    double z;
    virtual double of(double v) { return v * z; }
};
struct made {
    double v;
    made(double x) : v(x) {}
};
class heavy {
    std::vector<double> values;
};
namespace one {
void twice(int n, double *y) // error: E0490
{
    y[0] = n;
}
}
void
twice(int n, float *y)
{
    y[0] = n;
}
static double
whole(double *y)
{
    return *y;
}
template <class T> static T
late(T v)
{
    return v + missing(v); // error: E0400
}
void
err_cxx(int n, double *y)
{
    auto half = [](double v) { return v / 2; }; // error: E0423
    double *t = new double[8]; // error: E0415
    double a[3] = {1, 2, 3};
    for (double &v : a) // error: E0424
        y[0] += v;
    base b;
    y[1] = b.of(2); // error: E0423
    made m(2); // error: E0423
    try { // error: E0424
        y[2] = whole(y);
    } catch (...) {
    }
    if (n < 0)
        throw 1; // error: E0423
}
void
err_late(int n, double *y)
{
    y[0] = late(1.0);
}

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
struct pair {
    made a;
    double b;
};
struct guard {
    double v;
    ~guard() { v = 0; }
};
struct derived : made {
    double w;
};
struct holder {
    double v, &r;
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
struct span {
    double *from, *to;
    double *begin() const { return from; }
    double *end() const { return to; }
};
void
err_cxx(int n, double *y)
{
    double &of_reference = y[1];
    auto half = [by = y[0]](double v) { return v * by; }; // error: E0423
    auto part = [=](double v) { return v * of_reference; }; // error: E0423
    double *t = new double[8]; // error: E0415
    span a = {y, y + 3};
    for (double &v : a) // error: E0424
        y[0] += v;
    base b;
    y[1] = b.of(2); // error: E0423
    made m[1] = {{2}}; // error: E0423
    pair two = {{2}}; // error: E0423
    try { // error: E0424
        y[2] = whole(y);
    } catch (...) {
    }
    if (n < 0)
        throw 1; // error: E0423
}
static void
bump(double &v)
{
    v += 1;
}
void
err_values(int n, double *y, const derived *d) // error: E0440
{
}
void
err_places(int n, double *y)
{
    double a = 1;
    guard g; // error: E0420
    holder h = {1, a};
    h.r = 2; // error: E0420
    bump(a = 2); // error: E0423
    bump(a += 2); // error: E0423
    if (double b = y[0]; b > 0) // error: E0424
        y[0] = b;
    while (int k = n) // error: E0424
        n = k - 1;
}
void
err_late(int n, double *y)
{
    y[0] = late(1.0);
}

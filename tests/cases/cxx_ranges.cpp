// Loops over arrays: values, references, rows, structs, with break and continue.
// args: n=5 x[5]=0.5,1.5,-0.4,0.3,0.9 y[5]=0
// split: any
#include <array>
#include <cmath>

struct term {
    double factor;
    int power;
};

static double
series(const std::array<term, 3> &terms, double x)
{
    double sum = 0;
    for (const auto &t : terms) {
        if (t.power == 1)
            continue;
        double p = 1;
        for (int k = 0; k < t.power; k++)
            p *= x;
        sum += t.factor * p;
    }
    return sum;
}

extern "C" void
cxx_ranges(int n, const double x[], double y[])
{
    const double weights[3] = {0.5, -0.25, 2};
    const std::array<term, 3> terms = {{{1, 2}, {5, 1}, {-0.5, 3}}};
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double m[2][3] = {{x[i], 1, 2}, {3, x[i] * x[i], 0.1}};
        for (auto &row : m)
            for (double &v : row)
                v = std::sin(v) + 0.1;
        for (double w : weights) {
            w *= m[0][1];
            if (w > 1)
                break;
            y[i] += w * series(terms, x[i]);
        }
        for (const auto &row : m)
            for (auto v : row)
                y[i] += v * v;
    }
}

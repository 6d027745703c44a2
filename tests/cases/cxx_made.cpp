// Structs with constructors of their own: initialisers of fields, defaults, conversions, arguments, parts, temporaries.
// args: n=4 x[4]=0.5,1.5,-0.4,0.9 y[4]=0
// split: any
#include <array>

struct vec {
    double x, y, z = 0.5;
    int made_by;
    vec() : x(0), y(0), made_by(1) {}
    vec(double a, double b, double c = 2) : x(a), y{b}, made_by(2) { z = c * x; }
    explicit vec(double s);
    double dot(const vec &o) const { return x * o.x + y * o.y + z * o.z; }
    vec operator*(double f) const { return vec(x * f, y * f, 1); }
};

vec::vec(double s) : x(s), y(s * s), made_by(3)
{
    if (s > 0)
        z -= s;
}

struct ball {
    vec at, v;
    double mass = 1.5;
    ball(double mass, const vec &p) : at(p), v(vec(mass)), mass(mass) {}
    void step(double h)
    {
        at.x += h * v.x;
        at.y += h * v.y * mass;
    }
};

extern "C" void
cxx_made(int n, const double x[], double y[])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        vec a(x[i], 1), b, c(x[i]), d = vec(1, x[i], 0.25);
        b.x += c.z;
        a = d * 0.5;
        ball p(1.25, a), q = p;
        p.step(0.125);
        q.step(x[i]);
        std::array<vec, 2> both = {vec(1, 2), c};
        for (const vec &e : both)
            y[i] += e.dot(b) * e.made_by;
        y[i] += a.dot(c) + p.at.x * q.at.y + q.mass + b.made_by;
    }
}

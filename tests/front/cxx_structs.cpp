// Plain structs: copies, braces, operators, methods, values of fields.
// args: n=3 x[3]=3,-1,4 out[9]=0 p.x[3]=1,2,3 p.y[3]=4,5,6
struct vec {
    double x, y;
    double dot(const vec &o) const { return x * o.x + y * o.y; }
    double norm2() const { return dot(*this); }
    vec &operator+=(vec o) { x += o.x; y += o.y; return *this; }
    void scale(double by) { x *= by; this->y *= by; }
    static vec unit() { return {1, 0}; }
};
class settings {
public:
    double rate = 0.5, limits[2] = {1, 2};
    int steps = 3;
    bool flag;
    double limit(int i) const { return limits[i] * rate; }
};
inline vec operator+(vec a, const vec &b) { return {a.x + b.x, a.y + b.y}; }
inline vec operator*(double s, const vec &v) { return vec{s * v.x, s * v.y}; }
inline vec operator-(const vec &v) { return {-v.x, -v.y}; }
extern "C" void cxx_structs(int n, const double *x, double *out, vec *p)
{
    settings with, other{2}, third = with;
    third.steps++;
    vec a{1, 2}, b = a, c, d = vec();
    c = a + 2 * b;
    c += -a;
    (c += vec{1, 1}).scale(2);
    vec *at = &p[1];
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        vec v = p[i];
        v += x[i] * vec::unit();
        p[i] = v;
    }
    at->scale(with.limit(1));
    at->x += at->dot(c);
    out[0] = c.x + 100 * c.y;
    out[1] = a.norm2() + d.x + d.y;
    out[2] = with.rate + with.limits[1] + 10 * with.steps;
    out[3] = other.rate + other.limits[1] + 10 * other.steps;
    out[4] = third.limit(0) + third.steps;
}

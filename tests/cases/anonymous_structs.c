// Members of anonymous structs, and anonymous unions that are not used.
// args: n=3 a.x[3]=0.5,1.5,-0.4 a.y[3]=1,2,3 a.z[3]=0.1,0.2,0.3 out[3]=0
struct point {
    union { int i; float f; };
    struct { double x; struct { double y; }; };
    double z;
};

void
anonymous_structs(int n, const struct point a[n], double out[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        struct point p = a[i], q = {.y = 2, .z = 3, .x = p.y, .i = 7}, r = {{1}, {1, {2}}, 3};
        p.x *= q.y * p.y + r.y;
        const struct point *at = &p;
        out[i] = at->x * q.x * q.z - at->z * r.z;
    }
}

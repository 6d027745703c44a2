// Fields that kernels cannot have may stand beside those that the kernel uses.
// args: n=3 p.x[3]=0.5,1.5,-0.4 p.v[3]=1,2,3 p.at.y[3]=0.1,0.2,0.3 s.mass[1]=2 s.gravity[1]=9.81 out[3]=0
// split: any
#include <math.h>

struct list {
    struct list *next;
};

struct body {
    double x;
    const char *name;
    unsigned fixed : 1, tag : 4;
    double v;
    union { int i; float f; } key;
    void (*moved)(struct body *);
    struct { double *history, y; } at;
    struct list *links[4], all;
    long double exact;
};

struct settings {
    void *owner;
    double mass, gravity;
    double (*force)(double);
};

static double
energy(struct body b, const struct settings *s)
{
    return 0.5 * s->mass * b.v * b.v + s->gravity * b.x * b.at.y;
}

void
hidden_fields(int n, struct body p[n], const struct settings s[1], double out[n])
{
    struct body rest = { .name = "rest", .v = 1, .moved = 0, .at = { .y = 2 }, .exact = 1 }, copy = rest;
    for (int i = 0; i < n; i++) {
        struct body b = p[i];
        b.x += copy.v * copy.at.y;
        out[i] = energy(b, s);
        p[i].v *= b.x;
    }
}

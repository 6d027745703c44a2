// Local structs: copied, passed, returned, with an array inside.
// args: n=3 x[3]=0.5,1.5,-0.4 y[3]=0
#include <math.h>

struct state {
    double at, speed, past[3];
    int age;
};

static struct state
advance(struct state s, double dt)
{
    s.past[s.age % 3] = s.at;
    s.at += dt * s.speed;
    s.speed -= dt * sin(s.at);
    s.age++;
    return s;
}

void
local_copy_struct(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        struct state s = {.at = x[i], .speed = 0.3}, kept;
        kept = s;
        for (int t = 0; t < 4; t++) {
            if (t == 2)
                kept = s;
            s = advance(s, 0.2 + 0.1 * x[i]);
        }
        y[i] = s.at * kept.speed + s.past[0] * s.past[1] + s.age;
    }
}

// The reverse of a function that writes arrays, of which one is changed in place: adjoints go in and come out.
// args: n=2 x[2]=0.7,-0.4 y[2][8]=0
// seed: y=1,2,3,4,0.5,0.25,-1,-2
// skip: gcc
#include <math.h>
#include <retrograd/kernel.h>

static void
polar(double r, const double angle[2], double out[2], double state[2])
{
    for (int k = 0; k < 2; k++) {
        out[k] = r * sin(angle[k]) + state[k];
        state[k] = state[k] * state[k] * r;
    }
}

static float
half_way(float a, double b)
{
    return 0.5f * (a * a + (float)b);
}

void
derive_vjp(int n, const double x[n], double y[n][8])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double angle[2] = {x[i], 2.0 * x[i]}, out[2], state[2] = {1.5, x[i]};
        double gr = 10.0, gangle[2] = {100.0, 200.0}, gout[2] = {1.0, x[i]}, gstate[2] = {0.5, 0.25};
        rg_vjp(polar, (x[i] + 1.0, angle, out, state), 0, (&gr, gangle, gout, gstate));
        /* gout is consumed, the others: added to, or what was before */
        y[i][0] = gr;
        y[i][1] = gangle[0] + 3.0 * gangle[1];
        y[i][2] = gout[0] + gout[1];
        y[i][3] = gstate[0] * gstate[1];
        y[i][4] = out[0] * state[1];
        float ga = 1.0f;
        double gb = 2.0;
        double v = rg_vjp(half_way, ((float)x[i], x[i]), 3.0, (&ga, &gb));
        y[i][5] = v + ga * gb;
        double tstate[2] = {1.0, -1.0}, tout[2];
        rg_jvp(polar, (x[i], angle, out, state), (0.5, 0, tout, tstate));
        y[i][6] = tout[0] + tstate[1];
        y[i][7] = out[1] * state[0];
    }
}

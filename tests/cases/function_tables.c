// Functions and what they need behind pointers in constants: methods of a solver, tables that the run subscripts.
// kernel: root
// args: a=1.5 b=0.25
// split: any
// kernel: activate
// args: n=4 kind[4]=0,1,2,1 x[4]=0.5,-1.5,2,0.25
// split: any
// kernel: turns
// args: n=4 steps=5 kind[4]=0,1,2,1 x[4]=0.5,-1.5,2,0.25
// split: any
#include <math.h>
#include <stddef.h>

typedef struct {
    double (*f)(double x, void *params), (*df)(double x, void *params);
    void *params;
} problem;

typedef struct {
    const char *name;
    size_t size;
    int (*set)(void *state, const problem *p, double *root);
    int (*iterate)(void *state, const problem *p, double *root);
} method;

typedef struct {
    double f, df;
} newton_state;

static int
newton_set(void *state, const problem *p, double *root)
{
    newton_state *s = (newton_state *)state;
    s->f = p->f(*root, p->params);
    s->df = p->df(*root, p->params);
    return 0;
}

static int
newton_iterate(void *state, const problem *p, double *root)
{
    newton_state *s = state;
    if (s->df == 0)
        return 1;
    *root -= s->f / s->df;
    return newton_set(state, p, root);
}

static const method newton = {"newton", sizeof(newton_state), &newton_set, newton_iterate};
static const method *const methods[] = {NULL, &newton};

static double
cubic(double x, void *params)
{
    double *k = params;
    return x * x * x - k[0] * x - k[1];
}

static double
slope(double x, void *params)
{
    return 3 * x * x - ((double *)params)[0];
}

double
root(double a, double b)
{
    double k[2] = {a, b}, x = 2;
    newton_state state;
    problem p = {cubic, slope, k};
    const method *m = methods[1];
    m->set(&state, &p, &x);
    for (int i = 0; i < 8; i++) {
        double before = x;
        if ((*m->iterate)(&state, &p, &x) || fabs(x - before) < 1e-13)
            break;
    }
    return x;
}

static double
leaky(double x, double slope)
{
    return x > 0 ? x : slope * x;
}

static double
bounded(double x, double scale)
{
    return scale * tanh(x);
}

static const struct {
    double (*f)(double x, double parameter);
    double parameter;
} activation[] = {{leaky, 0.125}, {bounded, 2}, {pow, 3}};

static double (*const outer[])(double) = {sin, exp};

void
activate(int n, const int *kind, double *x)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double y = activation[kind[i]].f(x[i], activation[kind[i]].parameter);
        for (int k = 0; k < 2; k++)
            y += outer[k](0.5 * y);
        x[i] = outer[0](y);
    }
}

/* the loop's counter is a part of a subscript, and runs farther than the table */
void
turns(int n, int steps, const int *kind, double *x)
{
    for (int t = 0; t < steps; t++)
        for (int i = 0; i < n; i++)
            x[i] = 0.5 * x[i] + activation[(kind[i] + t) % 3].f(0.5 + x[i] * x[i], 0.5);
}

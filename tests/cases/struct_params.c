// Structs with pointers as parameters of kernels: each field that is mentioned is a parameter of the launch. The kernels
// whose names end with _flat call them with structs of their own: a C compiler tells what these compute.
// kernel: pass_flat
// args: n=2 m=3 w[6]=0.5,-0.2,0.3,0.1,0.7,-0.4 b[2]=0.1,-0.1 v[2]=1.5,-0.5 bias[2]=0.25,0.5 rate=0.1 x[3]=1,2,-1 y[2]=0 loss[1]=2
// split: refused
// expect: y=0.026672449565022946,0.0044962731609411999 loss=2.0007316360381369
// kernel: pass
// args: p.out.n=2 p.out.gain=2 p.in.n=3 p.in.gain=1.5 p.rate=0.1 p.loss=2 p.steps=0 p.in.w[6]=0.5,-0.2,0.3,0.1,0.7,-0.4 p.in.b[2]=0.1,-0.1 p.out.w[2]=1.5,-0.5 p.out.b[1]=0 p.bias[2]=0.25,0.5 x[3]=1,2,-1 y[2]=0
// split: refused
// skip: gcc
// expect: y=0.026672449565022946,0.0044962731609411999 p.loss=2.0007316360381369
#include <math.h>
#include <stddef.h>

typedef struct {
    int n;
    double *w, *b, gain;
} layer;

typedef struct {
    layer *in, out;
    const double *bias;
    double *unused[2], loss, rate;
    int steps;
    void *owner;
} net;

static double
unit(const layer *l, int i, const double *x)
{
    double s = l->b[i];
    for (int j = 0; j < l->n; j++)
        s += l->w[i * l->n + j] * x[j];
    return tanh(l->gain * s);
}

void
pass(net *p, const double *x, double *y)
{
    for (int i = 0; i < p->out.n; i++) {
        double h = unit(p->in, i, x);
        y[i] = h * p->out.w[i] + (p->bias ? p->bias[i] : 0);
        p->loss += y[i] * y[i];
        p->steps++;
    }
    p->in->w[0] *= 1 - p->rate * p->loss;
}

void
pass_flat(int n, int m, double *w, double *b, double *v, const double *bias, double rate, const double *x, double *y, double *loss)
{
    layer in = {m, w, b, 1.5};
    net p = {.in = &in, .out = {n, v, NULL, 2}, .loss = loss[0], .rate = rate};
    p.bias = bias;
    pass(&p, x, y);
    loss[0] = p.loss;
}

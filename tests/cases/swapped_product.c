// Two buffers swapped in a time loop, a product of elements: what is read again in the reverse is read from the buffer that
// the pointer was then.
// args: n=40 steps=5 x[40]=0.5,1.5,-0.4 z[40]=0.3,-0.2,0.9,1.1 loss[1]=0.5
// skip: bits
double
swapped_product(int n, int steps, double x[n], double z[n], double loss[1])
{
    double *now = x, *next = z;
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            #pragma omp atomic
            loss[0] += now[i] * now[i] * t;
        }
        double *other = now;
        now = next;
        next = other;
    }
    return loss[0] * next[0];
}

// The same in a while loop, left by a value.
// kernel: swapped_while
// args: n=40 x[40]=0.5,1.5,-0.4 z[40]=0.3,-0.2,0.9,1.1 loss[1]=0.5
// skip: bits
#include <math.h>
void
swapped_while(int n, double x[n], double z[n], double loss[1])
{
    double *now = x, *next = z;
    double v = 0.1;
    while (v < 1.2) {
        v = v + 0.4;
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            #pragma omp atomic
            loss[0] += now[i] * sin(next[i]) * v;
        }
        double *other = now;
        now = next;
        next = other;
    }
}

// Every second step writes what the next one reads.
// kernel: swapped_waves
// args: n=40 steps=5 c=0.3 x[40]=0.5,1.5,-0.4 z[40]=0.3,-0.2,0.9,1.1
// split: refused
void
swapped_waves(int n, int steps, double c, double x[n], double z[n])
{
    double *now = x, *before = z;
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            before[i] = 2 * now[i] - before[i] * now[i] + c * (now[i - 1] * now[i + 1] - 2 * now[i]);
        double *other = now;
        now = before;
        before = other;
    }
}

// The bits of a float taken as an integer and back, nothing changed: the value is the same, and a constant to the derivative.
// args: n=3 x[3]=0.5,1.5,-0.4 y[3]=0
// seed: y=1
// grad: x=0.25,2.25,0.16
// skip: fd
#include <stdint.h>
#include <string.h>

void
bits_and_back(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i] * x[i], w;
        uint64_t bits;
        memcpy(&bits, &v, sizeof bits);
        memcpy(&w, &bits, sizeof w);
        y[i] = w * x[i];
    }
}

// The bits of a float taken as an integer and changed there: integers carry no derivative, so what comes back has none.
// args: n=3 x[3]=0.5,1.5,-0.4 y[3]=0
// seed: y=1
// grad: x=1,3,-0.8
// skip: fd
#include <stdint.h>
#include <string.h>

void
bits_of_float(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i] * x[i], w;
        uint64_t bits;
        memcpy(&bits, &v, sizeof bits);
        bits &= ~(uint64_t)0xffffffff;
        memcpy(&w, &bits, sizeof w);
        y[i] = w + v;
    }
}

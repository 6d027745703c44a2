// Additions to elements that all threads share: integers of all widths, and a sum that is looked at between.
// args: n=40 x[40]=3,1,4,1,5,9,2,6 a[2]=1,2 b[3]=5 c[2]=7 d[2]=0.5 y[40]=0
// skip: fd duality second bits
// split: any
#include <stdint.h>
void
sums_between(int n, const int x[n], int32_t a[2], uint64_t b[3], int16_t c[2], double d[2], int y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        a[0] += x[i];
        #pragma omp atomic
        b[1] += (uint64_t)x[i] * 5;
        #pragma omp atomic
        a[1] += x[i] + i;
        #pragma omp atomic
        c[1] += (int16_t)x[i];
        #pragma omp atomic
        d[0] += x[i];
        if (x[i] > 2) {
            #pragma omp atomic
            b[2] += 3;
            #pragma omp atomic
            a[0] += 1;
            #pragma omp atomic
            d[0] += 0.5;
        }
        int seen;
        #pragma omp atomic read
        seen = c[1];
        y[i] = seen >= x[i];
    }
}

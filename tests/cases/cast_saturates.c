// Float to integer out of range saturates and NaN gives 0.
// args: n=5 x[5]=1e30,-1e30,nan,300,-5 a[5]=0 b[5]=0 c[5]=0 d[5]=0
// expect: a=2147483647,-2147483648,0,300,-5 b=255,0,0,255,0 c=9223372036854775807,-9223372036854775808,0,300,-5 d=4294967295,0,0,300,0
// skip: gcc fd duality
#include <stdint.h>

void
cast_saturates(int n, const double x[n], int32_t a[n], uint8_t b[n], int64_t c[n], uint32_t d[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        a[i] = (int32_t)x[i];
        b[i] = (uint8_t)x[i];
        c[i] = (int64_t)x[i];
        d[i] = (uint32_t)x[i];
    }
}

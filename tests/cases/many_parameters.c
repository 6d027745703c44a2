// More parameters than registers, of every scalar type.
// args: n=2 a=-5 b=200 c=-300 d=60000 e=7 f=8 g=-9 h=10 s=0.5 t=0.25 u=1.5 v=2 flag=1 x[2]=0.5,1.5 y[2]=0
#include <stdbool.h>
#include <stdint.h>

void
many_parameters(int n, int8_t a, uint8_t b, int16_t c, uint16_t d, uint32_t e, uint64_t f, int64_t g, int h,
                float s, double t, double u, float v, bool flag, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i] * s + t * (a + b + c + d) * x[i] + u * u * (double)(e + f) + v * (double)(g + h) +
               (flag ? x[i] * x[i] : 0.0);
}

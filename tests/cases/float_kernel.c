// A f32 kernel with f32 constants, mixed with f64 in the middle.
// args: n=4 m[4]=3,0,7,2 x[4]=0.5,1.5,-0.4,0.3 loss[1]=0
// skip: bits
#include <math.h>

void
float_kernel(int n, const int m[n], const float x[n], float loss[1])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float v = x[i];
        for (int t = 0; t < m[i]; t++) {
            if (v > 2.0f)
                break;
            v = sinf(v) + 0.1f;
        }
        double wide = v * 0.5 + (double)v * v;
        #pragma omp atomic
        loss[0] += (float)wide;
    }
}

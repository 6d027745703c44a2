// Each state of the next time is a sum over all states of this one. A GPU computes the terms again from the states, which it records
// once a time: the terms of each state would be sixteen times as much. It loads parameters again, too.
// target sm_90
// frames forward_vjp: f32x32 f32x32 f32x32 f32x32 f32x32 f32x32 f32x32 f32x32 f32x32 f32x32 f32x32 f32x32 f32x32 f32x32 f32x32 f32x32
#include <math.h>
void
gpu_states(int n, int length, const float w[16][16], const float x[16], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float a[16], next[16], sum = 0.0f;
        for (int k = 0; k < 16; k++)
            a[k] = x[k] * (float)i;
        for (int t = 0; t < length; t++) {
            for (int j = 0; j < 16; j++) {
                float terms = 0.0f;
                for (int k = 0; k < 16; k++)
                    terms += expf(a[k] + w[k][j]);
                next[j] = logf(terms);
            }
            for (int j = 0; j < 16; j++)
                a[j] = next[j];
        }
        for (int k = 0; k < 16; k++)
            sum += a[k];
        y[i] = sum;
    }
}

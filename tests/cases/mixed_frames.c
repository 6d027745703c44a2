// Frames with numbers of 4 and of 8 bytes, few enough that a thread of a GPU has them in its own memory.
// args: n=40 x[40]=0.5,-0.25,0.75,0.125,-0.5,0.3,0.9,0.6 y[40]=0
#include <math.h>

void
mixed_frames(int n, const float x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float s = x[i];
        double d = x[i];
        for (int k = 0; k < 24; k++) {
            float t = s * s + 0.1f;
            s = sinf(t) * s;
            d = sin(d) * d + (double)s * d * d;
        }
        y[i] = d + (double)s;
    }
}

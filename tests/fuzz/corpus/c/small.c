#include <math.h>
typedef struct { float v[2]; int k; } body;
static float next(float v) { return v > 2 ? v : sinf(v) + 0.1f; }
void step(int n, const int steps[n], body b[n], double loss[1])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float v[2] = {b[i].v[0], 1};
        for (int t = 0; t < steps[i]; t++) {
            if (v[t & 1] > 2.0f)
                break;
            v[t & 1] = next(v[!(t & 1)]);
        }
        switch (b[i].k) {
        case 1: b[i].v[1] = v[0]; break;
        default: b[i].v[1] *= v[1];
        }
        #pragma omp atomic
        loss[0] += v[0];
    }
}

// Memory of one type read as another.
// refused: forward_vjp E0432
#include <stdint.h>

void
bits_reused(int n, const float x[n], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float v = x[i] * x[i];
        uint32_t bits = *(uint32_t *)&v & 0xfffffff0u;
        y[i] = *(float *)&bits;
    }
}

// Loop-carried values of every integer width, bool and both float types; float results depend on all.
// args: n=3 x[3]=0.5,1.5,-0.4 y[3]=0
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

void
carried_types(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int8_t a = 100;
        uint8_t b = 200;
        int16_t c = -30000;
        uint16_t d = 65000;
        int32_t e = 2000000000;
        uint32_t f = 4000000000u;
        int64_t g = 9000000000000000000;
        uint64_t h = 18000000000000000000u;
        bool flip = false;
        float s = 0.5f;
        double v = x[i];
        for (int t = 0; t < 6; t++) {
            a = (int8_t)(a + 37);
            b = (uint8_t)(b * 3);
            c = (int16_t)(c - 9000);
            d = (uint16_t)(d + 777);
            e = e + 300000000;
            f = f * 5u + 1u;
            g = g + 400000000000000000;
            h = h * 3u;
            flip = !flip;
            s = s * 0.75f + 0.125f;
            v = v + 0.1 * sin(v * (flip ? 1.0 : 2.0)) + 1e-3 * a + 1e-4 * b + 1e-6 * c + 1e-6 * d + 1e-11 * e +
                1e-11 * f + 1e-20 * (double)g + 1e-21 * (double)h + 0.01 * s * v;
        }
        y[i] = v;
    }
}

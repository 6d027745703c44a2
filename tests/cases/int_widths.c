// Conversion rules: promotion, signed with unsigned, wrap-around, shifts, every width.
// args: n=4 a[4]=100,-100,127,-128 b[4]=200,255,1,0 c[4]=-30000,32767,5,-1 d[4]=65535,1,40000,7 u[4]=4000000000,1,7,4294967295 w[4]=-9000000000000000000,5,-1,9000000000000000000 out[4][8]=0
#include <stdint.h>

void
int_widths(int n, const int8_t a[n], const uint8_t b[n], const int16_t c[n], const uint16_t d[n],
           const uint32_t u[n], const int64_t w[n], int64_t out[n][8])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int8_t small = (int8_t)(a[i] * b[i]);
        uint8_t byte = (uint8_t)(b[i] << 3);
        out[i][0] = small + byte;
        out[i][1] = a[i] < u[i];
        out[i][2] = (c[i] * d[i]) >> 3;
        out[i][3] = (int64_t)(u[i] * 3u) - c[i];
        out[i][4] = w[i] * 7 + (w[i] >> 5);
        out[i][5] = ~d[i] ^ (a[i] & -b[i]) | 5;
        out[i][6] = (int64_t)((uint64_t)w[i] / 3u) + (-a[i] % 7);
        out[i][7] = !a[i] + (b[i] > 100 ? -1 : 1u) + sizeof(c[i]);
    }
}

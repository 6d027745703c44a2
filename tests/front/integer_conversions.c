// Integer promotions, wrap-around, mixed signs, shifts.
// args: a=-1 u=3000000000 s=32767 c=-128 out[16]=0
#include <stdint.h>
void
integer_conversions(int a, unsigned u, short s, signed char c, long out[16])
{
    unsigned char uc = 200;
    out[0] = a < u;
    out[1] = a + u;
    out[2] = (short)(s + 1);
    out[3] = s + 1;
    out[4] = -c;
    out[5] = (signed char)-c;
    out[6] = uc << 1;
    uc <<= 1;
    out[7] = uc;
    out[8] = u >> 31;
    out[9] = a >> 1;
    out[10] = (unsigned)a >> 1;
    out[11] = ~uc;
    out[12] = u * u;
    out[13] = (uint64_t)u * u;
    out[14] = (a ? s : u) - 40000;
    out[15] = 'a' + L'b' + sizeof(int) * -1 + (0x7fffffff + a);
}

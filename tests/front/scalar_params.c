// Scalars of every type by value, and their promotions.
// args: b=1 c=-7 uc=250 s=-300 us=65000 i=-5 u=4000000000 l=-9000000000 ul=10000000000 f=1.5 d=-2.25 out[12]=0
#include <stdint.h>
void
scalar_params(_Bool b, char c, unsigned char uc, short s, unsigned short us, int i, unsigned u,
              long l, unsigned long ul, float f, double d, double out[12])
{
    out[0] = b + c;
    out[1] = uc + 10;
    out[2] = s * us;
    out[3] = i / 2 + i % 2;
    out[4] = u + i;
    out[5] = l + u;
    out[6] = ul * 2;
    out[7] = f * d;
    out[8] = (unsigned char)(uc + 10);
    out[9] = (short)(s * 300);
    out[10] = u > i;
    out[11] = l < u;
}

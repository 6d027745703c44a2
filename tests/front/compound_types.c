// Compound assignment computes in the common type.
// args: i=7 c=100 f=1.5 h=2 b=0 out[10]=0
void
compound_types(int i, unsigned char c, float f, double h, _Bool b, double out[10])
{
    i *= 2.5f;
    out[0] = i;
    c += 200;
    out[1] = c;
    c -= 0.5;
    out[2] = c;
    c /= 3.0f;
    out[3] = c;
    f += 1e-9;
    f *= h;
    out[4] = f;
    b |= 6;
    out[5] = b;
    b += 5;
    out[6] = b;
    i %= 4u;
    i <<= 3L;
    out[7] = i;
    i ^= 0xffff0000ff;
    out[8] = i;
    out[9] = (h /= 3) + (i &= ~1) + (c >>= 1);
}

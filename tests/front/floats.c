// float, double and their mixture; literals of both.
// args: f=0.1 d=0.1 out[8]=0
void
floats(float f, double d, double out[8])
{
    out[0] = f + 0.1;
    out[1] = f + 0.1f;
    out[2] = f * f * f;
    out[3] = (float)d * 3;
    out[4] = d / 3 - f / 3;
    out[5] = (int)(f * 1000) + (unsigned char)(d * 2000);
    out[6] = 1 / 3 + 1 / 3.0 + 1.f / 3;
    float g = 16777216.0f + 1;
    out[7] = g + (-f) + (+d) + !f;
}

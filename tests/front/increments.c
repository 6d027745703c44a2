// ++ and -- before and after, on everything.
// args: x[4]=1,2,3,4 out[9]=0
void
increments(double x[4], double out[9])
{
    int i = 0;
    unsigned char c = 255;
    _Bool b = 0;
    float f = 0.5f;
    struct { int k; double v[2]; } s = {3, {1, 2}};
    out[i++] = x[i];
    out[i] = ++x[2] + x[3]--;
    out[++i] = c++ + c;
    b++;
    b++;
    out[++i] = b;
    out[++i] = f++ + f-- + f;
    out[++i] = s.k-- - --s.k;
    out[++i] = s.v[1]++ * ++s.v[0];
    double *p = x;
    out[++i] = *p++ + *++p + (*p)++ + --*p;
    out[++i] = p - x;
}

// Subscripts of every integer type, negative ones behind an offset.
// args: x[8]=0,1,2,3,4,5,6,7 y[8]=0
void
index_types(const double x[8], double y[8])
{
    unsigned char c = 3;
    long l = 5;
    unsigned long ul = 6;
    short s = -2;
    const double *p = x + 4;
    y[c] = x[l];
    y[ul] = p[s];
    y[0] = 2[x] + p[-1] + *(1 + p);
    y[1] = (&x[2])[l - 4];
}

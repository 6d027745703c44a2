// Pointers into arrays: walking, comparing, subtracting, indexing backwards.
// args: n=6 x[6]=1,2,3,4,5,6 y[6]=0 d[2]=0
void
pointers_walk(int n, const float *x, float *y, long d[2])
{
    const float *end = x + n, *p;
    float *q = y;
    for (p = x; p < end; ++p)
        *q++ = *p * p[0] + (p != x ? p[-1] : 0);
    d[0] = end - p + (q - y);
    q -= 2;
    d[1] = q - y;
    *q = -1;
    *(q + 1) += *(&y[3] - 1);
}

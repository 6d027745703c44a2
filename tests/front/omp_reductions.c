// args: n=5 x[5]=3,-1,4,1.5,-5 k[5]=12,10,15,8,9 out[6]=1,1,1,1,1,1
void
omp_reductions(int n, const double x[n], const int k[n], double out[6])
{
    double s = 10, p = 2, lo = 1, hi = 0;
    int a = ~0, o = 0, e = 5;
    #pragma omp parallel for reduction(+ : s) reduction(*:p) reduction(min:lo) reduction(max : hi)
    for (int i = 0; i < n; i++) {
        s += x[i];
        p *= x[i];
        if (x[i] < lo)
            lo = x[i];
        hi = hi > x[i] ? hi : x[i];
    }
    #pragma omp parallel for reduction(&:a) reduction(|:o) reduction(^:e)
    for (int i = 0; i < n; i++) {
        a &= k[i];
        o |= k[i];
        e ^= k[i];
    }
    #pragma omp parallel for reduction(- : s)
    for (int i = 0; i < n; i++)
        s -= x[i] + hi;
    out[0] = s;
    out[1] = p;
    out[2] = lo;
    out[3] = hi;
    out[4] = a * 100 + o;
    out[5] = e;
}

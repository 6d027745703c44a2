// x / 0 = 0, x % 0 = x, INT_MIN / -1 wraps; shifts are masked to the width.
// args: n=5 a[5]=7,-7,-2147483648,5,-9 b[5]=0,2,-1,-2,0 q[5]=0 r[5]=0 s[5]=0
// expect: q=0,-3,-2147483648,-2,0 r=7,-1,0,1,-9 s=7,-28,0,-2147483648,-9
// skip: gcc
void
int_divide(int n, const int a[n], const int b[n], int q[n], int r[n], int s[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        q[i] = a[i] / b[i];
        r[i] = a[i] % b[i];
        s[i] = a[i] << (b[i] == -2 ? 32 + 31 : b[i]);
    }
}

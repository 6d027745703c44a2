// The parameters themselves are swapped, and offset.
// args: n=6 a[6]=1,2,3,4,5,6 b[6]=6,5,4,3,2,1
void
pointer_swap_params(int n, double *a, double *b)
{
    for (int t = 0; t < 3; t++) {
        for (int i = 0; i < n / 2; i++)
            a[i] += b[i] * 0.5;
        double *s = a;
        a = b + 1;
        b = s;
    }
}

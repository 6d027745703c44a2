// A function gets the same array as two of its pointers, and parts of it that overlap.
// args: n=5 x[5]=0.5,1.1,-0.4,0.3,0.7 y[5]=0.2,-0.6,0.9
// split: refused
static void
multiply(int n, double *a, const double *b, const double *c)
{
    for (int k = 0; k < n; k++)
        a[k] = a[k] * b[k] + c[k] * c[k];
}

void
same_array_twice(int n, double x[n], double y[n])
{
    multiply(n, x, x, y);
    multiply(n, y, x, x);
    multiply(n - 1, x + 1, x, y);
}

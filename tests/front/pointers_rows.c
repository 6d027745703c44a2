// Rows and elements handed to helpers.
// args: n=3 m=4 a[3][4]=1,2,3,4,5,6,7,8,9,10,11,12 out[3]=0 col[3]=0
static double
dot(const double *x, const double *y, int n)
{
    double s = 0;
    while (n--)
        s += *x++ * *y++;
    return s;
}
static void
scale(double *row, double f, int n)
{
    for (int i = 0; i < n; i++)
        row[i] *= f;
}
static double
corner(int n, int m, double a[n][m])
{
    return a[n - 1][m - 1];
}
void
pointers_rows(int n, int m, double a[n][m], double out[n], double col[n])
{
    for (int i = 0; i < n; i++) {
        const double *g = &a[i][0];
        out[i] = dot(g, a[n - 1 - i], m) + g[2];
        scale(a[i], 0.5, m);
        scale(&a[i][1], 2, m - 1);
        col[i] = corner(n, m, a) + (*a)[i] + *a[i];
    }
}

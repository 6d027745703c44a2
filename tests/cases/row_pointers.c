// Rows handed to helpers as pointers, and a pointer that walks.
// args: n=3 m=4 x[3][4]=0.5,1.5,-0.4,0.3,0.7,0.9,1.1,-1,2,1,0,0.25 y[3]=0
static double
dot(int m, const double *a, const double *b)
{
    double s = 0.0;
    for (int k = 0; k < m; k++)
        s += a[k] * b[k];
    return s;
}

void
row_pointers(int n, int m, const double x[n][m], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        const double *g = &x[i][0], *h = x[(i + 1) % n];
        y[i] = dot(m, g, h) + *(g + 1) * h[2];
    }
}

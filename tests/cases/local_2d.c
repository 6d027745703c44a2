// A two-dimensional local array: a 3 x 3 product by itself, then its trace.
// args: n=2 x[2][9]=0.5,0.1,-0.2,0.4,0.9,0.3,-0.1,0.2,0.7,1,0,0.5,0.2,0.8,0.1,0,0.3,0.6 y[2]=0
void
local_2d(int n, const double x[n][9], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double a[3][3], b[3][3];
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                a[r][c] = x[i][3 * r + c];
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) {
                b[r][c] = 0.0;
                for (int k = 0; k < 3; k++)
                    b[r][c] += a[r][k] * a[k][c];
            }
        y[i] = b[0][0] + b[1][1] + b[2][2] + b[0][2] * a[1][0];
    }
}

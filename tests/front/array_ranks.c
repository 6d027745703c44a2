// Arrays of several ranks, extents that are expressions, rows without a first extent.
// args: n=2 m=3 a[6]=1,2,3,4,5,6 b[2][3]=1,2,3,4,5,6 c[2][4]=0 d[2][3][2]=1,2,3,4,5,6,7,8,9,10,11,12 e[2][3]=0 f[3][2]=1,2,3,4,5,6
void
array_ranks(int n, int m, const double a[n * m], const double b[][m], double c[n][m + 1],
            const double d[restrict n][m][2], double (*e)[3], const double f[][2])
{
    for (int i = 0; i < n; i++) {
        c[i][m] = a[i * m + 1] * f[i + 1][1];
        for (int j = 0; j < m; j++) {
            c[i][j] = b[i][j] * a[j * n + i];
            e[i][j] = d[i][j][0] - d[i][j][1] * 0.5;
        }
    }
}

// collapse(2) over a matrix product of rank-2 arrays.
// args: n=2 m=3 p=2 a[2][3]=1,2,3,4,5,6 b[3][2]=0.5,-1,2,0.1,0.3,1 c[2][2]=0
// seed: c=1,0,0,1
// grad: a=0.5,2,0.3,-1,0.1,1 b=1,4,2,5,3,6
void
matmul(int n, int m, int p, const double a[n][m], const double b[m][p], double c[n][p])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < p; j++) {
            double s = 0.0;
            for (int k = 0; k < m; k++)
                s += a[i][k] * b[k][j];
            c[i][j] = s;
        }
}

// args: n=3 m=4 x[3][4]=1,2,3,4,5,6,7,8,9,10,11,12 y[3][4]=0 z[2][2][2]=0
enum { DEPTH = 3 };
#define TWO 2
void
omp_collapse(int n, int m, const float x[n][m], float y[n][m], float z[2][2][2])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float v = x[i][j];
            if (j == 2)
                continue;
            y[i][j] = v * v;
        }
    #pragma omp parallel for collapse(TWO + 1) schedule(dynamic)
    for (int i = 0; i < 2; i++)
        for (int j = 1; j >= 0; j--) {
            for (long k = 0; k <= 1; k++)
                z[i][j][k] = i * 100 + j * 10 + k;
        }
}

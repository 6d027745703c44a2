// One step of a history: step t reads row t, of other threads' elements too, and writes row t + 1.
// args: t=1 n=3 h[4][2][3]=0.1,0.2,0.3,0.4,0.5,0.6,1.1,-0.7,0.8,0.9,-1.2,0.3,0,0,0,0,0,0,0,0,0,0,0,0 w[3][3]=0.5,0.6,0.7,-0.2,0.3,0.1,0.9,-0.4,0.2
void
step_of_history(int t, int n, double h[4][2][n], const double w[n][n])
{
    #pragma omp parallel for collapse(2)
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < n; i++) {
            double z = 0;
            for (int j = 0; j < n; j++)
                z += w[i][j] * h[t][k][j];
            h[t + 1][k][i] = z * z;
        }
}

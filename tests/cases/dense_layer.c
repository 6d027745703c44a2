// A dense layer with shared weights and a squared loss.
// args: n=3 m=2 x[3][2]=0.5,1.5,-0.4,0.3,1,2 w[2][2]=0.5,-0.2,0.3,0.9 bias[2]=0.1,0.2 loss[1]=0
// skip: bits
#include <math.h>

void
dense_layer(int n, int m, const double x[n][m], const double w[2][m], const double bias[2], double loss[1])
{
    double total = 0.0;
    #pragma omp parallel for reduction(+ : total)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 2; j++) {
            double z = bias[j];
            for (int k = 0; k < m; k++)
                z += w[j][k] * x[i][k];
            double h = tanh(z);
            total += (h - 0.5) * (h - 0.5);
        }
    loss[0] += total / n;
}

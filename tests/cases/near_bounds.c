// Loops from one index to the next ones, up and down, over elements that are read several times.
// args: n=4 x[6][6]=0.3,1.2,-0.7,0.5,0.9,-1.1,0.8,0.4,1.7,-0.2,0.6,1.3,-0.5,0.1,1.4,0.2,-0.9,0.7,1.1,0.6,-0.3,0.8,1.5,0.4 y[4]=0 s[1]=0
void
near_bounds(int n, const double x[n + 2][n + 2], double y[n], double s[1])
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        double v = 0.0;
        for (int k = i; k <= i + 1; k++)
            for (int j = i; j < i + 2; j++)
                v += x[k][j] * x[k][j] + x[i][i] * x[j][k];
        for (int k = i + 2; k >= i; k--)
            v = v * 0.5 + x[k][i] * x[k][i + 1];
        y[i] = v;
        sum += v * v;
    }
    s[0] = sum;
}

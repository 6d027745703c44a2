// Loops that look as if their iterations could run where they are reversed, but must not, or must with care for what stands behind them.
#include <math.h>

/* What a loop reads is stored to behind it, by a statement that needs nothing of the loop. */
// kernel: stored_behind
// args: n=5 m=4 v[5][4]=1.1,0.8,0.9,1.2,0.7 w[4]=0.7,1.1,0.6,0.4 r[5]=0.5,0.3 y[5]=0.1
// split: refused
// skip: bits
void
stored_behind(int n, int m, double v[n][m], const double w[m], const double r[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int j = 0; j < m; j++)
            sum += sqrt(1.0 + v[i][j] * w[j]);
        v[i][2] = 0.5 * r[i];
        y[i] += sum;
    }
}

/* A sum whose sign changes; a product of two loops' sums; an element whose place a loop chooses. */
// kernel: needed_behind
// args: n=5 m=4 x[5]=0.3,-0.8,1.2,0.5,-0.4 w[4]=0.7,1.1,0.6,0.4 y[5]=0.1 mark[5][4]=0
// skip: bits
void
needed_behind(int n, int m, const double x[n], const double w[m], double y[n], int mark[n][4])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double changing = 0.2, one = 0.0, other = 0.3, last = 0.0;
        for (int j = 0; j < m; j++)
            changing = sqrt(1.0 + x[i] * x[i] * w[j]) - changing;
        for (int j = 0; j < m; j++)
            one += exp(-x[i] * w[j]);
        for (int j = 0; j < m; j++)
            other -= sin(x[i] * w[j]);
        for (int j = 0; j < 4; j++) {
            last += cos(x[i] + w[j]);
            mark[i][j] = (i + j) % m;
        }
        y[i] += one * other + changing + last * 0.5 + w[mark[i][1]];
    }
}

/* Iterations add to an element that they read as well. */
// kernel: read_between
// args: n=5 m=4 x[5]=0.3,-0.8,1.2,0.5,-0.4 w[4]=0.7,1.1,0.6,0.4 f[5]=0.2 y[5]=0.1
// split: any
// skip: bits
void
read_between(int n, int m, const double x[n], const double w[m], double f[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int j = 0; j < m; j++) {
            #pragma omp atomic
            f[i] += sqrt(1.0 + x[i] * x[i] * w[j]);
            sum += f[i] * f[i] * w[j];
        }
        y[i] += sum;
    }
}

/* An iteration reads what the one before wrote. */
// kernel: each_from_last
// args: n=4 m=4 w[4]=0.7,1.1,0.6,0.4 z[4][5]=0.3,0.8,-0.2 y[4]=0.1
// split: any
// skip: bits
void
each_from_last(int n, int m, const double w[m], double z[n][m + 1], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int j = 0; j < m; j++) {
            z[i][j + 1] = sqrt(1.0 + z[i][j] * z[i][j] * w[j]);
            sum += z[i][j];
        }
        y[i] += sum;
    }
}

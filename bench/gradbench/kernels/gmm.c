/* gmm: the log posterior of a Gaussian mixture. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

/* log of the multivariate gamma function of dimension d */
static double
log_gamma(double a, int d)
{
    double s = 0.25 * d * (d - 1) * log(3.14159265358979323846);
    for (int j = 1; j <= d; j++)
        s += lgamma(a + 0.5 * (1 - j));
    return s;
}

// args: d=2 k=2 n=3 wishart=0 gamma=1.2 x[3][2]=0.5,1,-0.7,0.2,1.1,-0.4 alpha[2]=0.3,-0.2
// args: mu[2][2]=0.1,0.4,-0.5,0.8 q[2][2]=0.2,-0.1,0.3,0.1 l[2][1]=0.25,-0.4 affine[2][2][3]=0 place[3][3]=0 weight[2]=0 term[3][2]=0
// args: error[1]=0
// skip: bits
/* Component c has the inverse factor Q: exp(q) on the diagonal, l column by column below it. affine,
 * place, weight and term are work space: -Q mu and Q by rows, x behind a 1, each component's constant,
 * and what is summed. */
void
gmm(int d, int k, int n, const double x[n][d], int wishart, double gamma, const double alpha[k],
    const double mu[k][d], const double q[k][d], const double l[k][d * (d - 1) / 2],
    double affine[k][d][d + 1], double place[n][d + 1], double weight[k], double term[n][k],
    double error[1])
{
    #pragma omp parallel for
    for (int c = 0; c < k; c++) {
        double sum = alpha[c];
        for (int row = 0; row < d; row++) {
            double diagonal = exp(q[c][row]), along = diagonal * mu[c][row];
            affine[c][row][row + 1] = diagonal;
            for (int j = 0; j < row; j++) {
                double below = l[c][j * d - j * (j + 1) / 2 + row - j - 1];
                affine[c][row][j + 1] = below;
                along += below * mu[c][j];
            }
            affine[c][row][0] = -along;
            sum += q[c][row];
        }
        weight[c] = sum;
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        place[i][0] = 1.0;
        for (int j = 0; j < d; j++)
            place[i][j + 1] = x[i][j];
    }
    double total = 0.0;
    #pragma omp parallel for reduction(+ : total)
    for (int i = 0; i < n; i++) {
        double top = 0.0, scaled = 0.0;
        for (int c = 0; c < k; c++) {
            double square = 0.0;
            for (int row = 0; row < d; row++) {
                double z = 0.0;
                for (int j = 0; j < row + 2; j++)
                    z += affine[c][row][j] * place[i][j];
                square += z * z;
            }
            term[i][c] = weight[c] - 0.5 * square;
            if (c == 0 || term[i][c] > top)
                top = term[i][c];
        }
        top = floor(top); /* nothing flows through a whole number */
        for (int c = 0; c < k; c++)
            scaled += exp(term[i][c] - top);
        total += top + log(scaled);
    }
    double largest = alpha[0], scaled = 0.0, prior = 0.0;
    for (int c = 1; c < k; c++)
        largest = fmax(largest, alpha[c]);
    for (int c = 0; c < k; c++)
        scaled += exp(alpha[c] - largest);
    for (int c = 0; c < k; c++) {
        double square = 0.0, sum = 0.0;
        for (int row = 0; row < d; row++) {
            for (int j = 1; j < row + 2; j++)
                square += affine[c][row][j] * affine[c][row][j];
            sum += q[c][row];
        }
        prior += 0.5 * gamma * gamma * square - wishart * sum;
    }
    int df = d + wishart + 1;
    double constant = df * d * (log(gamma) - 0.5 * log(2.0)) - log_gamma(0.5 * df, d);
    error[0] = -0.5 * n * d * log(2.0 * 3.14159265358979323846) + total -
               n * (largest + log(scaled)) - prior + k * constant;
}

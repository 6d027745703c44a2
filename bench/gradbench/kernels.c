/* The kernels of five GradBench evals: plain C, also for gcc -fopenmp. SPDX-License-Identifier:
 * Apache-2.0 */
#include <math.h>

/* -- gmm: the log posterior of a Gaussian mixture ---------------------------------------------------- */

/* log of the multivariate gamma function of dimension d */
static double
log_gamma(double a, int d)
{
    double s = 0.25 * d * (d - 1) * log(3.14159265358979323846);
    for (int j = 1; j <= d; j++)
        s += lgamma(a + 0.5 * (1 - j));
    return s;
}

// kernel: gmm
// args: d=2 k=2 n=3 wishart=0 gamma=1.2 x[3][2]=0.5,1,-0.7,0.2,1.1,-0.4 alpha[2]=0.3,-0.2
// args: mu[2][2]=0.1,0.4,-0.5,0.8 q[2][2]=0.2,-0.1,0.3,0.1 l[2][1]=0.25,-0.4 diagonal[2][2]=0 weight[2]=0
// args: error[1]=0
// skip: bits
/* Component c has the inverse factor Q: exp(q) on the diagonal, l column by column below it. diagonal
 * and weight are work space: exp(q), and each component's constant. */
void
gmm(int d, int k, int n, const double x[n][d], int wishart, double gamma, const double alpha[k],
    const double mu[k][d], const double q[k][d], const double l[k][d * (d - 1) / 2],
    double diagonal[k][d], double weight[k], double error[1])
{
    #pragma omp parallel for
    for (int c = 0; c < k; c++) {
        double sum = alpha[c];
        for (int j = 0; j < d; j++) {
            diagonal[c][j] = exp(q[c][j]);
            sum += q[c][j];
        }
        weight[c] = sum;
    }
    double total = 0.0;
    #pragma omp parallel for reduction(+ : total)
    for (int i = 0; i < n; i++) {
        double top = 0.0, scaled = 0.0; /* log-sum-exp as it goes: exp(top) * scaled */
        for (int c = 0; c < k; c++) {
            double square = 0.0;
            for (int row = 0; row < d; row++) {
                double z = diagonal[c][row] * (x[i][row] - mu[c][row]);
                int at = row - 1;
                for (int j = 0; j < row; j++) {
                    z += l[c][at] * (x[i][j] - mu[c][j]);
                    at += d - j - 2;
                }
                square += z * z;
            }
            double term = weight[c] - 0.5 * square;
            if (c == 0) {
                top = term;
                scaled = 1.0;
            } else if (term > top) {
                scaled = scaled * exp(top - term) + 1.0;
                top = term;
            } else {
                scaled += exp(term - top);
            }
        }
        total += top + log(scaled);
    }
    double largest = alpha[0], scaled = 0.0, prior = 0.0;
    for (int c = 1; c < k; c++)
        largest = fmax(largest, alpha[c]);
    for (int c = 0; c < k; c++)
        scaled += exp(alpha[c] - largest);
    for (int c = 0; c < k; c++) {
        double square = 0.0, sum = 0.0;
        for (int j = 0; j < d; j++) {
            square += diagonal[c][j] * diagonal[c][j];
            sum += q[c][j];
        }
        for (int j = 0; j < d * (d - 1) / 2; j++)
            square += l[c][j] * l[c][j];
        prior += 0.5 * gamma * gamma * square - wishart * sum;
    }
    int df = d + wishart + 1;
    double constant = df * d * (log(gamma) - 0.5 * log(2.0)) - log_gamma(0.5 * df, d);
    error[0] = -0.5 * n * d * log(2.0 * 3.14159265358979323846) + total -
               n * (largest + log(scaled)) - prior + k * constant;
}

/* -- ba: bundle adjustment ---------------------------------------------------------------------------- */

// kernel: ba
// skip: second (the second camera stands at the branch for no rotation)
// args: p=2 camera[2][11]=0.1,-0.2,0.3,0.5,-0.4,-6,2,0.1,-0.1,0.02,0.01,0,0,0,0.5,-0.4,-6,2,0.1,-0.1,0.02,0.01
// args: point[2][3]=1,0.5,0.2,-0.7,0.3,0.1 weight[2]=0.8,1.1 feature[2][2]=0.3,0.2,-0.4,0.1
// args: reprojection[2][2]=0 weight_error[2]=0
/* One thread for each observation, with a camera (rotation, centre, focal length, principal point, two
 * distortions), a point, a weight and a feature of its own. */
void
ba(int p, const double camera[p][11], const double point[p][3], const double weight[p],
   const double feature[p][2], double reprojection[p][2], double weight_error[p])
{
    #pragma omp parallel for
    for (int i = 0; i < p; i++) {
        const double *r = camera[i];
        double v[3], at[3];
        for (int k = 0; k < 3; k++)
            v[k] = point[i][k] - camera[i][3 + k];
        double square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
        if (square != 0.0) {
            double theta = sqrt(square), c = cos(theta), s = sin(theta);
            double axis[3] = {r[0] / theta, r[1] / theta, r[2] / theta};
            double along = (axis[0] * v[0] + axis[1] * v[1] + axis[2] * v[2]) * (1.0 - c);
            for (int k = 0; k < 3; k++) {
                int a = (k + 1) % 3, b = (k + 2) % 3;
                at[k] = v[k] * c + (axis[a] * v[b] - axis[b] * v[a]) * s + axis[k] * along;
            }
        } else {
            for (int k = 0; k < 3; k++) {
                int a = (k + 1) % 3, b = (k + 2) % 3;
                at[k] = v[k] + r[a] * v[b] - r[b] * v[a];
            }
        }
        double u0 = at[0] / at[2], u1 = at[1] / at[2], s = u0 * u0 + u1 * u1;
        double bend = 1.0 + camera[i][9] * s + camera[i][10] * s * s;
        reprojection[i][0] =
            weight[i] * (camera[i][6] * u0 * bend + camera[i][7] - feature[i][0]);
        reprojection[i][1] =
            weight[i] * (camera[i][6] * u1 * bend + camera[i][8] - feature[i][1]);
        weight_error[i] = 1.0 - weight[i] * weight[i];
    }
}

/* -- lstm: the loss of a character predictor ---------------------------------------------------------- */

static double
sigmoid(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

// kernel: lstm
// args: layers=2 bits=2 length=4 main[4][8]=0.5,-0.3,0.8,0.1,-0.6,0.2,0.9,-0.4,0.35,0.7 extra[3][2]=0.5,0.9,0.8,1.1,0.1,-0.2
// args: state[4][2]=0.1,0.2,-0.3,0.4,0.25,-0.15,0.05,0.3 sequence[4][2]=1,0,0,1,1,0,0,1 loss[1]=0
// split: refused
/* state is advanced in place: row 2 i is the hidden value of layer i, row 2 i + 1 its cell. */
void
lstm(int layers, int bits, int length, const double main[2 * layers][4 * bits],
     const double extra[3][bits], double state[2 * layers][bits], const double sequence[length][bits],
     double loss[1])
{
    double total = 0.0;
    for (int t = 0; t + 1 < length; t++) {
        double sum = 2.0, dot = 0.0, ones = 0.0;
        for (int j = 0; j < bits; j++) {
            double y = sequence[t][j] * extra[0][j];
            for (int i = 0; i < layers; i++) {
                double h = state[2 * i][j];
                double f = sigmoid(y * main[2 * i][j] + main[2 * i + 1][j]);
                double g = sigmoid(h * main[2 * i][bits + j] + main[2 * i + 1][bits + j]);
                double o = sigmoid(y * main[2 * i][2 * bits + j] + main[2 * i + 1][2 * bits + j]);
                double c = tanh(h * main[2 * i][3 * bits + j] + main[2 * i + 1][3 * bits + j]);
                double cell = state[2 * i + 1][j] * f + g * c;
                y = o * tanh(cell);
                state[2 * i + 1][j] = cell;
                state[2 * i][j] = y;
            }
            double predicted = y * extra[1][j] + extra[2][j];
            sum += exp(predicted);
            dot += sequence[t + 1][j] * predicted;
            ones += sequence[t + 1][j];
        }
        total += dot - ones * log(sum);
    }
    loss[0] = -total / ((length - 1) * bits);
}

// kernel: kmeans
// args: n=4 k=2 d=2 point[4][2]=0,0,1,0,5,5,6,5 centroid[2][2]=0.5,1,5,4 cost[1]=0
// seed: cost=1
// expect: cost=5.5
// grad: centroid=0,4,-2,-4
/* -- kmeans: the sum of squared distances to the nearest centroid ---------------------------------------- */

void
kmeans(int n, int k, int d, const double point[n][d], const double centroid[k][d], double cost[1])
{
    double total = 0.0;
    #pragma omp parallel for reduction(+ : total)
    for (int i = 0; i < n; i++) {
        double nearest = 0.0;
        for (int c = 0; c < k; c++) {
            double distance = 0.0;
            for (int j = 0; j < d; j++) {
                double along = point[i][j] - centroid[c][j];
                distance += along * along;
            }
            if (c == 0 || distance < nearest)
                nearest = distance;
        }
        total += nearest;
    }
    cost[0] = total;
}

/* -- det: a determinant by expansion of minors, its recursion on a stack of its own ------------------------ */

// kernel: det
// args: l=3 a[3][3]=2,1,3,0,4,1,5,2,6 out[1]=0
// seed: out=1
// expect: out=-11
// grad: a=22,5,-20,0,-3,1,-11,-2,8
enum { DEEPEST = 20 };

void
det(int l, const double a[l][l], double out[1])
{
    double sum[DEEPEST];
    int column[DEEPEST], tried[DEEPEST], level = 0;
    unsigned used = 0;
    sum[0] = 0.0;
    column[0] = -1;
    tried[0] = 0;
    while (level >= 0) {
        int c = column[level] + 1;
        if (c > 0)
            used &= ~(1u << (c - 1));
        while (c < l && (used >> c & 1u))
            c++;
        if (c == l) { /* this minor is complete: it goes into the expansion one row up */
            double minor = sum[level];
            level--;
            if (level >= 0) {
                double term = a[level][column[level]] * minor;
                sum[level] += tried[level] & 1 ? -term : term;
                tried[level]++;
            }
            continue;
        }
        column[level] = c;
        used |= 1u << c;
        if (level == l - 1) {
            sum[level] += a[level][c];
        } else {
            level++;
            sum[level] = 0.0;
            column[level] = -1;
            tried[level] = 0;
        }
    }
    out[0] = sum[0];
}

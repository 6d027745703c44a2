/* The kernels of the bench: plain C, also for gcc -fopenmp. Recurrences are such that their gradients
 * stay of order one. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

// kernel: deep
// args: n=3 steps=40 x[3]=0.5,1.5,2.4 y[3]=0
/* A long chain of elementary steps. */
void
deep(int n, int steps, const float x[n], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float v = x[i];
        for (int t = 0; t < steps; t++)
            v = v + 0.001f * sinf(v);
        y[i] = v;
    }
}

// kernel: ragged
// args: n=4 steps[4]=3,0,17,5 x[4]=0.5,1.5,2.4,3.2 y[4]=0
/* The same, each thread with its own number of steps and a way out. */
void
ragged(int n, const int steps[n], const float x[n], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float v = x[i];
        for (int t = 0; t < steps[i]; t++) {
            if (v > 3.0f)
                break;
            v = v + 0.001f * sinf(v);
        }
        y[i] = v;
    }
}

// kernel: csr
// args: rows=3 nnz=6 cap=1.2 start[4]=0,2,2,6 column[6]=0,2,1,2,0,1 value[6]=0.5,0.25,0.75,0.5,0.9,0.3
// args: x[3]=0.7,1.1,1.3 y[3]=0
/* Rows of a sparse matrix, left where the sum exceeds a cap. */
void
csr(int rows, int nnz, double cap, const int start[rows + 1], const int column[nnz],
    const double value[nnz], const double x[rows], double y[rows])
{
    #pragma omp parallel for
    for (int i = 0; i < rows; i++) {
        double s = 0.0;
        for (int j = start[i]; j < start[i + 1]; j++) {
            s += value[j] * x[column[j]];
            if (s > cap)
                break;
        }
        y[i] = s * s;
    }
}

// kernel: newton
// args: n=3 x[3]=0.5,2,4.4 y[3]=0
/* Newton's method for r^3 + r = x. */
void
newton(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double r = x[i], e;
        while (fabs(e = r * r * r + r - x[i]) > 1e-12)
            r = r - e / (3.0 * r * r + 1.0);
        y[i] = r;
    }
}

// kernel: adaptive
// args: n=2 x[2]=0.5,-0.7 rate=1.5 y[2]=0
/* An ODE step whose size an error estimate decides. */
void
adaptive(int n, const double x[n], double rate, double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double t = 0.0, h = 0.25, v = x[i];
        while (t < 4.0) {
            if (t + h > 4.0)
                h = 4.0 - t;
            double k1 = sin(3.0 * t) - rate * v, mid = v + 0.5 * h * k1;
            double k2 = sin(3.0 * (t + 0.5 * h)) - rate * mid;
            double error = fabs(h * (k2 - k1));
            if (error > 0.02) {
                h *= 0.5;
                continue;
            }
            v += h * k2;
            t += h;
            if (error < 0.005)
                h *= 1.5;
        }
        y[i] = v;
    }
}

// kernel: lstm
// args: n=2 length=4 x[2][4]=0.5,-0.3,0.8,0.1,-0.6,0.2,0.9,-0.4 y[2]=0
// args: w[12]=0.5,0.3,0.1,-0.2,0.7,0.4,0.9,-0.1,0.2,0.6,0.8,-0.3
/* A chain of LSTM cells over a sequence: gates f, i, o and candidate c, each with a weight for the
 * input, one for the hidden value, and a bias, shared by all sequences. */
void
lstm(int n, int length, const double x[n][length], const double w[12], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double hidden = 0.0, cell = 0.0;
        for (int t = 0; t < length; t++) {
            double in = x[i][t];
            double f = 1.0 / (1.0 + exp(-(w[0] * in + w[1] * hidden + w[2])));
            double g = 1.0 / (1.0 + exp(-(w[3] * in + w[4] * hidden + w[5])));
            double o = 1.0 / (1.0 + exp(-(w[6] * in + w[7] * hidden + w[8])));
            double c = tanh(w[9] * in + w[10] * hidden + w[11]);
            cell = f * cell + g * c;
            hidden = o * tanh(cell);
        }
        y[i] = hidden;
    }
}

// kernel: cholesky
// args: n=1 a[1][36]=5,0.1,5,-0.2,0.3,5,0.4,0.1,-0.3,5,0.2,-0.1,0.3,0.1,5,0.3,0.2,-0.4,0.1,0.2,5,0.1,0.4,-0.2,0.3,-0.1,0.2,5,0.2,0.1,0.3,-0.3,0.4,0.1,-0.2,5
// args: b[1][8]=1,-0.5,0.3,0.8,-0.2,0.6,0.1,-0.9 y[1]=0
/* A Cholesky factor in a local array and the solution of a system with it. */
void
cholesky(int n, const double a[n][36], const double b[n][8], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double l[36], z[8];
        for (int r = 0; r < 8; r++)
            for (int c = 0; c <= r; c++) {
                double s = a[i][r * (r + 1) / 2 + c];
                for (int k = 0; k < c; k++)
                    s -= l[r * (r + 1) / 2 + k] * l[c * (c + 1) / 2 + k];
                l[r * (r + 1) / 2 + c] = r == c ? sqrt(s) : s / l[c * (c + 1) / 2 + c];
            }
        double sum = 0.0;
        for (int r = 0; r < 8; r++) {
            double s = b[i][r];
            for (int k = 0; k < r; k++)
                s -= l[r * (r + 1) / 2 + k] * z[k];
            z[r] = s / l[r * (r + 1) / 2 + r];
            sum += z[r] * z[r];
        }
        y[i] = sum;
    }
}

// kernel: springs
// args: n=5 steps=4 stiffness=1.5 x[5]=0.1,-0.2,0.3,0.05,-0.1 v[5]=0,0.1,-0.1,0.05,0
// split: refused
/* A chain of masses and springs with a cubic term, in place, symplectic Euler; the ends stand still. */
void
springs(int n, int steps, double stiffness, double x[n], double v[n])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 1; i < n - 1; i++) {
            double left = x[i - 1] - x[i], right = x[i + 1] - x[i];
            v[i] += 0.05 * stiffness * (left + right + 0.5 * (left * left * left + right * right * right));
        }
        #pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            x[i] += 0.05 * v[i];
    }
}

// kernel: bodies
// args: n=3 x[3][3]=0,0.1,0.2,0.5,-0.4,0.3,-0.6,0.2,-0.1 mass[3]=1,0.5,2 a[3][3]=0
/* Accelerations of all bodies by all bodies. */
void
bodies(int n, const double x[n][3], const double mass[n], double a[n][3])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double ax = 0.0, ay = 0.0, az = 0.0;
        for (int j = 0; j < n; j++) {
            double dx = x[j][0] - x[i][0], dy = x[j][1] - x[i][1], dz = x[j][2] - x[i][2];
            double r2 = dx * dx + dy * dy + dz * dz + 0.01;
            double inverse = 1.0 / sqrt(r2), s = mass[j] * inverse * inverse * inverse;
            ax += s * dx;
            ay += s * dy;
            az += s * dz;
        }
        a[i][0] = ax;
        a[i][1] = ay;
        a[i][2] = az;
    }
}

// kernel: trace
// args: n=2 direction[2][3]=0.1,0.05,0.99,0.02,-0.06,0.99 depth[2]=0
// args: sphere[4][4]=0.2,0.1,3.5,0.5,-0.5,0.3,3.2,0.4,0.6,-0.2,3.9,0.6,-0.1,-0.4,4.1,0.3
/* Rays marched through a smooth union of four spheres (x, y, z, radius), until they hit or leave. */
void
trace(int n, const double direction[n][3], const double sphere[4][4], double depth[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double t = 0.0;
        for (int step = 0; step < 128; step++) {
            double sum = 0.0;
            for (int s = 0; s < 4; s++) {
                double dx = t * direction[i][0] - sphere[s][0];
                double dy = t * direction[i][1] - sphere[s][1];
                double dz = t * direction[i][2] - sphere[s][2];
                sum += exp(-4.0 * (sqrt(dx * dx + dy * dy + dz * dz) - sphere[s][3]));
            }
            double distance = -0.25 * log(sum);
            if (distance < 1e-4)
                break;
            t += distance;
            if (t > 8.0)
                break;
        }
        depth[i] = t;
    }
}

// kernel: horner
// args: n=2 degree=4 c[5]=1,2,3,4,5 x[2]=0.5,-1 y[2]=0
// seed: y=1
// expect: y=3.5625,3
// grad: x=10.5,-12 c=2,-0.5,1.25,-0.875,1.0625
/* A polynomial with shared coefficients by Horner's rule. */
void
horner(int n, int degree, const double c[degree + 1], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = c[degree];
        for (int k = degree - 1; k >= 0; k--)
            v = v * x[i] + c[k];
        y[i] = v;
    }
}

// kernel: weights
// args: n=3 m=4 x[3][4]=0.5,-0.3,0.8,0.1,-0.6,0.2,0.9,-0.4 w[4]=0.3,-0.5,0.2,0.7 y[3]=0
/* A neuron on each row: all threads share the weights. */
void
weights(int n, int m, const float x[n][m], const float w[m], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float s = 0.0f;
        for (int k = 0; k < m; k++)
            s += w[k] * x[i][k];
        y[i] = tanhf(s);
    }
}

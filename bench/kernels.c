/* The kernels of the bench: plain C, also for gcc -fopenmp. Recurrences are such that their gradients
 * stay of order one. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

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

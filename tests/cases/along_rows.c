// Loops along rows of memory, a row for each thread: lanes load and store them by rows, several iterations at a time. Rows and
// their elements are no multiples of any vector.
#include <math.h>
#include <stdint.h>

// kernel: row_softmax
// args: n=19 m=21 x[19][21]=0.3,-1.2,0.7,2.1,0.05,-0.4,1.1,0.9,-2.2,0.6,1.7 y[19][21]=0
// split: refused
void
row_softmax(int n, int m, const float *x, float *y)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        const float *row = x + i * m;
        float most = row[0], sum = 0.0f;
        for (int k = 1; k < m; k++)
            if (row[k] > most)
                most = row[k];
        for (int k = 0; k < m; k++) {
            y[i * m + k] = expf(row[k] - most);
            sum += y[i * m + k];
        }
        for (int k = 0; k < m; k++)
            y[i * m + k] /= sum;
    }
}

// kernel: row_norm
// args: n=18 m=23 x[18][23]=0.3,-1.2,0.7,2.1,0.05,-0.4,1.1,0.9,-2.2,0.6,1.7 w[23]=1.5,0.5,-0.7 b[23]=0.1,0.3 y[18][23]=0
void
row_norm(int n, int m, const double x[n][m], const double w[m], const double b[m], double y[n][m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double mean = 0.0, square = 0.0;
        for (int k = 0; k < m; k++)
            mean += x[i][k];
        mean /= m;
        for (int k = 0; k < m; k++)
            square += (x[i][k] - mean) * (x[i][k] - mean);
        double s = 1.0 / sqrt(square / m + 0.1);
        for (int k = 0; k < m; k++)
            y[i][k] = s * (x[i][k] - mean) * w[k] + b[k];
    }
}

// Rows found in a table: lanes meet in them. Counted down.
// kernel: row_table
// args: n=19 m=17 rows=4 at[19]=3,0,0,2,1,3,3 w[4][17]=0.5,-0.4,1.1,0.3,0.8 x[19][17]=0.2,0.9,-0.6 y[19]=0
void
row_table(int n, int m, int rows, const int32_t at[n], const double *w, const double *x, double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double s = 0.1;
        for (int k = m - 1; k >= 0; k--)
            s = 0.9 * s + w[at[i] * m + k] * x[i * m + k];
        y[i] = sin(s);
    }
}

// What one iteration stores the next one loads: these stay as they are. What all of them add goes by rows.
// kernel: row_prefix
// args: n=18 m=19 x[18][19]=0.4,0.1,-0.3,0.6,0.9 y[18][19]=0
// split: any
void
row_prefix(int n, int m, const double *x, double *y)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i * m] = x[i * m];
        for (int k = 1; k < m; k++)
            y[i * m + k] = 0.5 * y[i * m + k - 1] * y[i * m + k - 1] + x[i * m + k];
        for (int k = 0; k + 1 < m; k++)
            y[i * m + k] += x[i * m + k] * x[i * m + k + 1];
    }
}

// In place, with a choice in each iteration, subscripts without signs, and numbers.
// kernel: row_choice
// args: n=17 m=20 of[17][20]=1,0,2,1,3 a[17][20]=0.4,-0.7,1.3,0.2,0.6,-1.1,0.8 y[17]=0
// split: any
void
row_choice(unsigned n, unsigned m, const int32_t *of, float *a, float *y)
{
    #pragma omp parallel for
    for (unsigned i = 0; i < n; i++) {
        float s = 0.0f;
        for (unsigned k = 0; k < m; k++) {
            float v = a[i * m + k];
            if (of[i * m + k] > 1)
                v = v * v * (float)of[i * m + k];
            else
                s += 0.1f * v;
            a[i * m + k] = v + s;
            s = s * 0.7f + v;
        }
        y[i] = s;
    }
}

// A sum of products for each pair of rows: rows of one factor lie apart in lanes, those of the other are common.
// kernel: row_products
// args: n=5 p=18 m=20 a[5][20]=0.3,-0.8,0.5,1.2,0.1,-0.4,0.9 b[18][20]=0.7,0.2,-0.5,1.1 y[5][18]=0
void
row_products(int n, int p, int m, const float *a, const float *b, float *y)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < p; j++) {
            float s = 0.0f;
            for (int k = 0; k < m; k++)
                s += a[i * m + k] * b[j * m + k];
            y[i * p + j] = s * s;
        }
}

// Loops of some threads only, and shorter than a vector.
// kernel: row_some
// args: n=37 m=3 on[37]=1,0,1,1,0,0,0 x[37][3]=0.4,0.1,-0.3,0.6,0.9 y[37][3]=0
void
row_some(int n, int m, const int32_t on[n], const double *x, double *y)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double s = 0.2;
        if (on[i])
            for (int k = 0; k < m; k++) {
                s = 0.8 * s + x[i * m + k] * s;
                y[i * m + k] = s * x[i * m + k];
            }
    }
}

// Sines and cosines, in a sum that is formed in order and in sums of all threads, of which each worker has its own.
// kernel: row_waves
// args: n=19 m=21 x[19][21]=0.3,-1.2,0.7,2.1,0.05,-0.4,1.1 y[19]=0 z[21]=0.1,0.2
// split: any
// skip: bits
void
row_waves(int n, int m, const double x[n][m], double y[n], double z[m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double s = 0.0;
        for (int k = 0; k < m; k++) {
            double wave = sin(x[i][k]), other = cos(x[i][k]);
            s += wave;
            #pragma omp atomic
            z[k] += wave * other;
        }
        y[i] = s * s;
    }
}

// A condition that all iterations share, with an addition in one arm of its reverse and a loop in the other.
// kernel: row_either
// args: n=18 m=5 first=0 x[18][5]=0.4,0.1,-0.3,0.6 z[18][5]=0.2,0.7,-0.1 y[18]=0
void
row_either(int n, int m, int first, const double x[n][m], const double z[n][m], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double s = 0.0, t = 0.0;
        for (int k = 0; k < m; k++) {
            if (first)
                s += x[i][k];
            else
                for (int j = 0; j < m; j++)
                    s += z[i][j];
            t += x[i][k];
        }
        y[i] = sin(s) * t;
    }
}

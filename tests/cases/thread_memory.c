// Memory of each thread: local arrays, malloc, calloc and alloca inside of parallel loops, in functions, loops and time steps,
// of sizes that the run knows, or only a bound of them.
// args: n=5 m=4 steps=2 count[5]=3,9,1,4,2 x[5][4]=0.5,1.5,-0.4,0.3,0.9,0.2,-0.7,1.1,0.6,-0.3,0.8,0.1,1.2,-0.5,0.4,0.7,-0.2,0.9,1.3,-0.6 y[5][4]=0 out[5]=0
#include <alloca.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct pair { double value, square; };

static int triangle(int n) { return n * (n + 1) / 2; }

/* a system of m equations, whose matrix is the function's own */
static double
solve(int m, const double *x)
{
    double A[m][m], *b = malloc(m * sizeof *b);
    if (b == NULL)
        return 0;
    memcpy(b, x, m * sizeof(double));
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            A[i][j] = i == j ? 3 + x[i] * x[i] : 0.3 * x[j];
    for (int k = 0; k < m; k++)
        for (int i = k + 1; i < m; i++) {
            double f = A[i][k] / A[k][k];
            for (int j = k; j < m; j++)
                A[i][j] -= f * A[k][j];
            b[i] -= f * b[k];
        }
    for (int k = m - 1; k >= 0; k--) {
        for (int j = k + 1; j < m; j++)
            b[k] -= A[k][j] * b[j];
        b[k] /= A[k][k];
    }
    double last = b[m - 1];
    if (last > 10) {
        free(b);
        return 10;
    }
    double sum = b[0] * last;
    free(b);
    return sum;
}

/* iterates until it is done, in two arrays */
static double
settle(size_t bytes, int m, const double *x)
{
    double *v = (double *)malloc(bytes), *w = (double *)malloc(bytes + sizeof(double)), change = 1;
    for (int k = 0; k < m; k++)
        v[k] = x[k];
    for (int t = 0; t < 6 && change > 1e-3; t++) {
        change = 0;
        for (int k = 0; k < m; k++)
            w[k + 1] = sin(v[k]) + 0.25 * v[(k + 1) % m];
        for (int k = 0; k < m; k++) {
            change += (w[k + 1] - v[k]) * (w[k + 1] - v[k]);
            v[k] = w[k + 1];
        }
    }
    double first = v[0] * v[m - 1];
    free(v);
    free(w);
    return first;
}

void
thread_memory(int n, int m, int steps, const int count[n], const double x[n][m], double y[n][m], double out[n])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = n - 1; i >= 0; i -= 2) {
            const int most = count[i] < m ? count[i] : m;
            double product[most];
            for (int k = 0; k < most; k++)
                product[k] = x[i][k] * (k ? product[k - 1] + 1 : 1);
            out[i] += solve(m, x[i]) + product[most - 1];
        }
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            double next = settle(m * sizeof(double), m, x[i]);
            for (int r = 1; r < m; r++) {
                double *sum = calloc(r, sizeof *sum);
                for (int k = 0; k < r; k++)
                    sum[k / 2] += x[i][k] * next;
                y[i][r] += 0.1 * sum[0];
                free(sum);
            }
        }
    }
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= m - 1; j++) {
            struct pair *p = alloca(sizeof(struct pair) * triangle(j + 1));
            for (int k = 0; k <= j; k++) {
                p[triangle(k)].value = x[i][k] - x[i][j];
                p[triangle(k)].square = x[i][k] * x[i][j];
            }
            y[i][j] += p[triangle(j)].square + p[0].value * p[0].value;
        }
}

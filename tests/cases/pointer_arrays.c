// Arrays of pointers, of structs with pointers, and pointers to pointers.
// kernel: layers
// args: count=2 depth=3 w0[6]=0.5,-0.2,0.3,0.1,0.7,-0.4 w1[4]=0.3,0.2,-0.6,0.9 w2[2]=0.8,-0.7 b[5]=0.1,-0.1,0.2,0.3,-0.2 x[6]=1,2,-1,0.5,0.25,1.5 y[2]=0
// split: any
// kernel: walked
// args: n=3 m=4 x[12]=1,2,-1,0.5,0.25,1.5,0.75,-2,1.25,0.1,0.2,0.3
// split: any
// kernel: solve
// args: n=3 a[9]=0.1,2,-1,3,0.25,1.5,0.75,-2,1.25 b[3]=1,-2,0.5
// split: any
// kernel: filled
// args: n=3 m=4 x[12]=1,2,-1,0.5,0.25,1.5,0.75,-2,1.25,0.1,0.2,0.3 y[12]=0
// split: any
// kernel: chosen
// args: n=4 k=1 u[4]=1,2,-1,0.5 v[4]=0.25,1.5,0.75,-2 y[4]=0
// split: any
// kernel: counted
// args: n=3 most=3 u[3]=1,2,-1 v[3]=0.25,1.5,0.75 w[3]=0.5,0.1,-2 y[3]=1,-1,0.5
// split: any
#include <math.h>
#include <stdlib.h>

typedef struct {
    int n, m;
    const double *w, *b;
} layer;

typedef struct {
    int depth;
    layer l[3];
} net;

static void
through(const layer *l, const double *in, double *out)
{
    for (int i = 0; i < l->n; i++) {
        double s = l->b[i];
        for (int j = 0; j < l->m; j++)
            s += l->w[i * l->m + j] * in[j];
        out[i] = tanh(s);
    }
}

/* weights in different arrays, under an index that the run knows, in threads */
void
layers(int count, int depth, const double *w0, const double *w1, const double *w2, const double *b, const double *x, double *y)
{
    net p = {depth, {{2, 3, w0, b}, {2, 2, w1, b + 2}, {1, 2, w2, b + 4}}};
    #pragma omp parallel for
    for (int i = 0; i < count; i++) {
        double h[2][4];
        for (int j = 0; j < p.l[0].m; j++)
            h[0][j] = x[3 * i + j];
        for (int k = 0; k < p.depth; k++)
            through(&p.l[k], h[k & 1], h[(k + 1) & 1]);
        y[i] = h[p.depth & 1][0];
    }
}

/* rows that no formula gives, behind three stars */
double
walked(int n, int m, double *x)
{
    double **row = malloc(n * sizeof *row), *p = x, s = 0;
    double ***half = malloc(2 * sizeof(double **));
    for (int i = 0; i < n; i++, p += m)
        row[i] = p;
    half[0] = row;
    half[1] = row + 1;
    for (int i = 0; i < n - 1; i++)
        for (int j = 0; j < m; j++)
            s += half[0][i][j] * *(*(half[1] + i) + j);
    free(row);
    free(half);
    return s;
}

/* rows that are exchanged */
void
solve(int n, double *a, double *b)
{
    double *A[8];
    for (int i = 0; i < n; i++)
        A[i] = a + i * n;
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(A[i][k]) > fabs(A[p][k]))
                p = i;
        double *row = A[k], value = b[k];
        A[k] = A[p];
        A[p] = row;
        b[k] = b[p];
        b[p] = value;
        for (int i = k + 1; i < n; i++) {
            double q = A[i][k] / A[k][k];
            for (int j = k; j < n; j++)
                A[i][j] -= q * A[k][j];
            b[i] -= q * b[k];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++)
            b[i] -= A[i][j] * b[j];
        b[i] /= A[i][i];
    }
}

typedef struct {
    int rows, columns;
    double *data, **at;
} matrix;

static void
allocate(matrix *m, int rows, int columns)
{
    m->rows = rows;
    m->columns = columns;
    m->at = malloc(rows * sizeof *m->at);
    m->at[0] = m->data = malloc(rows * columns * sizeof(double));
    for (int i = 1; i < rows; i++)
        m->at[i] = m->at[0] + i * columns;
}

/* rows of a matrix on the heap, and of an array of the launch */
void
filled(int n, int m, double *x, double *y)
{
    matrix a;
    double **row = malloc(n * sizeof *row);
    allocate(&a, m, n);
    for (int i = 0; i < n; i++)
        row[i] = &x[i * m];
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            a.at[i][j] = sin(row[j][i]);
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[i * m + j] = a.at[j][i] * row[i][(j + 1) % m];
    free(a.data);
    free(a.at);
    free(row);
}

static void
ends(double *from, int n, double **first, double **last)
{
    *first = from;
    *last = from + n - 1;
}

/* outside of threads, an index that the run knows chooses the array; pointers come back through pointers */
void
chosen(int n, int k, double *u, double *v, double *y)
{
    double *both[2] = {u, v}, *p = both[k], *first, *last;
    for (int t = 0; t < 3; t++)
        for (int i = 0; i < n; i++)
            y[i] += both[(t + k) % 2][i] * p[i];
    ends(v, n, &first, &last);
    while (first < last)
        y[0] += *first++ * *last--;
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int t = 1; t >= 0; t--)
            y[i] *= 1 + both[t][i];
}

/* counters that the run bounds, and a constant beside them */
void
counted(int n, int most, double *u, double *v, double *w, double *y)
{
    double *all[2][3] = {{u, v, w}, {w, u, v}};
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        for (int t = 1; t <= most; t++)
            y[i] *= 1 + all[0][t - 1][i];
        for (int t = most - 2; t >= -1; t--)
            y[i] += all[1][t + 1][i] * y[i];
    }
}

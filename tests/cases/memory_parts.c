// Memory that loops allocate part by part, that threads hold in structs, that ends with a function, and that grows.
// kernel: rows
// args: n=4 m=3 x[4]=0.5,-1,2,0.25 y[4]=1,0.3,-0.2,0.7
// split: any
// kernel: layer_parts
// args: n=3 x[3]=0.5,-1,0.25 y[3]=0
// split: any
// kernel: thread_parts
// args: n=4 x[4]=0.5,-1,2,0.25 y[4]=1,0.3,-0.2,0.7
// split: any
// kernel: grown
// args: n=3 x[3]=0.5,-1,0.25 y[3]=1,2,3
// split: any
#include <alloca.h>
#include <stdlib.h>

static double *
vector(int n)
{
    double *v = malloc(n * sizeof *v);
    if (!v)
        exit(1);
    return v;
}

static double **
matrix(int n, int m)
{
    double **a = malloc(n * sizeof *a);
    for (int i = 0; i < n; i++)
        a[i] = vector(m);
    return a;
}

/* a matrix and a triangle, of which rows are exchanged */
void
rows(int n, int m, const double *x, double *y)
{
    double **a = matrix(n, m), **t = malloc(n * sizeof *t);
    for (int i = n - 1; i >= 0; i--)
        t[i] = calloc(i + 1, sizeof **t);
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] = x[i] * (j + 1);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            t[i][j] += a[i][j % m] * a[j][m - 1];
    double *first = a[0];
    a[0] = a[n - 1];
    a[n - 1] = first;
    for (int i = 0; i < n; i++)
        y[i] += t[i][i / 2] * a[i][1];
    for (int i = 0; i < n; i++) {
        free(a[i]);
        free(t[i]);
    }
    free(a);
    free(t);
}

typedef struct {
    int n;
    double *w, *b;
} layer;

typedef struct {
    int count;
    layer l[2];
} net;

static void
make(layer *l, int n, const double *x)
{
    l->n = n;
    l->w = malloc(n * n * sizeof(double));
    l->b = calloc(n, sizeof(double));
    for (int i = 0; i < n * n; i++)
        l->w[i] = x[i % n] + 0.1 * i;
}

/* fields of a struct in an array, whose number is that of another struct */
void
layer_parts(int n, const double *x, double *y)
{
    net p = {.count = 2};
    double h[p.count + 1][n];
    for (int k = 0; k < p.count; k++)
        make(&p.l[k], n, x);
    for (int i = 0; i < n; i++)
        h[0][i] = x[i];
    for (int k = 0; k < p.count; k++)
        for (int i = 0; i < n; i++) {
            h[k + 1][i] = p.l[k].b[i];
            for (int j = 0; j < n; j++)
                h[k + 1][i] += p.l[k].w[i * n + j] * h[k][j];
        }
    for (int i = 0; i < n; i++)
        y[i] = h[p.count][i];
}

typedef struct {
    int n;
    double *sums, *terms;
} workspace;

static workspace *
workspace_new(int n)
{
    workspace *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->n = n;
    w->sums = calloc(n, sizeof(double));
    w->terms = malloc(n * sizeof(double));
    return w;
}

static void
workspace_free(workspace *w)
{
    free(w->sums);
    free(w->terms);
    free(w);
}

static double
reversed(int n, const double *x)
{
    double *t = alloca(n * sizeof *t);
    for (int i = 0; i < n; i++)
        t[i] = x[n - 1 - i] * x[i];
    return t[0] + t[n / 2];
}

/* a workspace of each thread, rows of each, and memory of a function in a loop */
void
thread_parts(int n, const double *x, double *y)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        workspace *w = workspace_new(n);
        double *row[2];
        for (int k = 0; k < w->n; k++) {
            w->terms[k] = x[k] * x[i];
            w->sums[k] += w->terms[k] + (k ? w->sums[k - 1] : 0);
        }
        for (int k = 0; k < 2; k++) {
            row[k] = malloc((k + 1) * sizeof(double));
            row[k][k] = w->sums[n - 1 - k];
        }
        y[i] *= row[0][0] + row[1][1] * x[i];
        free(row[0]);
        free(row[1]);
        workspace_free(w);
    }
    for (int i = 0; i < n; i++)
        y[i] += reversed(n, x);
}

void
grown(int n, const double *x, double *y)
{
    double *a = malloc(n * sizeof *a), *b = NULL;
    for (int i = 0; i < n; i++)
        a[i] = x[i] * x[i];
    a = realloc(a, 2 * n * sizeof *a);
    b = realloc(b, n * sizeof *b);
    for (int i = 0; i < n; i++) {
        a[n + i] = a[i] * x[n - 1 - i];
        b[i] = a[n] + a[i];
    }
    for (int i = 0; i < n; i++)
        y[i] *= a[n + i] * b[i];
    free(a);
    free(b);
}

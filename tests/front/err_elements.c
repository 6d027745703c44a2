// Pointers in arrays and structs that cannot be followed.
struct two { int n; double *p; };
struct list { double v; struct list *next; };
static void
set(struct two *s, double *x)
{
    s->p = x; // error: E0462
}
void
err_elements(int n, struct two *s, struct list *l, void **any, double *x, double *y) // error: E0440
{
    x[0] = 0;
}
void
elements(int n, struct two *s, struct list *l, double **rows, double *x, double *y)
{
    struct two many[2] = {{n, x}, {n, y}}, one = {n, x}, other = {n, y}, *which = &one;
    double *large[100], *p;
    x[0] = l->next->v; // error: E0479
    s->p = x;
    x[0] = *s->p;
    rows[1] = rows[0];
    x[1] = *rows[1];
    rows[1] = x; // error: E0462
    large[0] = x;
    large[n] = y; // error: E0462
    x[1] = *p; // error: E0434
    if (n > 3)
        which = &other; // error: E0488
    x[2] = which->p[0];
    x[3] = one.p[0];
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        x[i] += many[i % 2].p[i]; // error: E0478
        one.p = x; // error: E0436
        struct two own = {n, x};
        x[i] += own.p[0];
        if (i > 3)
            set(&own, y);
    }
}
void
some_rows(int n, double **rows, double *x)
{
    rows[0] = x; // error: E0462
    x[0] = rows[1][0];
}

// Fields that kernels do not have, and pointer fields that cannot be followed.
struct node { double v; unsigned flag : 2; double *p; long double w; union { int i; } u; struct node *list[2]; volatile int z; };
struct open { int n; float data[]; };
struct pair { double *p, *q; int n; };
static double
first(const struct pair *s)
{
    return s->p[0]; // error: E0434
}
void
err_fields(int n, double x[n], double y[n], struct node a[n], struct open *o, struct node s)
{
    x[0] = a[0].flag; // error: E0427
    a[0].flag = 1; // said above
    x[0] = *a[0].p;
    a[1].p = x; // error: E0462
    x[0] = a[0].w; // error: E0448
    x[0] = a[0].u.i; // error: E0416
    x[0] = a[0].list[1]->v; // error: E0479
    a[0].z = 1; // error: E0417
    a[0] = a[1]; // error: E0459
    x[0] = o->data[3]; // error: E0447
    x[0] = *s.p;
    struct node t = s;
    x[0] = t.p[1];
    struct pair two = {x, .n = 3}, many[2] = {{x, y}};
    x[0] = many[1].p[0]; // error: E0437
    x[0] = many[1].q[0]; // error: E0437
    x[0] += first(&two) + *two.q; // error: E0437
    x[0] += two.p[1];
    struct pair unset;
    x[0] += first(&unset);
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        unset.p = x; // error: E0436
        x[i] = two.p[i];
        struct pair own = {x, y};
        double **pp = &own.p;
        x[i] += own.q[i];
        if (i > 3)
            own.q = x; // error: E0462
        for (int k = 0; k < n; k++)
            *pp = y; // error: E0462
    }
}

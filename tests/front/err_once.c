/* One cause is one error, however often it is met. */
struct node { double v; double *p; struct node *next; };
double far(double x);
extern const double *elsewhere; // error: E0463
extern const double table[4]; // error: E0463
static double *changes; // error: E0421
void writes(double *p) { changes = p; }
double missing(double x)
{
    double y = far(x); // error: E0414
    if (x > 1)
        y += far(2 * x);
    return y * far(3);
}
void fields(struct node *s, double x[4])
{
    x[0] = s->next->v; // error: E0479
    x[1] = s->next->v;
    for (int i = 0; i < 3; i++)
        x[i] += s->next->v;
}
void pointers(struct node *s, double x[4])
{
    const double *a, *b;
    a = b = s->next->p + 1; // error: E0479
    a += 2;
    x[0] = a[0] + b[1];
    x[1] = *a++;
}
void casts(int n, double scratch[n], int index[n])
{
    int *a = (int *)(scratch + n); // error: E0432
    if (n > 3)
        a = index;
    a[0] = 1;
    a++;
}
double constants(double x)
{
    x += elsewhere[0] + table[0];
    x += elsewhere[1];
    return x + table[1] + changes[0] + changes[1];
}
void race(int n, double x[n])
{
    int j;
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        for (j = 0; j < 3; j++) // error: E0460
            x[i] += j;
        for (j = 3;
             j < 5;
             j++)
            x[i] *= j;
    }
}

// Functions that return pointers; arrays of structs in structs; unsigned subscripts.
// args: n=3 m=2 a[6]=1,2,3,4,5,6 y[3]=0
struct item { double v; int k[2]; };
struct box { struct item at[3]; double w; };
static double *
row(double *a, int m, int i)
{
    return a + i * m;
}
static struct item *
item(struct box *b, unsigned i)
{
    return &b->at[i];
}
void
pointer_results(int n, int m, double *a, double y[n])
{
    struct box b = {.w = 2}, c;
    for (unsigned i = 0; i < n; i++) {
        item(&b, i)->v = row(a, m, i)[1];
        item(&b, i)->k[i & 1] = i + 1;
        *row(a, m, i) += 0.5;
    }
    c = b;
    for (unsigned i = n; i--;)
        y[i] = c.at[i].v * c.w + b.at[i].k[0] + c.at[i].k[1] * 10;
}

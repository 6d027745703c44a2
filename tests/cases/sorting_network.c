// A sorting network in place over a global array.
// args: x[4]=0.5,-1.5,0.4,0.1
// seed: x=1,2,3,4
// expect: x=-1.5,0.1,0.4,0.5
// grad: x=4,1,3,2
// split: refused
static void
order(double *a, double *b)
{
    if (*a > *b) {
        double t = *a;
        *a = *b;
        *b = t;
    }
}

void
sorting_network(double x[4])
{
    order(&x[0], &x[1]);
    order(&x[2], &x[3]);
    order(&x[0], &x[2]);
    order(&x[1], &x[3]);
    order(&x[1], &x[2]);
}

// Variables of static storage that nothing in the file writes are constants, zero if they are not initialised.
// args: n=5 x[5]=0.5,1.5,-0.4,0.3,0.9 out[5]=0
struct pair {
    double a;
    int n;
    const char *name;
};

extern double late;
double amb = 0.8, unset, weights[2][3] = {{1, 2, 3}, {0.5, 0.25}};
static int count = 3;
static struct pair pairs[] = {{0.5, 2, "half"}, {.n = 1, .a = -1.5}}, one = {2, 2, "two"};
static const double *row = weights[1], *const first = &weights[0][1], *none;
double late = 0.25;
static int written;

static double
cooled(double x, int i)
{
    static double factor[2] = {1.5, 0.75};
    const double *w = weights[i % 2];
    double s = unset;
    for (int k = 0; k < count; k++)
        s += w[k] * (x - amb) * factor[k % 2];
    return none ? *none : s * pairs[i % 2].a + pairs[1].n * row[1] * x + *first + late * x;
}

static double
sum(const double *t, int n)
{
    double s = 0;
    while (n--)
        s += *t++;
    return s;
}

int
main(int argc, char **argv)
{
    written = argc;
    return (int)cooled(written, argc);
}

void
globals_unwritten(int n, const double x[n], double out[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        out[i] = cooled(x[i], i) * one.a + sum(&weights[1][0], 2);
}

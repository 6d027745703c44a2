// Local arrays whose extents are constants of the file: const variables, enumerators, sizes.
// args: n=8 a[8]=0.5,1.5,-0.4,0.3,0.9,-1,2,0.7 out[8]=0
enum { LANES = 4 };
static const int rows = LANES / 2;

void
constant_extents(int n, const double a[n], double out[n])
{
    const int unroll = LANES, twice = 2 * unroll;
    #pragma omp parallel for
    for (int i = 0; i < n; i += unroll) {
        double r[unroll], m[rows][twice - 1];
        const unsigned long size = sizeof r / sizeof *r;
        double copy[size];
        for (int j = 0; j < unroll; j++)
            r[j] = a[i + j] * a[i + j];
        for (int j = 0; j < rows; j++)
            for (int k = 0; k < sizeof(m[0]) / sizeof(m[0][0]); k++)
                m[j][k] = r[(j + k) % unroll] * a[i];
        for (int j = 0; j < unroll; j++)
            copy[j] = r[j] * m[j % 2][twice - 2];
        for (int j = 0; j < unroll; j++)
            out[i + j] = copy[j] + sizeof(m);
    }
}

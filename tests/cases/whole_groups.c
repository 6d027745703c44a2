/* Loops that are reversed in groups: iterations left over in some thread, or in none. */
// kernel: whole_groups
// args: n=5 steps[5]=64,0,32,96,64 x[5]=0.5,0.25,0.9,0.1,0.3 y[5]=0
void
whole_groups(int n, const int steps[n], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (int t = 0; t < steps[i]; t++)
            v = v * (1.0 - 0.1 * v) + 0.1 * v;
        y[i] = v;
    }
}

// kernel: left
// args: n=5 steps[5]=64,0,37,96,1 x[5]=0.5,0.25,0.9,0.1,0.3 y[5]=0
void
left(int n, const int steps[n], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i], w = 1.0;
        for (int t = 0; t < steps[i]; t++) {
            w = w - 0.001 * v * w;
            v = v * (w - 0.1 * v) + 0.1 * v;
        }
        y[i] = v + w;
    }
}

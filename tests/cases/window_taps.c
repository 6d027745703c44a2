// Filters: of five taps, of a number of them that is known when it runs, and of every second element, backwards.
// args: n=41 m=7 x[60]=0.5,1.5,-0.4,0.3,0.7,1.1,-0.2 w[7]=0.3,-0.2,0.7,0.1,0.4,-0.6,0.9 y[41]=0
void
window_taps(int n, int m, const double x[60], const double w[7], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double s = 0.0, t = 0.0;
        for (int k = 0; k < 5; k++)
            s += w[k] * x[i + k];
        for (int k = 0; k < m; k++)
            t += w[k] * x[i + k] * s;
        for (int k = 6; k >= 0; k--)
            s -= w[k] * x[i + 2 * k];
        for (int k = m - 1; k >= 0; k--)
            s += 0.1 * x[i + k] * x[i];
        y[i] = s + t;
    }
}

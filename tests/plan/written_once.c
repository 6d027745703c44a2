// frames vjp: none
// count vjp plan recall 3
/* Each element is written once, and read only then: the array as it is in the end holds what the reverse wants, the
 * quotients that were written as well. (The recalls are of traces.) */
void
written_once(int n, const double a[n][10], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double l[10], s = 0.0;
        for (int r = 0; r < 4; r++)
            for (int c = 0; c <= r; c++) {
                double v = a[i][r * (r + 1) / 2 + c];
                for (int k = 0; k < c; k++)
                    v -= l[r * (r + 1) / 2 + k] * l[c * (c + 1) / 2 + k];
                l[r * (r + 1) / 2 + c] = r == c ? v : v / l[c * (c + 1) / 2 + c];
            }
        for (int r = 0; r < 10; r++)
            for (int c = 0; c < 10; c++)
                s += l[r] * l[c] * a[i][c];
        y[i] = s;
    }
}

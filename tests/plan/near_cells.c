// count forward arrays for 2
// count forward arrays if 0
// count forward arrays load.row 4
// count forward_vjp arrays for 4
// count forward_vjp arrays load.row 8
/* Loops over the corners of a cell are straight code, and what they read twice is read once. */
void
near_cells(int n, int m, const double v[n + 1][m + 1], double *energy)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++)
        for (int j = 0; j < m; j++) {
            double square = 0.0;
            for (int b = k; b <= k + 1; b++)
                for (int a = j; a <= j + 1; a++)
                    square += v[b][a] * v[b][a];
            sum += square * square;
        }
    *energy = sum;
}

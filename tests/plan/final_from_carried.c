// frames forward_vjp: i32
/* Rows are swapped with rows from k on: those before stay. What is recorded is which row it was. */
void
final_from_carried(int n, double a[n][n], const int key[n])
{
    for (int k = 0; k < n - 1; k++) {
        int p = k;
        for (int i = k; i < n; i++)
            if (key[i] > key[p])
                p = i;
        for (int j = 0; j < n; j++) {
            double t = a[k][j];
            a[k][j] = a[p][j];
            a[p][j] = t;
        }
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j < n; j++)
                a[i][j] += a[k][j] * a[k][k];
    }
}

// Loops that cannot be parallel.
static int
next(int i)
{
    return i + 1;
}
static int
first(int n, const float *x)
{
    int s = 0;
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (x[i] > 2)
            return i; // error: E0458
    }
    return s;
}
void
err_omp_loops(int n, float x[n], float m[n][n])
{
    #pragma omp parallel for reduction(+ : nothing) // error: E0455
    for (int i = 0; i < n; i++)
        x[i] = 1;
    #pragma omp parallel for
    while (n--) // error: E0453
        x[n] = 1;
    #pragma omp parallel for
    for (int i = 0; i < n; i = next(i)) // error: E0453
        x[i] = 1;
    #pragma omp parallel for
    for (int i = 0; i < n; i++) { // error: E0453
        x[i] = 1;
        i++;
    }
    #pragma omp parallel for
    for (float f = 0; f < n; f++) // error: E0453
        x[0] = f;
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) // error: E0454
            m[i][j] = 1;
    // error: E0454
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++) {
        x[i] = 1;
        for (int j = 0; j < n; j++)
            m[i][j] = 1;
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (x[i] > 3)
            break; // error: E0458
        if (x[i] > 2)
            return; // error: E0458
    }
    x[0] = first(n, x);
}

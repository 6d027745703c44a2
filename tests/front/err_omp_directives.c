// Directives outside of what is compiled.
void
err_omp_directives(int n, float x[n])
{
    float s = 0;
    #pragma omp parallel sections // error: E0468
    {
        #pragma omp section // error: E0468
        x[0] = 1;
    }
    #pragma omp task // error: E0468
    x[0] = 1;
    #pragma omp parallel copyin(s) // error: E0450
    x[0] = 1;
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp critical // error: E0472
        x[i] = 1;
    }
    #pragma omp flush // error: E0450
    #pragma omp parallel for lastprivate(s) // error: E0451
    for (int i = 0; i < n; i++)
        x[i] = s;
    #pragma omp parallel for ordered // error: E0451
    for (int i = 0; i < n; i++)
        x[i] = 1;
    #pragma omp parallel for reduction(&& : s) // error: E0452
    for (int i = 0; i < n; i++)
        x[i] = 1;
    #pragma omp parallel for reduction(+ : x[:n]) // error: E0452
    for (int i = 0; i < n; i++)
        x[i] += 1;
    #pragma omp target teams distribute // error: E0450
    for (int i = 0; i < n; i++)
        x[i] = 1;
}

void
err_atomics(int n, float x[n], float s[1], int k[1])
{
    float local = 0, v;
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        s[0] = x[i]; // error: E0456
        #pragma omp atomic
        s[0] = x[i] / s[0]; // error: E0456
        #pragma omp atomic
        k[0] %= 3; // error: E0456
        #pragma omp atomic capture
        v = x[i]; // error: E0456
        #pragma omp atomic
        local += x[i]; // error: E0457
        if (local > 3)
            x[i] = local;
    }
}

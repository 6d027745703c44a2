// Races that can be seen.
static void
put(float *at, float v)
{
    *at = v; // error: E0461
}
void
err_races(int n, const float x[n], float y[n], float m[n][n], float loss[1], const int idx[n])
{
    float sum = 0, last[2];
    int count = 0;
    struct { float a; } s = {0};
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        sum += x[i]; // error: E0460
        count++; // error: E0460
        s.a = x[i]; // error: E0460
        last[1] = x[i]; // error: E0461
        loss[0] += x[i]; // error: E0461
        put(&y[3], x[i]);
        put(&y[i], x[i]);
        for (int j = 0; j < n; j++)
            m[0][j] = x[i]; // error: E0461
        y[idx[i]] += x[i];
        if (i == 0)
            loss[0] = 1;
        if (x[i] == 0)
            y[(int)x[i]] = 2;
    }
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            y[j] = x[i]; // error: E0461
            m[i][j] = i * j;
        }
    y[0] = sum + count + last[1];
}

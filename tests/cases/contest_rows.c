// Tasks of two axes; rows of one array that constant subscripts keep apart; a loop that a thread leaves when it likes.
// args: n=11 m=4 x[11][4]=0.533,0.923,0.453,0.223,1.153,0.723,0.693,1.143,0.873,0.463,0.683,0.543,0.633,0.273,0.833,0.553,0.933,0.663,0.363,0.843,1.113,0.473,0.313,1.083,0.513,1.133,0.713,0.773,0.753,0.593,1.163,1.013,0.243,0.743,0.803,0.823,0.203,0.993,1.173,0.793,0.853,1.123,1.193,0.863 y[11][4]=0.993,0.973,0.713,0.533,0.683,0.593,1.343,1.063,1.273,1.363,1.293,1.223,0.983,0.503,1.103,0.453,0.403,0.563,0.693,1.123,0.443,0.783,1.283,0.723,1.073,0.953,0.543,0.523,0.493,1.183,1.153,0.643,0.893,0.733,1.353,1.233,0.413,0.743,1.333,1.213,0.573,0.603,0.813,0.933 low[2][4]=9,8,7,6,-5,-6,-7,-8 best[2][3]=2,-5,6,1,3,4 count[1]=0 slot[11][4]=0 v[11]=0.413,0.703,0.773,0.403,0.803,0.893,0.133,0.623,0.493,0.173,0.123
// split: refused
// skip: bits
void
contest_rows(int n, int m, double x[n][m], const double y[n][m], double low[2][m], double best[2][3], int count[1], int slot[n][m], double v[n])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 1; j < m; j++) {
            int k = 0;
            if (x[i][j] > 0.5) {
                #pragma omp atomic capture
                k = count[0]++;
            }
            slot[i][j] = k >= 0;
            double w = k >= 0 ? x[i][j] * y[i][j] : 1;
            x[i][j] = w * w;
            #pragma omp atomic compare
            if (w < low[0][j]) { low[0][j] = w; }
            #pragma omp atomic compare
            if (x[i][j] < low[0][j]) { low[0][j] = x[i][j]; }
            #pragma omp atomic
            best[0][0] *= 1 + w * 0.1;
            #pragma omp atomic compare
            if (x[i][j] > best[1][1]) { best[1][1] = x[i][j]; }
            #pragma omp atomic compare
            if (x[i][j] < best[0][2]) { best[0][2] = x[i][j]; }
        }
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double s = v[i];
        int t = 0;
        while (t < 10 && s < 3) {
            s = s * s + 0.6;
            v[i] += s * best[1][1];
            #pragma omp atomic compare
            if (v[i] * s > low[1][t % m]) { low[1][t % m] = v[i] * s; }
            t++;
        }
    }
}

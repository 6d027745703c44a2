// Sums over threads that stand behind one another: more than a warp has lanes, places that coincide, some for some threads.
// args: n=37 x[37]=0.5,-0.7,1,0.2,1.1,-0.4,0.3,-0.1,0.9 k=3 w[24]=0.3,-0.2,0.1,0.5,-0.6 v[3][8]=0.4,0.2,-0.3,0.7 s=0.5 y[37]=0
// args: h[8]=0.5,-0.25 f[8]=0.5,0.25,-1
// skip: bits
// seed: y=1,0.5
// tol: 5e-3
// split: any
#define ROW(r) (w[(r) + c] * t * v[c][r] + w[(r) + c + 9] * w[(r) + 2 * c] * t + w[(r) + c + 10] * s)
void
sums_together(int n, const double x[n], int k, const double w[24], const double v[3][8], double s, double y[n],
              const _Float16 h[8], const float f[8])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double t = x[i], sum = 0.0;
        for (int c = 0; c < k; c++) {
            sum += ROW(0) + ROW(1) + ROW(2) + ROW(3) + ROW(4) + ROW(5) + ROW(6) + ROW(7);
            if (t > 0.4) {
                sum += w[c + 11] * w[c + 10] * t + w[c + 9] / (t - 0.3);
                if (i > 40) /* nobody */
                    sum += w[c + 8] * t;
            }
        }
        for (int c = 0; sum < 50.0 && c < 4; c++)
            sum += (double)(h[c] * h[3 + c]) + (double)(f[c] * f[c + 1]) * t + (double)f[c + 2] * w[c];
        y[i] = sum;
    }
}

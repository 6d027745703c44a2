// A float that an atomic returns and that only decides, or that nobody uses, stands in no derivative's way: what it was is kept.
// args: n=43 x[43]=-0.257,-0.357,-0.047,-0.837,0.003,-0.007,0.503,-0.807,-0.077,0.093,-0.297,-0.877,-0.287,-0.737,-0.867,0.693,-0.267,0.623,-0.617,-0.367,-0.317,0.113,0.303,-0.197,-0.517,0.973,0.903,-0.927,0.613,0.023,0.413,0.403,-0.477,-0.797,0.883,0.053,0.153,0.573,-0.647,0.833,0.243,0.653,0.683 y[43]=-1.347,-1.127,0.413,0.123,-0.247,-0.557,-0.477,-0.697,1.783,1.343,-0.667,0.073,1.353,-0.777,-0.457,0.473,0.853,1.423,0.013,-1.387,-1.147,1.293,-1.177,-1.617,-0.937,0.563,0.543,0.813,-0.877,0.313,-0.297,1.883,0.303,0.183,-1.287,0.803,-1.017,-0.757,-1.537,-1.107,0.843,-0.367,-0.117 low[2]=-3,4 out[43]=0
// split: refused
void
contest_captured(int n, double x[n], const double y[n], double low[2], double out[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double seen, unused;
        #pragma omp atomic capture
        { seen = x[i]; x[i] += 0.5 * y[i]; }
        #pragma omp atomic capture
        { unused = out[i]; out[i] += seen > 0.5 ? y[i] * y[i] : x[i]; }
        double v = seen > 0.2 ? y[i] : 2 * y[i];
        if (seen > -0.5) {
            #pragma omp atomic compare
            if (v > low[0]) { low[0] = v; }
        }
        #pragma omp atomic compare
        if (out[i] < low[1]) { low[1] = out[i]; }
    }
}

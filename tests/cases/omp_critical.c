// Critical sections that update single values are atomic updates, or reductions.
// args: n=6 k[6]=0,1,0,2,1,0 x[6]=0.5,1.5,-0.4,0.3,0.9,-2 bins[3]=0 most[3]=-9 loss[2]=0
// skip: bits
void
omp_critical(int n, const int k[n], const double x[n], double bins[3], double most[3], double loss[2])
{
    double sum = 0, squares = 0;
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i] * x[i];
        #pragma omp critical
        {
            sum += x[i];
            squares += v;
        }
        #pragma omp critical (bins)
        for (int j = 0; j < 2; j++) {
            double w = v * j;
            w *= x[i];
            if (j)
                bins[k[i]] += w;
        }
        #pragma omp critical
        if (most[k[i]] < v)
            most[k[i]] = v;
    }
    loss[0] = sum * squares;
    #pragma omp parallel
    {
        double mine = 0;
        #pragma omp for
        for (int i = 0; i < n; i++)
            mine += x[i] * x[(i + 1) % n];
        #pragma omp critical
        {
            double twice = 2 * mine;
            loss[1] += twice;
        }
    }
}

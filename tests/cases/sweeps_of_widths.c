// Nested time loops whose bounds are loop variables: widths and strides of tasks are computed between them, two arrays change places.
// args: n=24 rounds=4 x[24]=0.3,-0.7,1.1 y[24]=0.2,0.5 out[6]=0
// split: refused
void
sweeps_of_widths(int n, int rounds, double x[n], double y[n], double out[6])
{
    double *from = x, *to = y;
    int steps = 0;
    for (int r = 0; r < rounds; r++) {
        int width = n >> r;
        for (int s = r; s < rounds - 1; s++) {
            int stride = s - r + 1, last = width - stride;
            #pragma omp parallel for
            for (int i = 0; i < last; i++)
                to[i] = 0.7 * from[i] + 0.2 * from[i + stride] * from[i];
            double *swap = from;
            from = to;
            to = swap;
            steps += stride;
        }
        #pragma omp parallel for
        for (int i = 0; i < width; i++)
            from[i] += 0.01 * (r + 1);
        if (width < 6)
            break;
    }
    out[0] = from[0] * steps;
    out[1] = to[1] + steps;
}

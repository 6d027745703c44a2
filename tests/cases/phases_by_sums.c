// A time loop with continue and break, ifs around tasks that ask for what tasks have found, and bounds from floats and from arrays.
// args: n=20 steps=7 count[4]=3,11,20,6 x[20]=0.4,1.2,-0.3 out[3]=0
// split: refused
void
phases_by_sums(int n, int steps, const int count[4], double x[n], double out[3])
{
    double energy = 0, time = 0, dt = 0.25;
    int t, seen = 0;
    for (t = 0; t < steps; t++) {
        int lo = t % 3, hi = count[t % 4];
        double now = time * 2.0 + dt;
        time += dt;
        if (t == 2)
            continue;
        if (energy > 3.0) {
            if (seen++ > 1)
                break;
            #pragma omp parallel for
            for (int i = lo; i < hi; i++)
                x[i] *= 0.5;
        }
        int whole = (int)(now * 4.0) + lo;
        #pragma omp parallel for
        for (int i = 0; i < (whole < n ? whole : n); i++)
            x[i] = x[i] * 0.9 + 0.1 * now;
        energy = 0;
        #pragma omp parallel for reduction(+ : energy)
        for (int i = lo; i < hi; i++)
            energy += x[i] * x[i];
    }
    out[0] = energy;
    out[1] = time * x[0] + t;
    out[2] = seen * energy;
}

// && and || guard a load outside of the array and a division by zero.
// args: n=5 k[5]=0,-1,4,7,2 x[5]=0.5,1.5,-0.4,3,0 y[5]=0
void
short_circuit(int n, const int k[n], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = 0.25;
        if (k[i] >= 0 && k[i] < n && x[k[i]] > 0.2)
            v = x[k[i]] * x[i];
        if (x[i] == 0.0 || 1.0 / x[i] > 1.0 || 1.0 / x[i] < -1.0)
            v += x[i] * x[i];
        int both = (x[i] > 0.0) && (v > 0.3);
        y[i] = v * (1 + both);
    }
}

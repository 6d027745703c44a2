// lastprivate in a time loop: the last iteration's value goes on, and its adjoint goes back to that iteration.
// args: n=5 steps=3 x[5]=0.5,1.5,-0.4,0.3,0.9 y[5]=0 loss[1]=0
// split: any
void
omp_lastprivate(int n, int steps, const double x[n], double y[n], double loss[1])
{
    double edge = 0.25, v[2];
    for (int t = 0; t < steps; t++) {
        double from = edge;
        #pragma omp parallel for lastprivate(edge, v)
        for (int i = 0; i < n; i++) {
            edge = x[i] * from + 1;
            if (x[i] < 0)
                edge *= edge;
            v[0] = edge * x[i];
            v[1] = edge + x[i];
            y[i] += edge;
        }
        loss[0] += v[0] * v[1];
    }
    loss[0] += edge * edge;
}

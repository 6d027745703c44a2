// In place but linear with constants: nothing overwritten is needed, so split launches do too.
// args: n=3 x[3]=0.5,1.5,-0.4
// seed: x=1,2,3
// grad: x=0.5,1,1.5
void
in_place_linear(int n, double x[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = 0.5 * x[i] + 1.0;
}

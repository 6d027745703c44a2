// _Float16: rounded after each operation; adjoints in f32.
// args: n=4 x[4]=0.5,1.5,-0.4,0.3 y[4]=0
void
half_kernel(int n, const _Float16 x[n], _Float16 y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        _Float16 v = x[i];
        for (int t = 0; t < 3; t++)
            v = v * v * (_Float16)0.5 + x[i];
        y[i] = v;
    }
}

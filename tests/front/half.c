// _Float16 rounds after each operation.
// args: n=3 x[3]=0.1,1000.5,-3.25 y[3]=0 z[3]=0
// expect: y=0.2998046875,3002,-9.75 z=0.0099945068359375,0,10.5625
// skip: gcc
void
half(int n, const _Float16 x[n], _Float16 y[n], float z[n])
{
    for (int i = 0; i < n; i++) {
        _Float16 t = x[i] + x[i];
        y[i] = t + x[i];
        z[i] = i == 1 ? 0 : x[i] * x[i];
    }
}

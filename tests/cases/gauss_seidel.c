// Gauss-Seidel sweeps over one array, in place and serial.
// args: n=6 sweeps=3 b[6]=0.5,1.5,-0.4,0.3,0.2,1 x[6]=0.1,0.2,0.3,0.4,0.5,0.6
// split: refused
void
gauss_seidel(int n, int sweeps, const double b[n], double x[n])
{
    for (int s = 0; s < sweeps; s++)
        for (int i = 1; i < n - 1; i++)
            x[i] = 0.45 * (x[i - 1] + x[i + 1]) + b[i] * x[i] * x[i] * 0.1;
}

// Arithmetic in types that kernels do not have.
typedef unsigned __int128 wide;
void
err_wide_types(double x, double out[4])
{
    long double y = x; y = y * y + 1.0L; // error: E0448
    out[0] = (double)((wide)(unsigned long)x * 3 >> 64); // error: E0420
    out[1] = (double)-(long double)x; // error: E0448
    out[2] = x * 1.0L; // error: E0448
    out[3] = (double)((long double)x * x); // error: E0448
}

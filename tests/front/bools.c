// args: n=4 x[4]=-1,0,2,5 b[4]=1,0,1,0 out[4]=0
#include <stdbool.h>
static bool
inside(double v, double lo, double hi)
{
    return v >= lo && v <= hi;
}
void
bools(int n, const double x[n], bool b[n], int out[n])
{
    for (int i = 0; i < n; i++) {
        bool in = inside(x[i], 0, 3), odd = i % 2, any = x[i];
        out[i] = in + 2 * odd + 4 * (in == odd) + 8 * (b[i] & in) + 16 * !any + 32 * (bool)0.5;
        b[i] = in ^ odd;
    }
}

// Calls: several returns, nested calls, parameters changed in the callee, the same helper twice.
// args: n=4 x[4]=1,-2,3,-4 y[4]=0
#include <math.h>
static double
relu(double v)
{
    if (v < 0)
        return 0;
    return v;
}
static double
norm(double a, double b)
{
    a *= a;
    b *= b;
    return sqrt(a + b);
}
static void
bump(double *v)
{
    (*v)++;
}
static inline int
sign(double v)
{
    return v > 0 ? 1 : v < 0 ? -1 : 0;
}
static void
nothing(void)
{
}
void
helpers(int n, const double x[n], double y[n])
{
    double a = 1, b = 2;
    nothing();
    for (int i = 0; i < n; i++) {
        y[i] = norm(relu(x[i]), relu(-x[i] + 1)) + norm(b, a) * sign(x[i]);
        bump(&a);
        bump(&y[i]);
    }
}

// A kernel whose name and body a macro makes.
// args: n=3 x[3]=1,-2,0.5 y[3]=0
// seed: y=1
// grad: x=4,-8,2
#define SQUARES(of, made)                         \
    void made##_macro(int n, of x[n], of y[n])    \
    {                                             \
        _Pragma("omp parallel for")               \
        for (int i = 0; i < n; i++)               \
            y[i] = 2 * x[i] * x[i];               \
    }

SQUARES(double, made_by)

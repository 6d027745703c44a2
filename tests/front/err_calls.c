// Calls outside of what is compiled.
#include <stdlib.h>
#include <string.h>
int missing(int);
static int
again(int n)
{
    return n ? again(n - 1) : 0; // error: E0411
}
static int odd(int n);
static int
even(int n)
{
    return n ? odd(n - 1) : 1;
}
static int
odd(int n)
{
    return n ? even(n - 1) : 0; // error: E0411
}
static int
many(int n, ...)
{
    __builtin_va_list l;
    __builtin_va_start(l, n);
    return n;
}
static float *
either(float *a, float *b, int n)
{
    if (n > 3)
        return a + 1;
    if (n)
        return a;
    return b; // error: E0438
}
void
err_calls(int n, float x[n], float y[n])
{
    int (*f)(int) = n ? again : even; // error: E0412
    x[0] = f(3);
    x[0] = missing(3); // error: E0414
    x[0] = again(n);
    x[0] = even(n);
    x[0] = many(1, 2); // error: E0413
    float *m = malloc(n * 6); // error: E0415
    float *o = malloc((int)x[0] * sizeof(float)); // error: E0415
    x[0] = m[1] + o[1];
    for (int i = 0; i < n; i++) {
        float *p = malloc(n * sizeof *p); // error: E0415
        x[i] = p[i];
        free(x); // error: E0415
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float *p = malloc((int)x[i] * sizeof *p); // error: E0415
        free(x); // error: E0415
    }
    x[0] = either(x, y, n)[0];
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = either(x, y, i)[0];
}

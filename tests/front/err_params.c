// Parameters that a launch cannot pass.
struct owner { float *data; };
void
err_params(
    void *a,           // error: E0440
    int (*c)(int),     // error: E0440
    struct owner d,    // error: E0440
    void **b,          // error: E0440
    long double e,     // error: E0448
    volatile float *f, // error: E0417
    int n, float *ok)
{
    ok[0] = n;
}

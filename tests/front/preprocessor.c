// args: x[3]=1,2,3
#define CAT(a, b) a##b
#define EACH(f) f(0) f(1) f(2)
#define STEP(i) x[i] = CAT(x, _scale) * x[i] + i;
#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L
static const double x_scale = 3;
#endif
void
preprocessor(double x[3])
{
    EACH(STEP)
    for (int i = 0; i < 3; i++) ;
    _Static_assert(sizeof(int) == 4, "int");
}

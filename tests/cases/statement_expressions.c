// ({ ... }) as in macros that evaluate their arguments once, and glibc's assert.
// args: n=4 x[4]=0.5,-1,2,0.3 out[4]=0
#define MAX(a, b) ({ __typeof__(a) _a = (a), _b = (b); _a > _b ? _a : _b; })
#define FIRST(p) ({ const double *_p = (p); _p += 1; _p - 1; })
void __assert_fail(const char *, const char *, unsigned, const char *);
#define assert(e) ((void)sizeof((e) ? 1 : 0), __extension__({ if (e) ; else __assert_fail(#e, __FILE__, __LINE__, __func__); }))

struct pair { double a, b; };

void
statement_expressions(int n, const double x[n], double out[n])
{
    assert(n > 0);
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        assert(x[i] < 100 && i < n);
        double most = MAX(x[i] * x[i], MAX(x[(i + 1) % n], 0.2));
        struct pair p = ({ struct pair q = {most, x[i]}; q.a *= 2; q; });
        int k = ({ int s = 0; for (int j = 0; j < 3; j++) s += j; s; });
        out[i] = p.a * p.b * k + FIRST(x)[0];
        ({ out[i] *= 2; });
    }
}

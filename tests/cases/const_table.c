// Static const scalars and tables, 2-D too; enum, typedef, macros.
// args: n=5 x[5]=0.5,1.5,-0.4,0.3,0.7 y[5]=0
#include <math.h>

#define ROWS 2
#define SQUARE(v) ((v) * (v))
typedef double real;
enum shape { FLAT, ROUND = 4 };
static const real gain = 1.25, table[ROWS][3] = {{0.5, -0.25, 2.0}, {1.5, 0.125}};
static const int order[] = {2, 0, 1, [4] = 2};

void
const_table(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        enum shape kind = i & 1 ? ROUND : FLAT;
        y[i] = gain * SQUARE(x[i] + table[i % ROWS][order[i]]) + (kind == ROUND ? x[i] * (int)kind : 0.0);
    }
}

// A pointer walks on from its row into the next one: what it reads there is overwritten in the next iteration.
// args: q=3 m=2 a[4][2]=0.5,1.1,-0.4,0.3,0.7,-0.9,0.2,0.6
// split: refused
#include <math.h>

void
walks_into_next_row(int q, int m, double a[q + 1][m])
{
    for (int t = 0; t < q; t++) {
        double *row = a[t];
        for (int i = 0; i < 2 * m; i++)
            row[i] = sin(row[i]) * row[i];
    }
}

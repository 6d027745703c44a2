// A local array that is another one's copy on some ways: what was read of it before is not in the copy.
// args: n=3 start[24]=0.3,0.7,-0.2,1.1,0.4,-0.9,0.8,0.1,0.5,-0.3,0.6,1.2,-0.7,0.2,0.9,0.4,-0.1,0.3,0.2,0.8,-0.4,0.6,0.1,0.5 y[24]=0
#include <math.h>
#include <string.h>

struct state { double v[8]; };

void
copy_in_branch(int n, const double start[24], double y[24])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        struct state now, next;
        for (int d = 0; d < 8; d++)
            now.v[d] = start[8 * i + d];
        for (int t = 0; t < 3; t++) {
            for (int d = 0; d < 8; d++)
                for (int e = 0; e < 8; e++)
                    next.v[d] = (e ? next.v[d] : 0) + sin(now.v[d] + 0.1 * e) * now.v[e];
            if (next.v[0] > 0.5 * t)
                now = next;
            else if (i == 2)
                memcpy(now.v, next.v, 8 * sizeof(double));
        }
        for (int d = 0; d < 8; d++)
            y[8 * i + d] = now.v[d];
    }
}

// The counter used after its loop; a loop that changes its own counter and bound.
// args: n=4 m[4]=3,0,7,9 x[4]=0.5,1.5,-0.4,1.1 y[4]=0
#include <math.h>

void
for_counter_after(int n, const int m[n], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        int t, end = m[i];
        for (t = 0; t < end; t++) {
            if (t == 2)
                t += 2;
            if (t == 5)
                end--;
            v = 0.8 * v + 0.1 * v * v;
        }
        y[i] = v * (t + 1);
    }
}

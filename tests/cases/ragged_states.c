// Inner loops as long as the thread's data say, with states that differ in each thread: where their frames are dropped
// (RG_PLAN=drop=1), states are written over them.
// args: n=37 m[37]=0,5,9,16,2,6,18,11,3,20,7 x[37]=0.5,-0.25,0.75,0.125,-0.5,0.3 u[37]=0
#include <math.h>

void
ragged_states(int n, const int m[n], const double x[n], double u[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (int round = 0; round < 6; round++) {
            int k = m[i];
            for (int t = 1; t < 2 * ((k >> 1) % 5); t += 2) {
                for (int left = (int)((unsigned)(t ^ k) % 3u); left > 0; left--) k = 2;
                v = 0.4 * v + 0.3 * sin(v + (double)(k >> 3));
            }
        }
        u[i] = v;
    }
}

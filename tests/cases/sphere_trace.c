// Sphere tracing with a hit, a miss and a glancing ray.
// args: n=3 d[3][2]=0,1,0.9,0.4,0.28,0.96 r=0.8 depth[3]=0
#include <math.h>

void
sphere_trace(int n, const double d[n][2], double r, double depth[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double t = 0.0;
        for (int step = 0; step < 64; step++) {
            double px = t * d[i][0], pz = t * d[i][1] - 3.0;
            double dist = sqrt(px * px + pz * pz) - r;
            if (dist < 1e-3)
                break;
            t += dist;
            if (t > 10.0)
                break;
        }
        depth[i] = t;
    }
}

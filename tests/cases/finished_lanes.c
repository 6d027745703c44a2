// Threads whose loops end at different times, with quotients and roots of what is 0 in those that have ended; a local array of
// which a loop around other loops reads every element.
// args: n=5 end[5]=1,0.3,2,0.05,1.4 x[5]=0.5,1.5,0.7,0.9,1.1 y[5]=0
#include <math.h>

void
finished_lanes(int n, const float end[n], const float x[n], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float t = 0.0f, h = 0.25f, v = x[i];
        while (t < end[i]) {
            if (t + h > end[i])
                h = end[i] - t;
            float k[3][2];
            for (int s = 0; s < 3; s++)
                for (int d = 0; d < 2; d++) {
                    float sum = v + d;
                    for (int r = 0; r < s; r++)
                        sum += 0.3f * h * k[r][d];
                    k[s][d] = sum / sqrtf(1.0f + sum * sum);
                }
            float slope = (k[0][0] + k[1][1] + k[2][0]) / 3.0f, error = h * sqrtf(fabsf(slope) * h) / (1.0f + v * v);
            t += h;
            v -= h * slope;
            h = fminf(0.1f / sqrtf(error), 0.4f);
        }
        y[i] = v;
    }
}

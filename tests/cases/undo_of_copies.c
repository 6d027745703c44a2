// Local arrays that begin as copies, of constants and of another local array, walk back with the reverse sweep.
// args: n=3 x[24]=0.3,0.7,-0.2,1.1,0.4,-0.9,0.8,0.1,0.5,-0.3,0.6,1.2,-0.7,0.2,0.9,0.4,-0.1,0.3,0.2,0.8,-0.4,0.6,0.1,0.5 y[24]=0
#include <math.h>
#include <string.h>

void
undo_of_copies(int n, const double x[24], double y[24])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double h[8] = {0.5, 0, 0, 0.25}, first[8], again[8];
        for (int k = 0; k < 8; k++)
            first[k] = x[8 * i + k];
        memcpy(again, first, sizeof again);
        for (int t = 0; t < 3 + i; t++) {
            double next[8];
            for (int j = 0; j < 8; j++) {
                double s = first[j];
                for (int k = 0; k < 8; k++)
                    s += sin(0.3 * j + k) * h[k] * again[k];
                next[j] = s;
            }
            for (int j = 0; j < 8; j++) {
                h[j] = tanh(next[j]);
                again[(3 * j + t) % 8] += h[j] * first[j];
            }
            first[t] = h[1] * first[t + 1];
        }
        for (int k = 0; k < 8; k++)
            y[8 * i + k] = h[k] + again[k] * first[k];
    }
}

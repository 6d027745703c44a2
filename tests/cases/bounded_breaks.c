// Loops that may break, but run a few times at most: what a thread records has a place of its own on a GPU. The frames of the
// second one stand on those of the first.
// args: n=37 m=5 c[5]=0.5,1.25,-0.75,2.5,0.1 x[37]=0.5,-0.25,0.75,0.125,-0.5,0.3,2.1,1.3,0.9,1.7,2.6,0.2 y[37]=0
#include <math.h>

static int
farthest(int m, const float c[], float v, float most)
{
    int found = -1;
    for (int k = 0; k < m; k++)
        if (fabsf(v - c[k]) > most) {
            most = fabsf(v - c[k]);
            found = k;
        }
    return found;
}

void
bounded_breaks(int n, int m, const float c[m], const float x[n], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float v = x[i], sum = 0.0f;
        for (int t = 0; t < 5; t++) {
            int k = farthest(m, c, v, 1.9f);
            if (k < 0)
                break;
            float w = sinf(v) * c[k];
            sum += w * v;
            v = v + 0.2f * (c[k] - v) * cosf(w);
        }
        for (int t = 7; t > 0; t--) {
            int k = farthest(m, c, sum, 1.5f);
            if (k < 0)
                break;
            v = v * cosf(sum);
            sum = 0.7f * sum + 0.3f * c[k] - 0.1f * v * v;
        }
        y[i] = sum * v;
    }
}

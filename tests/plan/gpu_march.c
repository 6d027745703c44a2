// Steps along a ray, until something is near. On a GPU each records where it is. To compute its distances again from that takes hardly
// longer than in blocks of steps, which compute all of a step again.
// target sm_90
// frames forward_vjp: f32x32
// count forward_vjp plan log 1
#include <math.h>
void
gpu_march(int n, const float direction[3][n], const float ball[4][4], float depth[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float t = 0.0f;
        for (int step = 0; step < 1000; step++) {
            float sum = 0.0f;
            for (int k = 0; k < 4; k++) {
                float x = t * direction[0][i] - ball[k][0], y = t * direction[1][i] - ball[k][1], z = t * direction[2][i] - ball[k][2];
                sum += expf(-4.0f * (sqrtf(x * x + y * y + z * z) - ball[k][3]));
            }
            float near = -0.25f * logf(sum);
            if (near < 1e-3f)
                break;
            t += near;
        }
        depth[i] = t;
    }
}

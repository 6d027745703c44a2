// Cells of a chain, each with two numbers for the next one. What a cell's reverse needs is all that it computes, for which GPUs
// compute four cells again at a time, and record the numbers once for these.
// target sm_90
// frames forward_vjp: f32x32 f32x32
// count forward_vjp plan tanh 48
#include <math.h>
void
gpu_cells(int n, int length, const float x[length][n], const float w[6], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float hidden = 0.0f, cell = 0.0f;
        for (int t = 0; t < length; t++) {
            float in = x[t][i], f = tanhf(w[0] * in + w[1] * hidden), g = tanhf(w[2] * in + w[3] * hidden);
            cell = f * cell + g * tanhf(w[4] * in + w[5] * hidden);
            hidden = tanhf(cell) * f;
        }
        y[i] = hidden;
    }
}

/* Acoustic waves in two dimensions, second order in time and fourth in space: a source in the middle of the row of
 * receivers. c2 is (speed * time step / spacing)^2. SPDX-License-Identifier: Apache-2.0 */

#define C0 (-2.5f)
#define C1 (4.0f / 3.0f)
#define C2 (-1.0f / 12.0f)

void
wave(int nz, int nx, int steps, int depth, const float *c2, const float *wavelet, float *previous, float *current,
     float *traces)
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int z = 2; z < nz - 2; z++)
            for (int x = 2; x < nx - 2; x++) {
                int k = z * nx + x;
                float laplace = 2.0f * C0 * current[k] +
                                C1 * (current[k - 1] + current[k + 1] + current[k - nx] + current[k + nx]) +
                                C2 * (current[k - 2] + current[k + 2] + current[k - 2 * nx] + current[k + 2 * nx]);
                previous[k] = 2.0f * current[k] - previous[k] + c2[k] * laplace;
            }
        float *swap = previous;
        previous = current;
        current = swap;
        current[depth * nx + nx / 2] += wavelet[t];
        #pragma omp parallel for
        for (int x = 0; x < nx; x++)
            traces[t * nx + x] = current[depth * nx + x];
    }
}

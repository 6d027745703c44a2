/* Fourier transforms of rows, radix 2, in place. n is a power of 2. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

static void
transform(int n, double *re, double *im)
{
    for (int i = 1, j = 0; i < n; i++) {
        int bit = n >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            double t = re[i];
            re[i] = re[j];
            re[j] = t;
            t = im[i];
            im[i] = im[j];
            im[j] = t;
        }
    }
    for (int length = 2; length <= n; length <<= 1) {
        double angle = -2.0 * M_PI / length, step_re = cos(angle), step_im = sin(angle);
        for (int i = 0; i < n; i += length) {
            double w_re = 1.0, w_im = 0.0;
            for (int k = i; k < i + length / 2; k++) {
                int m = k + length / 2;
                double x = re[m] * w_re - im[m] * w_im, y = re[m] * w_im + im[m] * w_re;
                re[m] = re[k] - x;
                im[m] = im[k] - y;
                re[k] += x;
                im[k] += y;
                double w = w_re * step_re - w_im * step_im;
                w_im = w_re * step_im + w_im * step_re;
                w_re = w;
            }
        }
    }
}

void
fft(int rows, int n, double *re, double *im)
{
    #pragma omp parallel for
    for (int r = 0; r < rows; r++)
        transform(n, re + r * n, im + r * n);
}

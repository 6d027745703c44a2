/* SPDX-License-Identifier: Apache-2.0 */
#include "../unseen.h"

#include <math.h>
#include <stdlib.h>

void fft(int rows, int n, double *re, double *im);

void
make_fft(bench_problem *p, double scale)
{
    int rows = bench_count(500 * scale), n = 1024;
    bench_int(p, "rows", rows);
    bench_int(p, "n", n);
    bench_seeded(bench_array(p, "re", RG_F64, rows * n, 0, -1.0, 1.0));
    bench_seeded(bench_array(p, "im", RG_F64, rows * n, 0, -1.0, 1.0));
}

void
forward_fft(void *const *data)
{
    fft(INT(0), INT(1), data[2], data[3]);
}

/* sign 1: as the kernel does; -1: its transpose, for the matrix is symmetric and an adjoint conjugates it. The roots of
 * unity of all lengths, length / 2 of them each, stand one behind the other in w_re and w_im. */
static void
transform(int n, double sign, const double *restrict w_re, const double *restrict w_im, double *restrict re,
          double *restrict im)
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
    for (int half = 1; half < n; w_re += half, w_im += half, half *= 2)
        for (int i = 0; i < n; i += 2 * half) {
            double *restrict a = re + i, *restrict b = im + i, *restrict c = a + half, *restrict d = b + half;
            for (int k = 0; k < half; k++) {
                double v = sign * w_im[k], x = c[k] * w_re[k] - d[k] * v, y = c[k] * v + d[k] * w_re[k];
                c[k] = a[k] - x;
                d[k] = b[k] - y;
                a[k] += x;
                b[k] += y;
            }
        }
}

void
hand_fft(void *const *data, void *const *adjoint)
{
    int rows = INT(0), n = INT(1);
    double *w_re = malloc(sizeof *w_re * 2 * (size_t)n), *w_im = w_re + n;
    hand_kept = 0;
    for (int half = 1, at = 0; half < n; at += half, half *= 2)
        for (int k = 0; k < half; k++) {
            w_re[at + k] = cos(M_PI * k / half);
            w_im[at + k] = -sin(M_PI * k / half);
        }
    for (int r = 0; r < rows; r++) {
        transform(n, 1.0, w_re, w_im, (double *)data[2] + r * n, (double *)data[3] + r * n);
        transform(n, -1.0, w_re, w_im, (double *)adjoint[2] + r * n, (double *)adjoint[3] + r * n);
    }
    free(w_re);
}

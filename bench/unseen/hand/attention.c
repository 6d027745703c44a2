/* SPDX-License-Identifier: Apache-2.0 */
#include "../unseen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void attention(int batch, int time, int channels, int heads, const float *x, const float *w_qkv, const float *b_qkv, const float *w_out,
               float *out);

void
make_attention(bench_problem *p, double scale)
{
    int batch = bench_count(20 * scale), time = 40, channels = 64;
    int64_t size = (int64_t)batch * time * channels;
    bench_int(p, "batch", batch);
    bench_int(p, "time", time);
    bench_int(p, "channels", channels);
    bench_int(p, "heads", 4);
    bench_array(p, "x", RG_F32, size, 0, -1.0, 1.0);
    bench_array(p, "w_qkv", RG_F32, 3 * channels * channels, 0, -0.3, 0.3);
    bench_array(p, "b_qkv", RG_F32, 3 * channels, 0, -0.2, 0.2);
    bench_array(p, "w_out", RG_F32, channels * channels, 0, -0.3, 0.3);
    bench_output(p, "out", RG_F32, size, 0);
}

void
forward_attention(void *const *data)
{
    attention(INT(0), INT(1), INT(2), INT(3), data[4], data[5], data[6], data[7], data[8]);
}

static float
dot(const float *restrict a, const float *restrict b, int n)
{
    float sum = 0.0f;
    #pragma omp simd reduction(+ : sum)
    for (int k = 0; k < n; k++)
        sum += a[k] * b[k];
    return sum;
}

static void
add(float *restrict to, float by, const float *restrict v, int n)
{
    for (int k = 0; k < n; k++)
        to[k] += by * v[k];
}

/* to[r][o] = bias[o] + from[r] . w[o] */
static void
project(const float *from, const float *w, const float *bias, float *to, int rows, int wide, int in)
{
    for (int r = 0; r < rows; r++)
        for (int o = 0; o < wide; o++)
            to[r * wide + o] = dot(&from[r * in], &w[o * in], in) + (bias ? bias[o] : 0.0f);
}

/* Its reverse; adds. */
static void
project_reverse(const float *from, const float *w, const float *to_a, float *from_a, float *w_a, float *bias_a, int rows, int wide, int in)
{
    for (int r = 0; r < rows; r++)
        for (int o = 0; o < wide; o++)
            add(&from_a[r * in], to_a[r * wide + o], &w[o * in], in);
    for (int o = 0; o < wide; o++)
        for (int r = 0; r < rows; r++) {
            add(&w_a[o * in], to_a[r * wide + o], &from[r * in], in);
            if (bias_a)
                bias_a[o] += to_a[r * wide + o];
        }
}

/* One head of one sequence: q, k, v point at its first time step, whose rows lie `stride` apart. share: [time][time] */
static void
head_forward(const float *q, int stride, int channels, int time, int size, float scale, float *share, float *mixed)
{
    const float *k = q + channels, *v = k + channels;
    for (int t = 0; t < time; t++) {
        float *row = &share[t * time], most = -1e30f, total = 0.0f, *to = &mixed[t * channels];
        for (int s = 0; s <= t; s++) {
            row[s] = scale * dot(&q[t * stride], &k[s * stride], size);
            most = row[s] > most ? row[s] : most;
        }
        for (int s = 0; s <= t; s++) {
            row[s] = expf(row[s] - most);
            total += row[s];
        }
        memset(to, 0, sizeof *to * (size_t)size);
        for (int s = 0; s <= t; s++) {
            row[s] /= total;
            add(to, row[s], &v[s * stride], size);
        }
    }
}

static void
head_reverse(const float *q, float *q_a, int stride, int channels, int time, int size, float scale, const float *share,
             const float *mixed, const float *mixed_a)
{
    const float *k = q + channels, *v = k + channels;
    float *k_a = q_a + channels, *v_a = k_a + channels;
    for (int t = 0; t < time; t++) {
        const float *row = &share[t * time], *g = &mixed_a[t * channels];
        float mean = dot(g, &mixed[t * channels], size);
        for (int s = 0; s <= t; s++) {
            float dot_a = scale * row[s] * (dot(g, &v[s * stride], size) - mean);
            add(&v_a[s * stride], row[s], g, size);
            add(&q_a[t * stride], dot_a, &k[s * stride], size);
            add(&k_a[s * stride], dot_a, &q[t * stride], size);
        }
    }
}

void
hand_attention(void *const *data, void *const *adjoint)
{
    int batch = INT(0), time = INT(1), channels = INT(2), heads = INT(3), size = channels / heads;
    const float *x = data[4], *w_qkv = data[5], *w_out = data[7];
    float *out_a = adjoint[8], scale = 1.0f / sqrtf((float)size);
    int stride = 3 * channels, rows = batch * time;
    size_t wide = (size_t)rows * (size_t)channels, square = (size_t)time * (size_t)time, shares = (size_t)(batch * heads) * square;
    float *qkv = malloc(sizeof(float) * 3 * wide), *qkv_a = calloc(3 * wide, sizeof(float));
    float *mixed = malloc(sizeof(float) * wide), *mixed_a = calloc(wide, sizeof(float)), *share = malloc(sizeof(float) * shares);
    project(x, w_qkv, data[6], qkv, rows, stride, channels);
    for (int b = 0; b < batch; b++)
        for (int h = 0; h < heads; h++)
            head_forward(&qkv[b * time * stride + h * size], stride, channels, time, size, scale,
                         &share[(size_t)(b * heads + h) * square], &mixed[b * time * channels + h * size]);
    project(mixed, w_out, NULL, data[8], rows, channels, channels);
    project_reverse(mixed, w_out, out_a, mixed_a, adjoint[7], NULL, rows, channels, channels);
    memset(out_a, 0, sizeof(float) * wide);
    for (int b = 0; b < batch; b++)
        for (int h = 0; h < heads; h++)
            head_reverse(&qkv[b * time * stride + h * size], &qkv_a[b * time * stride + h * size], stride, channels, time, size, scale,
                         &share[(size_t)(b * heads + h) * square], &mixed[b * time * channels + h * size],
                         &mixed_a[b * time * channels + h * size]);
    project_reverse(x, w_qkv, qkv_a, adjoint[4], adjoint[5], adjoint[6], rows, stride, channels);
    hand_kept = sizeof(float) * (4 * wide + shares);
    free(qkv);
    free(qkv_a);
    free(mixed);
    free(mixed_a);
    free(share);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "../unseen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { IN = 24, HID = 40, ROWS = 3 * HID };

void gru_batch(int batch, int steps, const float *x, const float *first, const float wx[ROWS][IN], const float wh[ROWS][HID],
               const float bx[ROWS], const float bh[ROWS], float *out);

void
make_gru_batch(bench_problem *p, double scale)
{
    int batch = bench_count(48 * scale), steps = 24;
    bench_int(p, "batch", batch);
    bench_int(p, "steps", steps);
    bench_array(p, "x", RG_F32, (int64_t)batch * steps * IN, 0, -1.0, 1.0);
    bench_array(p, "first", RG_F32, (int64_t)batch * HID, 0, -0.5, 0.5);
    bench_array(p, "wx", RG_F32, ROWS, IN, -0.3, 0.3);
    bench_array(p, "wh", RG_F32, ROWS, HID, -0.3, 0.3);
    bench_array(p, "bx", RG_F32, ROWS, 0, -0.2, 0.2);
    bench_array(p, "bh", RG_F32, ROWS, 0, -0.2, 0.2);
    bench_output(p, "out", RG_F32, (int64_t)batch * steps * HID, 0);
}

void
forward_gru_batch(void *const *data)
{
    gru_batch(INT(0), INT(1), data[2], data[3], data[4], data[5], data[6], data[7], data[8]);
}

/* of one step: r, z, n, and what r multiplies; later the adjoints of what the activations take, the last one of the latter */
typedef union step {
    struct {
        float r[HID], z[HID], n[HID], m[HID];
    };
    float all[4 * HID];
} step;

static float
row_times(const float *restrict row, const float *restrict v, int count)
{
    float sum = 0.0f;
    #pragma omp simd reduction(+ : sum)
    for (int k = 0; k < count; k++)
        sum += row[k] * v[k];
    return sum;
}

/* as are the parameters */
typedef struct layer {
    const float *wx, *wh, *bx, *bh;
} layer;

static void
step_forward(const layer *w, const float *x, const float *h, step *s, float *next)
{
    for (int k = 0; k < HID; k++) {
        int u = HID + k, c = 2 * HID + k;
        s->r[k] = w->bx[k] + w->bh[k] + row_times(&w->wx[k * IN], x, IN) + row_times(&w->wh[k * HID], h, HID);
        s->z[k] = w->bx[u] + w->bh[u] + row_times(&w->wx[u * IN], x, IN) + row_times(&w->wh[u * HID], h, HID);
        s->n[k] = w->bx[c] + row_times(&w->wx[c * IN], x, IN);
        s->m[k] = w->bh[c] + row_times(&w->wh[c * HID], h, HID);
    }
    for (int k = 0; k < HID; k++) {
        s->r[k] = 1.0f / (1.0f + expf(-s->r[k]));
        s->z[k] = 1.0f / (1.0f + expf(-s->z[k]));
        s->n[k] = tanhf(s->n[k] + s->r[k] * s->m[k]);
        next[k] = s->n[k] + s->z[k] * (h[k] - s->n[k]);
    }
}

/* h_a: of the state behind the step, then of the one before it */
static void
step_reverse(const layer *w, const float *h, step *s, float *restrict h_a, float *restrict x_a)
{
    float before[HID], in[IN] = {0};
    for (int k = 0; k < HID; k++) {
        float r = s->r[k], z = s->z[k], n = s->n[k], m = s->m[k];
        float n_a = h_a[k] * (1.0f - z) * (1.0f - n * n);
        s->z[k] = h_a[k] * (h[k] - n) * z * (1.0f - z);
        s->r[k] = n_a * m * r * (1.0f - r);
        s->n[k] = n_a;
        s->m[k] = n_a * r;
        before[k] = h_a[k] * z;
    }
    for (int j = 0; j < HID; j++) {
        const float *r = &w->wh[j * HID], *z = r + HID * HID, *m = z + HID * HID;
        for (int k = 0; k < HID; k++)
            before[k] += s->r[j] * r[k] + s->z[j] * z[k] + s->m[j] * m[k];
    }
    for (int j = 0; j < HID; j++) {
        const float *r = &w->wx[j * IN], *z = r + HID * IN, *n = z + HID * IN;
        for (int k = 0; k < IN; k++)
            in[k] += s->r[j] * r[k] + s->z[j] * z[k] + s->n[j] * n[k];
    }
    memcpy(h_a, before, sizeof before);
    for (int k = 0; k < IN; k++)
        x_a[k] += in[k];
}

void
hand_gru_batch(void *const *data, void *const *adjoint)
{
    int batch = INT(0), steps = INT(1);
    const float *x = data[2], *first = data[3];
    layer w = {data[4], data[5], data[6], data[7]};
    float *out = data[8], *x_a = adjoint[2], *first_a = adjoint[3], *wx_a = adjoint[4], *wh_a = adjoint[5];
    float *bx_a = adjoint[6], *bh_a = adjoint[7], *out_a = adjoint[8];
    step *kept = malloc(sizeof *kept * (size_t)steps);
    for (int b = 0; b < batch; b++) {
        const float *in = &x[b * steps * IN], *start = &first[b * HID], *h = start;
        float *state = &out[b * steps * HID], *state_a = &out_a[b * steps * HID], h_a[HID] = {0};
        for (int t = 0; t < steps; t++) {
            step_forward(&w, &in[t * IN], h, &kept[t], &state[t * HID]);
            h = &state[t * HID];
        }
        for (int t = steps - 1; t >= 0; t--) {
            for (int k = 0; k < HID; k++) {
                h_a[k] += state_a[t * HID + k];
                state_a[t * HID + k] = 0.0f;
            }
            step_reverse(&w, t ? &state[(t - 1) * HID] : start, &kept[t], h_a, &x_a[(b * steps + t) * IN]);
        }
        for (int k = 0; k < HID; k++)
            first_a[b * HID + k] += h_a[k];
        /* the weights' adjoints, one row after the other: it stays in registers over all steps */
        for (int j = 0; j < ROWS; j++) {
            float from_x[IN] = {0}, from_h[HID] = {0}, sum_x = 0.0f, sum_h = 0.0f;
            for (int t = 0; t < steps; t++) {
                const float *s = kept[t].all, *before = t ? &state[(t - 1) * HID] : start;
                float gx = s[j], gh = s[j < 2 * HID ? j : j + HID];
                for (int k = 0; k < IN; k++)
                    from_x[k] += gx * in[t * IN + k];
                for (int k = 0; k < HID; k++)
                    from_h[k] += gh * before[k];
                sum_x += gx;
                sum_h += gh;
            }
            for (int k = 0; k < IN; k++)
                wx_a[j * IN + k] += from_x[k];
            for (int k = 0; k < HID; k++)
                wh_a[j * HID + k] += from_h[k];
            bx_a[j] += sum_x;
            bh_a[j] += sum_h;
        }
    }
    hand_kept = sizeof *kept * (size_t)steps;
    free(kept);
}

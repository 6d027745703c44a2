/* See adjoints.h. SPDX-License-Identifier: Apache-2.0 */
#include "adjoints.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

static void
note_kept(size_t bytes)
{
    hand_kept = bytes > hand_kept ? bytes : hand_kept;
}

void
hand_deep(void *const *data, void *const *adjoint)
{
    int n = INT(0), steps = INT(1);
    const float *x = data[2];
    float *y = data[3], *x_a = adjoint[2], *y_a = adjoint[3];
    float *kept = malloc(sizeof(float) * (size_t)steps);
    for (int i = 0; i < n; i++) {
        float v = x[i];
        for (int t = 0; t < steps; t++) {
            kept[t] = v;
            v = v + 0.001f * sinf(v);
        }
        y[i] = v;
        float v_a = y_a[i];
        y_a[i] = 0.0f;
        for (int t = steps - 1; t >= 0; t--)
            v_a += 0.001f * v_a * cosf(kept[t]);
        x_a[i] += v_a;
    }
    hand_kept = sizeof(float) * (size_t)steps;
    free(kept);
}

void
hand_ragged(void *const *data, void *const *adjoint)
{
    int n = INT(0), most = 0;
    const int *steps = data[1];
    const float *x = data[2];
    float *y = data[3], *x_a = adjoint[2], *y_a = adjoint[3];
    for (int i = 0; i < n; i++)
        most = steps[i] > most ? steps[i] : most;
    float *kept = malloc(sizeof(float) * (size_t)(most + 1));
    hand_kept = 0;
    for (int i = 0; i < n; i++) {
        float v = x[i];
        int t;
        for (t = 0; t < steps[i]; t++) {
            if (v > 3.0f)
                break;
            kept[t] = v;
            v = v + 0.001f * sinf(v);
        }
        y[i] = v;
        float v_a = y_a[i];
        y_a[i] = 0.0f;
        note_kept(sizeof(float) * (size_t)t);
        while (--t >= 0)
            v_a += 0.001f * v_a * cosf(kept[t]);
        x_a[i] += v_a;
    }
    free(kept);
}

void
hand_csr(void *const *data, void *const *adjoint)
{
    int rows = INT(0);
    double cap = REAL(2);
    const int *start = data[3], *column = data[4];
    const double *value = data[5], *x = data[6];
    double *y = data[7], *value_a = adjoint[5], *x_a = adjoint[6], *y_a = adjoint[7];
    hand_kept = 0;
    for (int i = 0; i < rows; i++) {
        double s = 0.0;
        int j;
        for (j = start[i]; j < start[i + 1]; j++) {
            s += value[j] * x[column[j]];
            if (s > cap) {
                j++;
                break;
            }
        }
        y[i] = s * s;
        double s_a = 2.0 * s * y_a[i];
        y_a[i] = 0.0;
        while (--j >= start[i]) {
            value_a[j] += s_a * x[column[j]];
            x_a[column[j]] += s_a * value[j];
        }
    }
}

void
hand_newton(void *const *data, void *const *adjoint)
{
    int n = INT(0);
    const double *x = data[1];
    double *y = data[2], *x_a = adjoint[1], *y_a = adjoint[2];
    double kept_r[256], kept_e[256];
    hand_kept = 0;
    for (int i = 0; i < n; i++) {
        double r = x[i], e;
        int t = 0;
        while (fabs(e = r * r * r + r - x[i]) > 1e-12) {
            kept_r[t] = r;
            kept_e[t++] = e;
            r = r - e / (3.0 * r * r + 1.0);
        }
        y[i] = r;
        double r_a = y_a[i], sum = 0.0;
        y_a[i] = 0.0;
        note_kept(2 * sizeof(double) * (size_t)t);
        while (--t >= 0) {
            double p = kept_r[t], d = 3.0 * p * p + 1.0, e_a = -r_a / d;
            r_a += r_a * kept_e[t] / (d * d) * 6.0 * p + e_a * d;
            sum -= e_a;
        }
        x_a[i] += r_a + sum;
    }
}

void
hand_adaptive(void *const *data, void *const *adjoint)
{
    enum { ACCEPTED = 1, GROWN = 2, CLIPPED = 4, MOST = 4096 };
    int n = INT(0);
    const double *x = data[1];
    double rate = REAL(2), rate_a = 0.0;
    double *y = data[3], *x_a = adjoint[1], *y_a = adjoint[3];
    static double kept_v[MOST], kept_h[MOST], kept_t[MOST];
    static unsigned char kind[MOST];
    hand_kept = 0;
    for (int i = 0; i < n; i++) {
        double t = 0.0, h = 0.25, v = x[i];
        int k = 0;
        while (t < 4.0) {
            kind[k] = 0;
            if (t + h > 4.0) {
                h = 4.0 - t;
                kind[k] |= CLIPPED;
            }
            kept_v[k] = v;
            kept_h[k] = h;
            kept_t[k] = t;
            double k1 = sin(3.0 * t) - rate * v, mid = v + 0.5 * h * k1;
            double k2 = sin(3.0 * (t + 0.5 * h)) - rate * mid, error = fabs(h * (k2 - k1));
            if (error > 0.02) {
                h *= 0.5;
            } else {
                kind[k] |= ACCEPTED;
                v += h * k2;
                t += h;
                if (error < 0.005) {
                    h *= 1.5;
                    kind[k] |= GROWN;
                }
            }
            k++;
        }
        y[i] = v;
        double v_a = y_a[i], h_a = 0.0, t_a = 0.0;
        y_a[i] = 0.0;
        note_kept((3 * sizeof(double) + 1) * (size_t)k);
        while (--k >= 0) {
            double p = kept_v[k], step = kept_h[k], at = kept_t[k];
            if (kind[k] & ACCEPTED) {
                double k1 = sin(3.0 * at) - rate * p, mid = p + 0.5 * step * k1;
                double half = 3.0 * (at + 0.5 * step), k2 = sin(half) - rate * mid;
                if (kind[k] & GROWN)
                    h_a *= 1.5;
                h_a += t_a + v_a * k2;
                double k2_a = v_a * step, mid_a = -rate * k2_a, half_a = 3.0 * cos(half) * k2_a;
                rate_a -= k2_a * mid;
                v_a += mid_a;
                double k1_a = 0.5 * step * mid_a;
                h_a += 0.5 * k1 * mid_a + 0.5 * half_a;
                t_a += half_a + 3.0 * cos(3.0 * at) * k1_a;
                rate_a -= k1_a * p;
                v_a -= rate * k1_a;
            } else {
                h_a *= 0.5;
            }
            if (kind[k] & CLIPPED) {
                t_a -= h_a;
                h_a = 0.0;
            }
        }
        x_a[i] += v_a;
    }
    *(double *)adjoint[2] += rate_a;
}

void
hand_lstm(void *const *data, void *const *adjoint)
{
    int n = INT(0), length = INT(1);
    const double *x = data[2], *w = data[3];
    double *y = data[4], *x_a = adjoint[2], *w_a = adjoint[3], *y_a = adjoint[4];
    struct step {
        double f, g, o, c, cell, hidden, bent;
    } *kept = malloc(sizeof *kept * (size_t)length);
    double sum[12] = {0};
    for (int i = 0; i < n; i++) {
        double hidden = 0.0, cell = 0.0;
        for (int t = 0; t < length; t++) {
            double in = x[i * length + t];
            struct step *s = &kept[t];
            s->cell = cell;
            s->hidden = hidden;
            s->f = 1.0 / (1.0 + exp(-(w[0] * in + w[1] * hidden + w[2])));
            s->g = 1.0 / (1.0 + exp(-(w[3] * in + w[4] * hidden + w[5])));
            s->o = 1.0 / (1.0 + exp(-(w[6] * in + w[7] * hidden + w[8])));
            s->c = tanh(w[9] * in + w[10] * hidden + w[11]);
            cell = s->f * cell + s->g * s->c;
            s->bent = tanh(cell);
            hidden = s->o * s->bent;
        }
        y[i] = hidden;
        double hidden_a = y_a[i], cell_a = 0.0;
        y_a[i] = 0.0;
        for (int t = length - 1; t >= 0; t--) {
            const struct step *s = &kept[t];
            double in = x[i * length + t];
            cell_a += hidden_a * s->o * (1.0 - s->bent * s->bent);
            double gate[4] = {cell_a * s->cell * s->f * (1.0 - s->f), cell_a * s->c * s->g * (1.0 - s->g),
                              hidden_a * s->bent * s->o * (1.0 - s->o),
                              cell_a * s->g * (1.0 - s->c * s->c)};
            cell_a *= s->f;
            double in_a = 0.0;
            hidden_a = 0.0;
            for (int k = 0; k < 4; k++) {
                sum[3 * k] += gate[k] * in;
                sum[3 * k + 1] += gate[k] * s->hidden;
                sum[3 * k + 2] += gate[k];
                in_a += gate[k] * w[3 * k];
                hidden_a += gate[k] * w[3 * k + 1];
            }
            x_a[i * length + t] += in_a;
        }
    }
    for (int k = 0; k < 12; k++)
        w_a[k] += sum[k];
    hand_kept = sizeof *kept * (size_t)length;
    free(kept);
}

#define AT(r, c) ((r) * ((r) + 1) / 2 + (c))

void
hand_cholesky(void *const *data, void *const *adjoint)
{
    int n = INT(0);
    const double *all_a = data[1], *all_b = data[2];
    double *y = data[3], *all_a_a = adjoint[1], *all_b_a = adjoint[2], *y_a = adjoint[3];
    hand_kept = 0;
    for (int i = 0; i < n; i++) {
        const double *a = &all_a[36 * i], *b = &all_b[8 * i];
        double *a_a = &all_a_a[36 * i], *b_a = &all_b_a[8 * i];
        double l[36], z[8], l_a[36] = {0}, z_a[8] = {0}, sum = 0.0;
        for (int r = 0; r < 8; r++)
            for (int c = 0; c <= r; c++) {
                double s = a[AT(r, c)];
                for (int k = 0; k < c; k++)
                    s -= l[AT(r, k)] * l[AT(c, k)];
                l[AT(r, c)] = r == c ? sqrt(s) : s / l[AT(c, c)];
            }
        for (int r = 0; r < 8; r++) {
            double s = b[r];
            for (int k = 0; k < r; k++)
                s -= l[AT(r, k)] * z[k];
            z[r] = s / l[AT(r, r)];
            sum += z[r] * z[r];
        }
        y[i] = sum;
        double sum_a = y_a[i];
        y_a[i] = 0.0;
        for (int r = 7; r >= 0; r--) {
            double z_r = z_a[r] + 2.0 * z[r] * sum_a, s_a = z_r / l[AT(r, r)];
            l_a[AT(r, r)] -= s_a * z[r];
            for (int k = 0; k < r; k++) {
                l_a[AT(r, k)] -= s_a * z[k];
                z_a[k] -= s_a * l[AT(r, k)];
            }
            b_a[r] += s_a;
        }
        for (int r = 7; r >= 0; r--)
            for (int c = r; c >= 0; c--) {
                double s_a;
                if (r == c) {
                    s_a = 0.5 * l_a[AT(r, r)] / l[AT(r, r)];
                } else {
                    s_a = l_a[AT(r, c)] / l[AT(c, c)];
                    l_a[AT(c, c)] -= s_a * l[AT(r, c)];
                }
                for (int k = 0; k < c; k++) {
                    l_a[AT(r, k)] -= s_a * l[AT(c, k)];
                    l_a[AT(c, k)] -= s_a * l[AT(r, k)];
                }
                a_a[AT(r, c)] += s_a;
            }
    }
}

void
hand_springs(void *const *data, void *const *adjoint)
{
    int n = INT(0), steps = INT(1);
    double stiffness = REAL(2), sum = 0.0;
    double *x = data[3], *v = data[4], *x_a = adjoint[3], *v_a = adjoint[4];
    double *kept = malloc(sizeof(double) * (size_t)n * (size_t)steps);
    for (int t = 0; t < steps; t++) {
        double *row = &kept[(size_t)t * n];
        for (int i = 0; i < n; i++)
            row[i] = x[i];
        for (int i = 1; i < n - 1; i++) {
            double left = x[i - 1] - x[i], right = x[i + 1] - x[i];
            v[i] += 0.05 * stiffness * (left + right + 0.5 * (left * left * left + right * right * right));
        }
        for (int i = 1; i < n - 1; i++)
            x[i] += 0.05 * v[i];
    }
    for (int t = steps - 1; t >= 0; t--) {
        const double *row = &kept[(size_t)t * n];
        for (int i = 1; i < n - 1; i++)
            v_a[i] += 0.05 * x_a[i];
        for (int i = 1; i < n - 1; i++) {
            double left = row[i - 1] - row[i], right = row[i + 1] - row[i], f_a = 0.05 * v_a[i];
            sum += f_a * (left + right + 0.5 * (left * left * left + right * right * right));
            double left_a = f_a * stiffness * (1.0 + 1.5 * left * left);
            double right_a = f_a * stiffness * (1.0 + 1.5 * right * right);
            x_a[i - 1] += left_a;
            x_a[i + 1] += right_a;
            x_a[i] -= left_a + right_a;
        }
    }
    *(double *)adjoint[2] += sum;
    hand_kept = sizeof(double) * (size_t)n * (size_t)steps;
    free(kept);
}

void
hand_bodies(void *const *data, void *const *adjoint)
{
    int n = INT(0);
    const double *x = data[1], *mass = data[2];
    double *a = data[3], *x_a = adjoint[1], *mass_a = adjoint[2], *a_a = adjoint[3];
    hand_kept = 0;
    for (int i = 0; i < n; i++) {
        double sum[3] = {0.0, 0.0, 0.0};
        for (int j = 0; j < n; j++) {
            double dx = x[3 * j] - x[3 * i], dy = x[3 * j + 1] - x[3 * i + 1],
                   dz = x[3 * j + 2] - x[3 * i + 2];
            double inverse = 1.0 / sqrt(dx * dx + dy * dy + dz * dz + 0.01);
            double s = mass[j] * inverse * inverse * inverse;
            sum[0] += s * dx;
            sum[1] += s * dy;
            sum[2] += s * dz;
        }
        for (int k = 0; k < 3; k++)
            a[3 * i + k] = sum[k];
        double ax = a_a[3 * i], ay = a_a[3 * i + 1], az = a_a[3 * i + 2];
        a_a[3 * i] = a_a[3 * i + 1] = a_a[3 * i + 2] = 0.0;
        double xi = 0.0, yi = 0.0, zi = 0.0;
        for (int j = 0; j < n; j++) {
            double dx = x[3 * j] - x[3 * i], dy = x[3 * j + 1] - x[3 * i + 1],
                   dz = x[3 * j + 2] - x[3 * i + 2];
            double inverse = 1.0 / sqrt(dx * dx + dy * dy + dz * dz + 0.01);
            double cube = inverse * inverse * inverse, s = mass[j] * cube;
            double s_a = ax * dx + ay * dy + az * dz;
            mass_a[j] += s_a * cube;
            double r2_a = -1.5 * s_a * s * inverse * inverse;
            double gx = ax * s + 2.0 * dx * r2_a, gy = ay * s + 2.0 * dy * r2_a,
                   gz = az * s + 2.0 * dz * r2_a;
            x_a[3 * j] += gx;
            x_a[3 * j + 1] += gy;
            x_a[3 * j + 2] += gz;
            xi += gx;
            yi += gy;
            zi += gz;
        }
        x_a[3 * i] -= xi;
        x_a[3 * i + 1] -= yi;
        x_a[3 * i + 2] -= zi;
    }
}

void
hand_trace(void *const *data, void *const *adjoint)
{
    int n = INT(0);
    const double *direction = data[1], *sphere = data[2];
    double *depth = data[3], *direction_a = adjoint[1], *sphere_a = adjoint[2], *depth_a = adjoint[3];
    struct march {
        double t, sum, length[4], part[4];
    } kept[128];
    hand_kept = 0;
    for (int i = 0; i < n; i++) {
        const double *d = &direction[3 * i];
        double t = 0.0;
        int moved = 0;
        for (int step = 0; step < 128; step++) {
            struct march *m = &kept[moved];
            m->t = t;
            m->sum = 0.0;
            for (int s = 0; s < 4; s++) {
                const double *o = &sphere[4 * s];
                double dx = t * d[0] - o[0], dy = t * d[1] - o[1], dz = t * d[2] - o[2];
                m->length[s] = sqrt(dx * dx + dy * dy + dz * dz);
                m->part[s] = exp(-4.0 * (m->length[s] - o[3]));
                m->sum += m->part[s];
            }
            double distance = -0.25 * log(m->sum);
            if (distance < 1e-4)
                break;
            moved++;
            t += distance;
            if (t > 8.0)
                break;
        }
        depth[i] = t;
        double t_a = depth_a[i], d_a[3] = {0};
        depth_a[i] = 0.0;
        note_kept(sizeof kept[0] * (size_t)moved);
        while (--moved >= 0) {
            const struct march *m = &kept[moved];
            double sum_a = -0.25 * t_a / m->sum;
            for (int s = 0; s < 4; s++) {
                const double *o = &sphere[4 * s];
                double length_a = -4.0 * sum_a * m->part[s];
                double scale = length_a / m->length[s];
                sphere_a[4 * s + 3] -= length_a;
                for (int k = 0; k < 3; k++) {
                    double g = scale * (m->t * d[k] - o[k]);
                    t_a += g * d[k];
                    d_a[k] += g * m->t;
                    sphere_a[4 * s + k] -= g;
                }
            }
        }
        for (int k = 0; k < 3; k++)
            direction_a[3 * i + k] += d_a[k];
    }
}

void
hand_horner(void *const *data, void *const *adjoint)
{
    int n = INT(0), degree = INT(1);
    const double *c = data[2], *x = data[3];
    double *y = data[4], *c_a = adjoint[2], *x_a = adjoint[3], *y_a = adjoint[4];
    double *kept = malloc(sizeof(double) * (size_t)(degree + 1));
    for (int i = 0; i < n; i++) {
        double v = c[degree], p = x[i];
        for (int k = degree - 1; k >= 0; k--) {
            kept[k] = v;
            v = v * p + c[k];
        }
        y[i] = v;
        double v_a = y_a[i], p_a = 0.0;
        y_a[i] = 0.0;
        for (int k = 0; k < degree; k++) {
            c_a[k] += v_a;
            p_a += v_a * kept[k];
            v_a *= p;
        }
        c_a[degree] += v_a;
        x_a[i] += p_a;
    }
    hand_kept = sizeof(double) * (size_t)degree;
    free(kept);
}

/* Each thread sums the weights' adjoint alone, in double. */
typedef struct neurons {
    int lo, hi, m;
    const float *x, *w;
    float *y, *x_a, *y_a;
    double *w_a;
} neurons;

static void *
neuron_rows(void *user)
{
    const neurons *t = user;
    int m = t->m;
    const float *restrict w = t->w;
    double *restrict w_a = t->w_a;
    for (int i = t->lo; i < t->hi; i++) {
        const float *restrict x = t->x + (size_t)i * m;
        float *restrict x_a = t->x_a + (size_t)i * m, s = 0.0f;
        for (int k = 0; k < m; k++)
            s += w[k] * x[k];
        float y = tanhf(s), s_a = t->y_a[i] * (1.0f - y * y);
        t->y[i] = y;
        t->y_a[i] = 0.0f;
        for (int k = 0; k < m; k++) {
            w_a[k] += s_a * x[k];
            x_a[k] += s_a * w[k];
        }
    }
    return NULL;
}

void
hand_weights(void *const *data, void *const *adjoint)
{
    enum { MOST = 64 };
    const char *wanted = getenv("OMP_NUM_THREADS");
    int n = INT(0), m = INT(1), threads = wanted ? atoi(wanted) : 1;
    threads = threads < 1 ? 1 : threads > MOST ? MOST : threads;
    float *w_a = adjoint[3];
    neurons part[MOST];
    pthread_t thread[MOST];
    for (int t = 0; t < threads; t++) {
        part[t] = (neurons){(int)((long)n * t / threads), (int)((long)n * (t + 1) / threads), m, data[2],
                            data[3], data[4], adjoint[2], adjoint[4], calloc((size_t)m, sizeof(double))};
        if (t)
            pthread_create(&thread[t], NULL, neuron_rows, &part[t]);
    }
    neuron_rows(&part[0]);
    for (int t = 1; t < threads; t++)
        pthread_join(thread[t], NULL);
    for (int k = 0; k < m; k++) {
        double sum = 0.0;
        for (int t = 0; t < threads; t++)
            sum += part[t].w_a[k];
        w_a[k] = (float)(w_a[k] + sum);
    }
    for (int t = 0; t < threads; t++)
        free(part[t].w_a);
}

// SPDX-License-Identifier: Apache-2.0
#include "../kernels/kepler.c"

enum { MOST = 30, TIMES = 16 };

// Of Newton's iterations are kept what they had of the anomaly: its sine, its cosine and the step.
static __global__ void
adjoint(int satellites, int times, const float *__restrict__ elements, const float *__restrict__ time,
        float *__restrict__ position, float *__restrict__ elements_a, float *__restrict__ time_a, float *__restrict__ position_a)
{
    sums<TIMES> total(time_a);
    int s = thread_number();
    bool there = s < satellites;
    const float *el = elements + 6 * (size_t)(there ? s : 0);
    float a = el[0], e = el[1], ci, si;
    sincosf(el[2], &si, &ci);
    float n = sqrtf(MU / (a * a * a)), root = sqrtf(1.0f - e * e), p = a * (1.0f - e * e), k = 1.5f * J2 * n / (p * p);
    float perigee_part = 2.0f - 2.5f * si * si, mean_part = 1.0f - 1.5f * si * si;
    float node_rate = -k * ci, perigee_rate = k * perigee_part, mean_rate = n + k * root * mean_part;
    float a_a = 0.0f, e_a = 0.0f, ci_a = 0.0f, si_a = 0.0f, root_a = 0.0f, sums_a[3] = {};
    float node_rate_a = 0.0f, perigee_rate_a = 0.0f, mean_rate_a = 0.0f;
    float kept_sin[MOST], kept_cos[MOST], kept_step[MOST];
    for (int t = 0; t < times; t++) {
        float moment_a = 0.0f;
        if (there) {
            float node = el[3] + node_rate * time[t], perigee = el[4] + perigee_rate * time[t];
            float mean = fmodf(el[5] + mean_rate * time[t], 2.0f * PI), anomaly = e < 0.8f ? mean : PI;
            int count = 0;
            while (count < MOST) {
                float sine, cosine;
                sincosf(anomaly, &sine, &cosine);
                float step = (anomaly - e * sine - mean) / (1.0f - e * cosine);
                kept_sin[count] = sine;
                kept_cos[count] = cosine;
                kept_step[count++] = step;
                anomaly -= step;
                if (fabsf(step) < 1e-5f)
                    break;
            }
            float sine, cosine, cw, sw, cn, sn;
            sincosf(anomaly, &sine, &cosine);
            sincosf(perigee, &sw, &cw);
            sincosf(node, &sn, &cn);
            float xp = a * (cosine - e), yp = a * root * sine, x = xp * cw - yp * sw, y = xp * sw + yp * cw;
            size_t at = 3 * ((size_t)s * times + t);
            float o0 = position_a[at], o1 = position_a[at + 1], o2 = position_a[at + 2];
            float out0 = x * cn - y * ci * sn, out1 = x * sn + y * ci * cn;
            position[at] = out0;
            position[at + 1] = out1;
            position[at + 2] = y * si;

            float across = o1 * cn - o0 * sn, x_a = o0 * cn + o1 * sn, y_a = ci * across + o2 * si;
            float node_a = o1 * out0 - o0 * out1;
            ci_a += y * across;
            si_a += y * o2;
            float xp_a = x_a * cw + y_a * sw, yp_a = y_a * cw - x_a * sw, perigee_a = y_a * x - x_a * y;
            a_a += xp_a * (cosine - e) + yp_a * root * sine;
            e_a -= xp_a * a;
            root_a += yp_a * a * sine;
            float anomaly_a = a * (yp_a * root * cosine - xp_a * sine), mean_a = 0.0f;
            while (--count >= 0) {
                float f_a = -anomaly_a / (1.0f - e * kept_cos[count]), slope_a = -f_a * kept_step[count];
                e_a -= f_a * kept_sin[count] + slope_a * kept_cos[count];
                mean_a -= f_a;
                anomaly_a = slope_a * e * kept_sin[count]; // f's slope cancels the step's 1
            }
            if (e < 0.8f)
                mean_a += anomaly_a;
            sums_a[0] += node_a;
            sums_a[1] += perigee_a;
            sums_a[2] += mean_a;
            node_rate_a += node_a * time[t];
            perigee_rate_a += perigee_a * time[t];
            mean_rate_a += mean_a * time[t];
            moment_a = node_a * node_rate + perigee_a * perigee_rate + mean_a * mean_rate;
        }
        total.add(t, moment_a);
    }
    if (there) {
        float k_a = perigee_rate_a * perigee_part + mean_rate_a * root * mean_part - node_rate_a * ci;
        ci_a -= k * node_rate_a;
        si_a -= si * k * (5.0f * perigee_rate_a + 3.0f * root * mean_rate_a);
        root_a += mean_rate_a * k * mean_part;
        float n_a = mean_rate_a + k_a * k / n, p_a = -2.0f * k_a * k / p, *el_a = elements_a + 6 * (size_t)s;
        el_a[0] += a_a + p_a * (1.0f - e * e) - 1.5f * n / a * n_a;
        el_a[1] += e_a - 2.0f * a * e * p_a - root_a * e / root;
        el_a[2] += si_a * ci - ci_a * si;
        for (int r = 0; r < 3; r++)
            el_a[3 + r] += sums_a[r];
        for (int c = 0; c < 3 * times; c++)
            position_a[3 * (size_t)s * times + c] = 0.0f;
    }
    total.end();
}

static void
primal(const hand_run &r)
{
    HAND_LAUNCH(kepler, blocks_for(r.whole(0)), BLOCK, (r.whole(0), r.whole(1), r.floats(2), r.floats(3), r.floats(4)));
}

static void
gradient(const hand_run &r)
{
    HAND_LAUNCH(adjoint, blocks_for(r.whole(0)), BLOCK,
                (r.whole(0), r.whole(1), r.floats(2), r.floats(3), r.floats(4), r.adjoints(2), r.adjoints(3), r.adjoints(4)));
}

extern const hand_kernel hand_kepler;
const hand_kernel hand_kepler = {"kepler", primal, gradient, NULL};

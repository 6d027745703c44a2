// SPDX-License-Identifier: Apache-2.0
//
// A grid that fits the GPU at once takes trajectory after trajectory; each of its threads has room on the tape for one,
// interleaved with the other threads': the state before each attempted step, and its length. Stages are computed again.
#include "../kernels/rk45.c"

enum { MOST = 192 };

static __device__ __forceinline__ void
stage_of(int s, const float y[DIM], const float k[STAGES][DIM], float h, float sum[DIM], float stage[DIM])
{
    #pragma unroll
    for (int d = 0; d < DIM; d++) {
        sum[d] = 0.0f;
        #pragma unroll
        for (int r = 0; r < s; r++)
            sum[d] += A[s][r] * k[r][d];
        stage[d] = y[d] + h * sum[d];
    }
}

static __device__ __forceinline__ float
weight(float y, float stage, float tolerance)
{
    return tolerance * (1.0f + fmaxf(fabsf(y), fabsf(stage)));
}

// k[1] to k[6] and the last stage; returns the error.
static __device__ __forceinline__ float
attempt(const float y[DIM], float h, float drag, float tolerance, float k[STAGES][DIM], float stage[DIM])
{
    float sum[DIM], error = 0.0f;
    #pragma unroll
    for (int s = 1; s < STAGES; s++) {
        stage_of(s, y, k, h, sum, stage);
        rhs(stage, drag, k[s]);
    }
    #pragma unroll
    for (int d = 0; d < DIM; d++) {
        float e = 0.0f;
        #pragma unroll
        for (int s = 0; s < STAGES; s++)
            e += E[s] * k[s][d];
        e *= h / weight(y[d], stage[d], tolerance);
        error += e * e;
    }
    return sqrtf(error / DIM);
}

// Adds to y_a; returns what drag gets.
static __device__ __forceinline__ float
rhs_a(const float y[DIM], float drag, const float dy_a[DIM], float y_a[DIM])
{
    float r2 = y[0] * y[0] + y[1] * y[1], r = sqrtf(r2), inverse = 1.0f / (r2 * r);
    float speed = sqrtf(y[2] * y[2] + y[3] * y[3]), along = dy_a[2] * y[2] + dy_a[3] * y[3];
    float r2_a = 1.5f * r * inverse * inverse * (dy_a[2] * y[0] + dy_a[3] * y[1]);
    float speed_a = speed > 0.0f ? -drag * along / speed : 0.0f;
    y_a[0] += 2.0f * r2_a * y[0] - inverse * dy_a[2];
    y_a[1] += 2.0f * r2_a * y[1] - inverse * dy_a[3];
    y_a[2] += dy_a[0] - drag * speed * dy_a[2] + speed_a * y[2];
    y_a[3] += dy_a[1] - drag * speed * dy_a[3] + speed_a * y[3];
    return -speed * along;
}

struct adjoints {
    float y[DIM], k[STAGES][DIM], h, t, drag;
};

static __device__ __forceinline__ void
attempt_a(const float y[DIM], float h, bool clipped, float drag, float tolerance, adjoints *a)
{
    float k[STAGES][DIM], stage[DIM], stage_a[DIM] = {}, sum[DIM];
    rhs(y, drag, k[0]);
    float error = attempt(y, h, drag, tolerance, k, stage), factor = 0.9f * powf(error, -0.2f), next_a = a->h;
    a->h = next_a * fminf(fmaxf(factor, 0.2f), 5.0f);
    #pragma unroll
    for (int s = 1; s < STAGES; s++)
        #pragma unroll
        for (int d = 0; d < DIM; d++)
            a->k[s][d] = 0.0f;
    if (error <= 1.0f) {
        a->h += a->t;
        #pragma unroll
        for (int d = 0; d < DIM; d++) {
            stage_a[d] = a->y[d];
            a->y[d] = 0.0f;
            a->k[STAGES - 1][d] = a->k[0][d];
            a->k[0][d] = 0.0f;
        }
    }
    if (factor >= 0.2f && factor <= 5.0f && next_a != 0.0f) {
        float error_a = -0.2f * next_a * h * factor / error;
        #pragma unroll
        for (int d = 0; d < DIM; d++) {
            float e = 0.0f, w = weight(y[d], stage[d], tolerance);
            #pragma unroll
            for (int s = 0; s < STAGES; s++)
                e += E[s] * k[s][d];
            float scaled = e * h / w, scaled_a = error_a * scaled / (DIM * error), e_a = scaled_a * h / w;
            float most_a = -scaled_a * scaled * tolerance / w;
            a->h += scaled_a * e / w;
            if (fabsf(y[d]) > fabsf(stage[d]))
                a->y[d] += copysignf(most_a, y[d] * most_a);
            else
                stage_a[d] += copysignf(most_a, stage[d] * most_a);
            #pragma unroll
            for (int s = 0; s < STAGES; s++)
                a->k[s][d] += E[s] * e_a;
        }
    }
    #pragma unroll
    for (int s = STAGES - 1; s >= 1; s--) {
        stage_of(s, y, k, h, sum, stage);
        a->drag += rhs_a(stage, drag, a->k[s], stage_a);
        #pragma unroll
        for (int d = 0; d < DIM; d++) {
            a->y[d] += stage_a[d];
            a->h += stage_a[d] * sum[d];
            #pragma unroll
            for (int r = 0; r < s; r++)
                a->k[r][d] += h * A[s][r] * stage_a[d];
            stage_a[d] = 0.0f;
        }
    }
    if (clipped) {
        a->t -= a->h;
        a->h = 0.0f;
    }
}

static __global__ void
adjoint(int n, float end, float tolerance, const float4 *__restrict__ start, const float *__restrict__ drag,
        float4 *__restrict__ result, float4 *__restrict__ start_a, float *__restrict__ drag_a, float4 *__restrict__ result_a,
        float *__restrict__ tape)
{
    size_t threads = (size_t)gridDim.x * blockDim.x, me = (size_t)thread_number();
    float4 *states = (float4 *)tape;
    float *lengths = tape + 4 * MOST * threads;
    for (size_t i = me; i < (size_t)n; i += threads) {
        float4 first = start[i];
        float y[DIM] = {first.x, first.y, first.z, first.w}, k[STAGES][DIM], stage[DIM], t = 0.0f, h = 0.01f;
        int count = 0;
        rhs(y, drag[i], k[0]);
        while (t < end && count < MOST) {
            if (t + h > end)
                h = end - t;
            states[count * threads + me] = make_float4(y[0], y[1], y[2], y[3]);
            lengths[count++ * threads + me] = h;
            float error = attempt(y, h, drag[i], tolerance, k, stage);
            if (error <= 1.0f) {
                t += h;
                #pragma unroll
                for (int d = 0; d < DIM; d++) {
                    y[d] = stage[d];
                    k[0][d] = k[STAGES - 1][d];
                }
            }
            h *= fminf(fmaxf(0.9f * powf(error, -0.2f), 0.2f), 5.0f);
        }
        result[i] = make_float4(y[0], y[1], y[2], y[3]);
        float4 last_a = result_a[i];
        adjoints a = {};
        a.y[0] = last_a.x, a.y[1] = last_a.y, a.y[2] = last_a.z, a.y[3] = last_a.w;
        // the last attempt is the one that the end cuts off
        for (int last = count - 1; count-- > 0;) {
            float4 state = states[count * threads + me];
            const float before[DIM] = {state.x, state.y, state.z, state.w};
            attempt_a(before, lengths[count * threads + me], count == last, drag[i], tolerance, &a);
        }
        const float began[DIM] = {first.x, first.y, first.z, first.w};
        a.drag += rhs_a(began, drag[i], a.k[0], a.y);
        float4 s = start_a[i];
        start_a[i] = make_float4(s.x + a.y[0], s.y + a.y[1], s.z + a.y[2], s.w + a.y[3]);
        drag_a[i] += a.drag;
        result_a[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
}

static int
grid(const hand_run &r)
{
    int blocks = blocks_for(r.whole(0)), most = r.resident / 4; // its registers leave room for no more
    return blocks < most ? blocks : most;
}

static size_t
tape(const hand_run &r)
{
    return sizeof(float) * 5 * MOST * BLOCK * (size_t)grid(r);
}

static void
primal(const hand_run &r)
{
    HAND_LAUNCH(rk45, blocks_for(r.whole(0)), BLOCK, (r.whole(0), r.real(1), r.real(2), r.floats(3), r.floats(4), r.floats(5)));
}

static void
gradient(const hand_run &r)
{
    HAND_LAUNCH(adjoint, grid(r), BLOCK,
                (r.whole(0), r.real(1), r.real(2), (const float4 *)r.data[3], r.floats(4), (float4 *)r.data[5], (float4 *)r.adjoint[3],
                 r.adjoints(4), (float4 *)r.adjoint[5], r.tape));
}

extern const hand_kernel hand_rk45;
const hand_kernel hand_rk45 = {"rk45", primal, gradient, tape};

// SPDX-License-Identifier: Apache-2.0
//
// The field before each half of a step is kept. Going back, a face computes what the four cells across it get, and each
// cell then gathers from its four faces.
#include "../kernels/advection.c"

// The faces across `stride`, and a copy of the field.
static __global__ void
fluxes_kept(int ny, int nx, int stride, const float *__restrict__ c, const float *__restrict__ q, float *__restrict__ flux,
            float *__restrict__ kept)
{
    THREADS_2 (j, 0, ny, i, 0, nx) {
        int k = j * nx + i;
        kept[k] = q[k];
        if (j >= 2 && j < (stride == 1 ? ny - 2 : ny - 1) && i >= 2 && i < (stride == 1 ? nx - 1 : nx - 2))
            flux[k] = face_flux(c[k], q[k - 2 * stride], q[k - stride], q[k], q[k + stride]);
    }
}

static __global__ void
faces_a(int ny, int nx, int stride, const float *__restrict__ c, float *__restrict__ c_a, const float *__restrict__ q,
        const float *__restrict__ q_a, float *__restrict__ flux_a, float4 *__restrict__ shares)
{
    THREADS_2 (j, 2, stride == 1 ? ny - 2 : ny - 1, i, 2, stride == 1 ? nx - 1 : nx - 2) {
        int k = j * nx + i, along = stride == 1 ? i : j, end = stride == 1 ? nx - 2 : ny - 2;
        float g = flux_a[k] + (along < end ? q_a[k] : 0.0f) - (along > 2 ? q_a[k - stride] : 0.0f);
        float courant = c[k], q1 = q[k - stride], q2 = q[k], middle = q2 - q1, sign = courant > 0.0f ? 1.0f : -1.0f;
        float up = courant > 0.0f ? q1 - q[k - 2 * stride] : q[k + stride] - q2;
        float product = up * middle, inverse = product > 0.0f ? 1.0f / (up + middle) : 0.0f;
        float base = courant > 0.0f ? q1 : q2, base_a = g * courant, w = base_a * (sign - courant) * inverse * inverse;
        float up_a = w * middle * middle, middle_a = w * up * up;
        c_a[k] += g * (base + (0.5f * sign - courant) * 2.0f * product * inverse);
        shares[k] = courant > 0.0f ? make_float4(-up_a, base_a + up_a - middle_a, middle_a, 0.0f)
                                   : make_float4(0.0f, -middle_a, base_a - up_a + middle_a, up_a);
        flux_a[k] = 0.0f;
    }
}

static __global__ void
cells_a(int ny, int nx, int stride, const float4 *__restrict__ shares, float *__restrict__ q_a)
{
    THREADS_2 (j, 0, ny, i, 0, nx) {
        int k = j * nx + i, along = stride == 1 ? i : j, across = stride == 1 ? j : i;
        int end = (stride == 1 ? nx : ny) - 1, sides = (stride == 1 ? ny : nx) - 2;
        if (across < 2 || across >= sides)
            return;
        auto is_face = [&](int f) { return f >= 2 && f < end; };
        float sum = q_a[k];
        sum += is_face(along + 2) ? shares[k + 2 * stride].x : 0.0f;
        sum += is_face(along + 1) ? shares[k + stride].y : 0.0f;
        sum += is_face(along) ? shares[k].z : 0.0f;
        sum += is_face(along - 1) ? shares[k - stride].w : 0.0f;
        q_a[k] = sum;
    }
}

static size_t
tape(const hand_run &r)
{
    return sizeof(float) * (size_t)r.whole(0) * (size_t)r.whole(1) * (4 + 2 * (size_t)r.whole(2));
}

static void
primal(const hand_run &r)
{
    advection(r.whole(0), r.whole(1), r.whole(2), r.floats(3), r.floats(4), r.floats(5), r.floats(6));
}

static void
gradient(const hand_run &r)
{
    int ny = r.whole(0), nx = r.whole(1), steps = r.whole(2);
    const float *u = r.floats(3), *v = r.floats(4);
    float *q = r.floats(5), *flux = r.floats(6), *q_a = r.adjoints(5), *flux_a = r.adjoints(6);
    float4 *shares = (float4 *)r.tape;
    size_t size = (size_t)ny * nx;
    float *kept = r.tape + 4 * size;
    for (int t = 0; t < steps; t++, kept += 2 * size) {
        RUN(fluxes_kept, ny, nx, (ny, nx, 1, u, q, flux, kept));
        RUN(update, ny - 4, nx - 4, (ny, nx, 1, flux, q));
        RUN(fluxes_kept, ny, nx, (ny, nx, nx, v, q, flux, kept + size));
        RUN(update, ny - 4, nx - 4, (ny, nx, nx, flux, q));
    }
    for (int t = steps - 1; t >= 0; t--) {
        kept -= 2 * size;
        RUN(faces_a, ny - 3, nx - 4, (ny, nx, nx, v, r.adjoints(4), kept + size, q_a, flux_a, shares));
        RUN(cells_a, ny, nx, (ny, nx, nx, shares, q_a));
        RUN(faces_a, ny - 4, nx - 3, (ny, nx, 1, u, r.adjoints(3), kept, q_a, flux_a, shares));
        RUN(cells_a, ny, nx, (ny, nx, 1, shares, q_a));
    }
}

extern const hand_kernel hand_advection;
const hand_kernel hand_advection = {"advection", primal, gradient, tape};

// SPDX-License-Identifier: Apache-2.0
#include "../kernels/mpm_g2p.c"

// Each particle goes both ways at once, with what it had in registers.
static __global__ void
adjoint(int n, float dt, const float2 *__restrict__ grid, float2 *__restrict__ x, float2 *__restrict__ v, float4 *__restrict__ c,
        float *__restrict__ stretch, float2 *__restrict__ grid_a, float2 *__restrict__ x_a, float2 *__restrict__ v_a,
        float4 *__restrict__ c_a, float *__restrict__ stretch_a)
{
    int p = thread_number();
    if (p >= n)
        return;
    float2 at = x[p], moved_a = x_a[p], vel_a = v_a[p];
    float4 affine_a = c_a[p];
    int bx = (int)(at.x * GRID - 0.5f), by = (int)(at.y * GRID - 0.5f);
    float fx = at.x * GRID - bx, fy = at.y * GRID - by;
    const float wx[3] = {0.5f * (1.5f - fx) * (1.5f - fx), 0.75f - (fx - 1.0f) * (fx - 1.0f), 0.5f * (fx - 0.5f) * (fx - 0.5f)};
    const float wy[3] = {0.5f * (1.5f - fy) * (1.5f - fy), 0.75f - (fy - 1.0f) * (fy - 1.0f), 0.5f * (fy - 0.5f) * (fy - 0.5f)};
    const float sx[3] = {fx - 1.5f, -2.0f * (fx - 1.0f), fx - 0.5f}, sy[3] = {fy - 1.5f, -2.0f * (fy - 1.0f), fy - 0.5f};
    float2 g[3][3];
    float vx = 0.0f, vy = 0.0f, xx = 0.0f, xy = 0.0f, yx = 0.0f, yy = 0.0f;
    #pragma unroll
    for (int i = 0; i < 3; i++)
        #pragma unroll
        for (int j = 0; j < 3; j++) {
            g[i][j] = grid[(bx + i) * GRID + by + j];
            float weight = wx[i] * wy[j], gx = weight * g[i][j].x, gy = weight * g[i][j].y, dx = i - fx, dy = j - fy;
            vx += gx;
            vy += gy;
            xx += gx * dx;
            xy += gx * dy;
            yx += gy * dx;
            yy += gy * dy;
        }
    const float scale = 4.0f * GRID;
    float old = stretch[p], grown = 1.0f + dt * scale * (xx + yy), trace_a = stretch_a[p] * old * dt;
    v[p] = make_float2(vx, vy);
    x[p] = make_float2(at.x + dt * vx, at.y + dt * vy);
    c[p] = make_float4(scale * xx, scale * xy, scale * yx, scale * yy);
    stretch[p] = old * grown;

    float vx_a = vel_a.x + dt * moved_a.x, vy_a = vel_a.y + dt * moved_a.y;
    float xx_a = scale * (affine_a.x + trace_a), xy_a = scale * affine_a.y, yx_a = scale * affine_a.z;
    float yy_a = scale * (affine_a.w + trace_a), fx_a = 0.0f, fy_a = 0.0f;
    #pragma unroll
    for (int i = 0; i < 3; i++)
        #pragma unroll
        for (int j = 0; j < 3; j++) {
            float weight = wx[i] * wy[j], dx = i - fx, dy = j - fy;
            float gx_a = vx_a + xx_a * dx + xy_a * dy, gy_a = vy_a + yx_a * dx + yy_a * dy;
            float weight_a = gx_a * g[i][j].x + gy_a * g[i][j].y;
            float2 *to = grid_a + (bx + i) * GRID + by + j;
            atomicAdd(&to->x, weight * gx_a);
            atomicAdd(&to->y, weight * gy_a);
            fx_a += weight_a * sx[i] * wy[j] - weight * (g[i][j].x * xx_a + g[i][j].y * yx_a);
            fy_a += weight_a * wx[i] * sy[j] - weight * (g[i][j].x * xy_a + g[i][j].y * yy_a);
        }
    x_a[p] = make_float2(moved_a.x + GRID * fx_a, moved_a.y + GRID * fy_a);
    v_a[p] = make_float2(0.0f, 0.0f);
    c_a[p] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    stretch_a[p] *= grown;
}

static void
primal(const hand_run &r)
{
    HAND_LAUNCH(mpm_g2p, blocks_for(r.whole(0)), BLOCK,
                (r.whole(0), r.real(1), (const float (*)[GRID][2])r.data[2], r.rows<2>(3), r.rows<2>(4), (float (*)[2][2])r.data[5],
                 r.floats(6)));
}

static void
gradient(const hand_run &r)
{
    HAND_LAUNCH(adjoint, blocks_for(r.whole(0)), BLOCK,
                (r.whole(0), r.real(1), (const float2 *)r.data[2], (float2 *)r.data[3], (float2 *)r.data[4], (float4 *)r.data[5],
                 r.floats(6), (float2 *)r.adjoint[2], (float2 *)r.adjoint[3], (float2 *)r.adjoint[4], (float4 *)r.adjoint[5],
                 r.adjoints(6)));
}

extern const hand_kernel hand_mpm_g2p;
const hand_kernel hand_mpm_g2p = {"mpm_g2p", primal, gradient, NULL};

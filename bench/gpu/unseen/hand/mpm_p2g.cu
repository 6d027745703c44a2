// SPDX-License-Identifier: Apache-2.0
#include "../kernels/mpm_p2g.c"

// Nothing that the reverse reads is written, so each particle goes both ways at once. Adjoints of the grids are only read.
static __global__ void
adjoint(int n, float dt, float bulk, const float (*__restrict__ x)[3], const float (*__restrict__ v)[3],
        const float (*__restrict__ c)[9], const float *__restrict__ stretch, float (*__restrict__ momentum)[3],
        float *__restrict__ mass, float (*__restrict__ x_a)[3], float (*__restrict__ v_a)[3], float (*__restrict__ c_a)[9],
        float *__restrict__ stretch_a, const float (*__restrict__ momentum_a)[3], const float *__restrict__ mass_a)
{
    int p = thread_number();
    if (p >= n)
        return;
    int base[3];
    float fx[3], w[3][3], slope[3][3], affine[9], own[3];
    #pragma unroll
    for (int d = 0; d < 3; d++) {
        base[d] = (int)(x[p][d] - 0.5f);
        float f = fx[d] = x[p][d] - base[d];
        own[d] = MASS * v[p][d];
        w[0][d] = 0.5f * (1.5f - f) * (1.5f - f);
        w[1][d] = 0.75f - (f - 1.0f) * (f - 1.0f);
        w[2][d] = 0.5f * (f - 0.5f) * (f - 0.5f);
        slope[0][d] = f - 1.5f;
        slope[1][d] = -2.0f * (f - 1.0f);
        slope[2][d] = f - 0.5f;
    }
    float factor = -4.0f * VOLUME * dt * bulk;
    #pragma unroll
    for (int k = 0; k < 9; k++)
        affine[k] = MASS * c[p][k] + (k % 4 == 0 ? factor * (stretch[p] - 1.0f) : 0.0f);
    float fx_a[3] = {}, affine_a[9] = {}, own_a[3] = {};
    #pragma unroll
    for (int i = 0; i < 3; i++)
        #pragma unroll
        for (int j = 0; j < 3; j++)
            #pragma unroll
            for (int k = 0; k < 3; k++) {
                float dx = i - fx[0], dy = j - fx[1], dz = k - fx[2], weight = w[i][0] * w[j][1] * w[k][2];
                int node = ((base[0] + i) * GRID + base[1] + j) * GRID + base[2] + k;
                float weight_a = MASS * mass_a[node];
                atomicAdd(mass + node, weight * MASS);
                #pragma unroll
                for (int d = 0; d < 3; d++) {
                    float m = own[d] + affine[3 * d] * dx + affine[3 * d + 1] * dy + affine[3 * d + 2] * dz;
                    float g = momentum_a[node][d], m_a = weight * g;
                    atomicAdd(&momentum[node][d], weight * m);
                    weight_a += g * m;
                    own_a[d] += m_a;
                    affine_a[3 * d] += m_a * dx;
                    affine_a[3 * d + 1] += m_a * dy;
                    affine_a[3 * d + 2] += m_a * dz;
                }
                fx_a[0] += weight_a * slope[i][0] * w[j][1] * w[k][2];
                fx_a[1] += weight_a * w[i][0] * slope[j][1] * w[k][2];
                fx_a[2] += weight_a * w[i][0] * w[j][1] * slope[k][2];
            }
    #pragma unroll
    for (int d = 0; d < 3; d++) {
        x_a[p][d] += fx_a[d] - (affine[d] * own_a[0] + affine[3 + d] * own_a[1] + affine[6 + d] * own_a[2]);
        v_a[p][d] += MASS * own_a[d];
    }
    #pragma unroll
    for (int k = 0; k < 9; k++)
        c_a[p][k] += MASS * affine_a[k];
    stretch_a[p] += factor * (affine_a[0] + affine_a[4] + affine_a[8]);
}

static void
primal(const hand_run &r)
{
    HAND_LAUNCH(mpm_p2g, blocks_for(r.whole(0)), BLOCK,
                (r.whole(0), r.real(1), r.real(2), r.rows<3>(3), r.rows<3>(4), (const float (*)[3][3])r.data[5], r.floats(6),
                 r.rows<3>(7), r.floats(8)));
}

static void
gradient(const hand_run &r)
{
    HAND_LAUNCH(adjoint, blocks_for(r.whole(0)), BLOCK,
                (r.whole(0), r.real(1), r.real(2), r.rows<3>(3), r.rows<3>(4), r.rows<9>(5), r.floats(6), r.rows<3>(7), r.floats(8),
                 r.rows_a<3>(3), r.rows_a<3>(4), r.rows_a<9>(5), r.adjoints(6), r.rows_a<3>(7), r.adjoints(8)));
}

extern const hand_kernel hand_mpm_p2g;
const hand_kernel hand_mpm_p2g = {"mpm_p2g", primal, gradient, NULL};

// SPDX-License-Identifier: Apache-2.0
#include "../kernels/skeleton.c"

enum { JOINTS = 16 };

struct joint {
    quat q;
    float scale; // of the product before it was normalised
};

static __device__ __forceinline__ quat
times(quat a, float s)
{
    return {s * a.w, s * a.x, s * a.y, s * a.z};
}

// a + s b
static __device__ __forceinline__ quat
along(quat a, quat b, float s)
{
    return {a.w + s * b.w, a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static __device__ __forceinline__ quat
conjugate(quat a)
{
    return {a.w, -a.x, -a.y, -a.z};
}

static __device__ __forceinline__ float
dot(quat a, quat b)
{
    return a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z;
}

// sin(angle / 2) / angle, and the cosine
static __device__ __forceinline__ float
half_angle(float angle, float *cosine)
{
    float sine;
    sincosf(0.5f * angle, &sine, cosine);
    return angle < 1e-8f ? *cosine = 1.0f, 0.5f : sine / angle;
}

// Of each joint is kept its rotation; that against the joint before is computed again.
static __global__ void
adjoint(int poses, int joints, const float (*__restrict__ rotation)[3], const float (*__restrict__ bone)[3],
        float (*__restrict__ position)[3], float (*__restrict__ rotation_a)[3], float *__restrict__ bone_a,
        float (*__restrict__ position_a)[3])
{
    sums<3 * JOINTS> total(bone_a);
    int p = thread_number();
    bool there = p < poses;
    size_t first = (size_t)(there ? p : 0) * joints;
    joint kept[JOINTS];
    quat q = {1.0f, 0.0f, 0.0f, 0.0f}, q_a = {};
    vec3 at = {}, g = {};
    for (int j = 0; there && j < joints; j++) {
        const float *v = rotation[first + j];
        float cosine, part = half_angle(sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), &cosine);
        q = quat_mul(q, {cosine, part * v[0], part * v[1], part * v[2]});
        kept[j].scale = 1.0f / sqrtf(dot(q, q));
        q = kept[j].q = times(q, kept[j].scale);
        vec3 step = quat_rotate(q, {bone[j][0], bone[j][1], bone[j][2]});
        at = {at.x + step.x, at.y + step.y, at.z + step.z};
        position[first + j][0] = at.x;
        position[first + j][1] = at.y;
        position[first + j][2] = at.z;
    }
    for (int j = joints - 1; j >= 0; j--) {
        vec3 offset_a = {};
        if (there) {
            const float *r = rotation[first + j];
            const float *o = position_a[first + j];
            float *to = rotation_a[first + j];
            g = {g.x + o[0], g.y + o[1], g.z + o[2]};
            q = kept[j].q;

            vec3 v = {bone[j][0], bone[j][1], bone[j][2]}, axis = {q.x, q.y, q.z}, t = cross(axis, v), u = cross(g, axis);
            t = {2.0f * t.x, 2.0f * t.y, 2.0f * t.z};
            vec3 t_a = {2.0f * (q.w * g.x + u.x), 2.0f * (q.w * g.y + u.y), 2.0f * (q.w * g.z + u.z)};
            vec3 axis_a = cross(v, t_a), more = cross(t, g), v_a = cross(t_a, axis);
            offset_a = {g.x + v_a.x, g.y + v_a.y, g.z + v_a.z};
            q_a.w += g.x * t.x + g.y * t.y + g.z * t.z;
            q_a.x += axis_a.x + more.x;
            q_a.y += axis_a.y + more.y;
            q_a.z += axis_a.z + more.z;

            float angle = sqrtf(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]), cosine, part = half_angle(angle, &cosine), along_r = 0.0f;
            quat turn = {cosine, part * r[0], part * r[1], part * r[2]};
            quat product_a = times(along(q_a, q, -dot(q_a, q)), kept[j].scale);
            quat before = {1.0f, 0.0f, 0.0f, 0.0f};
            if (j > 0)
                before = kept[j - 1].q;
            quat turn_a = quat_mul(conjugate(before), product_a);
            q_a = quat_mul(product_a, conjugate(turn));
            if (angle >= 1e-8f) {
                float part_a = turn_a.x * r[0] + turn_a.y * r[1] + turn_a.z * r[2];
                along_r = (part_a * (0.5f * cosine - part) / angle - 0.5f * part * angle * turn_a.w) / angle;
            }
            to[0] += part * turn_a.x + along_r * r[0];
            to[1] += part * turn_a.y + along_r * r[1];
            to[2] += part * turn_a.z + along_r * r[2];
        }
        total.add(3 * j, offset_a.x);
        total.add(3 * j + 1, offset_a.y);
        total.add(3 * j + 2, offset_a.z);
    }
    for (int j = 0; there && j < joints; j++)
        position_a[first + j][0] = position_a[first + j][1] = position_a[first + j][2] = 0.0f;
    total.end();
}

static void
primal(const hand_run &r)
{
    HAND_LAUNCH(skeleton, blocks_for(r.whole(0)), BLOCK, (r.whole(0), r.whole(1), r.rows<3>(2), r.rows<3>(3), r.rows<3>(4)));
}

static void
gradient(const hand_run &r)
{
    HAND_LAUNCH(adjoint, blocks_for(r.whole(0)), BLOCK,
                (r.whole(0), r.whole(1), r.rows<3>(2), r.rows<3>(3), r.rows<3>(4), r.rows_a<3>(2), r.adjoints(3), r.rows_a<3>(4)));
}

extern const hand_kernel hand_skeleton;
const hand_kernel hand_skeleton = {"skeleton", primal, gradient, NULL};

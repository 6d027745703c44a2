/* Forward kinematics: the joints of chains of bones, each turned by an axis times an angle against the one before.
 * SPDX-License-Identifier: Apache-2.0 */
#include "../both.h"

typedef struct {
    float w, x, y, z;
} quat;

typedef struct {
    float x, y, z;
} vec3;

FUNCTION quat
quat_mul(quat a, quat b)
{
    quat r;
    r.w = a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z;
    r.x = a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y;
    r.y = a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x;
    r.z = a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w;
    return r;
}

FUNCTION quat
quat_from_rotation(vec3 v)
{
    float angle = sqrtf(v.x * v.x + v.y * v.y + v.z * v.z);
    if (angle < 1e-8f) {
        quat small = {1.0f, 0.5f * v.x, 0.5f * v.y, 0.5f * v.z};
        return small;
    }
    float s = sinf(0.5f * angle) / angle;
    quat r = {cosf(0.5f * angle), s * v.x, s * v.y, s * v.z};
    return r;
}

FUNCTION quat
quat_normalize(quat q)
{
    float s = 1.0f / sqrtf(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    quat r = {s * q.w, s * q.x, s * q.y, s * q.z};
    return r;
}

FUNCTION vec3
cross(vec3 a, vec3 b)
{
    vec3 r = {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
    return r;
}

FUNCTION vec3
quat_rotate(quat q, vec3 v)
{
    vec3 axis = {q.x, q.y, q.z};
    vec3 t = cross(axis, v);
    t.x *= 2.0f;
    t.y *= 2.0f;
    t.z *= 2.0f;
    vec3 u = cross(axis, t);
    vec3 r = {v.x + q.w * t.x + u.x, v.y + q.w * t.y + u.y, v.z + q.w * t.z + u.z};
    return r;
}

KERNEL
skeleton(int poses, int joints, const float (*restrict rotation)[3], const float (*restrict bone)[3], float (*restrict position)[3])
{
    THREADS (p, 0, poses) {
        quat q = {1.0f, 0.0f, 0.0f, 0.0f};
        vec3 at = {0.0f, 0.0f, 0.0f};
        for (int j = 0; j < joints; j++) {
            int k = p * joints + j;
            vec3 turn = {rotation[k][0], rotation[k][1], rotation[k][2]};
            vec3 offset = {bone[j][0], bone[j][1], bone[j][2]};
            q = quat_normalize(quat_mul(q, quat_from_rotation(turn)));
            vec3 step = quat_rotate(q, offset);
            at.x += step.x;
            at.y += step.y;
            at.z += step.z;
            position[k][0] = at.x;
            position[k][1] = at.y;
            position[k][2] = at.z;
        }
    }
}

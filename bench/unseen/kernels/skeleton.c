/* Forward kinematics: the joints of chains of bones, each turned by an axis times an angle against the one before.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

typedef struct {
    double w, x, y, z;
} quat;

typedef struct {
    double x, y, z;
} vec3;

static quat
quat_mul(quat a, quat b)
{
    quat r;
    r.w = a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z;
    r.x = a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y;
    r.y = a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x;
    r.z = a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w;
    return r;
}

static quat
quat_from_rotation(vec3 v)
{
    double angle = sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
    if (angle < 1e-8)
        return (quat){1.0, 0.5 * v.x, 0.5 * v.y, 0.5 * v.z};
    double s = sin(0.5 * angle) / angle;
    return (quat){cos(0.5 * angle), s * v.x, s * v.y, s * v.z};
}

static quat
quat_normalize(quat q)
{
    double s = 1.0 / sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    return (quat){s * q.w, s * q.x, s * q.y, s * q.z};
}

static vec3
cross(vec3 a, vec3 b)
{
    return (vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static vec3
quat_rotate(quat q, vec3 v)
{
    vec3 axis = {q.x, q.y, q.z};
    vec3 t = cross(axis, v);
    t.x *= 2.0;
    t.y *= 2.0;
    t.z *= 2.0;
    vec3 u = cross(axis, t);
    return (vec3){v.x + q.w * t.x + u.x, v.y + q.w * t.y + u.y, v.z + q.w * t.z + u.z};
}

void
skeleton(int poses, int joints, const double rotation[poses][joints][3], const double bone[joints][3],
         double position[poses][joints][3])
{
    #pragma omp parallel for
    for (int p = 0; p < poses; p++) {
        quat q = {1.0, 0.0, 0.0, 0.0};
        vec3 at = {0.0, 0.0, 0.0};
        for (int j = 0; j < joints; j++) {
            vec3 turn = {rotation[p][j][0], rotation[p][j][1], rotation[p][j][2]};
            vec3 offset = {bone[j][0], bone[j][1], bone[j][2]};
            q = quat_normalize(quat_mul(q, quat_from_rotation(turn)));
            vec3 step = quat_rotate(q, offset);
            at.x += step.x;
            at.y += step.y;
            at.z += step.z;
            position[p][j][0] = at.x;
            position[p][j][1] = at.y;
            position[p][j][2] = at.z;
        }
    }
}

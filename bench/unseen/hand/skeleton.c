/* SPDX-License-Identifier: Apache-2.0 */
#include "../unseen.h"

#include <math.h>
#include <stdlib.h>

void skeleton(int poses, int joints, const double rotation[poses][joints][3], const double bone[joints][3],
              double position[poses][joints][3]);

void
make_skeleton(bench_problem *p, double scale)
{
    int poses = bench_count(5000 * scale), joints = 24;
    int64_t shape[3] = {poses, joints, 3};
    bench_int(p, "poses", poses);
    bench_int(p, "joints", joints);
    bench_param *rotation = bench_array(p, "rotation", RG_F64, poses * joints * 3, 0, -0.8, 0.8);
    bench_array(p, "bone", RG_F64, joints, 3, -0.3, 0.3);
    bench_param *position = bench_output(p, "position", RG_F64, poses * joints * 3, 0);
    rotation->rank = position->rank = 3;
    for (int k = 0; k < 3; k++)
        rotation->shape[k] = position->shape[k] = shape[k];
}

void
forward_skeleton(void *const *data)
{
    int poses = INT(0), joints = INT(1);
    skeleton(poses, joints, data[2], data[3], data[4]);
}

typedef struct {
    double w, x, y, z;
} quat;

typedef struct {
    double x, y, z;
} vec3;

typedef struct joint {
    quat turn, q;              /* the joint's own, the product normalised */
    double angle, part, scale; /* turn is part * rotation; scale of the product */
} joint;

static quat
product(quat a, quat b)
{
    return (quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                  a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

static quat
conjugate(quat a)
{
    return (quat){a.w, -a.x, -a.y, -a.z};
}

static double
dot(quat a, quat b)
{
    return a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z;
}

/* a + s b */
static quat
along(quat a, quat b, double s)
{
    return (quat){a.w + s * b.w, a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static vec3
cross(vec3 a, vec3 b)
{
    return (vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static void
chain(int joints, const double *rotation, const double *bone, double *position, joint *kept)
{
    quat q = {1.0, 0.0, 0.0, 0.0};
    vec3 at = {0.0, 0.0, 0.0};
    for (int j = 0; j < joints; j++, kept++) {
        const double *v = rotation + 3 * j, *b = bone + 3 * j;
        double angle = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), w = 1.0, part = 0.5;
        if (angle >= 1e-8) {
            part = sin(0.5 * angle) / angle;
            w = cos(0.5 * angle);
        }
        kept->angle = angle;
        kept->part = part;
        kept->turn = (quat){w, part * v[0], part * v[1], part * v[2]};
        q = product(q, kept->turn);
        kept->scale = 1.0 / sqrt(dot(q, q));
        q = kept->q = along((quat){0}, q, kept->scale);
        vec3 axis = {q.x, q.y, q.z}, t = cross(axis, (vec3){b[0], b[1], b[2]});
        t = (vec3){2.0 * t.x, 2.0 * t.y, 2.0 * t.z};
        vec3 u = cross(axis, t);
        position[3 * j] = at.x += b[0] + q.w * t.x + u.x;
        position[3 * j + 1] = at.y += b[1] + q.w * t.y + u.y;
        position[3 * j + 2] = at.z += b[2] + q.w * t.z + u.z;
    }
}

static void
chain_a(int joints, const double *rotation, double *rotation_a, const double *bone, double *bone_a, double *position_a,
        const joint *kept)
{
    quat q_a = {0};
    vec3 g = {0};
    for (int j = joints - 1; j >= 0; j--) {
        const joint *m = &kept[j];
        const double *r = rotation + 3 * j, *b = bone + 3 * j;
        g.x += position_a[3 * j];
        g.y += position_a[3 * j + 1];
        g.z += position_a[3 * j + 2];
        position_a[3 * j] = position_a[3 * j + 1] = position_a[3 * j + 2] = 0.0;

        vec3 v = {b[0], b[1], b[2]}, axis = {m->q.x, m->q.y, m->q.z}, t = cross(axis, v), u = cross(g, axis);
        t = (vec3){2.0 * t.x, 2.0 * t.y, 2.0 * t.z};
        vec3 t_a = {2.0 * (m->q.w * g.x + u.x), 2.0 * (m->q.w * g.y + u.y), 2.0 * (m->q.w * g.z + u.z)};
        vec3 axis_a = cross(v, t_a), more = cross(t, g), v_a = cross(t_a, axis);
        bone_a[3 * j] += g.x + v_a.x;
        bone_a[3 * j + 1] += g.y + v_a.y;
        bone_a[3 * j + 2] += g.z + v_a.z;
        q_a.w += g.x * t.x + g.y * t.y + g.z * t.z;
        q_a.x += axis_a.x + more.x;
        q_a.y += axis_a.y + more.y;
        q_a.z += axis_a.z + more.z;

        quat product_a = along((quat){0}, along(q_a, m->q, -dot(q_a, m->q)), m->scale);
        quat before = j > 0 ? kept[j - 1].q : (quat){1.0, 0.0, 0.0, 0.0};
        quat turn_a = product(conjugate(before), product_a);
        q_a = product(product_a, conjugate(m->turn));

        double along_r = 0.0;
        if (m->angle >= 1e-8) {
            double part_a = turn_a.x * r[0] + turn_a.y * r[1] + turn_a.z * r[2];
            double angle_a = part_a * (0.5 * m->turn.w - m->part) / m->angle - 0.5 * m->part * m->angle * turn_a.w;
            along_r = angle_a / m->angle;
        }
        rotation_a[3 * j] += m->part * turn_a.x + along_r * r[0];
        rotation_a[3 * j + 1] += m->part * turn_a.y + along_r * r[1];
        rotation_a[3 * j + 2] += m->part * turn_a.z + along_r * r[2];
    }
}

void
hand_skeleton(void *const *data, void *const *adjoint)
{
    int poses = INT(0), joints = INT(1);
    const double *rotation = data[2], *bone = data[3];
    double *position = data[4], *rotation_a = adjoint[2], *bone_a = adjoint[3], *position_a = adjoint[4];
    joint *kept = malloc(sizeof *kept * (size_t)joints);
    for (int p = 0; p < poses; p++) {
        int k = 3 * p * joints;
        chain(joints, rotation + k, bone, position + k, kept);
        chain_a(joints, rotation + k, rotation_a + k, bone, bone_a, position_a + k, kept);
    }
    hand_kept = sizeof *kept * (size_t)joints;
    free(kept);
}

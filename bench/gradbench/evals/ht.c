/* ht: a tall Jacobian by forward mode: a direction for each angle, and two for the places on faces,
 * which every correspondence has to itself. SPDX-License-Identifier: Apache-2.0 */
#include "evals.h"

#include <stdio.h>
#include <stdlib.h>

enum { ANGLES = 26, BONES = 22 /* at most */ };
/* directions: the columns there are and some that nobody reads, for whole vectors */
enum { LANES = 32 };

typedef struct sizes {
    int bones, vertices, faces, count, placed;
    bool mirrored;
} sizes;

static const json *
model(const eval *e, const char *key)
{
    const json *value = json_get(json_get(eval_member(e, "data"), "model"), key);
    static const json none;
    return value ? value : &none;
}

static sizes
find_sizes(const eval *e)
{
    return (sizes){(int)model(e, "bone_count")->number,
                   (int)model(e, "base_positions")->count,
                   (int)model(e, "triangles")->count,
                   (int)json_get(eval_member(e, "data"), "correspondences")->count,
                   (int)eval_member(e, "us")->count,
                   model(e, "is_mirrored")->kind == JSON_TRUE};
}

static void
add_model(eval *e, const char *name, const char *key, int64_t rows, int64_t columns)
{
    size_t count = (size_t)(rows * columns);
    eval_add(e, name, rows, columns, eval_numbers(model(e, key), key, count), 0);
}

static void
prepare(eval *e)
{
    sizes s = find_sizes(e);
    const json *data = eval_member(e, "data"), *points = json_get(data, "points");
    if (s.bones > BONES) {
        fprintf(stderr, "gradbench: ht takes up to %d bones\n", BONES);
        exit(1);
    }
    eval_set_int(e, "bones", s.bones);
    eval_set_int(e, "vertices", s.vertices);
    eval_set_int(e, "faces", s.faces);
    eval_set_int(e, "count", s.count);
    eval_set_int(e, "placed", s.placed);
    eval_set_int(e, "mirrored", s.mirrored);
    eval_add_input(e, "theta", "theta", ANGLES, EVAL_LIST, 0);
    eval_add_ints(e, "parent", s.bones, EVAL_LIST, model(e, "parents"));
    add_model(e, "relative", "base_relatives", s.bones, 16);
    add_model(e, "inverse", "inverse_base_absolutes", s.bones, 16);
    add_model(e, "base", "base_positions", s.vertices, 4);
    add_model(e, "weight", "weights", s.vertices, s.bones);
    eval_add_ints(e, "face", s.faces, 3, model(e, "triangles"));
    eval_add_ints(e, "correspondence", s.count, EVAL_LIST, json_get(data, "correspondences"));
    size_t count = 3 * (size_t)s.count;
    eval_add(e, "point", s.count, 3, eval_numbers(points, "points", count), 0);
    eval_add_input(e, "us", "us", s.placed, 2, 0);
    eval_add(e, "absolute", BONES, 12, NULL, 0);
    eval_add(e, "final", BONES, 12, NULL, 0);
    eval_add(e, "error", s.count, 3, NULL, 0);
    static const char *const active[] = {"theta", "us", "absolute", "final", "error"};
    for (unsigned k = 0; k < 5; k++) {
        eval_check(rg_array_set_side_by_side(eval_get(e, active[k])->array, true), active[k]);
        eval_add_directions(eval_get(e, active[k]), RG_TANGENT, LANES);
    }
}

static void
jacobian(eval *e)
{
    eval_array *theta = eval_get(e, "theta"), *us = eval_get(e, "us");
    size_t own = us->count ? 2 : 0;
    for (size_t i = 0; i < us->count; i++)
        us->plane[RG_TANGENT][i * LANES + i % 2] = 1.0;
    for (size_t k = 0; k < ANGLES; k++)
        theta->plane[RG_TANGENT][k * LANES + own + k] = 1.0;
    eval_launch(e, 0, RG_JVP);
}

static void
print(eval *e, line *out)
{
    eval_array *error = eval_get(e, "error");
    line_numbers(out, error->plane[RG_PRIMAL], error->count);
}

static void
print_jacobian(eval *e, line *out)
{
    eval_array *error = eval_get(e, "error");
    size_t columns = ANGLES + (find_sizes(e).placed ? 2 : 0);
    for (size_t row = 0; row < error->count; row++) {
        line_add(out, row ? ", " : "[");
        line_numbers(out, error->plane[RG_TANGENT] + row * LANES, columns);
    }
    line_add(out, error->count ? "]" : "[]");
}

static void
plain(eval *e, void *const *kernels)
{
    void (*ht)(int, int, int, int, int, bool, const double *, const int *, const double *,
               const double *, const double *, const double *, const int *, const int *,
               const double *, const double *, double *, double *, double *);
    sizes s = find_sizes(e);
    eval_array *a = e->arrays;
    *(void **)&ht = kernels[0];
    ht(s.bones, s.vertices, s.faces, s.count, s.placed, s.mirrored, a[0].plane[0], a[1].ints,
       a[2].plane[0], a[3].plane[0], a[4].plane[0], a[5].plane[0], a[6].ints, a[7].ints,
       a[8].plane[0], a[9].plane[0], a[10].plane[0], a[11].plane[0], a[12].plane[0]);
}

/* -- a made hand --------------------------------------------------------------------------------
 */

enum { VERTICES = 10000, SKIN = 544, FACES = 1084, COUNT = 800 };

/* Affine maps near the identity. */
static void
generate_maps(line *out, const char *name, uint64_t *state)
{
    double maps[BONES][16];
    for (int b = 0; b < BONES; b++)
        for (int k = 0; k < 16; k++)
            maps[b][k] = (k % 5 == 0) + (k < 12 ? 0.2 * (line_next(state) - 0.5) : 0.0);
    line_add(out, "\"%s\": ", name);
    line_rows(out, maps[0], BONES, 16);
    line_add(out, ", ");
}

/* Two bones move each vertex. */
static void
generate_weights(line *out, uint64_t *state)
{
    double *weights = calloc((size_t)VERTICES * BONES, sizeof *weights);
    for (int v = 0; v < VERTICES; v++) {
        int b = v % (BONES - 1);
        double share = line_next(state);
        weights[v * BONES + b] = share;
        weights[v * BONES + b + 1] = 1.0 - share;
    }
    line_add(out, "\"weights\": ");
    line_rows(out, weights, VERTICES, BONES);
    line_add(out, ", ");
    free(weights);
}

static void
generate(line *out)
{
    uint64_t state = 0;
    line_add(out, "{");
    line_random(out, "theta", 1, ANGLES, -1.0, 1.0, &state);
    line_random(out, "us", COUNT, 2, 0.0, 0.5, &state);
    line_add(out, "\"data\": {\"correspondences\": [");
    for (int i = 0; i < COUNT; i++)
        line_add(out, "%s%d", i ? ", " : "", (int)(FACES * line_next(&state)));
    line_add(out, "], ");
    line_random(out, "points", COUNT, 3, -1.0, 1.0, &state);
    line_add(out, "\"model\": {\"bone_count\": %d, \"is_mirrored\": false, \"parents\": [-1",
             BONES);
    for (int b = 1; b < BONES; b++)
        line_add(out, ", %d", b % 4 == 1 ? 0 : b - 1);
    line_add(out, "], \"triangles\": [");
    for (int f = 0; f < FACES; f++)
        line_add(out, "%s[%d, %d, %d]", f ? ", " : "", f % SKIN, (f + 1) % SKIN, (f + 2) % SKIN);
    line_add(out, "], ");
    generate_maps(out, "base_relatives", &state);
    generate_maps(out, "inverse_base_absolutes", &state);
    generate_weights(out, &state);
    line_random(out, "base_positions", VERTICES, 4, 1.0, 1.0, &state);
    line_close(out);
    line_add(out, "}}");
}

const eval_kind eval_ht = {
    .name = "ht",
    .kernels = {"ht"},
    .prepare = prepare,
    .functions = {{"objective", eval_forward, print}, {"jacobian", jacobian, print_jacobian}},
    .plain = plain,
    .generate = generate,
    .bar = 4.6,
};

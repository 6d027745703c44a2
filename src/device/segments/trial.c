/* What a driver must be seen to do. SPDX-License-Identifier: Apache-2.0
 *
 * Some drivers end loops early without a word (Mesa's lavapipe up to 22.3 after 65,535 iterations), and how exactly one divides is
 * nowhere to be asked. So that is tried, once for each driver: the result is kept in the cache. */
#include "device/segments/segments.h"

#include <math.h>

#include "base/bytes.h"
#include "cache/cache.h"

enum { ITERATIONS = 70000, ROWS = 512, SMALL = -130 };

static rg_status
try_loop(rt_device *d, const rt_trial *t, const rt_trial_memory *memory, bool *ends, str *error)
{
    uint32_t x = 12345, found;
    const rt_shader_push push = {.at = memory->address, .first = x, .number = ITERATIONS};
    TRY(t->run(d, &rt_count_shader, &push, memory, 1, error));
    for (uint32_t k = 0; k < ITERATIONS; k++)
        x = x * 1664525u + 1013904223u;
    memcpy(&found, memory->data, sizeof(found));
    *ends = found == x;
    return RG_OK;
}

static uint64_t
draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static bool
may_be_small(const rt_trial *t, int row)
{
    return t->small && row % 4 == 3;
}

/* Positive, of any bits behind the point; c such that a product that was rounded first is seen. Of every fourth row a and its
 * quotient may be below the normal range. */
#define TRY_FLOATS(name, type, shader, mantissa, root, fused, exact_bit, fused_bit)                                           \
    static rg_status name(rt_device *d, const rt_trial *t, const rt_trial_memory *memory, spirv_features *found, str *error)  \
    {                                                                                                                         \
        type *rows = (type *)memory->data;                                                                                    \
        uint64_t state = 0x9e3779b97f4a7c15u;                                                                                 \
        bool exact = true, in_one = true;                                                                                     \
        for (int i = 0; i < ROWS; i++) {                                                                                      \
            type *row = rows + 6 * i;                                                                                         \
            for (int k = 0; k < 3; k++)                                                                                       \
                row[k] = (type)ldexp(1 + (double)(draw(&state) >> (64 - (mantissa))) / (double)((uint64_t)1 << (mantissa)),   \
                                     (int)(draw(&state) % 40) - 20);                                                          \
            row[2] = i % 2 ? row[2] : -(row[0] * row[1]);                                                                     \
            row[0] = may_be_small(t, i) ? (type)ldexp((double)row[0], SMALL) : row[0];                                        \
        }                                                                                                                     \
        TRY(t->run(d, shader, &(rt_shader_push){.at = memory->address}, memory, ROWS, error));                                \
        for (int i = 0; i < ROWS; i++) {                                                                                      \
            const type *row = rows + 6 * i;                                                                                   \
            exact = exact && row[3] == row[0] / row[1] && row[4] == root(row[0]);                                             \
            in_one = in_one && (may_be_small(t, i) || row[5] == fused(row[0], row[1], row[2]));                               \
        }                                                                                                                     \
        *found |= (exact ? exact_bit : 0) | (in_one ? fused_bit : 0);                                                         \
        return RG_OK;                                                                                                         \
    }
TRY_FLOATS(try_f32, float, &rt_f32_shader, 23, sqrtf, fmaf, SPIRV_EXACT32, SPIRV_FUSED32)
TRY_FLOATS(try_f64, double, &rt_f64_shader, 52, sqrt, fma, SPIRV_EXACT64, SPIRV_FUSED64)

typedef struct owned_memory {
    rt_device *device;
    const rt_trial *trial;
    rt_trial_memory memory;
} owned_memory;

static void
close_owned(void *memory)
{
    owned_memory *m = memory;
    m->trial->close(m->device, &m->memory);
}

static rg_status
try_all(rt_device *d, const rt_trial *t, bool *ends, spirv_features *found, str *error)
{
    owned_memory m = {d, t, {0}};
    mem_owner owns;
    TRY(t->open(d, ROWS * 6 * sizeof(double), &m.memory, error));
    mem_own(&owns, close_owned, &m);
    rg_status status = try_loop(d, t, &m.memory, ends, error);
    if (!status && *ends)
        status = try_f32(d, t, &m.memory, found, error);
    if (!status && *ends && t->has_f64)
        status = try_f64(d, t, &m.memory, found, error);
    mem_disown(&owns);
    close_owned(&m);
    return status;
}

static bool
recall_trial(const rt_trial *t, bool *ends, spirv_features *found)
{
    rg_str kept;
    if (!cache_get(t->settings, t->driver, &kept))
        return false;
    bytes_reader r = bytes_of(kept);
    *ends = bytes_u32(&r);
    *found = bytes_u32(&r);
    return bytes_done(&r);
}

rg_status
rt_segments_try(rt_device *d, const rt_trial *t, spirv_features *features, str *error)
{
    str result = {.in = mem_scratch()};
    bool ends = true;
    spirv_features found = 0;
    if (!recall_trial(t, &ends, &found)) {
        found = 0;
        TRY(try_all(d, t, &ends, &found, error));
        bytes_put_u32(&result, ends);
        bytes_put_u32(&result, found);
        cache_put(t->settings, t->driver, str_view(&result));
    }
    *features |= found;
    if (ends)
        return RG_OK;
    str_addf(error, "%s ends a loop of %d iterations too early, so that results would be wrong: a newer driver is needed%s", t->name,
             ITERATIONS, t->remedy);
    return RG_UNSUPPORTED;
}

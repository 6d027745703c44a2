/* The steps of a launch, recorded ahead of conditions that only the device knows. SPDX-License-Identifier: Apache-2.0 */
#include "device/segments/segments.h"

enum { CHUNK_FIRST = 16, CHUNK_MOST = 256 }; /* steps that are recorded before the host looks how they went */

/* -- where a launch stands ------------------------------------------------------------------------------------------- */

/* A step, and for each loop around it how often it has run. */
typedef struct walk {
    const ll_gpu_info *info;
    uint32_t at;
    uint32_t *turns; /* by step of a loop */
} walk;

/* To the next step that something is done for; false: the launch ends. */
static bool
walk_on(walk *w)
{
    while (w->at < w->info->steps.n) {
        const segments_step *s = &w->info->steps.at[w->at];
        if (s->kind == SEGMENTS_RUN || s->kind == SEGMENTS_TASK || s->kind == SEGMENTS_AGAIN || segments_is_asking(s))
            return true;
        if (s->kind == SEGMENTS_LOOP)
            w->turns[w->at] = 0;
        uint32_t next = segments_behind(w->info->steps.at, w->at, false);
        if (s->kind == SEGMENTS_END && next < w->at) {
            w->turns[next]++;
            next++;
        }
        w->at = next;
    }
    return false;
}

/* From a condition, which holds or not. */
static void
walk_past(walk *w, bool holds)
{
    w->at = segments_behind(w->info->steps.at, w->at, holds);
}

static void
walk_as(walk *w, const walk *other)
{
    w->at = other->at;
    memcpy(w->turns, other->turns, w->info->steps.n * sizeof(*w->turns));
}

/* -- what is expected of it ------------------------------------------------------------------------------------------ */

/* How often the loop has run that an EXIT_IF may leave. */
static uint32_t
turns_of(const walk *w)
{
    const segments_step *steps = w->info->steps.at;
    return w->turns[steps[steps[w->at].to].to];
}

/* `expected` holds 1 + the turns after which a loop was left the last time, 1 + whether the if's condition held; 0: nothing. */
static bool
expect(const uint32_t *expected, const walk *w)
{
    uint32_t last = __atomic_load_n(&expected[w->at], __ATOMIC_RELAXED);
    if (w->info->steps.at[w->at].kind == SEGMENTS_IF)
        return last != 1;
    return last == 1 + turns_of(w);
}

static void
learn(uint32_t *expected, const walk *w, bool holds)
{
    bool is_if = w->info->steps.at[w->at].kind == SEGMENTS_IF;
    if (is_if || holds)
        __atomic_store_n(&expected[w->at], 1 + (is_if ? holds : turns_of(w)), __ATOMIC_RELAXED);
}

/* -- chunks ---------------------------------------------------------------------------------------------------------- */

/* The device says how many workgroups run, if any. */
static void
record_again(const rt_segments_run *r, const segments_step *s)
{
    for (uint32_t groups = r->launch->groups; groups > 1; groups = rt_vulkan_fewer(groups))
        r->how->step(r->run, s, true, (rt_vulkan_ask){0});
}

/* The steps up to the end, or so many from the first condition on; *asked: how many conditions were met, which are expected to hold
 * as expected[i] says. */
static void
record_chunk(const rt_segments_run *r, walk *w, uint32_t most, bool *expected, uint32_t *asked)
{
    const segments_step *steps = w->info->steps.at;
    *asked = 0;
    for (uint32_t n = 0; n < most && walk_on(w); n += *asked > 0) {
        const segments_step *s = &steps[w->at++];
        bool counted = *asked > 0, asks = walk_on(w) && segments_is_asking(&steps[w->at]);
        rt_vulkan_ask ask = {0};
        assert(!segments_is_asking(s) && (!asks || s->kind == SEGMENTS_RUN));
        if (asks) {
            bool holds = expected[(*asked)++] = expect(r->expected, w);
            ask = (rt_vulkan_ask){steps[w->at].place, 2 * *asked + holds};
            walk_past(w, holds);
        }
        if (s->kind == SEGMENTS_AGAIN)
            record_again(r, s);
        else
            r->how->step(r->run, s, counted, ask);
    }
}

/* Where the launch stands indeed, after a chunk that began at `w`: as many of its conditions as were as expected, and the one behind
 * them that was not. */
static void
follow_chunk(const rt_segments_run *r, walk *w, const bool *expected, uint32_t asked, uint32_t missed)
{
    uint32_t known = missed ? missed : asked;
    for (uint32_t i = 0; i < known && walk_on(w);) {
        if (!segments_is_asking(&w->info->steps.at[w->at])) {
            w->at++;
            continue;
        }
        bool holds = expected[i] != (missed && i == known - 1);
        learn(r->expected, w, holds);
        walk_past(w, holds);
        i++;
    }
}

static bool
is_cancelled(const rt_segments_run *r, const walk *here)
{
    if (!atomic_load(r->stopped))
        return false;
    rt_segments_cancel(r->launch, here->info, here->at);
    return true;
}

/* Chunks in which nothing is asked are not waited for: most launches are one of that kind. Chunks become longer as long as all is as
 * expected, and short again behind a surprise; where the last launch had none they are long at once. */
rg_status
rt_segments_steps(const rt_segments_run *r, arena *in, str *error)
{
    size_t n = r->info->steps.n;
    bool expected[CHUNK_MOST], more = true, asks = segments_asks(r->info->steps.at, n);
    walk ahead = {r->info, 0, arena_new_n(in, uint32_t, n + 1)}, here = {r->info, 0, arena_new_n(in, uint32_t, n + 1)};
    uint32_t *known = &r->expected[n], most = __atomic_load_n(known, __ATOMIC_RELAXED) ? CHUNK_MOST : CHUNK_FIRST, surprises = 0;
    for (uint32_t asked, missed = 0; more; more = walk_on(&here)) {
        walk_as(&ahead, &here);
        TRY(r->how->begin(r->run, asks, error));
        r->launch->missed = 0;
        record_chunk(r, &ahead, most, expected, &asked);
        TRY(r->how->submit(r->run, asked > 0, error));
        if (asked) {
            if (r->launch->fault)
                return RG_OK;
            missed = r->launch->missed;
            surprises += missed > 0;
            follow_chunk(r, &here, expected, asked, missed);
            if (is_cancelled(r, &here))
                return RG_OK;
            most = missed ? CHUNK_FIRST : most < CHUNK_MOST ? most * 2 : CHUNK_MOST;
        }
        if (!asked || !missed)
            walk_as(&here, &ahead);
    }
    __atomic_store_n(known, surprises == 0, __ATOMIC_RELAXED);
    return RG_OK;
}

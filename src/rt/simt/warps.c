/* The primitives of rt/gpu/warp.h, and who runs when. SPDX-License-Identifier: Apache-2.0
 *
 * A lane that comes to a primitive hands over to the next lane of its warp, round and round; the last one to come
 * finds all others there, does what there is to do and goes on, until it comes to the next primitive. So results are
 * kept for two rounds: nobody is further behind. At a barrier of the block, or where a warp waits for others, the
 * last lane hands over to the scheduler. */
#include "rt/simt/grid.h"

#include "rt/gpu/inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

static _Thread_local simt_lane *here;

/* one build for all kernels */
const int32_t rt_gpu_kernel_worker = 1, rt_gpu_may_be_cut = 1;

/* In an order of its own a warp stops at one of so many places where its lanes meet. */
enum { STOPS = 8 };

static const char *const meeting_names[] = {"nowhere",           "a ballot",         "an exchange", "a warp's barrier",
                                            "a block's barrier", "a wait for others", "the end"};

static void
trouble(rt_simt *simt, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(simt->trouble, sizeof simt->trouble, format, args);
    va_end(args);
}

static void
to_scheduler(simt_lane *me)
{
    me->warp->resume = me;
    rt_fiber_switch(&me->fiber, &me->warp->simt->host);
}

/* Lanes that differ can never come together again: the launch ends here. */
static void
check_meeting(simt_lane *me)
{
    simt_warp *w = me->warp;
    for (uint32_t l = 0; l < RT_WARP; l++)
        if (w->at[l] != w->at[0]) {
            trouble(w->simt, "lanes of warp %u meet at different places: lane 0 at %s, lane %u at %s", w->number,
                    meeting_names[w->at[0]], l, meeting_names[w->at[l]]);
            to_scheduler(me);
        }
}

/* below n; xorshift */
static uint32_t
any_below(rt_simt *simt, uint32_t n)
{
    simt->order ^= simt->order << 13;
    simt->order ^= simt->order >> 7;
    simt->order ^= simt->order << 17;
    return (uint32_t)(simt->order >> 33) % n;
}

/* all lanes of the warp have come: what the primitive does */
static void
met(simt_lane *me, simt_meeting at)
{
    simt_warp *w = me->warp;
    uint32_t round = w->round & 1, ballot = 0;
    check_meeting(me);
    w->arrived = 0;
    w->round++;
    if (at == SIMT_BALLOT) {
        for (uint32_t l = 0; l < RT_WARP; l++)
            ballot |= (uint32_t)(w->values[round][l] != 0) << l;
        w->ballot[round] = ballot;
    } else if (at >= SIMT_BLOCK) {
        w->state = at == SIMT_BLOCK ? SIMT_WAITS : at == SIMT_GRID ? SIMT_POLLS : SIMT_GONE;
        to_scheduler(me);
        return;
    }
    if (w->simt->order && any_below(w->simt, STOPS) == 0)
        to_scheduler(me);
}

/* The round in which the lanes have met. */
static uint32_t
meet(simt_meeting at, uint64_t value)
{
    simt_lane *me = here;
    simt_warp *w = me->warp;
    uint32_t round = w->round & 1;
    w->at[me->number] = (uint8_t)at;
    w->values[round][me->number] = value;
    if (++w->arrived == RT_WARP) {
        met(me, at);
    } else {
        simt_lane *next = &w->lanes[(me->number + w->simt->stride) % RT_WARP];
        here = next;
        rt_fiber_switch(&me->fiber, &next->fiber);
    }
    return round;
}

/* -- the grid ---------------------------------------------------------------------------------------------------- */

static void
lane_main(void *data)
{
    simt_lane *me = data;
    rt_simt *simt = me->warp->simt;
    simt->kernel(&simt->launch, simt->args);
    for (;;)
        meet(SIMT_LEFT, 0);
}

static void
begin_warp(rt_simt *simt, uint32_t number)
{
    simt_warp *w = &simt->warps[number];
    w->simt = simt;
    w->number = number;
    w->arrived = w->round = 0;
    w->state = SIMT_RUNS;
    w->resume = &w->lanes[simt->order ? any_below(simt, RT_WARP) : 0];
    for (uint32_t l = 0; l < RT_WARP; l++) {
        w->lanes[l].warp = w;
        w->lanes[l].number = l;
        rt_fiber_begin(&w->lanes[l].fiber, simt->stacks, (size_t)number * RT_WARP + l, lane_main, &w->lanes[l]);
    }
}

/* A block goes on when all its warps wait. */
static bool
release_block(rt_simt *simt, uint32_t block)
{
    simt_warp *warps = &simt->warps[block * simt->block_warps];
    uint32_t waiting = 0, gone = 0;
    for (uint32_t i = 0; i < simt->block_warps; i++) {
        waiting += warps[i].state == SIMT_WAITS;
        gone += warps[i].state == SIMT_GONE;
    }
    if (waiting && waiting + gone == simt->block_warps && gone)
        trouble(simt, "warps of block %u wait at its barrier, and %u have ended", block, gone);
    if (waiting < simt->block_warps)
        return false;
    warps->any = 0;
    for (uint32_t i = 0; i < simt->block_warps; i++) {
        for (uint32_t l = 0; l < RT_WARP; l++)
            warps->any |= warps[i].values[(warps[i].round - 1) & 1][l] != 0;
        warps[i].state = SIMT_RUNS;
    }
    return true;
}

/* Lets the warp run until it has to wait; whether it came further than a look at what others shall change. */
static bool
run_warp(rt_simt *simt, simt_warp *w)
{
    uint64_t before = simt->changes;
    bool polled = w->state == SIMT_POLLS;
    w->state = SIMT_RUNS;
    here = w->resume;
    rt_fiber_switch(&simt->host, &w->resume->fiber);
    return !(polled && w->state == SIMT_POLLS && simt->changes == before);
}

void
simt_run(rt_simt *simt)
{
    simt_lane *outside = here; /* a kernel does not launch kernels, but is one thread of its caller's */
    uint32_t warps = simt->blocks * simt->block_warps, gone = 0;
    simt->stride = simt->order ? 1 + 2 * any_below(simt, RT_WARP / 2) : 1; /* odd: it comes to all lanes */
    for (uint32_t i = 0; i < warps; i++)
        begin_warp(simt, i);
    while (gone < warps && !simt->trouble[0]) {
        bool moved = false;
        uint32_t first = simt->order ? any_below(simt, warps) : 0;
        for (uint32_t i = 0; i < warps && !simt->trouble[0]; i++) {
            simt_warp *w = &simt->warps[(first + i) % warps];
            if (w->state != SIMT_RUNS && w->state != SIMT_POLLS)
                continue;
            moved |= run_warp(simt, w);
            gone += w->state == SIMT_GONE;
        }
        for (uint32_t b = 0; b < simt->blocks && !simt->trouble[0]; b++)
            moved |= release_block(simt, b);
        if (!moved && gone < warps && !simt->trouble[0])
            trouble(simt, "no thread of the grid can go on: all wait for others");
    }
    here = outside;
}

/* -- warp.h ------------------------------------------------------------------------------------------------------ */

uint32_t
rt_warp_lane(void)
{
    return here->number;
}

uint32_t
rt_warp_ballot(int32_t mine)
{
    simt_warp *w = here->warp;
    return w->ballot[meet(SIMT_BALLOT, mine != 0)];
}

uint32_t
rt_warp_take32(uint32_t mine, uint32_t lane)
{
    return (uint32_t)rt_warp_take64(mine, lane);
}

uint64_t
rt_warp_take64(uint64_t mine, uint32_t lane)
{
    simt_warp *w = here->warp;
    return w->values[meet(SIMT_TAKE, mine)][lane % RT_WARP];
}

uint32_t
rt_warp_one32(uint32_t mine)
{
    const simt_warp *w = here->warp;
    const uint64_t *values = w->values[meet(SIMT_TAKE, mine)];
    uint64_t all = 0;
    for (uint32_t l = 0; l < RT_WARP; l++)
        all |= values[l];
    return (uint32_t)all;
}

uint32_t
rt_warp_swap32(uint32_t mine, uint32_t bits)
{
    return (uint32_t)rt_warp_take64(mine, here->number ^ bits);
}

uint64_t
rt_warp_swap64(uint64_t mine, uint32_t bits)
{
    return rt_warp_take64(mine, here->number ^ bits);
}

int32_t
rt_warp_turn(uint64_t key, int32_t mine)
{
    const simt_warp *w = here->warp;
    const uint64_t *keys = w->values[meet(SIMT_TAKE, mine ? key : 0)];
    int32_t before = 0;
    for (uint32_t l = 0; l < here->number; l++)
        before += keys[l] == key;
    return mine ? before : -1;
}

void
rt_warp_sync(void)
{
    meet(SIMT_SYNC, 0);
}

uint32_t
rt_grid_warp(void)
{
    return here->warp->number;
}

uint32_t
rt_grid_warps(void)
{
    const rt_simt *simt = here->warp->simt;
    return simt->blocks * simt->block_warps;
}

uint32_t
rt_grid_block(void)
{
    return here->warp->number / here->warp->simt->block_warps;
}

uint32_t
rt_grid_blocks(void)
{
    return here->warp->simt->blocks;
}

uint32_t
rt_block_thread(void)
{
    return here->warp->number % here->warp->simt->block_warps * RT_WARP + here->number;
}

uint32_t
rt_block_threads(void)
{
    return here->warp->simt->block_warps * RT_WARP;
}

void
rt_block_sync(void)
{
    meet(SIMT_BLOCK, 0);
}

int32_t
rt_block_any(int32_t mine)
{
    const simt_warp *w = here->warp;
    meet(SIMT_BLOCK, mine != 0);
    return w->simt->warps[w->number - w->number % w->simt->block_warps].any;
}

static uint32_t *
counter_of_block(uint32_t counter)
{
    const rt_simt *simt = here->warp->simt;
    return &simt->warps[rt_grid_block() * simt->block_warps].counters[counter];
}

uint32_t
rt_block_next32(uint32_t counter)
{
    return rt_grid_next32(counter_of_block(counter));
}

uint32_t
rt_block_swap32(uint32_t counter, uint32_t value)
{
    uint32_t old = rt_grid_load32(counter_of_block(counter));
    rt_grid_store32(counter_of_block(counter), value);
    return old;
}

void
rt_block_set32(uint32_t counter, uint32_t value)
{
    rt_grid_store32(counter_of_block(counter), value);
}

uint32_t
rt_grid_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint32_t)((uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000);
}

void
rt_grid_wait(void)
{
    meet(SIMT_GRID, 0);
}

/* one host thread: the order is that of the program */
void
rt_grid_fence(void)
{
}

uint32_t
rt_grid_add32(uint32_t *at, uint32_t n)
{
    uint32_t old = *at;
    *at = old + n;
    here->warp->simt->changes++;
    return old;
}

uint32_t
rt_grid_next32(uint32_t *at)
{
    return rt_warp_one32(rt_warp_lane() == 0 ? rt_grid_add32(at, 1) : 0);
}

uint32_t
rt_grid_arrive(uint32_t *at, uint32_t n)
{
    return rt_grid_add32(at, n);
}

uint64_t
rt_grid_add64(uint64_t *at, uint64_t n)
{
    uint64_t old = *at;
    *at = old + n;
    here->warp->simt->changes++;
    return old;
}

uint32_t
rt_grid_swap32(uint32_t *at, uint32_t expected, uint32_t desired)
{
    uint32_t old = *at;
    if (old == expected)
        *at = desired;
    here->warp->simt->changes++;
    return old;
}

uint32_t
rt_grid_load32(const uint32_t *at)
{
    return *(const volatile uint32_t *)at;
}

void
rt_grid_store32(uint32_t *at, uint32_t value)
{
    *(volatile uint32_t *)at = value;
    here->warp->simt->changes++;
}

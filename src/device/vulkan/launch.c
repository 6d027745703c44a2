/* Launches: what memory they find, in which order their steps are recorded. SPDX-License-Identifier: Apache-2.0 */
#include "device/vulkan/vulkan.h"

enum {
    COUNTS = 256, /* bytes for counts of groups */
    GROUPS_CPU = 64,
    UPDATE = 1 << 16, /* bytes that a command holds */
    CHUNK_FIRST = 16, CHUNK_MOST = 256, /* steps that are recorded before the host looks how they went */
};

/* -- memory -------------------------------------------------------------------------------------------------------- */

/* At least so many bytes; what launches under way use stays until they have ended. */
static rg_status
grow(rt_queue *q, vk_buffer *buffer, uint64_t bytes, str *error)
{
    if (buffer->bytes >= bytes)
        return RG_OK;
    TRY(vk_wait_for(q, q->value, error));
    vk_buffer_free(q->device, buffer);
    return vk_buffer_make(q->device, bytes, VK_USE_DEVICE, buffer, error);
}

static uint32_t
most_groups(const rt_device *d)
{
    uint32_t asked = d->settings.vulkan_groups, most = RT_VULKAN_GROUPS;
    if (asked ? asked < most : d->facts.type == VK_KIND_CPU)
        most = asked ? asked : GROUPS_CPU;
    return most;
}

/* -- slots --------------------------------------------------------------------------------------------------------- */

static rg_status
next_slot(rt_queue *q, unsigned *number, str *error)
{
    unsigned s = q->next_slot;
    uint64_t ended = q->slot_values[s];
    TRY(vk_wait_for(q, ended, error));
    if (!ended)
        TRY(vk_ended(q, &ended, error));
    vk_collect(q, ended);
    *number = s;
    return vk_tell(q, error);
}

/* A launch is over, or was given up, when all that was submitted is. */
static void
keep_slot(rt_queue *q, unsigned number)
{
    q->slot_values[number] = q->value;
    q->next_slot = (number + 1) % VK_SLOTS;
}

/* -- steps --------------------------------------------------------------------------------------------------------- */

/* A launch as it is recorded. */
typedef struct vk_run {
    rt_queue *q;
    rt_program *p;
    vk_slot *slot; /* as the host sees it */
    uint64_t slot_address;
    rt_segments_room at; /* in the scratch buffer, with the counts of groups behind it */
} vk_run;

/* Where a launch stands: a step, and for each loop around it how often it has run. */
typedef struct vk_walk {
    const spirv_code *code;
    uint32_t at;
    uint32_t *turns; /* by step of a loop */
} vk_walk;

static bool
is_asking(const segments_step *s)
{
    return s->kind == SEGMENTS_IF || s->kind == SEGMENTS_EXIT_IF;
}

/* To the next step that something is done for; false: the launch ends. */
static bool
walk_on(vk_walk *w)
{
    while (w->at < w->code->info.steps.n) {
        const segments_step *s = &w->code->info.steps.at[w->at];
        if (s->kind == SEGMENTS_RUN || s->kind == SEGMENTS_TASK || is_asking(s))
            return true;
        if (s->kind == SEGMENTS_LOOP)
            w->turns[w->at] = 0;
        uint32_t next = segments_behind(w->code->info.steps.at, w->at, false);
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
walk_past(vk_walk *w, bool holds)
{
    w->at = segments_behind(w->code->info.steps.at, w->at, holds);
}

/* How often the loop has run that an EXIT_IF may leave. */
static uint32_t
turns_of(const vk_walk *w)
{
    const segments_step *steps = w->code->info.steps.at;
    return w->turns[steps[steps[w->at].to].to];
}

/* `expected` holds 1 + the turns after which a loop was left the last time, 1 + whether the if's condition held; 0: nothing. */
static bool
expect(const rt_program *p, const vk_walk *w)
{
    uint32_t last = __atomic_load_n(&p->expected[w->at], __ATOMIC_RELAXED);
    if (p->code.info.steps.at[w->at].kind == SEGMENTS_IF)
        return last != 1;
    return last == 1 + turns_of(w);
}

static void
learn(rt_program *p, const vk_walk *w, bool holds)
{
    bool is_if = p->code.info.steps.at[w->at].kind == SEGMENTS_IF;
    if (is_if || holds)
        __atomic_store_n(&p->expected[w->at], 1 + (is_if ? holds : turns_of(w)), __ATOMIC_RELAXED);
}

/* -- recording ----------------------------------------------------------------------------------------------------- */

static void
update(const vk_run *r, vk_commands commands, uint64_t at, const void *data, uint64_t bytes)
{
    for (uint64_t done = 0, n; done < bytes; done += n) {
        n = bytes - done < UPDATE ? bytes - done : UPDATE;
        r->q->device->api.update(commands, r->q->scratch.buffer, at + done, n, (const char *)data + done);
    }
}

/* Groups by number, or (`counted`) as many as the counts say by now. */
static void
record_step(const vk_run *r, vk_commands commands, const segments_step *s, bool counted)
{
    const vk_api *api = &r->q->device->api;
    bool task = s->kind == SEGMENTS_TASK;
    const rt_vulkan_push push = {r->slot_address + offsetof(vk_slot, launch), r->q->scratch.address + r->at.args};
    api->bind_pipeline(commands, VK_BIND_COMPUTE, r->p->pipelines[s->entry]);
    api->push(commands, r->q->device->layout, VK_STAGE_COMPUTE, 0, sizeof(push), &push);
    if (counted)
        api->dispatch_indirect(commands, r->q->scratch.buffer, r->at.end + (task ? 12 : 0));
    else
        api->dispatch(commands, task ? r->at.groups : 1, 1, 1);
    vk_barrier_all(r->q, commands);
}

static void
record_gate(const vk_run *r, vk_commands commands, const segments_step *s, bool expected, uint32_t number)
{
    const vk_api *api = &r->q->device->api;
    uint64_t scratch = r->q->scratch.address;
    const vk_gate_push push = {scratch + r->at.record + s->place, scratch + r->at.end, r->slot_address + offsetof(vk_slot, missed),
                               expected, number};
    api->bind_pipeline(commands, VK_BIND_COMPUTE, r->q->device->gate);
    api->push(commands, r->q->device->layout, VK_STAGE_COMPUTE, 0, sizeof(push), &push);
    api->dispatch(commands, 1, 1, 1);
    vk_barrier_all(r->q, commands);
}

/* The steps up to the end, or so many from the first condition on; *asked: how many conditions were met, which are expected to hold
 * as expected[i] says. */
static void
record_chunk(const vk_run *r, vk_commands commands, vk_walk *w, uint32_t most, bool *expected, uint32_t *asked)
{
    const uint32_t counts[6] = {1, 1, 1, r->at.groups, 1, 1};
    *asked = 0;
    for (uint32_t n = 0; n < most && walk_on(w); n += *asked > 0) {
        const segments_step *s = &r->p->code.info.steps.at[w->at];
        if (!is_asking(s)) {
            record_step(r, commands, s, *asked > 0);
            w->at++;
            continue;
        }
        if (!*asked) {
            update(r, commands, r->at.end, counts, sizeof(counts));
            vk_barrier_all(r->q, commands);
        }
        expected[*asked] = expect(r->p, w);
        record_gate(r, commands, s, expected[*asked], *asked + 1);
        walk_past(w, expected[(*asked)++]);
    }
}

/* Where the launch stands indeed, after a chunk that began at `w`: as many of its conditions as were as expected, and the one behind
 * them that was not. */
static void
follow_chunk(const vk_run *r, vk_walk *w, const bool *expected, uint32_t asked, uint32_t missed)
{
    uint32_t known = missed ? missed : asked;
    for (uint32_t i = 0; i < known && walk_on(w);) {
        if (!is_asking(&r->p->code.info.steps.at[w->at])) {
            w->at++;
            continue;
        }
        bool holds = expected[i] != (missed && i == known - 1);
        learn(r->p, w, holds);
        walk_past(w, holds);
        i++;
    }
}

/* What the first chunk begins with: zeros, arguments. */
static void
record_begin(const vk_run *r, vk_commands commands, const rt_arg *args)
{
    r->q->device->api.fill(commands, r->q->scratch.buffer, r->at.record, r->at.partials - r->at.record, 0);
    update(r, commands, r->at.args, args, r->p->nparams * sizeof(rt_arg));
    vk_barrier_all(r->q, commands);
}

/* The launch ends without the rest of its steps, in the loop around where it stands. */
static bool
is_cancelled(const vk_run *r, const vk_walk *here)
{
    if (!atomic_load(&r->q->stopped))
        return false;
    rt_segments_cancel(&r->slot->launch, &here->code->info, here->at);
    return true;
}

static void
walk_as(vk_walk *w, const vk_walk *other)
{
    w->at = other->at;
    memcpy(w->turns, other->turns, w->code->info.steps.n * sizeof(*w->turns));
}

/* Chunks in which nothing is asked are not waited for: most launches are one of that kind. */
static rg_status
run_steps(const vk_run *r, const rt_arg *args, arena *in, str *error)
{
    size_t n = r->p->code.info.steps.n;
    bool expected[CHUNK_MOST], more = true;
    vk_walk ahead = {&r->p->code, 0, arena_new_n(in, uint32_t, n + 1)}, here = {&r->p->code, 0, arena_new_n(in, uint32_t, n + 1)};
    vk_commands commands;
    for (uint32_t most = CHUNK_FIRST, asked, missed = 0; more; more = walk_on(&here)) {
        walk_as(&ahead, &here);
        TRY(vk_begin(r->q, &commands, error));
        if (args)
            record_begin(r, commands, args);
        args = NULL;
        r->slot->missed = 0;
        record_chunk(r, commands, &ahead, most, expected, &asked);
        TRY(vk_submit(r->q, error));
        if (asked) {
            TRY(vk_wait_for(r->q, r->q->value, error));
            if (r->slot->launch.fault)
                break;
            missed = r->slot->missed;
            follow_chunk(r, &here, expected, asked, missed);
            if (is_cancelled(r, &here))
                break;
            most = missed ? CHUNK_FIRST : most < CHUNK_MOST ? most * 2 : CHUNK_MOST;
        }
        if (!asked || !missed)
            walk_as(&here, &ahead);
    }
    return RG_OK;
}

/* -- launching ----------------------------------------------------------------------------------------------------- */

/* Anything else would be garbage to the device, or end it. */
static bool
reaches_all(const rt_program *p, const rt_arg *args, str *error)
{
    for (uint32_t i = 0; i < p->nparams; i++)
        for (int plane = 0; plane < RT_PLANES; plane++)
            if (args[i].plane[plane] && !vk_memory.reaches(p->device, args[i].plane[plane])) {
                str_addf(error, "plane %d of argument %u is not in the memory of the device", plane, i);
                return false;
            }
    return true;
}

/* A budget that memory has no room for is halved, as long as one allocation is too small for its pages. */
static rg_status
take_room(vk_run *r, const rt_arg *args, str *error)
{
    rt_queue *q = r->q;
    for (size_t said = error->len;; q->budget /= 2, error->len = said) {
        const rt_segments_limits limits = {most_groups(q->device), q->budget, vk_most(&q->device->facts)};
        r->at = rt_segments_measure(&r->p->code, &r->p->needs, args, r->p->nparams, &limits);
        rg_status status = grow(q, &q->scratch, r->at.end + COUNTS, error);
        if (!status)
            status = grow(q, &q->pages, r->at.pages, error);
        if (status != RG_OUT_OF_MEMORY || r->at.pages <= q->device->facts.allocation || !r->at.tape)
            return status;
    }
}

static rg_status
prepare(vk_run *r, const rt_arg *args, unsigned number, str *error)
{
    rt_queue *q = r->q;
    rt_program *p = r->p;
    rt_vulkan_launch launch = {.program = p->number};
    TRY(take_room(r, args, error));
    if (p->code.info.prints)
        TRY(vk_prints_open(q, error));
    rt_segments_place(&r->at, q->scratch.address, q->pages.address, q->budget, &launch);
    launch.prints = p->code.info.prints ? q->prints.address : 0;
    r->slot = (vk_slot *)q->slots.data + number;
    r->slot_address = q->slots.address + number * sizeof(vk_slot);
    atomic_store(&q->running, true);
    r->slot->launch = launch;
    if (atomic_load(&q->stopped))
        r->slot->launch.stop = 1;
    return RG_OK;
}

static rg_status
launch_here(rt_queue *q, rt_program *p, const rt_arg *args, str *error)
{
    unsigned number = 0;
    vk_run r = {.q = q, .p = p};
    str text = {.in = mem_scratch()};
    TRY(next_slot(q, &number, error));
    rg_status status = reaches_all(p, args, &text) ? prepare(&r, args, number, &text) : RG_DEVICE;
    if (!status) {
        status = run_steps(&r, args, mem_scratch(), &text);
        keep_slot(q, number);
    }
    if (status && q->device->lost)
        str_addz(error, q->device->lost);
    else if (status)
        str_addf(error, "%s: %s", p->label, text.ptr ? text.ptr : "it was not launched");
    return status;
}

rg_status
vk_launch(rt_queue *q, rt_program *p, const rt_arg *args, str *error)
{
    vk_entry entry;
    rg_status status = vk_enter(&entry, q, error);
    if (!status)
        status = launch_here(q, p, args, error);
    vk_leave(&entry);
    return status;
}

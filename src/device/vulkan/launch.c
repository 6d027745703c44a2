/* Launches: what memory they find, in which order their steps are recorded. SPDX-License-Identifier: Apache-2.0 */
#include "device/vulkan/vulkan.h"

enum {
    GROUPS_CPU = 64,
    UPDATE = 1 << 16 /* bytes that a command holds */
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
    rt_vulkan_launch *launch; /* as the host sees it */
    uint64_t address;         /* of it */
    rt_segments_room at; /* in the scratch buffer */
    const rt_arg *args;  /* NULL: the device has them */
    vk_commands commands;
} vk_run;

/* -- recording ----------------------------------------------------------------------------------------------------- */

static void
update(const vk_run *r, uint64_t at, const void *data, uint64_t bytes)
{
    for (uint64_t done = 0, n; done < bytes; done += n) {
        n = bytes - done < UPDATE ? bytes - done : UPDATE;
        r->q->device->api.update(r->commands, r->q->scratch.buffer, at + done, n, (const char *)data + done);
    }
}

static void
record_step(void *run, const segments_step *s, bool counted, rt_vulkan_ask ask)
{
    const vk_run *r = run;
    const vk_api *api = &r->q->device->api;
    bool task = s->kind == SEGMENTS_TASK;
    const rt_vulkan_push push = {r->address, r->q->scratch.address + r->at.args, ask};
    api->bind_pipeline(r->commands, VK_BIND_COMPUTE, r->p->pipelines[s->entry]);
    api->push(r->commands, r->q->device->layout, VK_STAGE_COMPUTE, 0, sizeof(push), &push);
    if (counted)
        api->dispatch_indirect(r->commands, r->q->scratch.buffer, rt_segments_count_of(&r->at, s));
    else
        api->dispatch(r->commands, task ? r->at.groups : 1, 1, 1);
    vk_barrier_all(r->q, r->commands);
}

/* The first commands begin with zeros and arguments. */
static rg_status
begin(void *run, bool asks, str *error)
{
    vk_run *r = run;
    const rt_vulkan_counts counts = rt_segments_all(&r->at);
    TRY(vk_begin(r->q, &r->commands, error));
    if (r->args) {
        r->q->device->api.fill(r->commands, r->q->scratch.buffer, r->at.record, r->at.partials - r->at.record, 0);
        update(r, r->at.args, r->args, r->p->nparams * sizeof(rt_arg));
    }
    if (asks)
        update(r, r->at.counts, &counts, sizeof(counts));
    if (asks || r->args)
        vk_barrier_all(r->q, r->commands);
    r->args = NULL;
    return RG_OK;
}

static rg_status
submit(void *run, bool waits, str *error)
{
    vk_run *r = run;
    TRY(vk_submit(r->q, error));
    return waits ? vk_wait_for(r->q, r->q->value, error) : RG_OK;
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

/* A budget that memory has no room for is halved, as long as one allocation is too small for its tapes. It stays as it was where that
 * does not help. */
static rg_status
take_room(vk_run *r, const rt_arg *args, str *error)
{
    rt_queue *q = r->q;
    const uint64_t asked = q->budget, enough = q->device->facts.allocation / 2;
    for (size_t said = error->len;; q->budget /= 2, error->len = said) {
        const rt_segments_limits limits = {most_groups(q->device), q->budget, vk_most(&q->device->facts)};
        r->at = rt_segments_measure(&r->p->code, &r->p->needs, args, r->p->nparams, &limits);
        rg_status scratch = grow(q, &q->scratch, r->at.end, error), status = scratch ? scratch : grow(q, &q->pages, r->at.pages, error);
        if (!status)
            return RG_OK;
        if (scratch || status != RG_OUT_OF_MEMORY || r->at.tape <= enough) {
            q->budget = asked;
            return status;
        }
    }
}

static rg_status
prepare(vk_run *r, const rt_arg *args, unsigned number, str *error)
{
    rt_queue *q = r->q;
    rt_program *p = r->p;
    rt_vulkan_launch launch = {.program = p->number};
    if (p->code.info.prints)
        TRY(vk_prints_open(q, error)); /* first: tapes may take all that is left */
    TRY(take_room(r, args, error));
    rt_segments_place(&r->at, q->scratch.address, q->pages.address, q->budget, &launch);
    launch.prints = p->code.info.prints ? q->prints.address : 0;
    r->launch = (rt_vulkan_launch *)q->slots.data + number;
    r->address = q->slots.address + number * sizeof(rt_vulkan_launch);
    atomic_store(&q->running, true);
    *r->launch = launch;
    if (atomic_load(&q->stopped))
        r->launch->stop = 1;
    return RG_OK;
}

static rg_status
launch_here(rt_queue *q, rt_program *p, const rt_arg *args, str *error)
{
    unsigned number = 0;
    static const rt_segments_recorder how = {begin, record_step, submit};
    vk_run r = {.q = q, .p = p, .args = args};
    str text = {.in = mem_scratch()};
    TRY(next_slot(q, &number, error));
    rg_status status = reaches_all(p, args, &text) ? prepare(&r, args, number, &text) : RG_DEVICE;
    if (!status) {
        const rt_segments_run run = {&how, &r, &p->code.info, p->expected, r.launch, &q->stopped};
        status = rt_segments_steps(&run, mem_scratch(), &text);
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

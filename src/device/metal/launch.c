/* Queues and launches. SPDX-License-Identifier: Apache-2.0 */
#include "device/metal/metal.h"

#include "device/explain.h"

/* -- queues -------------------------------------------------------------------------------------------------------- */

static void
close_queue(void *queue)
{
    mtl_close_queue(queue);
}

static rg_status
open_all(rt_queue *q, str *error)
{
    rt_device *d = q->device;
    mtl_entry entry;
    rg_status status = mtl_enter(&entry, d, error);
    if (!status) {
        q->queue = mtl_new_queue(&d->api, d->device);
        if (!q->queue)
            str_addz(error, "Metal gives no command queue");
        status = q->queue ? mtl_make_buffer(d, sizeof(rt_vulkan_launch), &q->control, error) : RG_DEVICE;
    }
    mtl_leave(&entry);
    return status;
}

rg_status
mtl_open_queue(rt_device *d, const rt_queue_desc *desc, rt_queue **queue, str *error)
{
    rt_queue *q = mem_zalloc(sizeof(*q));
    mem_owner owns;
    q->device = d;
    q->sink = desc->sink;
    q->budget = rt_segments_budget(desc->tape_budget, d->facts.memory, d->facts.piece);
    mem_own(&owns, close_queue, q);
    rg_status status = open_all(q, error);
    mem_disown(&owns);
    if (status)
        mtl_close_queue(q);
    else
        *queue = q;
    return status;
}

void
mtl_close_queue(rt_queue *q)
{
    rt_device *d = q->device;
    mtl_free_buffer(d, &q->control);
    mtl_free_buffer(d, &q->scratch);
    mtl_free_buffer(d, &q->pages);
    mtl_free_buffer(d, &q->prints);
    if (!mtl_is_fork(d))
        mtl_release(&d->api, q->queue);
    mem_free(q);
}

/* The GPU reads the word where it lies; the host does, between command buffers. */
void
mtl_cancel(rt_queue *q)
{
    if (!atomic_load(&q->running))
        return;
    atomic_store(&q->stopped, true);
    __atomic_store_n(&((rt_vulkan_launch *)q->control.data)->stop, 1, __ATOMIC_RELAXED);
}

uint64_t
mtl_tape_peak(rt_queue *q)
{
    return __atomic_load_n(&q->peak, __ATOMIC_RELAXED);
}

/* -- the memory of a launch ---------------------------------------------------------------------------------------- */

typedef struct mtl_run {
    rt_queue *q;
    const rt_program *p;
    rt_vulkan_launch *launch; /* in the control buffer */
    rt_segments_room at;      /* in the scratch buffer */
    rt_vulkan_push push;
    mtl_id *used; /* buffers that the launch reaches */
    unsigned long nused;
} mtl_run;

static rg_status
grow(rt_device *d, mtl_buffer *buffer, uint64_t bytes, str *error)
{
    if (buffer->bytes >= bytes)
        return RG_OK;
    mtl_free_buffer(d, buffer);
    return mtl_make_buffer(d, bytes, buffer, error);
}

static rg_status
provide_prints(rt_queue *q, str *error)
{
    if (q->prints.buffer)
        return RG_OK;
    TRY(mtl_make_buffer(q->device, sizeof(rt_gpu_prints) + RT_PRINT_CELLS * sizeof(uint64_t), &q->prints, error));
    memset(q->prints.data, 0, q->prints.bytes);
    ((rt_gpu_prints *)q->prints.data)->room = RT_PRINT_CELLS;
    return RG_OK;
}

/* The GPU's addresses in the place of the host's. */
static rg_status
translate(mtl_run *r, const rt_arg *args, rt_arg *to, str *error)
{
    for (uint32_t i = 0; i < r->p->nparams; i++) {
        to[i] = args[i];
        for (int plane = 0; plane < RT_PLANES; plane++) {
            mtl_buffer piece;
            const char *memory = args[i].plane[plane];
            if (!memory)
                continue;
            if (!mtl_find_piece(r->q->device, memory, &piece)) {
                str_addf(error, "plane %d of argument %u is not in the memory of the device", plane, i);
                return RG_DEVICE;
            }
            to[i].plane[plane] = (void *)(uintptr_t)(piece.address + (uint64_t)(memory - piece.data));
            r->used[r->nused++] = piece.buffer;
        }
    }
    return RG_OK;
}

static rg_status
prepare(mtl_run *r, const rt_arg *args, str *error)
{
    rt_queue *q = r->q;
    rt_device *d = q->device;
    uint32_t groups = d->settings.metal_groups;
    const rt_segments_limits limits = {groups && groups < RT_VULKAN_GROUPS ? groups : RT_VULKAN_GROUPS, q->budget, d->facts.piece};
    r->used = arena_new_n(mem_scratch(), mtl_id, (size_t)r->p->nparams * RT_PLANES + 4);
    r->at = rt_segments_measure(&r->p->code, &r->p->needs, args, r->p->nparams, &limits);
    TRY(grow(d, &q->scratch, r->at.end, error));
    TRY(grow(d, &q->pages, r->at.pages, error));
    if (r->p->code.info.prints)
        TRY(provide_prints(q, error));
    memset(q->scratch.data, 0, r->at.partials);
    TRY(translate(r, args, (rt_arg *)(q->scratch.data + r->at.args), error));
    mtl_id own[] = {q->control.buffer, q->scratch.buffer, q->pages.buffer, q->prints.buffer};
    for (size_t i = 0; i < countof(own); i++)
        if (own[i])
            r->used[r->nused++] = own[i];
    r->push = (rt_vulkan_push){q->control.address, q->scratch.address + r->at.args};
    r->launch = (rt_vulkan_launch *)q->control.data;
    *r->launch = (rt_vulkan_launch){.prints = r->p->code.info.prints ? q->prints.address : 0};
    rt_segments_place(&r->at, q->scratch.address, q->pages.address, q->budget, r->launch);
    if (atomic_load(&q->stopped))
        __atomic_store_n(&r->launch->stop, 1, __ATOMIC_RELAXED);
    return RG_OK;
}

/* -- steps --------------------------------------------------------------------------------------------------------- */

/* the first step from `at` on that something is done for, or that asks; the number of steps: the launch ends */
static uint32_t
next_step(const ll_gpu_info *info, uint32_t at)
{
    const segments_step *steps = info->steps.at;
    while (at < info->steps.n && (steps[at].kind == SEGMENTS_LOOP || steps[at].kind == SEGMENTS_ELSE || steps[at].kind == SEGMENTS_END))
        at = segments_behind(steps, at, false);
    return at;
}

static bool
runs(const ll_gpu_info *info, uint32_t at)
{
    return at < info->steps.n && (info->steps.at[at].kind == SEGMENTS_RUN || info->steps.at[at].kind == SEGMENTS_TASK);
}

/* Up to a step that asks, or the end. */
static uint32_t
encode(const mtl_run *r, mtl_id encoder, uint32_t at)
{
    const mtl_api *api = &r->q->device->api;
    const ll_gpu_info *info = &r->p->code.info;
    mtl_use(api, encoder, r->used, r->nused, MTL_READ_WRITE);
    mtl_set_bytes(api, encoder, &r->push, sizeof(r->push), 0);
    for (; runs(info, at); at = next_step(info, at + 1)) {
        const segments_step *s = &info->steps.at[at];
        mtl_set_pipeline(api, encoder, r->p->pipelines[s->entry]);
        mtl_dispatch(api, encoder, (mtl_size){s->kind == SEGMENTS_TASK ? r->at.groups : 1, 1, 1}, (mtl_size){RT_WARP, 1, 1});
        mtl_barrier(api, encoder, MTL_SCOPE_BUFFERS);
    }
    mtl_end(api, encoder);
    return at;
}

/* Of commands that have ended. */
static rg_status
check(rt_device *d, mtl_id commands, str *error)
{
    mtl_id why = mtl_error(&d->api, commands);
    if (mtl_status(&d->api, commands) != MTL_STATUS_ERROR)
        return RG_OK;
    long code = mtl_code(&d->api, why);
    const char *reason = mtl_reason(&d->api, why);
    if (code == MTL_ERROR_DEVICE_REMOVED || code == MTL_ERROR_ACCESS_REVOKED)
        mtl_lose(d, reason);
    if (d->lost)
        str_addz(error, d->lost);
    else
        str_addf(error, "the GPU did not end the launch: %s", reason);
    return code == MTL_ERROR_OUT_OF_MEMORY ? RG_OUT_OF_MEMORY : RG_DEVICE;
}

/* The steps from *at to the next one that asks, or the end. */
static rg_status
run_part(const mtl_run *r, uint32_t *at, str *error)
{
    rt_device *d = r->q->device;
    mtl_entry entry;
    rg_status status = mtl_enter(&entry, d, error);
    mtl_id commands = status ? NULL : mtl_commands(&d->api, r->q->queue), encoder = mtl_encoder(&d->api, commands);
    if (encoder) {
        *at = encode(r, encoder, *at);
        mtl_commit(&d->api, commands);
        mtl_wait(&d->api, commands);
        status = check(d, commands, error);
    } else if (!status) {
        str_addz(error, "Metal gives no commands to fill");
        status = RG_DEVICE;
    }
    mtl_leave(&entry);
    return status;
}

static rg_status
run_steps(const mtl_run *r, str *error)
{
    const ll_gpu_info *info = &r->p->code.info;
    for (uint32_t at = next_step(info, 0); at < info->steps.n && !r->launch->fault; at = next_step(info, at)) {
        if (runs(info, at)) {
            TRY(run_part(r, &at, error));
            continue;
        }
        uint32_t holds;
        memcpy(&holds, r->q->scratch.data + r->at.record + info->steps.at[at].place, sizeof(holds));
        at = segments_behind(info->steps.at, at, holds);
        if (atomic_load(&r->q->stopped)) {
            rt_segments_cancel(r->launch, info, at);
            break;
        }
    }
    return RG_OK;
}

static const ll_place *
find_place(void *info, uint32_t program, uint32_t place)
{
    const ll_gpu_info *i = info;
    return place < i->places.n ? &i->places.at[place] : NULL;
}

static rg_status
launch_here(rt_queue *q, rt_program *p, const rt_arg *args, str *error)
{
    mtl_run r = {.q = q, .p = p};
    atomic_store(&q->stopped, false);
    atomic_store(&q->running, true);
    rg_status status = prepare(&r, args, error);
    if (!status)
        status = run_steps(&r, error);
    atomic_store(&q->running, false);
    rt_explain_prints(&q->sink, (rt_gpu_prints *)q->prints.data, find_place, &p->code.info);
    if (status)
        return status;
    uint64_t used = rt_segments_used(r.launch);
    if (used > q->peak)
        __atomic_store_n(&q->peak, used, __ATOMIC_RELAXED);
    return rt_segments_explain(r.launch, &p->code.info, NULL, p->file, error);
}

rg_status
mtl_launch(rt_queue *q, rt_program *p, const rt_arg *args, str *error)
{
    mtl_entry entry;
    rg_status status = mtl_enter(&entry, q->device, error);
    if (!status)
        status = launch_here(q, p, args, error);
    mtl_leave(&entry);
    return status;
}

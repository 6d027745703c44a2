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
    mtl_id *used; /* buffers that the launch reaches */
    unsigned long nused;
    mtl_entry entry; /* while commands are recorded */
    mtl_id commands, encoder;
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
    r->launch = (rt_vulkan_launch *)q->control.data;
    *r->launch = (rt_vulkan_launch){.prints = r->p->code.info.prints ? q->prints.address : 0};
    rt_segments_place(&r->at, q->scratch.address, q->pages.address, q->budget, r->launch);
    if (atomic_load(&q->stopped))
        __atomic_store_n(&r->launch->stop, 1, __ATOMIC_RELAXED);
    return RG_OK;
}

/* -- commands ------------------------------------------------------------------------------------------------------- */

static rg_status
no_commands(str *error)
{
    str_addz(error, "Metal gives no commands to fill");
    return RG_DEVICE;
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

static rg_status
end_commands(rt_device *d, mtl_id commands, mtl_id encoder, str *error)
{
    mtl_end(&d->api, encoder);
    mtl_commit(&d->api, commands);
    mtl_wait(&d->api, commands);
    return check(d, commands, error);
}

static void
push_to(const mtl_api *api, mtl_id encoder, mtl_id pipeline, const void *push, unsigned long bytes)
{
    mtl_set_pipeline(api, encoder, pipeline);
    mtl_set_bytes(api, encoder, push, bytes, 0);
}

static const mtl_size one_warp = {RT_WARP, 1, 1};

rg_status
mtl_run_shader(rt_device *d, mtl_id pipeline, const rt_shader_push *push, mtl_id buffer, uint32_t groups, str *error)
{
    const mtl_api *api = &d->api;
    mtl_id queue = mtl_new_queue(api, d->device), commands = mtl_commands(api, queue), encoder = mtl_encoder(api, commands);
    rg_status status = encoder ? RG_OK : no_commands(error);
    if (encoder) {
        mtl_use(api, encoder, &buffer, 1, MTL_READ_WRITE);
        push_to(api, encoder, pipeline, push, sizeof(*push));
        mtl_dispatch(api, encoder, (mtl_size){groups, 1, 1}, one_warp);
        status = end_commands(d, commands, encoder, error);
    }
    mtl_release(api, queue);
    return status;
}

/* -- steps: no commands are under way while others are recorded ------------------------------------------------------- */

static rg_status
begin(void *run, bool asks, str *error)
{
    mtl_run *r = run;
    rt_device *d = r->q->device;
    rg_status status = mtl_enter(&r->entry, d, error);
    r->commands = status ? NULL : mtl_commands(&d->api, r->q->queue);
    r->encoder = mtl_encoder(&d->api, r->commands);
    if (!r->encoder) {
        status = status ? status : no_commands(error);
        mtl_leave(&r->entry);
        return status;
    }
    *(rt_vulkan_counts *)(r->q->scratch.data + r->at.counts) = rt_segments_all(&r->at);
    mtl_use(&d->api, r->encoder, r->used, r->nused, MTL_READ_WRITE);
    return RG_OK;
}

static void
record_step(void *run, const segments_step *s, bool counted, rt_vulkan_ask ask)
{
    const mtl_run *r = run;
    const mtl_api *api = &r->q->device->api;
    const rt_vulkan_push push = {r->q->control.address, r->q->scratch.address + r->at.args, ask};
    push_to(api, r->encoder, r->p->pipelines[s->entry], &push, sizeof(push));
    if (counted)
        mtl_dispatch_counted(api, r->encoder, r->q->scratch.buffer, rt_segments_count_of(&r->at, s), one_warp);
    else
        mtl_dispatch(api, r->encoder, (mtl_size){s->kind == SEGMENTS_TASK ? r->at.groups : 1, 1, 1}, one_warp);
    mtl_barrier(api, r->encoder, MTL_SCOPE_BUFFERS);
}

static rg_status
submit(void *run, bool waits, str *error)
{
    mtl_run *r = run;
    rg_status status = end_commands(r->q->device, r->commands, r->encoder, error);
    mtl_leave(&r->entry);
    return status;
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
    static const rt_segments_recorder how = {begin, record_step, submit};
    mtl_run r = {.q = q, .p = p};
    atomic_store(&q->stopped, false);
    atomic_store(&q->running, true);
    rg_status status = prepare(&r, args, error);
    if (!status) {
        const rt_segments_run run = {&how, &r, &p->code.info, p->expected, r.launch, &q->stopped};
        status = rt_segments_steps(&run, mem_scratch(), error);
    }
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

/* Devices, and the queues in which they are given what to do. SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"
#include <sys/mman.h>

/* -- the host's memory ------------------------------------------------------------------------- */

enum { HUGE_PAGE = 2 << 20 };

/* Arrays of several huge pages lie in such pages, where the system has them: fewer faults at the first touch, fewer misses later. */
static void *
default_allocate(void *user, size_t bytes, size_t alignment)
{
    bool huge = bytes >= 4 * HUGE_PAGE;
    void *p = NULL;
    if (posix_memalign(&p, huge ? HUGE_PAGE : alignment, bytes))
        return NULL;
#ifdef MADV_HUGEPAGE
    if (huge)
        (void)madvise(p, bytes, MADV_HUGEPAGE); /* a wish: nothing depends on it */
#endif
    return p;
}

static void
default_release(void *user, void *memory, size_t bytes)
{
    free(memory);
}

/* -- finding a device by its name -------------------------------------------------------------- */

static const rt_device_table *
find_device_table(rg_str name, rg_status *status)
{
    const rt_device_table *table = rt_device_find(name);
    if (table)
        return table;
    *status = rt_device_is_left_out(name) ? RG_UNSUPPORTED : RG_NOT_FOUND;
    str names = {.in = mem_scratch()};
    rt_device_names(&names);
    api_error(*status,
              *status == RG_UNSUPPORTED
                  ? "this build has no device \"%.*s\": it was made without what that needs (there is %s)"
                  : "there is no device \"%.*s\" (there is %s)",
              (int)name.len, name.ptr, names.ptr);
    return NULL;
}

/* "cuda:1" -> "cuda" and 1. false: what follows the colon is no number. */
static bool
split_name(rg_str *name, uint32_t *ordinal)
{
    size_t colon = 0;
    uint64_t n = 0;
    *ordinal = 0;
    while (colon < name->len && name->ptr[colon] != ':')
        colon++;
    if (colon == name->len)
        return true;
    for (size_t i = colon + 1; i < name->len; i++) {
        n = n * 10 + (uint64_t)(name->ptr[i] - '0');
        if (name->ptr[i] < '0' || name->ptr[i] > '9' || n > INT32_MAX)
            return false;
    }
    bool any = colon + 1 < name->len;
    name->len = colon;
    *ordinal = (uint32_t)n;
    return any;
}

rg_status
api_device_find(rg_str name, const rt_device_table **table, uint32_t *ordinal)
{
    rg_str kind = name;
    if (!split_name(&kind, ordinal))
        return api_error(RG_INVALID, "\"%.*s\" is no name of a device: its number follows a colon, as in cuda:1",
                         (int)name.len, name.ptr);
    rg_status status = RG_OK;
    *table = find_device_table(kind, &status);
    return status;
}

/* -- devices ----------------------------------------------------------------------------------- */

rg_status
api_device_open(const rt_device_table *table, uint32_t ordinal, const rg_device_desc *desc, rg_device **device)
{
    rg_device *d = api_new(API_DEVICE, sizeof(*d));
    mem_owner owns;
    mem_own(&owns, api_free, d);
    d->table = table;
    d->ordinal = ordinal;
    d->allocator = desc->allocator;
    d->own_allocator = d->allocator.allocate != NULL;
    if (!d->allocator.allocate)
        d->allocator = (rg_allocator){default_allocate, default_release, NULL};
    str error = {.in = mem_scratch()};
    rg_status status = table->open(ordinal, &d->device, &error);
    mem_disown(&owns);
    if (status) {
        api_free(d);
        return api_error(status, "device %s: %s", table->name, error.ptr ? error.ptr : "cannot be opened");
    }
    *device = d;
    return RG_OK;
}

static rg_status
device_open(const rg_device_desc *desc, rg_device **device)
{
    const rt_device_table *table;
    uint32_t ordinal;
    if (!desc->allocator.allocate != !desc->allocator.release)
        return api_error(RG_INVALID, "an allocator needs both allocate and release");
    TRY(api_device_find(desc->name, &table, &ordinal));
    return api_device_open(table, ordinal, desc, device);
}

rg_status
rg_device_open(const rg_device_desc *desc, rg_device **device)
{
    rg_device_desc d;
    API_OUT(device);
    API_READ_DESC(&d, desc, rg_device_desc);
    API_GUARDED(device_open(&d, device));
}

void
api_device_release(void *device)
{
    rg_device *d = device;
    if (!api_drop(d))
        return;
    api_programs_release(d);
    d->table->close(d->device);
    api_free(d);
}

void
rg_device_destroy(rg_device *device)
{
    if (api_retire(device, API_DEVICE))
        api_device_release(device);
}

/* `name` ends with the number only where there may be several. */
static void
fill_info(rg_device_info *info, const rt_device_table *table, uint32_t ordinal, const rt_device_facts *facts)
{
    snprintf(info->name, sizeof(info->name), table->look != rt_host_look ? "%s:%u" : "%s", table->name,
             ordinal);
    memcpy(info->model, facts->model, sizeof(info->model));
    memcpy(info->code, facts->code, sizeof(info->code));
    memcpy(info->uuid, facts->uuid, sizeof(info->uuid));
    info->memory = facts->memory;
    info->memory_free = facts->memory_free;
    info->processors = facts->processors;
    info->threads = facts->threads;
    info->own_memory = table->memory != NULL;
    info->asynchronous = table->streams != NULL;
}

static rg_status
look_at_device(const rt_device_table *table, uint32_t ordinal, rg_device_info *info)
{
    rt_device_facts facts = {0};
    str error = {.in = mem_scratch()};
    rg_status status = table->look(ordinal, &facts, &error);
    if (status)
        return api_error(status, "device %s: %s", table->name, error.ptr ? error.ptr : "it says nothing of itself");
    rg_device_info ours = {0};
    fill_info(&ours, table, ordinal, &facts);
    api_write_info(info, &ours, sizeof(ours));
    return RG_OK;
}

rg_status
rg_device_get_info(rg_device *device, rg_device_info *info)
{
    TRY(api_begin_info(info, "rg_device_info"));
    API_CHECK(device, API_DEVICE, "device");
    API_GUARDED(look_at_device(device->table, device->ordinal, info));
}

/* A kind of device that cannot be had here (no driver) has none. */
static rg_status
enumerate(uint32_t index, rg_device_info *info)
{
    uint32_t before = index;
    for (size_t kind = 0; rt_device_at(kind); kind++)
        for (uint32_t ordinal = 0;; ordinal++) {
            rt_device_facts facts;
            str error = {.in = mem_scratch()};
            if (rt_device_at(kind)->look(ordinal, &facts, &error))
                break;
            if (!index--)
                return look_at_device(rt_device_at(kind), ordinal, info);
        }
    return api_error(RG_NOT_FOUND, "there are %u devices, no number %u", before - index, before);
}

rg_status
rg_device_enumerate(uint32_t index, rg_device_info *info)
{
    TRY(api_begin_info(info, "rg_device_info"));
    API_GUARDED(enumerate(index, info));
}

bool
api_reaches(const rg_device *device, const void *data)
{
    const rt_memory_table *memory = device->table->memory;
    return !memory || memory->reaches(device->device, data);
}

/* -- queues ------------------------------------------------------------------------------------ */

static rg_status
queue_create(rg_device *device, const rg_queue_desc *desc, rg_queue **queue)
{
    const rt_device_table *table = device->table;
    if (desc->num_threads > RG_MAX_THREADS)
        return api_error(RG_INVALID, "num_threads is %u; a queue has at most %d threads (0: one for each processor)",
                         desc->num_threads, RG_MAX_THREADS);
    if (desc->stream && !table->streams)
        return api_error(RG_INVALID, "device %s has no streams: its launches have ended when they return", table->name);
    rg_queue *q = api_new(API_QUEUE, sizeof(*q));
    mem_owner owns;
    mem_own(&owns, api_free, q);
    rt_queue_desc given = {.tape_budget = desc->tape_budget, .num_threads = desc->num_threads, .stream = desc->stream,
                           .sink = {desc->print, desc->user}};
    str error = {.in = mem_scratch()};
    rg_status status = table->open_queue(device->device, &given, &q->queue, &error);
    mem_disown(&owns);
    if (status) {
        api_free(q);
        return api_error(status, "device %s: %s", table->name, error.ptr ? error.ptr : "no queue can be made");
    }
    q->device = device;
    api_keep(device);
    *queue = q;
    return RG_OK;
}

rg_status
rg_queue_create(rg_device *device, const rg_queue_desc *desc, rg_queue **queue)
{
    rg_queue_desc d;
    API_OUT(queue);
    API_CHECK(device, API_DEVICE, "device");
    API_READ_DESC(&d, desc, rg_queue_desc);
    API_GUARDED(queue_create(device, &d, queue));
}

void
api_queue_release(void *queue)
{
    rg_queue *q = queue;
    if (!api_drop(q))
        return;
    q->device->table->close_queue(q->queue);
    api_device_release(q->device);
    api_free(q);
}

void
rg_queue_destroy(rg_queue *queue)
{
    if (!api_retire(queue, API_QUEUE))
        return;
    api_graph_drop(queue);
    api_queue_release(queue);
}

rt_place
api_place(const rg_queue *queue)
{
    return (rt_place){queue->device->table, queue->queue};
}

rg_status
api_check_home(const rg_queue *queue, const rg_array *array)
{
    if (array->device == queue->device)
        return RG_OK;
    return api_error(RG_INVALID, "%s belongs to another device than the queue", API_SHOWN_NAME(array));
}

void
api_keep_failure(rg_queue *queue, rg_status status)
{
    if (!status || queue->failed)
        return;
    queue->failed = status;
    snprintf(queue->failed_text, sizeof(queue->failed_text), "%s", rg_error_message());
}

rg_status
api_take_failure(rg_queue *queue)
{
    rg_status status = queue->failed;
    queue->failed = RG_OK;
    return status ? api_error(status, "%s", queue->failed_text) : RG_OK;
}

/* A signal handler may ask: handles are looked up under a lock, and messages are the interrupted thread's. */
void
rg_queue_cancel(rg_queue *queue)
{
    if (!queue)
        return;
    __atomic_add_fetch(&queue->cancels, 1, __ATOMIC_RELAXED);
    if (queue->device->table->cancel)
        queue->device->table->cancel(queue->queue);
}

void
api_call_heed(rg_queue *queue)
{
    queue->heeded = __atomic_load_n(&queue->cancels, __ATOMIC_RELAXED);
}

void
api_call_begin(rg_queue *queue)
{
    if (!queue->calls++)
        api_call_heed(queue);
}

void
api_call_end(rg_queue *queue)
{
    queue->calls--;
}

bool
api_call_is_cancelled(const rg_queue *queue)
{
    return __atomic_load_n(&queue->cancels, __ATOMIC_RELAXED) != queue->heeded;
}

uint64_t
rg_queue_tape_peak(const rg_queue *queue)
{
    if (api_check(queue, API_QUEUE, "queue") || !queue->device->table->tape_peak)
        return 0;
    return queue->device->table->tape_peak(queue->queue);
}

/* -- waiting ----------------------------------------------------------------------------------- */

static rg_status
queue_sync(rg_queue *queue)
{
    const rt_stream_table *streams = queue->device->table->streams;
    if (streams) {
        str text = {.in = mem_scratch()};
        TRY(api_error_device(queue->device, streams->sync(queue->queue, &text), &text, "waiting failed"));
    }
    return api_take_failure(queue);
}

static rg_status
guarded_sync(rg_queue *queue)
{
    API_GUARDED(queue_sync(queue));
}

rg_status
rg_queue_sync(rg_queue *queue)
{
    API_CHECK(queue, API_QUEUE, "queue");
    TRY(api_refuse_recording(queue, "rg_queue_sync"));
    return guarded_sync(queue);
}

rg_status
api_wait_for_closed(rg_queue *queue, rg_status status)
{
    bool open = ((const api_handle *)queue)->kind == API_QUEUE;
    return status || open ? status : guarded_sync(queue);
}

static rg_status
queue_wait(rg_queue *queue, rg_queue *other)
{
    const rt_stream_table *streams = queue->device->table->streams, *others = other->device->table->streams;
    if (!others || queue == other) /* it has done what it was given */
        return RG_OK;
    if (streams != others) { /* of another kind: the host waits */
        others->settle(other->device->device);
        return RG_OK;
    }
    str text = {.in = mem_scratch()};
    return api_error_device(queue->device, streams->wait(queue->queue, other->queue, &text), &text,
                            "one queue cannot wait for the other");
}

rg_status
rg_queue_wait(rg_queue *queue, rg_queue *other)
{
    API_CHECK(queue, API_QUEUE, "queue");
    API_CHECK(other, API_QUEUE, "other");
    TRY(api_refuse_recording(queue, "rg_queue_wait"));
    TRY(api_refuse_recording(other, "rg_queue_wait"));
    API_GUARDED(queue_wait(queue, other));
}

static rg_status
set_stream(rg_queue *queue, void *stream)
{
    const rt_stream_table *streams = queue->device->table->streams;
    if (!streams)
        return api_error(RG_INVALID, "device %s has no streams: its launches have ended when they return",
                         queue->device->table->name);
    str text = {.in = mem_scratch()};
    return api_error_device(queue->device, streams->set_stream(queue->queue, stream, &text), &text,
                            "the stream cannot be used");
}

rg_status
rg_queue_set_stream(rg_queue *queue, void *stream)
{
    API_CHECK(queue, API_QUEUE, "queue");
    TRY(api_refuse_recording(queue, "rg_queue_set_stream"));
    API_GUARDED(set_stream(queue, stream));
}

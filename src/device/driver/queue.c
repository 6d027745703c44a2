/* Queues of a GPU: their streams, and how these wait for each other. SPDX-License-Identifier: Apache-2.0 */
#include "device/driver/memory.h"

/* -- recording ----------------------------------------------------------------------------------------------------- */

static bool
is_captured(const rt_device *d, void *stream)
{
    int status = 0;
    return d->driver.capture_status && !d->driver.capture_status(stream, &status) && status;
}

bool
rt_driver_records(rt_queue *q)
{
    void *stream = __atomic_load_n(&q->stream, __ATOMIC_RELAXED);
    return stream == q->own ? __atomic_load_n(&q->recording, __ATOMIC_RELAXED) : is_captured(q->device, stream);
}

bool
rt_driver_any_records(rt_device *d)
{
    for (size_t i = 0; i < d->queues.n; i++)
        if (rt_driver_records(d->queues.at[i]))
            return true;
    return false;
}

/* -- waiting for each other ---------------------------------------------------------------------------------------- */

/* `later` goes on behind all that `stream` was given. The caller's stream may be no more: its launches are known. */
static int
put_behind(rt_queue *q, void *later)
{
    const rt_driver *driver = &q->device->driver;
    void *stream = __atomic_load_n(&q->stream, __ATOMIC_RELAXED);
    int code = driver->event_record(q->behind, stream);
    if (rt_driver_no_handle(driver, code) && q->launched)
        return driver->stream_behind(later, q->launched, 0);
    return code ? code : driver->stream_behind(later, q->behind, 0);
}

void *
rt_driver_behind_all(rt_device *d)
{
    if (d->queues.n == 1)
        return __atomic_load_n(&d->queues.at[0]->stream, __ATOMIC_RELAXED);
    for (size_t i = 0; i < d->queues.n; i++)
        put_behind(d->queues.at[i], d->side);
    return d->side;
}

static rg_status
driver_sync(rt_queue *q, str *error)
{
    rt_entry entry;
    rg_status status = rt_driver_enter(&entry, q, error);
    if (!status && q->recording) {
        str_addz(error, "nothing can be waited for while launches are recorded");
        status = RG_INVALID;
    }
    if (!status)
        status = rt_driver_wait(q, error);
    rt_driver_leave(&entry);
    return status;
}

int
rt_driver_put_between(rt_queue *q, rt_device *other, int (*act)(rt_queue *q, void *user), void *user)
{
    int code = 0;
    for (size_t i = 0; i < other->queues.n && !code; i++)
        code = put_behind(other->queues.at[i], q->stream);
    if (!code)
        code = act(q, user);
    for (size_t i = 0; i < other->queues.n && !code; i++)
        code = put_behind(q, __atomic_load_n(&other->queues.at[i]->stream, __ATOMIC_RELAXED));
    return code ? code : put_behind(q, other->side); /* in which memory is given back where there is no queue */
}

/* The other queue may be of another GPU. */
static rg_status
driver_wait(rt_queue *q, rt_queue *other, str *error)
{
    rt_device *d = q->device;
    rt_entry entry;
    pthread_mutex_lock(&other->device->queues_lock);
    mem_owner locks;
    mem_own(&locks, mem_release_mutex, &other->device->queues_lock);
    rg_status status = rt_driver_enter(&entry, q, error);
    if (!status && other->stream == other->own && rt_driver_records(other)) {
        str_addz(error, "launches are being recorded in the other queue");
        status = RG_INVALID;
    }
    if (!status)
        status = rt_driver_check(d, put_behind(other, q->stream), "let one stream wait for the other", error);
    rt_driver_leave(&entry);
    mem_disown(&locks);
    pthread_mutex_unlock(&other->device->queues_lock);
    return status;
}

/* What is captured cannot wait for what is not, nor the other way round: then the host waits, and a stream that is not
 * captured goes on behind the launches before the capture. */
static int
follow_stream(rt_queue *q, void *stream)
{
    rt_device *d = q->device;
    bool before = is_captured(d, q->stream), after = is_captured(d, stream);
    if (before == after)
        return put_behind(q, stream);
    if (before)
        return q->launched ? d->driver.stream_behind(stream, q->launched, 0) : 0;
    int mode = RT_CAPTURE_RELAXED;
    rt_driver_watch(d, &mode);
    int code = rt_driver_wait_for_stream(q);
    rt_driver_watch(d, &mode);
    return code;
}

static rg_status
check_stream(rt_device *d, void *stream, str *error)
{
    bool owned = true;
    int code = d->driver.maker->owns(d, stream, &owned);
    if (owned)
        return rt_driver_check(d, code, "use the stream", error);
    str_addz(error, "the stream does not belong to the primary context of this GPU");
    return RG_INVALID;
}

static rg_status
change_stream(rt_queue *q, void *stream, str *error)
{
    rt_device *d = q->device;
    int code = 0;
    if (stream != q->own)
        TRY(check_stream(d, stream, error));
    if (stream != q->own && !q->launched)
        code = d->driver.event_create(&q->launched, RT_EVENT_UNTIMED);
    if (!code)
        code = follow_stream(q, stream);
    TRY(rt_driver_check(d, code, "go on in another stream", error));
    __atomic_store_n(&q->stream, stream, __ATOMIC_RELAXED);
    __atomic_store_n(&q->recording, stream != q->own && is_captured(d, stream), __ATOMIC_RELAXED);
    return RG_OK;
}

static rg_status
driver_set_stream(rt_queue *q, void *stream, str *error)
{
    rt_device *d = q->device;
    rt_entry entry;
    mem_owner locks; /* who gives memory back looks at the stream */
    pthread_mutex_lock(&d->queues_lock);
    mem_own(&locks, mem_release_mutex, &d->queues_lock);
    rg_status status = rt_driver_enter(&entry, q, error);
    stream = stream ? stream : q->own;
    if (!status && stream != q->stream)
        status = change_stream(q, stream, error);
    rt_driver_leave(&entry);
    mem_disown(&locks);
    pthread_mutex_unlock(&d->queues_lock);
    return status;
}

static void
driver_settle(rt_device *d)
{
    rt_entry entry;
    rt_driver_enter_to_release(&entry, d, NULL);
    pthread_mutex_lock(&d->queues_lock);
    int mode = RT_CAPTURE_RELAXED;
    rt_driver_watch(d, &mode);
    for (size_t i = 0; i < d->queues.n; i++) {
        rt_queue *q = d->queues.at[i];
        if (!rt_driver_records(q))
            rt_driver_wait_for_stream(q);
        else if (q->launched) /* what was launched before the capture */
            d->driver.event_wait(q->launched);
    }
    rt_driver_watch(d, &mode);
    pthread_mutex_unlock(&d->queues_lock);
    rt_driver_leave(&entry);
}

const rt_stream_table rt_driver_streams = {
    .sync = driver_sync, .wait = driver_wait, .set_stream = driver_set_stream, .settle = driver_settle};

/* -- opening ------------------------------------------------------------------------------------------------------- */

static rg_status
open_streams(rt_queue *q, void *callers, str *error)
{
    rt_device *d = q->device;
    int code = d->driver.stream_create(&q->side, RT_STREAM_ALONE);
    if (!code)
        code = d->driver.stream_create(&q->own, RT_STREAM_ALONE);
    q->stream = q->own;
    if (!code)
        code = d->driver.event_create(&q->behind, RT_EVENT_UNTIMED);
    TRY(rt_driver_check(d, code, "make a stream", error));
    return callers ? change_stream(q, callers, error) : RG_OK;
}

static rg_status
open_scratch(rt_queue *q, str *error)
{
    rt_device *d = q->device;
    uint64_t each = sizeof(uint64_t) * d->warps, partials = 2 * RT_GPU_CELLS * each, notes = RT_GPU_NOTES * each;
    TRY(rt_driver_take(q, partials, q->side, &q->partials, error));
    TRY(rt_driver_take(q, notes, q->side, &q->again, error));
    int code = d->driver.fill8(q->partials, 0, partials, q->side);
    if (!code)
        code = d->driver.fill8(q->again, 0, notes, q->side);
    if (!code)
        code = d->driver.stream_wait(q->side);
    return rt_driver_check(d, code, "clear device memory", error);
}

/* From now on memory is given back behind what this queue does. */
static void
enlist(rt_queue *q)
{
    rt_device *d = q->device;
    mem_owner locks;
    pthread_mutex_lock(&d->queues_lock);
    mem_own(&locks, mem_release_mutex, &d->queues_lock);
    vec_push(&d->queues, q);
    mem_disown(&locks);
    pthread_mutex_unlock(&d->queues_lock);
}

static rg_status
open_all(rt_queue *q, const rt_queue_desc *desc, str *error)
{
    rt_entry entry;
    rg_status status = rt_driver_enter(&entry, q, error);
    if (!status)
        status = open_streams(q, desc->stream, error);
    if (!status)
        status = open_scratch(q, error);
    if (!status)
        status = rt_driver_report_open(q, error);
    if (!status)
        status = rt_driver_tape_open(q, desc->tape_budget, error);
    rt_driver_leave(&entry);
    return status;
}

static void
close_queue(void *queue)
{
    rt_driver_close_queue(queue);
}

rg_status
rt_driver_open_queue(rt_device *d, const rt_queue_desc *desc, rt_queue **queue, str *error)
{
    rt_queue *q = mem_zalloc(sizeof(*q));
    mem_owner owns;
    q->device = d;
    q->sink = desc->sink;
    pthread_mutex_init(&q->lock, NULL);
    mem_own(&owns, close_queue, q);
    rg_status status = open_all(q, desc, error);
    if (!status)
        enlist(q);
    mem_disown(&owns);
    if (status)
        rt_driver_close_queue(q);
    else
        *queue = q;
    return status;
}

/* -- closing ------------------------------------------------------------------------------------------------------- */

static void
delist(rt_queue *q)
{
    rt_device *d = q->device;
    pthread_mutex_lock(&d->queues_lock);
    for (size_t i = 0; i < d->queues.n; i++)
        if (d->queues.at[i] == q)
            d->queues.at[i] = vec_pop(&d->queues);
    pthread_mutex_unlock(&d->queues_lock);
}

/* What it was given ends, and is told, while the device still knows of the queue: memory that it uses stays. */
static void
end_all(rt_queue *q)
{
    const rt_driver *driver = &q->device->driver;
    void *recorded = NULL;
    if (q->recording && q->stream == q->own) {
        if (!driver->capture_end(q->stream, &recorded) && recorded)
            driver->graph_drop(recorded);
        __atomic_sub_fetch(&q->device->recorders, 1, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&q->recording, false, __ATOMIC_RELAXED);
    if (q->report)
        rt_driver_settle(q);
    else if (q->stream)
        rt_driver_wait_for_stream(q);
}

/* Also of a device that is lost: the driver then refuses what is asked of it, which no longer matters. */
static void
close_all(rt_queue *q)
{
    rt_device *d = q->device;
    const rt_driver *driver = &d->driver;
    uint64_t scratch[] = {q->partials, q->again};
    for (size_t i = 0; i < countof(scratch); i++)
        if (scratch[i])
            rt_driver_give_own(q, scratch[i]);
    for (size_t i = 0; i < q->seats.n; i++)
        rt_driver_give_seat(q, &q->seats.at[i]);
    rt_driver_tape_close(q);
    rt_driver_report_close(q);
    rt_driver_transfer_close(q);
    if (q->own)
        driver->stream_wait(q->own);
    void *streams[] = {q->own, q->side}, *events[] = {q->behind, q->launched};
    for (size_t i = 0; i < countof(streams); i++)
        if (streams[i])
            driver->stream_destroy(streams[i]);
    for (size_t i = 0; i < countof(events); i++)
        if (events[i])
            driver->event_destroy(events[i]);
}

void
rt_driver_close_queue(rt_queue *q)
{
    rt_entry entry;
    rt_driver_enter_to_release(&entry, q->device, q);
    end_all(q);
    rt_driver_leave(&entry);
    delist(q);
    rt_driver_enter_to_release(&entry, q->device, q);
    close_all(q);
    rt_driver_leave(&entry);
    mem_free(q->next_graph);
    vec_free(&q->seats);
    str_free(&q->failure);
    pthread_mutex_destroy(&q->lock);
    mem_free(q);
}

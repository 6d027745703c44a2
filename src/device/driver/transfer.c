/* Copies between the host and a GPU. SPDX-License-Identifier: Apache-2.0
 *
 * A GPU reads and writes pinned memory of the host by itself, while the host does something else; all other memory the
 * driver copies through pinned memory of its own, while the host waits, as who reads does anyhow. So:
 *
 *   stages     two pieces of pinned memory, through which what the caller writes goes: one is filled while the
 *              other is on its way. What is written next goes into the same piece until that is full, so that a small
 *              write is one small copy and waits for nothing.
 *   direct     memory of the caller's that is pinned, if it is much
 *   pinned     copies of arrays that the API maps, and keeps here for the next time: to pin memory takes as long as to
 *              copy it through a stage
 *   pageable   where there is no pinned memory: as the driver does it */
#include "device/driver/memory.h"

#include <unistd.h>

enum {
    STAGE = 1 << 22, /* long enough for the bus's full speed, short enough to copy one while the other is on its way */
    STAGE_ALIGN = 64,
    DIRECT = 1 << 18,      /* from so many bytes on the driver is asked what memory it is */
    PINNED_FROM = 1 << 20, /* smaller ones go through a stage in little time */
    PINNED_STEP = 1 << 20,
    PINNED_SHARE = 4,       /* of the host's memory, at most */
    PINNED_FREE_SHARE = 16, /* of what is kept for the next time */
    PINNED_FREE = 1 << 30   /* ... and so many bytes at most */
};

/* -- stages -------------------------------------------------------------------------------------------------------- */

/* false: there is no pinned memory (any more) */
static bool
open_stage(rt_queue *q, rt_stage *stage)
{
    void *memory = NULL;
    if (stage->memory)
        return true;
    if (!stage->event && q->device->driver.event_create(&stage->event, RT_EVENT_UNTIMED))
        stage->event = NULL;
    if (stage->event && !q->device->driver.host_allocate(&memory, STAGE, 0))
        stage->memory = memory;
    return stage->memory != NULL;
}

/* The other stage, or if there is but one the same again, as soon as what it held last has been read. */
static rg_status
turn_stage(rt_queue *q, str *error)
{
    rt_stage *full = &q->stage[q->now];
    rg_status status = RG_OK;
    if (full->memory) {
        status = rt_driver_check(q->device, q->device->driver.event_record(full->event, q->stream), "mark the stream", error);
        full->pending = !status;
    }
    if (!status && full->memory && open_stage(q, &q->stage[q->now ^ 1]))
        q->now ^= 1;
    rt_stage *next = &q->stage[q->now];
    if (!status && next->pending)
        status = rt_driver_check(q->device, q->device->driver.event_wait(next->event), "wait for a copy", error);
    next->pending = next->pending && status;
    next->used = 0;
    return status;
}

static rg_status
write_staged(rt_queue *q, uint64_t to, const char *host, size_t bytes, str *error)
{
    rg_status status = RG_OK;
    while (bytes && !status) {
        rt_stage *stage = &q->stage[q->now];
        size_t room = STAGE - stage->used;
        if (!room) {
            status = turn_stage(q, error);
            continue;
        }
        size_t n = bytes < room ? bytes : room;
        memcpy(stage->memory + stage->used, host, n);
        status = rt_driver_check(q->device, q->device->driver.write(to, stage->memory + stage->used, n, q->stream), "write device memory",
                               error);
        stage->used = (stage->used + n + STAGE_ALIGN - 1) & ~(size_t)(STAGE_ALIGN - 1);
        to += n;
        host += n;
        bytes -= n;
    }
    return status;
}

/* -- pinned memory that lives longer ------------------------------------------------------------------------------- */

static rt_pinned *
find_pinned(rt_queue *q, const void *memory)
{
    for (size_t i = 0; i < q->pinned.n; i++)
        if (map_ptr(memory) - map_ptr(q->pinned.at[i].memory) < q->pinned.at[i].bytes)
            return &q->pinned.at[i];
    return NULL;
}

static uint64_t
pinned_bytes(const rt_queue *q, bool unused)
{
    uint64_t all = 0;
    for (size_t i = 0; i < q->pinned.n; i++)
        all += unused && q->pinned.at[i].used ? 0 : q->pinned.at[i].bytes;
    return all;
}

/* Copies from what nobody uses any more may still be under way. */
static void
drop_unused(rt_queue *q, uint64_t keep)
{
    uint64_t left = pinned_bytes(q, true);
    if (left <= keep || rt_driver_records(q) || q->device->driver.stream_wait(q->stream))
        return;
    for (size_t i = 0; i < q->pinned.n && left > keep;) {
        rt_pinned *p = &q->pinned.at[i];
        if (p->used) {
            i++;
            continue;
        }
        left -= p->bytes;
        q->device->driver.host_release(p->memory);
        *p = vec_pop(&q->pinned);
    }
}

/* The smallest that nobody uses and that is not much too large; NULL: there is none. */
static rt_pinned *
find_unused(rt_queue *q, size_t bytes)
{
    rt_pinned *best = NULL;
    for (size_t i = 0; i < q->pinned.n; i++) {
        rt_pinned *p = &q->pinned.at[i];
        if (!p->used && p->bytes >= bytes && p->bytes / 2 <= bytes && (!best || p->bytes < best->bytes))
            best = p;
    }
    return best;
}

static uint64_t
hosts_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
}

static void *
pin(rt_queue *q, size_t bytes)
{
    uint64_t most = hosts_memory() / PINNED_SHARE;
    void *memory = NULL;
    rt_pinned *unused = find_unused(q, bytes);
    if (unused) {
        unused->used = true;
        return unused->memory;
    }
    bytes = (bytes + PINNED_STEP - 1) / PINNED_STEP * PINNED_STEP;
    if (bytes > most)
        return NULL;
    drop_unused(q, most - bytes);
    vec_reserve(&q->pinned, q->pinned.n + 1);
    if (pinned_bytes(q, false) > most - bytes)
        return NULL;
    if (q->device->driver.host_allocate(&memory, bytes, 0)) {
        drop_unused(q, 0);
        if (q->device->driver.host_allocate(&memory, bytes, 0))
            return NULL;
    }
    q->pinned.at[q->pinned.n++] = (rt_pinned){memory, bytes, true};
    return memory;
}

void *
rt_driver_take_pinned(rt_queue *q, size_t bytes)
{
    rt_entry entry;
    void *memory = NULL;
    if (bytes < PINNED_FROM)
        return NULL;
    if (!rt_driver_enter(&entry, q, NULL))
        memory = pin(q, bytes);
    rt_driver_leave(&entry);
    return memory;
}

void
rt_driver_give_pinned(rt_queue *q, void *memory)
{
    rt_entry entry;
    uint64_t keep = hosts_memory() / PINNED_FREE_SHARE;
    rt_driver_enter_to_release(&entry, q->device, q);
    rt_pinned *p = find_pinned(q, memory);
    assert(p && "memory of take_pinned's");
    p->used = false;
    drop_unused(q, keep < PINNED_FREE ? keep : PINNED_FREE);
    rt_driver_leave(&entry);
}

void
rt_driver_transfer_close(rt_queue *q)
{
    for (unsigned i = 0; i < countof(q->stage); i++) {
        if (q->stage[i].memory)
            q->device->driver.host_release(q->stage[i].memory);
        if (q->stage[i].event)
            q->device->driver.event_destroy(q->stage[i].event);
        q->stage[i] = (rt_stage){0};
    }
    for (size_t i = 0; i < q->pinned.n; i++)
        q->device->driver.host_release(q->pinned.at[i].memory);
    vec_free(&q->pinned);
}

/* -- all ways ------------------------------------------------------------------------------------------------------ */

/* whether the GPU reaches that memory of the caller's by itself, and it is much enough to ask */
static bool
is_direct(rt_queue *q, const void *host, size_t bytes)
{
    unsigned kind = 0;
    return bytes >= DIRECT && !rt_driver_ask_memory(&q->device->driver, &kind, RT_POINTER_KIND, map_ptr(host)) && kind == 1;
}

rg_status
rt_driver_write(rt_queue *q, uint64_t to, const char *host, size_t bytes, str *error)
{
    rg_status status = rt_driver_refuse_recording(q, "written", error);
    if (status || !bytes)
        return status;
    bool ours = find_pinned(q, host), direct = ours || is_direct(q, host, bytes);
    if (!direct && open_stage(q, &q->stage[q->now]))
        return write_staged(q, to, host, bytes, error);
    status = rt_driver_check(q->device, q->device->driver.write(to, host, bytes, q->stream), "write device memory", error);
    if (!status && direct && !ours)
        status = rt_driver_check(q->device, q->device->driver.stream_wait(q->stream), "wait for a copy", error);
    return status;
}

rg_status
rt_driver_write_all(rt_queue *q, void *to, const void *host, size_t bytes, str *error)
{
    rt_entry entry;
    rg_status status = rt_driver_enter(&entry, q, error);
    if (!status)
        status = rt_driver_write(q, map_ptr(to), host, bytes, error);
    rt_driver_leave(&entry);
    return status;
}

static rg_status
read_anyhow(rt_queue *q, char *host, uint64_t from, size_t bytes, str *error)
{
    rg_status status = rt_driver_refuse_recording(q, "read", error);
    if (status)
        return status;
    if (bytes)
        status = rt_driver_check(q->device, q->device->driver.read(host, from, bytes, q->stream), "read device memory", error);
    return status ? status : rt_driver_wait(q, error);
}

rg_status
rt_driver_read_all(rt_queue *q, void *host, const void *from, size_t bytes, str *error)
{
    rt_entry entry;
    rg_status status = rt_driver_enter(&entry, q, error);
    if (!status)
        status = read_anyhow(q, host, map_ptr(from), bytes, error);
    rt_driver_leave(&entry);
    return status;
}

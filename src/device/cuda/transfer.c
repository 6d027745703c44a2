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
#include "device/cuda/memory.h"

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
open_stage(rt_device *d, rt_stage *stage)
{
    void *memory = NULL;
    if (stage->memory)
        return true;
    if (!stage->event && d->driver.event_create(&stage->event, RT_EVENT_UNTIMED))
        stage->event = NULL;
    if (stage->event && !d->driver.host_allocate(&memory, STAGE, 0))
        stage->memory = memory;
    return stage->memory != NULL;
}

/* The other stage, or if there is but one the same again, as soon as what it held last has been read. */
static rg_status
turn_stage(rt_device *d, str *error)
{
    rt_stage *full = &d->stage[d->now];
    rg_status status = RG_OK;
    if (full->memory) {
        status = rt_cuda_check(d, d->driver.event_record(full->event, d->stream), "mark the stream", error);
        full->pending = !status;
    }
    if (!status && full->memory && open_stage(d, &d->stage[d->now ^ 1]))
        d->now ^= 1;
    rt_stage *next = &d->stage[d->now];
    if (!status && next->pending)
        status = rt_cuda_check(d, d->driver.event_wait(next->event), "wait for a copy", error);
    next->pending = next->pending && status;
    next->used = 0;
    return status;
}

static rg_status
write_staged(rt_device *d, uint64_t to, const char *host, size_t bytes, str *error)
{
    rg_status status = RG_OK;
    while (bytes && !status) {
        rt_stage *stage = &d->stage[d->now];
        size_t room = STAGE - stage->used;
        if (!room) {
            status = turn_stage(d, error);
            continue;
        }
        size_t n = bytes < room ? bytes : room;
        memcpy(stage->memory + stage->used, host, n);
        status = rt_cuda_check(d, d->driver.write(to, stage->memory + stage->used, n, d->stream), "write device memory",
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
find_pinned(rt_device *d, const void *memory)
{
    for (size_t i = 0; i < d->pinned.n; i++)
        if (map_ptr(memory) - map_ptr(d->pinned.at[i].memory) < d->pinned.at[i].bytes)
            return &d->pinned.at[i];
    return NULL;
}

static uint64_t
pinned_bytes(const rt_device *d, bool unused)
{
    uint64_t all = 0;
    for (size_t i = 0; i < d->pinned.n; i++)
        all += unused && d->pinned.at[i].used ? 0 : d->pinned.at[i].bytes;
    return all;
}

/* Copies from what nobody uses any more may still be under way. */
static void
drop_unused(rt_device *d, uint64_t keep)
{
    uint64_t left = pinned_bytes(d, true);
    if (left <= keep || d->recording || d->driver.stream_wait(d->stream))
        return;
    for (size_t i = 0; i < d->pinned.n && left > keep;) {
        rt_pinned *p = &d->pinned.at[i];
        if (p->used) {
            i++;
            continue;
        }
        left -= p->bytes;
        d->driver.host_release(p->memory);
        *p = vec_pop(&d->pinned);
    }
}

/* The smallest that nobody uses and that is not much too large; NULL: there is none. */
static rt_pinned *
find_unused(rt_device *d, size_t bytes)
{
    rt_pinned *best = NULL;
    for (size_t i = 0; i < d->pinned.n; i++) {
        rt_pinned *p = &d->pinned.at[i];
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
pin(rt_device *d, size_t bytes)
{
    uint64_t most = hosts_memory() / PINNED_SHARE;
    void *memory = NULL;
    rt_pinned *unused = find_unused(d, bytes);
    if (unused) {
        unused->used = true;
        return unused->memory;
    }
    bytes = (bytes + PINNED_STEP - 1) / PINNED_STEP * PINNED_STEP;
    if (bytes > most)
        return NULL;
    drop_unused(d, most - bytes);
    vec_reserve(&d->pinned, d->pinned.n + 1);
    if (pinned_bytes(d, false) > most - bytes)
        return NULL;
    if (d->driver.host_allocate(&memory, bytes, 0)) {
        drop_unused(d, 0);
        if (d->driver.host_allocate(&memory, bytes, 0))
            return NULL;
    }
    d->pinned.at[d->pinned.n++] = (rt_pinned){memory, bytes, true};
    return memory;
}

void *
rt_cuda_take_pinned(rt_device *d, size_t bytes)
{
    rt_entry entry;
    void *memory = NULL;
    if (bytes < PINNED_FROM)
        return NULL;
    if (!rt_cuda_enter(&entry, d, NULL))
        memory = pin(d, bytes);
    rt_cuda_leave(&entry);
    return memory;
}

void
rt_cuda_give_pinned(rt_device *d, void *memory)
{
    rt_entry entry;
    uint64_t keep = hosts_memory() / PINNED_FREE_SHARE;
    rt_pinned *p = find_pinned(d, memory);
    assert(p && "memory of take_pinned's");
    p->used = false;
    rt_cuda_enter_to_release(&entry, d);
    drop_unused(d, keep < PINNED_FREE ? keep : PINNED_FREE);
    rt_cuda_leave(&entry);
}

void
rt_cuda_transfer_close(rt_device *d)
{
    for (unsigned i = 0; i < countof(d->stage); i++) {
        if (d->stage[i].memory)
            d->driver.host_release(d->stage[i].memory);
        if (d->stage[i].event)
            d->driver.event_destroy(d->stage[i].event);
        d->stage[i] = (rt_stage){0};
    }
    for (size_t i = 0; i < d->pinned.n; i++)
        d->driver.host_release(d->pinned.at[i].memory);
    vec_free(&d->pinned);
}

/* -- all ways ------------------------------------------------------------------------------------------------------ */

/* whether the GPU reaches that memory of the caller's by itself, and it is much enough to ask */
static bool
is_direct(rt_device *d, const void *host, size_t bytes)
{
    unsigned kind = 0;
    return bytes >= DIRECT && !d->driver.pointer_attribute(&kind, RT_POINTER_KIND, map_ptr(host)) && kind == 1;
}

rg_status
rt_cuda_write(rt_device *d, uint64_t to, const char *host, size_t bytes, str *error)
{
    rg_status status = rt_cuda_refuse_recording(d, "written", error);
    if (status || !bytes)
        return status;
    bool ours = find_pinned(d, host), direct = ours || is_direct(d, host, bytes);
    if (!direct && open_stage(d, &d->stage[d->now]))
        return write_staged(d, to, host, bytes, error);
    status = rt_cuda_check(d, d->driver.write(to, host, bytes, d->stream), "write device memory", error);
    if (!status && direct && !ours)
        status = rt_cuda_check(d, d->driver.stream_wait(d->stream), "wait for a copy", error);
    return status;
}

rg_status
rt_cuda_write_all(rt_device *d, void *to, const void *host, size_t bytes, str *error)
{
    rt_entry entry;
    rg_status status = rt_cuda_enter(&entry, d, error);
    if (!status)
        status = rt_cuda_write(d, map_ptr(to), host, bytes, error);
    rt_cuda_leave(&entry);
    return status;
}

static rg_status
read_anyhow(rt_device *d, char *host, uint64_t from, size_t bytes, str *error)
{
    rg_status status = rt_cuda_refuse_recording(d, "read", error);
    if (status)
        return status;
    if (bytes)
        status = rt_cuda_check(d, d->driver.read(host, from, bytes, d->stream), "read device memory", error);
    return status ? status : rt_cuda_wait(d, error);
}

rg_status
rt_cuda_read_all(rt_device *d, void *host, const void *from, size_t bytes, str *error)
{
    rt_entry entry;
    rg_status status = rt_cuda_enter(&entry, d, error);
    if (!status)
        status = read_anyhow(d, host, map_ptr(from), bytes, error);
    rt_cuda_leave(&entry);
    return status;
}

/* Memory for tape pages: little at first, up to the budget as launches need it. SPDX-License-Identifier: Apache-2.0 */
#include "device/driver/memory.h"

enum { SHARE = 4, /* of the free memory, when no budget is given */ PATIENCE = 64 /* launches */ };

static const rt_driver_memory_desc *
kind_of_memory(const rt_device *d, rt_driver_memory_desc *kind)
{
    *kind = (rt_driver_memory_desc){.kind = RT_MEMORY_PINNED, .location = {RT_AT_DEVICE, d->device}};
    return kind;
}

static uint64_t
rounded(uint64_t bytes, uint64_t step)
{
    return (bytes + step - 1) / step * step;
}

/* Addresses for all that the pool can ever take; where there are none it goes on without. */
static void
reserve(rt_queue *q)
{
    rt_device *d = q->device;
    const rt_driver *driver = &d->driver;
    rt_tape *t = &q->tape;
    rt_driver_memory_desc kind;
    int supported = 0;
    size_t step = 0;
    if (!driver->range_reserve || !driver->range_free || !driver->range_granularity || !driver->range_create ||
        !driver->range_release || !driver->range_map || !driver->range_unmap || !driver->range_access ||
        driver->device_attribute(&supported, driver->maker->attributes.ranges, d->device) || !supported ||
        driver->range_granularity(&step, kind_of_memory(d, &kind), 0) || !step)
        return;
    step = rounded(step, RT_GPU_PAGE);
    if (driver->range_reserve(&t->address, rounded(t->most, step), 0, 0, 0))
        return;
    t->reserved = rounded(t->most, step);
    t->step = step;
}

rg_status
rt_driver_tape_open(rt_queue *q, uint64_t budget, str *error)
{
    rt_device *d = q->device;
    size_t left = 0, total = 0;
    TRY(rt_driver_check(d, d->driver.memory_free(&left, &total), "ask for the free memory", error));
    budget = budget ? budget : left / SHARE;
    q->tape.budget = budget < total ? budget : total;
    q->tape.most = total;
    q->tape.step = RT_GPU_PAGE;
    reserve(q);
    return RG_OK;
}

void
rt_driver_tape_close(rt_queue *q)
{
    rt_device *d = q->device;
    rt_tape *t = &q->tape;
    uint64_t at = t->address;
    for (size_t i = 0; i < t->parts.n; i++) {
        d->driver.range_unmap(at, t->parts.at[i].bytes);
        d->driver.range_release(t->parts.at[i].handle);
        at += t->parts.at[i].bytes;
    }
    if (t->reserved)
        d->driver.range_free(t->address, t->reserved);
    else if (t->memory)
        d->driver.release(t->memory);
    vec_free(&t->parts);
    *t = (rt_tape){0};
}

/* more memory behind the addresses */
static int
map_more(rt_queue *q, uint64_t bytes)
{
    rt_device *d = q->device;
    const rt_driver *driver = &d->driver;
    rt_tape *t = &q->tape;
    rt_driver_memory_desc kind;
    rt_driver_access_desc access = {{RT_AT_DEVICE, d->device}, RT_ACCESS_ALL};
    uint64_t handle, at = t->address + t->mapped;
    vec_reserve(&t->parts, t->parts.n + 1);
    int code = driver->range_create(&handle, bytes, kind_of_memory(d, &kind), 0);
    if (code)
        return code;
    code = driver->range_map(at, bytes, 0, handle, 0);
    if (!code && (code = driver->range_access(at, bytes, &access, 1)))
        driver->range_unmap(at, bytes);
    if (code) {
        driver->range_release(handle);
        return code;
    }
    t->parts.n++;
    vec_last(&t->parts).handle = handle;
    vec_last(&t->parts).bytes = bytes;
    t->mapped += bytes;
    return 0;
}

static int
take_anew(rt_queue *q, uint64_t bytes)
{
    rt_device *d = q->device;
    rt_tape *t = &q->tape;
    uint64_t memory;
    if (t->memory && rt_driver_has_args(d)) /* a graph's launches know where it is, and are not told any more */
        return 0;
    int code = d->driver.allocate(&memory, bytes + RT_GPU_PAGE);
    if (code)
        return code;
    if (t->memory)
        d->driver.release(t->memory);
    t->memory = memory;
    t->address = rounded(memory, RT_GPU_PAGE);
    t->mapped = bytes;
    return 0;
}

/* the records of all programs that the queue has launched say where the pool is */
static int
tell_seats(rt_queue *q)
{
    rt_device *d = q->device;
    const rt_tape *t = &q->tape;
    struct { uint64_t address, pages; } pool = {t->address, t->mapped / RT_GPU_PAGE};
    _Static_assert(offsetof(rt_gpu_launch, pages) == offsetof(rt_gpu_launch, pool) + 8, "one copy for both");
    int code = 0;
    for (size_t i = 0; i < q->seats.n && !code; i++)
        if (q->seats.at[i].record)
            code = d->driver.write(q->seats.at[i].record + offsetof(rt_gpu_launch, pool), &pool, sizeof(pool), q->side);
    return code ? code : d->driver.stream_wait(q->side);
}

/* Launches go on with what their records say, and must end first. Where we record, all have ended before. */
static int
wait_for_launches(rt_queue *q)
{
    rt_device *d = q->device;
    if (!q->recording)
        return d->driver.stream_wait(q->stream);
    return q->launched ? d->driver.event_wait(q->launched) : 0;
}

/* The bytes that the pool is to have: what is asked for, but no more than half of what is free, since arrays and other
 * programs need room as well. What was refused is asked for again now and then, when there is much more room. */
static uint64_t
reasonable(rt_queue *q, uint64_t bytes)
{
    rt_device *d = q->device;
    rt_tape *t = &q->tape;
    size_t left = 0, total = 0;
    if (t->refused && bytes >= t->refused && t->patience-- > 0)
        return t->mapped;
    if (d->pool) /* what arrays have given back is free, too */
        d->driver.pool_trim(d->pool, 0);
    if (d->driver.memory_free(&left, &total))
        return t->mapped;
    uint64_t more = bytes - t->mapped, room = left / 2;
    bool again = t->refused && bytes >= t->refused;
    t->refused = room < more ? bytes : 0;
    t->patience = PATIENCE;
    if (again && room < more / 2)
        return t->mapped;
    return room < more ? t->mapped + room / t->step * t->step : bytes;
}

/* where so much is not to be had in one piece, half of it may be */
static int
take_most(rt_queue *q, uint64_t bytes)
{
    rt_tape *t = &q->tape;
    uint64_t least = t->mapped;
    int code = RT_DRIVER_OUT_OF_MEMORY;
    for (; bytes > least; bytes = least + (bytes - least) / 2 / t->step * t->step) {
        code = t->reserved ? map_more(q, bytes - least) : take_anew(q, bytes);
        if (code != RT_DRIVER_OUT_OF_MEMORY)
            break;
        t->refused = t->refused ? t->refused : bytes;
    }
    return code == RT_DRIVER_OUT_OF_MEMORY && least ? 0 : code;
}

rg_status
rt_driver_tape_grow(rt_queue *q, uint64_t bytes, str *error)
{
    rt_device *d = q->device;
    rt_tape *t = &q->tape;
    uint64_t most = t->reserved ? t->reserved : t->most;
    bytes = rounded(bytes < most ? bytes : most, t->step);
    if (bytes <= t->mapped)
        return RG_OK;
    int mode = RT_CAPTURE_RELAXED, code = 0;
    rt_driver_watch(d, &mode);
    uint64_t room = reasonable(q, bytes);
    if (room > t->mapped || !t->mapped) {
        code = wait_for_launches(q);
        code = code ? code : take_most(q, room);
        code = code ? code : tell_seats(q);
    }
    rt_driver_watch(d, &mode);
    if (code == RT_DRIVER_OUT_OF_MEMORY)
        return rt_driver_no_memory(q, bytes - t->mapped, error);
    return rt_driver_check(d, code, "take memory for the tape", error);
}

rg_status
rt_driver_tape_follow(rt_queue *q, str *error)
{
    const rt_tape *t = &q->tape;
    uint64_t used = (uint64_t)__atomic_load_n(&q->report->pages, __ATOMIC_RELAXED) * RT_GPU_PAGE;
    if (used < t->mapped / 2 || t->mapped >= t->budget)
        return RG_OK;
    return rt_driver_tape_grow(q, 2 * t->mapped < t->budget ? 2 * t->mapped : t->budget, error);
}

/* Memory of a GPU: taken and given back in the order of the stream, copied and filled there.
 * SPDX-License-Identifier: Apache-2.0 */
#include "device/driver/memory.h"

/* -- taking and giving back ---------------------------------------------------------------------------------------- */

rg_status
rt_driver_pool_open(rt_device *d, str *error)
{
    const rt_driver *driver = &d->driver;
    int supported = 0;
    if (!driver->pool_create || !driver->pool_destroy || !driver->pool_set || !driver->pool_trim ||
        !driver->pool_allocate || !driver->pool_release ||
        driver->device_attribute(&supported, driver->maker->attributes.pools, d->device) || !supported)
        return RG_OK;
    rt_driver_pool_desc properties = {.kind = RT_MEMORY_PINNED, .location = {RT_AT_DEVICE, d->device}};
    TRY(rt_driver_check(d, driver->pool_create(&d->pool, &properties), "make a memory pool", error));
    uint64_t all = UINT64_MAX;
    return rt_driver_check(d, driver->pool_set(d->pool, RT_POOL_KEEPS, &all), "set up a memory pool", error);
}

void
rt_driver_pool_close(rt_device *d)
{
    if (d->pool)
        d->driver.pool_destroy(d->pool);
    d->pool = NULL;
}

rg_status
rt_driver_refuse_recording(rt_queue *q, const char *what, str *error)
{
    if (!q->recording)
        return RG_OK;
    str_addf(error, "device memory cannot be %s while launches are recorded", what);
    return RG_INVALID;
}

static int
take(rt_device *d, size_t bytes, void *stream, uint64_t *address)
{
    return d->pool ? d->driver.pool_allocate(address, bytes, d->pool, stream) : d->driver.allocate(address, bytes);
}

rg_status
rt_driver_no_memory(rt_queue *q, size_t bytes, str *error)
{
    rt_device *d = q->device;
    size_t left = 0, total = 0;
    if (d->driver.memory_free(&left, &total))
        left = 0;
    str_addf(error, "the GPU has no room for %zu bytes: %zu of %zu are free", bytes, left, total);
    if (q->tape.mapped)
        str_addf(error, "\nthe queue's pool for tapes and temporary arrays holds %llu: rg_queue_desc.tape_budget bounds it",
                 (unsigned long long)q->tape.mapped);
    return RG_OUT_OF_MEMORY;
}

/* So that giving back asks for no memory. */
static void
count_taken(rt_device *d)
{
    mem_owner locks;
    pthread_mutex_lock(&d->lock);
    mem_own(&locks, mem_release_mutex, &d->lock);
    vec_reserve(&d->later_memory, d->taken + 1);
    d->taken++;
    mem_disown(&locks);
    pthread_mutex_unlock(&d->lock);
}

static void
count_given(rt_device *d)
{
    pthread_mutex_lock(&d->lock);
    d->taken--;
    pthread_mutex_unlock(&d->lock);
}

rg_status
rt_driver_take(rt_queue *q, size_t bytes, void *stream, uint64_t *address, str *error)
{
    rt_device *d = q->device;
    bytes = bytes ? bytes : 1;
    count_taken(d);
    int code = take(d, bytes, stream, address);
    if (code == RT_DRIVER_OUT_OF_MEMORY && !q->recording) {
        /* what was given back in the order of a stream is there only after a wait */
        code = d->driver.stream_wait(q->stream);
        if (!code)
            code = d->driver.stream_wait(d->side);
        if (!code && d->pool)
            d->driver.pool_trim(d->pool, 0);
        if (!code)
            code = take(d, bytes, stream, address);
    }
    if (code)
        count_given(d);
    if (code == RT_DRIVER_OUT_OF_MEMORY)
        return rt_driver_no_memory(q, bytes, error);
    return rt_driver_check(d, code, "take device memory", error);
}

static void
wait_for_all(rt_device *d)
{
    for (size_t i = 0; i < d->queues.n; i++)
        rt_driver_wait_for_stream(d->queues.at[i]);
}

void
rt_driver_give_now(rt_device *d, uint64_t address)
{
    count_given(d);
    if (!d->pool)
        wait_for_all(d);
    if (!d->pool || rt_driver_no_handle(&d->driver, d->driver.pool_release(address, rt_driver_behind_all(d))))
        d->driver.release(address); /* a caller's stream that is no more */
}

/* There is room: taking it made that. */
static void
give_later(rt_device *d, uint64_t address)
{
    pthread_mutex_lock(&d->lock);
    d->later_memory.at[d->later_memory.n++] = address;
    __atomic_store_n(&d->waits, true, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&d->lock);
}

void
rt_driver_give(rt_device *d, uint64_t address)
{
    pthread_mutex_lock(&d->queues_lock);
    if (rt_driver_any_records(d))
        give_later(d, address);
    else
        rt_driver_give_now(d, address);
    pthread_mutex_unlock(&d->queues_lock);
}

void
rt_driver_give_own(rt_queue *q, uint64_t address)
{
    rt_device *d = q->device;
    if (q->recording) {
        give_later(d, address);
        return;
    }
    count_given(d);
    if (!d->pool)
        rt_driver_wait_for_stream(q);
    if (!d->pool || rt_driver_no_handle(&d->driver, d->driver.pool_release(address, q->stream)))
        d->driver.release(address);
}

static rg_status
take_zeroed(rt_queue *q, size_t bytes, void **memory, str *error)
{
    uint64_t address = 0;
    rg_status status = rt_driver_refuse_recording(q, "taken", error);
    if (!status)
        status = rt_driver_take(q, bytes, q->stream, &address, error);
    if (!status && bytes)
        status = rt_driver_check(q->device, q->device->driver.fill8(address, 0, bytes, q->stream), "clear device memory", error);
    if (status && address)
        rt_driver_give_own(q, address);
    *memory = status ? NULL : (void *)(uintptr_t)address;
    return status;
}

static rg_status
driver_allocate(rt_queue *q, size_t bytes, void **memory, str *error)
{
    rt_entry entry;
    rt_driver_catch_up(q->device);
    rg_status status = rt_driver_enter(&entry, q, error);
    *memory = NULL;
    if (!status)
        status = take_zeroed(q, bytes, memory, error);
    rt_driver_leave(&entry);
    return status;
}

static void
driver_release(rt_device *d, void *memory, size_t bytes)
{
    rt_entry entry;
    rt_driver_enter_to_release(&entry, d, NULL);
    if (memory)
        rt_driver_give(d, map_ptr(memory));
    rt_driver_leave(&entry);
}

/* -- on the device ------------------------------------------------------------------------------------------------- */

static rg_status
driver_copy(rt_queue *q, void *to, const void *from, size_t bytes, str *error)
{
    rt_device *d = q->device;
    rt_entry entry;
    rg_status status = rt_driver_enter(&entry, q, error);
    if (!status && bytes)
        status = rt_driver_check(d, d->driver.copy(map_ptr(to), map_ptr(from), bytes, q->stream), "copy device memory",
                               error);
    rt_driver_leave(&entry);
    return status;
}

typedef struct crossing {
    rt_device *other;
    uint64_t to, from;
    size_t bytes;
} crossing;

static int
cross(rt_queue *q, void *user)
{
    const crossing *c = user;
    return q->device->driver.maker->copy_across(q->device, c->to, c->other, c->from, c->bytes, q->stream);
}

/* What is captured cannot wait for what is not: where a queue of the other GPU records launches the host waits instead. */
static int
cross_in_order(rt_queue *q, crossing *c)
{
    mem_owner locks;
    pthread_mutex_lock(&c->other->queues_lock);
    mem_own(&locks, mem_release_mutex, &c->other->queues_lock);
    bool records = rt_driver_any_records(c->other);
    int code = records ? 0 : rt_driver_put_between(q, c->other, cross, c);
    mem_disown(&locks);
    pthread_mutex_unlock(&c->other->queues_lock);
    if (!records)
        return code;
    rt_driver_streams.settle(c->other);
    code = cross(q, c);
    return code ? code : q->device->driver.stream_wait(q->stream);
}

static rg_status
driver_copy_across(rt_queue *q, void *to, rt_device *other, const void *from, size_t bytes, str *error)
{
    rt_entry entry;
    rg_status status = rt_driver_enter(&entry, q, error);
    if (!status)
        status = rt_driver_refuse_recording(q, "copied from another device", error);
    if (!status && bytes)
        status = rt_driver_check(q->device, cross_in_order(q, &(crossing){other, map_ptr(to), map_ptr(from), bytes}),
                                 "copy from another GPU", error);
    rt_driver_leave(&entry);
    return status;
}

static int
fill_column(rt_queue *q, uint64_t to, unsigned bits, size_t count)
{
    const rt_driver *driver = &q->device->driver;
    return driver->fill32_rows ? driver->fill32_rows(to, 8, bits, 1, count, q->stream) : driver->fill32(to, bits, count, q->stream);
}

/* Elements whose halves differ: a few by half (one, where the driver fills no columns), the others by copying what is there. */
static int
fill64(rt_queue *q, uint64_t to, uint64_t bits, size_t count)
{
    const rt_driver *driver = &q->device->driver;
    enum { FIRST = 4096 };
    size_t done = !driver->fill32_rows ? 1 : count < FIRST ? count : FIRST;
    int code = fill_column(q, to, (unsigned)bits, done);
    if (!code)
        code = fill_column(q, to + 4, (unsigned)(bits >> 32), done);
    while (!code && done < count) {
        size_t n = count - done < done ? count - done : done;
        code = driver->copy(to + 8 * done, to, 8 * n, q->stream);
        done += n;
    }
    return code;
}

static int
fill(rt_queue *q, uint64_t to, const void *element, uint32_t size, size_t count)
{
    const rt_driver *driver = &q->device->driver;
    uint64_t bits = 0;
    memcpy(&bits, element, size);
    switch (size) {
    case 1: return driver->fill8(to, (unsigned char)bits, count, q->stream);
    case 2: return driver->fill16(to, (unsigned short)bits, count, q->stream);
    case 4: return driver->fill32(to, (unsigned)bits, count, q->stream);
    default:
        if ((uint32_t)bits == bits >> 32)
            return driver->fill32(to, (unsigned)bits, 2 * count, q->stream);
        return fill64(q, to, bits, count);
    }
}

static rg_status
driver_fill(rt_queue *q, void *to, const void *element, uint32_t size, size_t count, str *error)
{
    rt_entry entry;
    rg_status status = rt_driver_enter(&entry, q, error);
    if (!status && count)
        status = rt_driver_check(q->device, fill(q, map_ptr(to), element, size, count), "fill device memory", error);
    rt_driver_leave(&entry);
    return status;
}

/* Memory of this device, managed memory, and the host's if it is pinned. */
static bool
driver_reaches(rt_device *d, const void *memory)
{
    rt_entry entry;
    unsigned kind = 0, managed = 0;
    int ordinal = -1;
    bool reached = false;
    if (!rt_driver_enter_device(&entry, d, NULL) && !rt_driver_ask_memory(&d->driver, &kind, RT_POINTER_KIND, map_ptr(memory))) {
        rt_driver_ask_memory(&d->driver, &managed, RT_POINTER_MANAGED, map_ptr(memory));
        rt_driver_ask_memory(&d->driver, &ordinal, RT_POINTER_ORDINAL, map_ptr(memory));
        reached = kind == 1 || managed || ordinal == d->device;
    }
    rt_driver_leave(&entry);
    return reached;
}

const rt_memory_table rt_driver_memory = {
    .allocate = driver_allocate,
    .release = driver_release,
    .write = rt_driver_write_all,
    .read = rt_driver_read_all,
    .copy = driver_copy,
    .copy_across = driver_copy_across,
    .fill = driver_fill,
    .reaches = driver_reaches,
    .adopt = rt_driver_adopt,
    .abandon = rt_driver_abandon,
    .take_pinned = rt_driver_take_pinned,
    .give_pinned = rt_driver_give_pinned,
};

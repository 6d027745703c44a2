/* A GPU: opening and closing it, whose it is, what its driver says. SPDX-License-Identifier: Apache-2.0 */
#include "device/driver/memory.h"

#include "device/forks.h"

/* -- entering ------------------------------------------------------------------------------------------------------ */

static void
pop(void *entry)
{
    rt_entry *e = entry;
    if (e->relaxed)
        e->device->driver.capture_mode(&e->mode);
    if (e->changed)
        e->device->driver.maker->leave(e);
    e->changed = e->relaxed = false;
    if (e->queue)
        pthread_mutex_unlock(&e->queue->lock);
    e->queue = NULL;
}

static void
begin_entry(rt_entry *entry, rt_device *d, rt_queue *q)
{
    /* a lock of before the fork may never be given back */
    *entry = (rt_entry){.device = d, .queue = d->forks == rt_forks() ? q : NULL, .mode = RT_CAPTURE_RELAXED};
    if (entry->queue)
        pthread_mutex_lock(&q->lock);
    mem_own(&entry->leaves, pop, entry);
    if (__atomic_load_n(&d->recorders, __ATOMIC_RELAXED) && d->driver.capture_mode)
        entry->relaxed = !d->driver.capture_mode(&entry->mode);
}

/* a process that was forked has a driver that does not work */
static bool
is_usable(rt_device *d, str *error)
{
    if (d->forks != rt_forks()) {
        pthread_mutex_lock(&d->lock);
        if (!d->lost)
            d->lost = rt_fork_error;
        pthread_mutex_unlock(&d->lock);
    }
    if (!rt_driver_is_lost(d))
        return true;
    if (error)
        str_addz(error, d->lost);
    return false;
}

rg_status
rt_driver_enter_device(rt_entry *entry, rt_device *d, str *error)
{
    begin_entry(entry, d, NULL);
    if (!is_usable(d, error))
        return RG_DEVICE;
    return rt_driver_check(d, entry->device->driver.maker->enter(entry), "enter the GPU's context", error);
}

rg_status
rt_driver_enter(rt_entry *entry, rt_queue *q, str *error)
{
    rt_device *d = q->device;
    begin_entry(entry, d, q);
    if (!is_usable(d, error))
        return RG_DEVICE;
    int code = entry->device->driver.maker->enter(entry);
    if (!code && q->stream != q->own)
        __atomic_store_n(&q->recording, rt_driver_records(q), __ATOMIC_RELAXED);
    return rt_driver_check(d, code, "enter the GPU's context", error);
}

void
rt_driver_enter_to_release(rt_entry *entry, rt_device *d, rt_queue *q)
{
    begin_entry(entry, d, q);
    entry->device->driver.maker->enter(entry);
}

void
rt_driver_leave(rt_entry *entry)
{
    mem_disown(&entry->leaves);
    pop(entry);
}

/* 0: there is nothing more */
static uint64_t
take_later(rt_device *d)
{
    pthread_mutex_lock(&d->lock);
    uint64_t address = d->later_memory.n ? vec_pop(&d->later_memory) : 0;
    pthread_mutex_unlock(&d->lock);
    return address;
}

void
rt_driver_catch_up(rt_device *d)
{
    rt_entry entry;
    uint64_t address;
    if (!__atomic_load_n(&d->waits, __ATOMIC_RELAXED))
        return;
    rt_driver_enter_to_release(&entry, d, NULL);
    pthread_mutex_lock(&d->queues_lock);
    if (!rt_driver_any_records(d)) {
        while ((address = take_later(d)))
            rt_driver_give_now(d, address);
        if (rt_driver_unload_later(d))
            __atomic_store_n(&d->waits, false, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&d->queues_lock);
    rt_driver_leave(&entry);
}

void
rt_driver_watch(rt_device *d, int *mode)
{
    if (d->driver.capture_mode)
        d->driver.capture_mode(mode);
}

bool
rt_driver_is_lost(rt_device *d)
{
    return __atomic_load_n(&d->lost, __ATOMIC_ACQUIRE) != NULL;
}

void
rt_driver_note_launch(rt_device *d, const char *label)
{
    if (__atomic_load_n(&d->last, __ATOMIC_RELAXED) == label)
        return;
    pthread_mutex_lock(&d->lock);
    d->several |= d->last != NULL;
    __atomic_store_n(&d->last, label, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&d->lock);
}

void
rt_driver_forget_launches(rt_device *d, const char *label)
{
    pthread_mutex_lock(&d->lock);
    if (!label || d->last == label)
        __atomic_store_n(&d->last, NULL, __ATOMIC_RELAXED);
    if (!label)
        d->several = false;
    pthread_mutex_unlock(&d->lock);
}

/* A launch runs on after its call has returned: its fault shows in some later call, which names it. */
static void
lose(rt_device *d, int code, str *error)
{
    str text = {0};
    mem_owner owns;
    mem_own(&owns, mem_release_str, &text);
    str_addz(&text, "the GPU is lost to this process: ");
    rt_driver_explain(&d->driver, code, &text);
    str_addz(&text, "\nonly a new process can use it again");
    if (code == RT_DRIVER_ILLEGAL_ADDRESS)
        str_addz(&text, "; with rg_module_desc.checked (rgc run --checked) a subscript outside its array is found before");
    mem_disown(&owns);
    pthread_mutex_lock(&d->lock);
    bool first = !d->lost;
    if (first) {
        snprintf(d->lost_text, sizeof(d->lost_text), "%s%s%s%s", d->last ? d->last : "",
                 d->last && d->several ? " or a launch before it" : "", d->last ? ": " : "", text.ptr);
        __atomic_store_n(&d->lost, d->lost_text, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&d->lock);
    str_free(&text);
    if (error)
        str_addz(error, d->lost);
}

rg_status
rt_driver_check(rt_device *d, int code, const char *doing, str *error)
{
    if (!code)
        return RG_OK;
    if (rt_driver_lost(&d->driver, code) && !rt_driver_is_lost(d)) {
        lose(d, code, error);
        return RG_DEVICE;
    }
    if (error) {
        str_addf(error, "cannot %s: ", doing);
        rt_driver_explain(&d->driver, code, error);
        if (rt_driver_no_handle(&d->driver, code))
            str_addz(error, "\na stream of the caller's has to live as long as the queue, or until rg_queue_set_stream");
    }
    return code == RT_DRIVER_OUT_OF_MEMORY ? RG_OUT_OF_MEMORY : RG_DEVICE;
}

/* -- opening ------------------------------------------------------------------------------------------------------- */

static rg_status
find_device(rt_device *d, uint32_t ordinal, str *error)
{
    const rt_driver *driver = &d->driver;
    const rt_maker *maker = driver->maker;
    int count = 0, processors = 0, together = 0, threads = 0;
    rg_status status = rt_driver_check(d, driver->device_count(&count), "count GPUs", error);
    if (!status && ordinal >= (uint32_t)count) {
        str_addf(error, "there is no GPU %u: the driver finds %d, from 0 on", ordinal, count);
        return RG_NOT_FOUND;
    }
    int code = status ? 0 : driver->device_get(&d->device, (int)ordinal);
    const struct { int attribute, *value; } asked[] = {
        {maker->attributes.processors, &processors},
        {maker->attributes.together, &together},
        {maker->attributes.threads, &threads},
    };
    for (size_t i = 0; i < countof(asked) && !code && !status; i++)
        code = driver->device_attribute(asked[i].value, asked[i].attribute, d->device);
    if (!code && !status)
        code = driver->device_name(d->model, sizeof(d->model), d->device);
    if (!code && !status && driver->device_uuid)
        code = driver->device_uuid(d->uuid, d->device);
    if (code || status)
        return status ? status : rt_driver_check(d, code, "ask the GPU what it is", error);
    d->processors = (unsigned)processors;
    TRY(maker->identify(d, ordinal, error));
    d->warps = (unsigned)processors * (unsigned)threads / d->wave;
    if (together)
        return RG_OK;
    str_addf(error, "GPU %u (%s) is %s, which cannot run all blocks of a launch at once; device \"cpu\" works without a GPU", ordinal,
             d->model, d->code);
    return RG_DEVICE;
}

static rg_status
open_all(rt_device *d, str *error)
{
    rt_entry entry;
    rg_status status = rt_driver_enter_device(&entry, d, error);
    if (!status)
        status = rt_driver_check(d, d->driver.stream_create(&d->side, RT_STREAM_ALONE), "make a stream", error);
    if (!status)
        status = rt_driver_pool_open(d, error);
    rt_driver_leave(&entry);
    return status;
}

static void
close_device(void *device)
{
    rt_driver_close(device);
}

static rt_device *
new_device(const rt_maker *maker)
{
    rt_device *d = mem_zalloc(sizeof(*d));
    d->forks = rt_forks();
    d->settings = settings_read();
    d->driver.maker = maker;
    pthread_mutex_init(&d->lock, NULL);
    pthread_mutex_init(&d->queues_lock, NULL);
    return d;
}

static rg_status
load(rt_device *d, str *error)
{
    const rt_maker *maker = d->driver.maker;
    const char *path;
    memcpy(&path, (const char *)&d->settings + maker->path, sizeof(path));
    return rt_driver_load(&d->driver, maker, path, error);
}

rg_status
rt_driver_open(const rt_maker *maker, uint32_t ordinal, rt_device **device, str *error)
{
    rt_device *d = new_device(maker);
    mem_owner owns;
    mem_own(&owns, close_device, d);
    rg_status status = load(d, error);
    if (!status)
        status = find_device(d, ordinal, error);
    if (!status) {
        status = maker->open(d, error);
        d->opened = !status;
    }
    if (!status)
        status = open_all(d, error);
    mem_disown(&owns);
    if (status)
        rt_driver_close(d);
    else
        *device = d;
    return status;
}

/* Its memory is asked for only where it is in use: an idle GPU is not woken. */
rg_status
rt_driver_look(const rt_maker *maker, uint32_t ordinal, rt_device_facts *facts, str *error)
{
    rt_device *d = new_device(maker);
    mem_owner owns;
    mem_own(&owns, close_device, d);
    size_t left = 0, total = 0;
    rg_status status = load(d, error);
    if (!status)
        status = find_device(d, ordinal, error);
    if (!status)
        status = rt_driver_check(d, d->driver.device_memory(&total, d->device), "ask the GPU for its memory", error);
    if (!status && maker->is_awake(d))
        d->driver.memory_free(&left, &total);
    *facts = (rt_device_facts){.memory = total, .memory_free = left, .processors = d->processors,
                               .threads = d->warps * d->wave};
    memcpy(facts->uuid, d->uuid, sizeof(facts->uuid));
    memcpy(facts->model, d->model, sizeof(facts->model));
    memcpy(facts->code, d->code, sizeof(facts->code));
    mem_disown(&owns);
    rt_driver_close(d);
    return status;
}

/* -- closing ------------------------------------------------------------------------------------------------------- */

/* Also of a device that is lost: the driver then refuses what is asked of it, which no longer matters. */
static void
close_all(rt_device *d)
{
    d->graphs = 0;
    d->captured = false;
    rt_driver_catch_up(d);
    if (d->side)
        d->driver.stream_wait(d->side);
    rt_driver_pool_close(d);
    if (d->side)
        d->driver.stream_destroy(d->side);
}

void
rt_driver_close(rt_device *d)
{
    if (d->opened) {
        rt_entry entry;
        rt_driver_enter_to_release(&entry, d, NULL);
        close_all(d);
        rt_driver_leave(&entry);
        d->driver.maker->close(d);
    }
    vec_free(&d->queues);
    vec_free(&d->programs);
    vec_free(&d->later_memory);
    vec_free(&d->later_modules);
    vec_free(&d->later_args);
    str_free(&d->libdevice);
    pthread_mutex_destroy(&d->lock);
    pthread_mutex_destroy(&d->queues_lock);
    mem_free(d);
}

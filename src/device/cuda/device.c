/* A GPU of NVIDIA's: opening and closing it, its context, what its driver says. SPDX-License-Identifier: Apache-2.0 */
#include "device/cuda/memory.h"

#include <unistd.h>

enum { OLDEST = 70 };

/* -- forks --------------------------------------------------------------------------------------------------------- */

/* Counts in children; to ask for the process would be a call of the system in each launch. */
static unsigned forks;

static void
count_fork(void)
{
    forks++;
}

static void
watch_forks(void)
{
    pthread_atfork(NULL, NULL, count_fork);
}

/* -- entering ------------------------------------------------------------------------------------------------------ */

static void
pop(void *entry)
{
    rt_entry *e = entry;
    void *context;
    if (e->relaxed)
        e->device->driver.capture_mode(&e->mode);
    if (e->pushed)
        e->device->driver.context_pop(&context);
    e->pushed = e->relaxed = false;
    if (e->queue)
        pthread_mutex_unlock(&e->queue->lock);
    e->queue = NULL;
}

static int
make_current(rt_entry *entry)
{
    rt_device *d = entry->device;
    void *current = NULL;
    if (!d->driver.context_current(&current) && current == d->context)
        return 0;
    int code = d->driver.context_push(d->context);
    entry->pushed = !code;
    return code;
}

static void
begin_entry(rt_entry *entry, rt_device *d, rt_queue *q)
{
    /* a lock of before the fork may never be given back */
    *entry = (rt_entry){.device = d, .queue = d->forks == forks ? q : NULL, .mode = RT_CAPTURE_RELAXED};
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
    if (d->forks != forks) {
        pthread_mutex_lock(&d->lock);
        if (!d->lost)
            d->lost = "this process is a fork of the one that opened the GPU, whose driver does not work in forks: start it with "
                      "exec (Python's multiprocessing: \"spawn\"), or open the GPU in the child alone";
        pthread_mutex_unlock(&d->lock);
    }
    if (!rt_cuda_is_lost(d))
        return true;
    if (error)
        str_addz(error, d->lost);
    return false;
}

rg_status
rt_cuda_enter_device(rt_entry *entry, rt_device *d, str *error)
{
    begin_entry(entry, d, NULL);
    if (!is_usable(d, error))
        return RG_DEVICE;
    return rt_cuda_check(d, make_current(entry), "enter the GPU's context", error);
}

rg_status
rt_cuda_enter(rt_entry *entry, rt_queue *q, str *error)
{
    rt_device *d = q->device;
    begin_entry(entry, d, q);
    if (!is_usable(d, error))
        return RG_DEVICE;
    int code = make_current(entry);
    if (!code && q->stream != q->own)
        __atomic_store_n(&q->recording, rt_cuda_records(q), __ATOMIC_RELAXED);
    return rt_cuda_check(d, code, "enter the GPU's context", error);
}

void
rt_cuda_enter_to_release(rt_entry *entry, rt_device *d, rt_queue *q)
{
    begin_entry(entry, d, q);
    make_current(entry);
}

void
rt_cuda_leave(rt_entry *entry)
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
rt_cuda_catch_up(rt_device *d)
{
    rt_entry entry;
    uint64_t address;
    if (!__atomic_load_n(&d->waits, __ATOMIC_RELAXED))
        return;
    rt_cuda_enter_to_release(&entry, d, NULL);
    pthread_mutex_lock(&d->queues_lock);
    if (!rt_cuda_any_records(d)) {
        while ((address = take_later(d)))
            rt_cuda_give_now(d, address);
        if (rt_cuda_unload_later(d))
            __atomic_store_n(&d->waits, false, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&d->queues_lock);
    rt_cuda_leave(&entry);
}

void
rt_cuda_watch(rt_device *d, int *mode)
{
    if (d->driver.capture_mode)
        d->driver.capture_mode(mode);
}

bool
rt_cuda_is_lost(rt_device *d)
{
    return __atomic_load_n(&d->lost, __ATOMIC_ACQUIRE) != NULL;
}

void
rt_cuda_note_launch(rt_device *d, const char *label)
{
    if (__atomic_load_n(&d->last, __ATOMIC_RELAXED) == label)
        return;
    pthread_mutex_lock(&d->lock);
    d->several |= d->last != NULL;
    __atomic_store_n(&d->last, label, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&d->lock);
}

void
rt_cuda_forget_launches(rt_device *d, const char *label)
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
rt_cuda_check(rt_device *d, int code, const char *doing, str *error)
{
    if (!code)
        return RG_OK;
    if (rt_driver_lost(code) && !rt_cuda_is_lost(d)) {
        lose(d, code, error);
        return RG_DEVICE;
    }
    if (error) {
        str_addf(error, "cannot %s: ", doing);
        rt_driver_explain(&d->driver, code, error);
        if (code == RT_DRIVER_NO_HANDLE)
            str_addz(error, "\na stream of the caller's has to live as long as the queue, or until rg_queue_set_stream");
    }
    return code == RT_DRIVER_OUT_OF_MEMORY ? RG_OUT_OF_MEMORY : RG_DEVICE;
}

/* -- opening ------------------------------------------------------------------------------------------------------- */

static rg_status
find_device(rt_device *d, uint32_t ordinal, str *error)
{
    const rt_driver *driver = &d->driver;
    int count = 0, sms = 0, major = 0, minor = 0, together = 0, threads = 0;
    rg_status status = rt_cuda_check(d, driver->device_count(&count), "count GPUs", error);
    if (!status && ordinal >= (uint32_t)count) {
        str_addf(error, "there is no GPU %u: the driver finds %d, from 0 on", ordinal, count);
        return RG_NOT_FOUND;
    }
    int code = status ? 0 : driver->device_get(&d->device, (int)ordinal);
    const struct { int attribute, *value; } asked[] = {
        {RT_ATTRIBUTE_SMS, &sms},           {RT_ATTRIBUTE_MAJOR, &major},    {RT_ATTRIBUTE_MINOR, &minor},
        {RT_ATTRIBUTE_TOGETHER, &together}, {RT_ATTRIBUTE_THREADS, &threads},
    };
    for (size_t i = 0; i < countof(asked) && !code && !status; i++)
        code = driver->device_attribute(asked[i].value, asked[i].attribute, d->device);
    if (!code && !status)
        code = driver->device_name(d->model, sizeof(d->model), d->device);
    if (code || status)
        return status ? status : rt_cuda_check(d, code, "ask the GPU what it is", error);
    d->processors = (unsigned)sms;
    d->generation = 10 * major + minor;
    d->warps = (unsigned)sms * (unsigned)threads / RT_WARP;
    if (d->generation < OLDEST || !together) {
        str_addf(error, "GPU %u (%s) is sm_%d; sm_%d or newer is needed; device \"cpu\" works without a GPU", ordinal, d->model,
                 d->generation, OLDEST);
        return RG_DEVICE;
    }
    return RG_OK;
}

static rg_status
open_all(rt_device *d, str *error)
{
    rt_entry entry;
    rg_status status = rt_cuda_enter_device(&entry, d, error);
    if (!status)
        status = rt_cuda_check(d, d->driver.stream_create(&d->side, RT_STREAM_ALONE), "make a stream", error);
    if (!status)
        status = rt_cuda_pool_open(d, error);
    rt_cuda_leave(&entry);
    return status;
}

/* NVIDIA's own math functions come with its toolkit; nothing else of it is needed. */
static void
find_libdevice(rt_device *d)
{
    const char *const roots[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda"};
    if (d->settings.libdevice)
        str_addz(&d->libdevice, d->settings.libdevice);
    for (size_t i = 0; i < countof(roots) && !d->libdevice.len; i++) {
        if (!roots[i] || !*roots[i])
            continue;
        str_addf(&d->libdevice, "%s/nvvm/libdevice/libdevice.10.bc", roots[i]);
        if (access(d->libdevice.ptr, R_OK))
            d->libdevice.len = 0;
    }
}

static void
close_device(void *device)
{
    rt_cuda_close(device);
}

static rt_device *
new_device(void)
{
    rt_device *d = mem_zalloc(sizeof(*d));
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    d->forks = forks;
    d->settings = settings_read();
    pthread_mutex_init(&d->lock, NULL);
    pthread_mutex_init(&d->queues_lock, NULL);
    return d;
}

rg_status
rt_cuda_open(uint32_t ordinal, rt_device **device, str *error)
{
    rt_device *d = new_device();
    mem_owner owns;
    mem_own(&owns, close_device, d);
    rg_status status = rt_driver_load(&d->driver, d->settings.cuda_driver, error);
    if (!status)
        status = find_device(d, ordinal, error);
    if (!status) {
        status = rt_cuda_check(d, d->driver.context_retain(&d->context, d->device), "make a context", error);
        d->retained = !status;
    }
    if (!status)
        status = open_all(d, error);
    find_libdevice(d);
    mem_disown(&owns);
    if (status)
        rt_cuda_close(d);
    else
        *device = d;
    return status;
}

/* Its memory is asked for only where it is in use: an idle GPU is not woken. */
rg_status
rt_cuda_look(uint32_t ordinal, rt_device_facts *facts, str *error)
{
    rt_device *d = new_device();
    mem_owner owns;
    mem_own(&owns, close_device, d);
    size_t left = 0, total = 0;
    rg_status status = rt_driver_load(&d->driver, d->settings.cuda_driver, error);
    if (!status)
        status = find_device(d, ordinal, error);
    if (!status)
        status = rt_cuda_check(d, d->driver.device_memory(&total, d->device), "ask the GPU for its memory", error);
    int count = 0; /* of several GPUs the current context may be another one's */
    if (!status && !d->driver.context_current(&d->context) && d->context && !d->driver.device_count(&count) && count == 1)
        d->driver.memory_free(&left, &total);
    *facts = (rt_device_facts){.memory = total, .memory_free = left, .processors = d->processors,
                               .threads = d->warps * RT_WARP};
    memcpy(facts->model, d->model, sizeof(facts->model));
    snprintf(facts->code, sizeof(facts->code), "sm_%d", d->generation);
    mem_disown(&owns);
    rt_cuda_close(d);
    return status;
}

/* -- closing ------------------------------------------------------------------------------------------------------- */

/* Also of a device that is lost: the driver then refuses what is asked of it, which no longer matters. */
static void
close_all(rt_device *d)
{
    d->graphs = 0;
    d->captured = false;
    rt_cuda_catch_up(d);
    if (d->side)
        d->driver.stream_wait(d->side);
    rt_cuda_pool_close(d);
    if (d->side)
        d->driver.stream_destroy(d->side);
}

void
rt_cuda_close(rt_device *d)
{
    if (d->retained) {
        rt_entry entry;
        rt_cuda_enter_to_release(&entry, d, NULL);
        close_all(d);
        rt_cuda_leave(&entry);
        d->driver.context_release(d->device);
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

/* A GPU of NVIDIA's: opening and closing it, its context, what its driver says. SPDX-License-Identifier: Apache-2.0 */
#include "device/cuda/memory.h"

#include <unistd.h>

enum { OLDEST = 70 };

/* -- entering ------------------------------------------------------------------------------------------------------ */

static void
pop(void *entry)
{
    rt_entry *e = entry;
    void *context;
    if (e->pushed)
        e->device->driver.context_pop(&context);
    e->pushed = false;
}

/* The caller may record what happens in the stream that is its own. */
static void
look_at_stream(rt_device *d)
{
    int status = 0;
    if (d->own_stream || !d->stream || !d->driver.capture_status || d->driver.capture_status(d->stream, &status))
        return;
    bool was = d->recording;
    d->recording = status != 0;
    if (was && !status)
        rt_cuda_catch_up(d);
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

void
rt_cuda_catch_up(rt_device *d)
{
    d->recording = false;
    rt_cuda_give_later(d);
    rt_cuda_unload_later(d);
}

rg_status
rt_cuda_enter(rt_entry *entry, rt_device *d, str *error)
{
    *entry = (rt_entry){.device = d};
    mem_own(&entry->leaves, pop, entry);
    if (!d->lost && d->process != getpid())
        d->lost = "this process is a fork of the one that opened the GPU, whose driver does not work in forks: start it with "
                  "exec (Python's multiprocessing: \"spawn\"), or open the GPU in the child alone";
    if (d->lost) {
        if (error)
            str_addz(error, d->lost);
        return RG_DEVICE;
    }
    int code = make_current(entry);
    if (!code)
        look_at_stream(d);
    return rt_cuda_check(d, code, "enter the GPU's context", error);
}

void
rt_cuda_enter_to_release(rt_entry *entry, rt_device *d)
{
    *entry = (rt_entry){.device = d};
    mem_own(&entry->leaves, pop, entry);
    make_current(entry);
    look_at_stream(d);
}

void
rt_cuda_leave(rt_entry *entry)
{
    mem_disown(&entry->leaves);
    pop(entry);
}

void
rt_cuda_watch(rt_device *d, int *mode)
{
    if (d->recording && d->driver.capture_mode)
        d->driver.capture_mode(mode);
}

rg_status
rt_cuda_check(rt_device *d, int code, const char *doing, str *error)
{
    if (!code)
        return RG_OK;
    str text = {0};
    if (rt_driver_lost(code) && !d->lost) {
        /* a launch runs on after its call has returned: this is where its fault shows */
        if (d->last)
            str_addf(&text, "%s%s: ", d->last, d->several ? " or a launch before it" : "");
        str_addz(&text, "the GPU is lost to this process: ");
        rt_driver_explain(&d->driver, code, &text);
        str_addz(&text, "\nonly a new process can use it again");
        if (code == RT_DRIVER_ILLEGAL_ADDRESS)
            str_addz(&text, "; with rg_context_desc.checked (rgc run --checked) a subscript outside its array is found before");
        d->lost_text = text;
        d->lost = text.ptr;
        if (error)
            str_addz(error, text.ptr);
        return RG_DEVICE;
    }
    str_addf(&text, "cannot %s: ", doing);
    rt_driver_explain(&d->driver, code, &text);
    if (code == RT_DRIVER_NO_HANDLE && d->stream && !d->own_stream)
        str_addz(&text, "\nthe caller's stream (rg_context_desc.stream) has to live as long as the context");
    if (error)
        str_addz(error, text.ptr);
    str_free(&text);
    return code == RT_DRIVER_OUT_OF_MEMORY ? RG_OUT_OF_MEMORY : RG_DEVICE;
}

/* -- opening ------------------------------------------------------------------------------------------------------- */

static rg_status
find_device(rt_device *d, uint32_t ordinal, str *error)
{
    const rt_driver *driver = &d->driver;
    int count = 0, sms = 0, major = 0, minor = 0, together = 0, threads = 0;
    char name[96] = "";
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
        code = driver->device_name(name, sizeof(name), d->device);
    if (code || status)
        return status ? status : rt_cuda_check(d, code, "ask the GPU what it is", error);
    d->processors = (unsigned)sms;
    d->generation = 10 * major + minor;
    d->warps = (unsigned)sms * (unsigned)threads / RT_WARP;
    if (d->generation < OLDEST || !together) {
        str_addf(error, "GPU %u (%s) is sm_%d; sm_%d or newer is needed; device \"cpu\" works without a GPU", ordinal, name,
                 d->generation, OLDEST);
        return RG_DEVICE;
    }
    return RG_OK;
}

static rg_status
open_streams(rt_device *d, void *callers, str *error)
{
    const rt_driver *driver = &d->driver;
    void *context = d->context;
    int code = driver->stream_create(&d->side, RT_STREAM_ALONE);
    if (!code && callers)
        code = driver->stream_context(callers, &context);
    if (context != d->context) {
        str_addz(error, "the stream does not belong to the primary context of this GPU");
        return RG_INVALID;
    }
    d->stream = callers;
    if (!code && callers) {
        code = driver->event_create(&d->launched, RT_EVENT_UNTIMED);
    } else if (!code) {
        code = driver->stream_create(&d->stream, RT_STREAM_ALONE);
        d->own_stream = !code;
    }
    return rt_cuda_check(d, code, "make a stream", error);
}

static rg_status
open_scratch(rt_device *d, str *error)
{
    uint64_t row = 2 * sizeof(uint64_t) * d->warps;
    TRY(rt_cuda_take(d, RT_GPU_CELLS * row, d->side, &d->partials, error));
    TRY(rt_cuda_take(d, row, d->side, &d->again, error));
    int code = d->driver.fill8(d->partials, 0, RT_GPU_CELLS * row, d->side);
    if (!code)
        code = d->driver.fill8(d->again, 0, row, d->side);
    if (!code)
        code = d->driver.stream_wait(d->side);
    return rt_cuda_check(d, code, "clear device memory", error);
}

static rg_status
open_all(rt_device *d, const rt_device_desc *desc, str *error)
{
    rt_entry entry;
    rg_status status = rt_cuda_enter(&entry, d, error);
    if (!status)
        status = open_streams(d, desc->stream, error);
    if (!status)
        status = rt_cuda_pool_open(d, error);
    if (!status)
        status = open_scratch(d, error);
    if (!status)
        status = rt_cuda_report_open(d, error);
    if (!status)
        status = rt_cuda_tape_open(d, desc->tape_budget, error);
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

rg_status
rt_cuda_open(const rt_device_desc *desc, rt_device **device, str *error)
{
    rt_device *d = mem_zalloc(sizeof(*d));
    mem_owner owns;
    mem_own(&owns, close_device, d);
    d->process = getpid();
    d->native_math = desc->native_math;
    d->settings = settings_read();
    d->fast_math = desc->fast_math;
    rg_status status = rt_driver_load(&d->driver, d->settings.cuda_driver, error);
    if (!status)
        status = find_device(d, desc->ordinal, error);
    if (!status) {
        status = rt_cuda_check(d, d->driver.context_retain(&d->context, d->device), "make a context", error);
        d->retained = !status;
    }
    if (!status)
        status = open_all(d, desc, error);
    find_libdevice(d);
    mem_disown(&owns);
    if (status)
        rt_cuda_close(d);
    else
        *device = d;
    return status;
}

/* -- closing ------------------------------------------------------------------------------------------------------- */

/* Also of a device that is lost: the driver then refuses what is asked of it, which no longer matters. */
static void
close_all(rt_device *d)
{
    const rt_driver *driver = &d->driver;
    void *recorded = NULL;
    if (d->recording && d->own_stream && !driver->capture_end(d->stream, &recorded) && recorded)
        driver->graph_drop(recorded);
    if (d->stream)
        rt_cuda_wait_for_stream(d);
    d->graphs = 0;
    rt_cuda_catch_up(d);
    if (d->partials)
        rt_cuda_give(d, d->partials);
    if (d->again)
        rt_cuda_give(d, d->again);
    rt_cuda_tape_close(d);
    rt_cuda_report_close(d);
    rt_cuda_transfer_close(d);
    if (d->stream)
        driver->stream_wait(d->stream);
    if (d->own_stream)
        driver->stream_destroy(d->stream);
    rt_cuda_pool_close(d);
    if (d->side)
        driver->stream_destroy(d->side);
    if (d->launched)
        driver->event_destroy(d->launched);
}

void
rt_cuda_close(rt_device *d)
{
    if (d->retained) {
        rt_entry entry;
        rt_cuda_enter_to_release(&entry, d);
        close_all(d);
        rt_cuda_leave(&entry);
        d->driver.context_release(d->device);
    }
    mem_free(d->next_graph);
    vec_free(&d->programs);
    vec_free(&d->later_memory);
    vec_free(&d->later_modules);
    vec_free(&d->later_args);
    str_free(&d->failure);
    str_free(&d->lost_text);
    str_free(&d->libdevice);
    mem_free(d);
}

/* What launches leave for the host: faults, prints. SPDX-License-Identifier: Apache-2.0 */
#include "device/driver/gpu.h"
#include "device/explain.h"

#include <setjmp.h>

static rg_status
open_shared(rt_device *d, size_t bytes, void **memory, uint64_t *address, str *error)
{
    int code = d->driver.host_allocate(memory, bytes, d->driver.maker->shared);
    if (!code) {
        memset(*memory, 0, bytes);
        code = d->driver.host_address(address, *memory, 0);
    }
    return rt_driver_check(d, code, "take pinned memory", error);
}

rg_status
rt_driver_report_open(rt_queue *q, str *error)
{
    return open_shared(q->device, sizeof(*q->report), (void **)&q->report, &q->report_address, error);
}

rg_status
rt_driver_prints_open(rt_queue *q, str *error)
{
    if (q->prints)
        return RG_OK;
    size_t bytes = sizeof(rt_gpu_prints) + RT_PRINT_CELLS * sizeof(uint64_t);
    rg_status status = open_shared(q->device, bytes, (void **)&q->prints, &q->prints_address, error);
    if (!status)
        q->prints->room = RT_PRINT_CELLS;
    return status;
}

void
rt_driver_report_close(rt_queue *q)
{
    if (q->report)
        q->device->driver.host_release(q->report);
    if (q->prints)
        q->device->driver.host_release(q->prints);
    q->report = NULL;
    q->prints = NULL;
}

/* NULL: none, or not one that is still there */
static const ll_place *
find_place(void *device, uint32_t program, uint32_t place)
{
    const rt_program *p = rt_driver_program(device, program);
    return p && place < p->info.places.n ? &p->info.places.at[place] : NULL;
}

static rg_status
explain(rt_queue *q, str *error)
{
    const rt_gpu_report *from = q->report;
    const rt_program *p = rt_driver_program(q->device, from->program);
    if (p)
        return rt_explain_gpu(from, find_place(q->device, from->program, from->place), p->label, p->file, error);
    str_addf(error, "the GPU reports fault %u of a kernel that is no more", from->fault);
    return RG_DEVICE;
}

/* After a wait: prints, and what went wrong since the last time. */
static rg_status
collect(rt_queue *q, str *error)
{
    rg_status status = q->failed;
    rt_driver_forget_launches(q->device, NULL);
    q->printing = false;
    rt_explain_prints(&q->sink, q->prints, find_place, q->device);
    if (status) {
        str_add(error, str_view(&q->failure));
        str_free(&q->failure);
        q->failed = RG_OK;
    } else if (q->report->fault) {
        status = explain(q, error);
    }
    q->report->fault = 0;
    atomic_store_explicit(&q->pending, false, memory_order_relaxed);
    __atomic_store_n(&q->report->stop, 0, __ATOMIC_RELAXED);
    return status;
}

bool
rt_driver_has_news(rt_queue *q)
{
    return q->failed || __atomic_load_n(&q->report->fault, __ATOMIC_RELAXED) || __atomic_load_n(&q->report->stop, __ATOMIC_RELAXED);
}

/* Kernels read the word where it lies, in the host's memory. */
void
rt_driver_cancel(rt_queue *q)
{
    if (atomic_load_explicit(&q->pending, memory_order_relaxed))
        __atomic_store_n(&q->report->stop, 1, __ATOMIC_RELAXED);
}

int
rt_driver_wait_for_stream(rt_queue *q)
{
    int code = q->device->driver.stream_wait(q->stream);
    if (rt_driver_no_handle(&q->device->driver, code) && q->launched)
        q->device->driver.event_wait(q->launched);
    return code;
}

rg_status
rt_driver_wait(rt_queue *q, str *error)
{
    rg_status status = rt_driver_check(q->device, rt_driver_wait_for_stream(q), "wait for the GPU", error);
    if (status && rt_driver_is_lost(q->device))
        rt_explain_prints(&q->sink, q->prints, find_place, q->device); /* the last thing that is known of it */
    return status ? status : collect(q, error);
}

static void
settle(rt_queue *q)
{
    str text = {0};
    mem_owner owns;
    mem_own(&owns, mem_release_str, &text);
    rg_status status = rt_driver_wait(q, &text);
    mem_disown(&owns);
    if (status && !q->failed && !rt_driver_is_lost(q->device)) { /* the first is told */
        q->failed = status;
        q->failure = text;
    } else {
        str_free(&text);
    }
}

static void
leave_without(void *jump, size_t bytes)
{
    longjmp(*(jmp_buf *)jump, 1);
}

/* Objects are destroyed outside of any guard: where there is no memory for what the queue has to say, that is what it
 * says. */
void
rt_driver_settle(rt_queue *q)
{
    jmp_buf jump;
    if (mem_is_guarded()) {
        settle(q);
        return;
    }
    mem_set_handler(leave_without, &jump);
    if (setjmp(jump)) {
        q->failed = RG_OUT_OF_MEMORY;
        q->report->fault = 0;
    } else {
        settle(q);
    }
    mem_set_handler(NULL, NULL);
}

uint64_t
rt_driver_tape_peak(rt_queue *q)
{
    return (uint64_t)__atomic_load_n(&q->report->pages, __ATOMIC_RELAXED) * RT_GPU_PAGE;
}

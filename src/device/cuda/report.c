/* What launches leave for the host: faults, prints. SPDX-License-Identifier: Apache-2.0 */
#include "device/cuda/cuda.h"
#include "device/explain.h"

enum { PRINT_CELLS = 1 << 16 };

static rg_status
open_shared(rt_device *d, size_t bytes, void **memory, uint64_t *address, str *error)
{
    int code = d->driver.host_allocate(memory, bytes, RT_HOST_ANYWHERE | RT_HOST_MAPPED);
    if (!code) {
        memset(*memory, 0, bytes);
        code = d->driver.host_address(address, *memory, 0);
    }
    return rt_cuda_check(d, code, "take pinned memory", error);
}

rg_status
rt_cuda_report_open(rt_device *d, str *error)
{
    return open_shared(d, sizeof(*d->report), (void **)&d->report, &d->report_address, error);
}

rg_status
rt_cuda_prints_open(rt_device *d, str *error)
{
    if (d->prints)
        return RG_OK;
    size_t bytes = sizeof(rt_gpu_prints) + PRINT_CELLS * sizeof(uint64_t);
    rg_status status = open_shared(d, bytes, (void **)&d->prints, &d->prints_address, error);
    if (!status)
        d->prints->room = PRINT_CELLS;
    return status;
}

void
rt_cuda_report_close(rt_device *d)
{
    if (d->report)
        d->driver.host_release(d->report);
    if (d->prints)
        d->driver.host_release(d->prints);
    d->report = NULL;
    d->prints = NULL;
}

/* NULL: none, or not one that is still there */
static const ll_place *
find_place(const rt_device *d, uint32_t program, uint32_t place)
{
    const rt_program *p = program < d->programs.n ? d->programs.at[program] : NULL;
    return p && place < p->info.places.n ? &p->info.places.at[place] : NULL;
}

static void
show_prints(rt_device *d)
{
    rt_gpu_prints *prints = d->prints;
    uint64_t used = !prints ? 0 : prints->used < prints->room ? prints->used : prints->room;
    for (uint64_t at = 0; at < used && prints->cells[at];) {
        uint64_t head = prints->cells[at++];
        uint32_t n = head >> 32 & 0xffff;
        const ll_place *place = find_place(d, (uint32_t)(head >> 48), (uint32_t)head - 1);
        if (n > used - at)
            break;
        if (place && place->text)
            rt_cpu_print(NULL, place->text, prints->cells + at, (const uint8_t *)place->dtypes, n);
        at += n;
    }
    if (prints && prints->lost)
        printf("(%llu more prints did not fit the GPU's buffer)\n", (unsigned long long)prints->lost);
    if (used) {
        memset(prints->cells, 0, used * sizeof(prints->cells[0]));
        prints->used = prints->lost = 0;
    }
}

static rg_status
explain(rt_device *d, str *error)
{
    const rt_gpu_report *from = d->report;
    const rt_program *p = from->program < d->programs.n ? d->programs.at[from->program] : NULL;
    const ll_place *place = find_place(d, from->program, from->place);
    rt_report report = {.fault = (rt_fault)from->fault, .needed = from->needed, .budget = from->budget};
    if (!p) {
        str_addf(error, "the GPU reports fault %u of a kernel that is no more", from->fault);
        return RG_DEVICE;
    }
    if (place) {
        report.text = place->text;
        report.file = place->file;
        report.line = place->line;
    }
    str_addf(error, "%s: ", p->label);
    return rt_explain(&report, p->fn, error);
}

/* After a wait: prints, and what went wrong since the last time. */
static rg_status
collect(rt_device *d, str *error)
{
    rg_status status = d->failed;
    d->last = NULL;
    d->several = d->printing = false;
    show_prints(d);
    if (status) {
        str_add(error, str_view(&d->failure));
        str_free(&d->failure);
        d->failed = RG_OK;
    } else if (d->report->fault) {
        status = explain(d, error);
    }
    d->report->fault = 0;
    return status;
}

int
rt_cuda_wait_for_stream(rt_device *d)
{
    int code = d->driver.stream_wait(d->stream);
    if (code == RT_DRIVER_NO_HANDLE && d->launched)
        d->driver.event_wait(d->launched);
    return code;
}

rg_status
rt_cuda_wait(rt_device *d, str *error)
{
    rg_status status = rt_cuda_check(d, rt_cuda_wait_for_stream(d), "wait for the GPU", error);
    if (status && d->lost)
        show_prints(d); /* the last thing that is known of it */
    return status ? status : collect(d, error);
}

void
rt_cuda_settle(rt_device *d)
{
    str text = {0};
    rg_status status = rt_cuda_wait(d, &text);
    if (status && !d->lost) {
        d->failed = status;
        d->failure = text;
    } else {
        str_free(&text);
    }
}

uint64_t
rt_cuda_tape_peak(rt_device *d)
{
    return (uint64_t)__atomic_load_n(&d->report->pages, __ATOMIC_RELAXED) * RT_GPU_PAGE;
}

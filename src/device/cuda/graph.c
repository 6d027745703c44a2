/* Launches that are recorded, and done again as a whole. SPDX-License-Identifier: Apache-2.0 */
#include "device/cuda/memory.h"

struct rt_graph {
    rt_device *device;
    void *executable;
};

static rg_status
begin(rt_device *d, str *error)
{
    const rt_driver *driver = &d->driver;
    if (!driver->capture_begin || !driver->capture_end || !driver->capture_mode || !driver->graph_make ||
        !driver->graph_launch || !driver->graph_release || !driver->graph_drop) {
        str_addz(error, "this driver has no graphs");
        return RG_UNSUPPORTED;
    }
    if (d->recording) {
        str_addz(error, "launches are being recorded already");
        return RG_INVALID;
    }
    TRY(rt_cuda_wait(d, error));
    if (!d->next_graph) /* so that the end cannot fail for lack of it */
        d->next_graph = mem_zalloc(sizeof(*d->next_graph));
    int code = driver->capture_begin(d->stream, RT_CAPTURE_THREAD);
    d->recording = !code;
    return rt_cuda_check(d, code, "record launches", error);
}

static rg_status
finish(rt_device *d, rt_graph **graph, str *error)
{
    rt_graph *made = d->next_graph;
    void *recorded = NULL, *executable = NULL;
    int code = d->driver.capture_end(d->stream, &recorded);
    d->recording = false;
    if (!graph) {
        if (recorded)
            d->driver.graph_drop(recorded);
        return RG_OK;
    }
    if (!code)
        code = d->driver.graph_make(&executable, recorded, 0);
    if (recorded)
        d->driver.graph_drop(recorded);
    if (!code && d->driver.graph_upload)
        code = d->driver.graph_upload(executable, d->stream);
    if (code && executable)
        d->driver.graph_release(executable);
    TRY(rt_cuda_check(d, code, "make a graph of what was recorded", error));
    *made = (rt_graph){d, executable};
    d->next_graph = NULL;
    d->graphs++;
    *graph = made;
    return RG_OK;
}

static rg_status
cuda_begin(rt_device *d, str *error)
{
    rt_entry entry;
    rg_status status = rt_cuda_enter(&entry, d, error);
    if (!status)
        status = begin(d, error);
    rt_cuda_leave(&entry);
    return status;
}

static rg_status
cuda_end(rt_device *d, rt_graph **graph, str *error)
{
    rt_entry entry;
    if (graph)
        *graph = NULL;
    rg_status status = rt_cuda_enter(&entry, d, error);
    if (!status) {
        status = finish(d, graph, error);
    } else { /* it ends in any case */
        rt_cuda_leave(&entry);
        rt_cuda_enter_to_release(&entry, d);
        if (d->recording)
            finish(d, NULL, NULL);
    }
    rt_cuda_catch_up(d);
    rt_cuda_leave(&entry);
    return status;
}

static rg_status
cuda_launch(rt_graph *graph, str *error)
{
    rt_device *d = graph->device;
    rt_entry entry;
    rg_status status = rt_cuda_enter(&entry, d, error);
    if (!status && (d->failed || __atomic_load_n(&d->report->fault, __ATOMIC_RELAXED)))
        status = rt_cuda_wait(d, error);
    if (!status)
        status = rt_cuda_tape_follow(d, error);
    if (!status) {
        status = rt_cuda_check(d, d->driver.graph_launch(graph->executable, d->stream), "launch a graph", error);
        d->several |= d->last != NULL;
        d->last = "a graph";
    }
    rt_cuda_leave(&entry);
    return status;
}

static void
cuda_release(rt_graph *graph)
{
    rt_device *d = graph->device;
    rt_entry entry;
    rt_cuda_enter_to_release(&entry, d);
    d->graphs--;
    if (!d->recording)
        rt_cuda_settle(d);
    d->driver.graph_release(graph->executable);
    rt_cuda_unload_later(d);
    rt_cuda_leave(&entry);
    mem_free(graph);
}

const rt_graph_table rt_cuda_graphs = {
    .begin = cuda_begin,
    .end = cuda_end,
    .launch = cuda_launch,
    .release = cuda_release,
};

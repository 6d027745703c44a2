/* Launches that are recorded, and done again as a whole. SPDX-License-Identifier: Apache-2.0 */
#include "device/driver/memory.h"

struct rt_graph {
    rt_queue *queue;
    void *executable;
};

static rg_status
begin(rt_queue *q, str *error)
{
    rt_device *d = q->device;
    const rt_driver *driver = &d->driver;
    if (!driver->capture_begin || !driver->capture_end || !driver->capture_mode || !driver->graph_make ||
        !driver->graph_launch || !driver->graph_release || !driver->graph_drop) {
        str_addz(error, "this driver has no graphs");
        return RG_UNSUPPORTED;
    }
    if (q->recording) {
        str_addz(error, "launches are being recorded already");
        return RG_INVALID;
    }
    TRY(rt_driver_wait(q, error));
    if (!q->next_graph) /* so that the end cannot fail for lack of it */
        q->next_graph = mem_zalloc(sizeof(*q->next_graph));
    int code = driver->capture_begin(q->stream, RT_CAPTURE_THREAD);
    __atomic_store_n(&q->recording, !code, __ATOMIC_RELAXED);
    __atomic_add_fetch(&d->recorders, !code, __ATOMIC_RELAXED);
    return rt_driver_check(d, code, "record launches", error);
}

static void
count_graphs(rt_device *d, int more)
{
    pthread_mutex_lock(&d->lock);
    d->graphs += (uint32_t)more;
    pthread_mutex_unlock(&d->lock);
}

static rg_status
finish(rt_queue *q, rt_graph **graph, str *error)
{
    rt_device *d = q->device;
    rt_graph *made = q->next_graph;
    void *recorded = NULL, *executable = NULL;
    count_graphs(d, 1); /* before others see that nothing is recorded: what the graph uses stays */
    int code = d->driver.capture_end(q->stream, &recorded);
    __atomic_store_n(&q->recording, false, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&d->recorders, 1, __ATOMIC_RELAXED);
    if (!graph) {
        if (recorded)
            d->driver.graph_drop(recorded);
        count_graphs(d, -1);
        return RG_OK;
    }
    if (!code)
        code = d->driver.graph_make(&executable, recorded, 0);
    if (recorded)
        d->driver.graph_drop(recorded);
    if (!code && d->driver.graph_upload)
        code = d->driver.graph_upload(executable, q->stream);
    if (code && executable)
        d->driver.graph_release(executable);
    if (code)
        count_graphs(d, -1);
    TRY(rt_driver_check(d, code, "make a graph of what was recorded", error));
    *made = (rt_graph){q, executable};
    q->next_graph = NULL;
    *graph = made;
    return RG_OK;
}

/* While it begins no other thread gives memory back behind this queue. */
static rg_status
driver_begin(rt_queue *q, str *error)
{
    rt_device *d = q->device;
    rt_entry entry;
    mem_owner locks;
    pthread_mutex_lock(&d->queues_lock);
    mem_own(&locks, mem_release_mutex, &d->queues_lock);
    rg_status status = rt_driver_enter(&entry, q, error);
    if (!status)
        status = begin(q, error);
    rt_driver_leave(&entry);
    mem_disown(&locks);
    pthread_mutex_unlock(&d->queues_lock);
    return status;
}

static rg_status
driver_end(rt_queue *q, rt_graph **graph, str *error)
{
    rt_entry entry;
    if (graph)
        *graph = NULL;
    rg_status status = rt_driver_enter(&entry, q, error);
    if (!status) {
        status = finish(q, graph, error);
    } else { /* it ends in any case */
        rt_driver_leave(&entry);
        rt_driver_enter_to_release(&entry, q->device, q);
        if (q->recording)
            finish(q, NULL, NULL);
    }
    rt_driver_leave(&entry);
    rt_driver_catch_up(q->device);
    return status;
}

static rg_status
driver_launch(rt_graph *graph, str *error)
{
    rt_queue *q = graph->queue;
    rt_device *d = q->device;
    rt_entry entry;
    rg_status status = rt_driver_enter(&entry, q, error);
    if (!status && !q->recording && rt_driver_has_news(q))
        status = rt_driver_wait(q, error);
    if (!status)
        status = rt_driver_tape_follow(q, error);
    if (!status) {
        atomic_store_explicit(&q->pending, true, memory_order_relaxed);
        status = rt_driver_check(d, d->driver.graph_launch(graph->executable, q->stream), "launch a graph", error);
        if (!status && q->stream != q->own && !q->recording)
            status = rt_driver_check(d, d->driver.event_record(q->launched, q->stream), "launch a graph", error);
        rt_driver_note_launch(d, "a graph");
    }
    rt_driver_leave(&entry);
    return status;
}

static void
driver_release(rt_graph *graph)
{
    rt_queue *q = graph->queue;
    rt_device *d = q->device;
    rt_entry entry;
    rt_driver_enter_to_release(&entry, d, q);
    if (!rt_driver_records(q))
        rt_driver_settle(q);
    d->driver.graph_release(graph->executable);
    rt_driver_leave(&entry);
    count_graphs(d, -1);
    rt_driver_catch_up(d);
    mem_free(graph);
}

const rt_graph_table rt_driver_graphs = {
    .begin = driver_begin,
    .end = driver_end,
    .launch = driver_launch,
    .release = driver_release,
};

/* Graphs: launches, fills and copies that are recorded and done again as a whole. SPDX-License-Identifier: Apache-2.0
 *
 * A recorded launch has arguments of its own, as they stood then. A device that can record does so; the graph then only
 * keeps alive what its launches use and knows whose contents change. For others the graph is the list of what to do. */
#include "api/api.h"

/* -- what a graph uses ------------------------------------------------------------------------- */

static void
use(rg_graph *g, rg_array *a, bool written)
{
    api_use u = {a, a->moves, written};
    vec_push(&g->uses, u);
    api_keep(a);
}

static void
graph_free(void *graph)
{
    rg_graph *g = graph;
    if (g->graph)
        g->queue->device->table->graphs->release(g->graph);
    for (size_t i = 0; i < g->nodes.n; i++)
        if (g->nodes.at[i].args)
            api_args_free(g->nodes.at[i].args);
    for (size_t i = 0; i < g->uses.n; i++)
        api_array_release(g->uses.at[i].array);
    vec_free(&g->nodes);
    vec_free(&g->uses);
    api_free(g);
}

rg_status
api_refuse_recording(const rg_queue *queue, const char *what)
{
    if (!queue->recording)
        return RG_OK;
    return api_error(RG_INVALID,
                     "%s cannot be recorded: it has to stand before rg_graph_begin or after rg_graph_end\n"
                     "launches, rg_array_fill and rg_array_copy can",
                     what);
}

/* -- recording --------------------------------------------------------------------------------- */

/* Room for what follows, so that nothing fails once the device has recorded. */
static void
reserve_nodes(rg_graph *g, uint32_t uses)
{
    vec_reserve(&g->nodes, g->nodes.n + 1);
    vec_reserve(&g->uses, g->uses.n + uses);
}

static rg_status
record_args(rg_queue *queue, rg_args *args, rg_args **own)
{
    reserve_nodes(queue->recording, args->kernel->nparams);
    *own = api_args_copy(args);
    return RG_OK;
}

rg_status
api_record_args(rg_queue *queue, rg_args *args, rg_args **own)
{
    API_GUARDED(record_args(queue, args, own));
}

void
api_record_launch(rg_queue *queue, rg_args *own, rg_form form)
{
    const rg_kernel *k = own->kernel;
    rg_graph *g = queue->recording;
    api_node n = {.what = API_NODE_LAUNCH, .args = own, .form = form};
    vec_push(&g->nodes, n);
    for (uint32_t i = 0; i < k->nparams; i++)
        if (own->slots[i].array)
            use(g, own->slots[i].array, k->params[i].written && api_has_effects(form));
}

rg_status
api_record_fill(rg_queue *queue, rg_array *to, unsigned plane, uint64_t element)
{
    rg_graph *g = queue->recording;
    reserve_nodes(g, 1);
    api_node n = {.what = API_NODE_FILL, .to = to, .to_plane = plane, .element = element};
    vec_push(&g->nodes, n);
    use(g, to, plane == RG_PRIMAL);
    return RG_OK;
}

rg_status
api_record_copy(rg_queue *queue, rg_array *to, unsigned to_plane, rg_array *from, unsigned from_plane)
{
    rg_graph *g = queue->recording;
    reserve_nodes(g, 2);
    api_node n = {.what = API_NODE_COPY, .to = to, .to_plane = to_plane, .from = from, .from_plane = from_plane};
    vec_push(&g->nodes, n);
    use(g, to, to_plane == RG_PRIMAL);
    use(g, from, false);
    return RG_OK;
}

static rg_status
graph_begin(rg_queue *q)
{
    str text = {.in = mem_scratch()};
    rg_graph *g = api_new(API_GRAPH, sizeof(*g));
    g->queue = q;
    mem_owner owns;
    mem_own(&owns, graph_free, g);
    rg_status status = q->device->table->graphs ? q->device->table->graphs->begin(q->queue, &text) : RG_OK;
    mem_disown(&owns);
    if (status) {
        graph_free(g);
        return api_error_device(q->device, status, &text, "recording cannot begin");
    }
    q->recording = g;
    return RG_OK;
}

rg_status
rg_graph_begin(rg_queue *queue)
{
    API_CHECK(queue, API_QUEUE, "queue");
    if (queue->recording)
        return api_error(RG_INVALID, "a graph is being recorded already: rg_graph_end ends it");
    TRY(api_tape_refuse(queue, "rg_graph_begin"));
    TRY(api_take_failure(queue));
    API_GUARDED(graph_begin(queue));
}

static rg_status
graph_end(rg_queue *q, rg_graph **graph)
{
    rg_graph *g = q->recording;
    q->recording = NULL;
    mem_owner owns_graph, owns_text;
    str text = {0}; /* no memory is taken before the device has ended */
    mem_own(&owns_graph, graph_free, g);
    mem_own(&owns_text, mem_release_str, &text);
    rg_status status = RG_OK;
    if (q->device->table->graphs)
        status = q->device->table->graphs->end(q->queue, graph ? &g->graph : NULL, &text);
    status = api_error_device(q->device, status, &text, "the graph cannot be made");
    mem_disown(&owns_text);
    mem_disown(&owns_graph);
    str_free(&text);
    if (status || !graph) {
        graph_free(g);
        return status;
    }
    api_keep(q);
    *graph = g;
    return RG_OK;
}

rg_status
rg_graph_end(rg_queue *queue, rg_graph **graph)
{
    API_OUT(graph);
    API_CHECK(queue, API_QUEUE, "queue");
    if (!queue->recording)
        return api_error(RG_INVALID, "no graph is being recorded: rg_graph_begin begins one");
    API_GUARDED(graph_end(queue, graph));
}

static rg_status
guarded_drop(rg_queue *queue)
{
    API_GUARDED(graph_end(queue, NULL));
}

void
api_graph_drop(rg_queue *queue)
{
    rg_status ignored = queue->recording ? guarded_drop(queue) : RG_OK;
    (void)ignored; /* nobody will use what was recorded */
}

/* -- doing it again ---------------------------------------------------------------------------- */

static rg_status
check_uses(const rg_graph *g)
{
    for (size_t i = 0; i < g->uses.n; i++)
        if (g->uses.at[i].array->moves != g->uses.at[i].moves)
            return api_error(RG_INVALID,
                             "%s has other memory than when the graph was recorded: companions were "
                             "made, replaced or attached since",
                             API_SHOWN_NAME(g->uses.at[i].array));
    return RG_OK;
}

static rg_status
launch_of_device(rg_graph *g)
{
    str text = {.in = mem_scratch()};
    rg_status status = g->queue->device->table->graphs->launch(g->graph, &text);
    return api_error_device(g->queue->device, status, &text, "the graph cannot be launched");
}

static rg_status
guarded_launch_of_device(rg_graph *g)
{
    API_GUARDED(launch_of_device(g));
}

static rg_status
do_node(rg_queue *queue, api_node *n)
{
    switch (n->what) {
    case API_NODE_LAUNCH:
        return api_run(queue, n->args, n->form);
    case API_NODE_FILL:
        return api_array_fill(queue, n->to, n->to_plane, n->element);
    case API_NODE_COPY:
        return api_array_copy(queue, n->to, n->to_plane, n->from, n->from_plane);
    }
    return RG_OK;
}

rg_status
rg_graph_launch(rg_graph *graph)
{
    API_CHECK(graph, API_GRAPH, "graph");
    rg_queue *q = graph->queue;
    rg_status status = api_refuse_recording(q, "rg_graph_launch");
    if (!status)
        status = api_tape_refuse(q, "rg_graph_launch");
    if (!status)
        status = api_take_failure(q);
    if (!status)
        status = check_uses(graph);
    if (status)
        return status;
    api_call_begin(q);
    if (graph->graph)
        status = guarded_launch_of_device(graph);
    for (size_t i = 0; i < graph->nodes.n && !graph->graph && !status; i++)
        status = do_node(q, &graph->nodes.at[i]);
    api_call_end(q);
    for (size_t i = 0; i < graph->uses.n; i++)
        if (graph->uses.at[i].written)
            api_wrote(graph->uses.at[i].array);
    return api_wait_for_closed(q, status);
}

void
rg_graph_destroy(rg_graph *graph)
{
    if (!api_retire(graph, API_GRAPH))
        return;
    rg_queue *q = graph->queue;
    graph_free(graph);
    api_queue_release(q);
}

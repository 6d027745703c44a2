/* See remote.h. SPDX-License-Identifier: Apache-2.0 */
#include "remote.h"

#include <sys/mman.h>

typedef struct block {
    char *memory;
    size_t bytes;
    bool released; /* when all that stands in the queue is done */
} block;

typedef enum kind { LAUNCH, WRITE, COPY, FILL } kind;

typedef struct item {
    kind kind;
    rt_queue *on;
    rt_program *program; /* LAUNCH */
    char *to;
    const char *from; /* COPY */
    void *data;       /* owned: arguments, what is written, an element */
    size_t bytes, count;
} item;

typedef vec(item) items;

/* All queues of a device share one list of what is to be done. */
struct rt_device {
    rt_device *inner;
    vec(block) blocks;
    items list;
    size_t done; /* of the list */
};

struct rt_queue {
    rt_device *device;
    rt_queue *inner;
    items *recording; /* where launches go while a graph is recorded */
    rg_status failed;
    char text[512];
};

struct rt_program {
    rt_device *device;
    rt_program *inner;
    const char *label;
    uint32_t nparams;
};

struct rt_graph {
    rt_queue *queue;
    items items;
};

static const rt_device_table *const inner = &rt_device_interp;

/* -- memory ------------------------------------------------------------------------------------ */

static void
protect(rt_device *d, int how)
{
    for (size_t i = 0; i < d->blocks.n; i++)
        if (mprotect(d->blocks.at[i].memory, d->blocks.at[i].bytes, how))
            abort();
}

static size_t
whole_pages(size_t bytes)
{
    return (bytes + 4095) & ~(size_t)4095;
}

/* Blocks end where their last page ends, so that one element too far is a crash too. */
static size_t
offset_of(size_t bytes)
{
    return whole_pages(bytes) - ((bytes + 63) & ~(size_t)63);
}

static rg_status
allocate(rt_queue *q, size_t bytes, void **memory, str *error)
{
    rt_device *d = q->device;
    assert(!q->recording && "memory is not asked for while a graph is recorded");
    size_t whole = whole_pages(bytes);
    char *p = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        str_addf(error, "no more than that");
        return RG_OUT_OF_MEMORY;
    }
    block b = {p, whole, false};
    vec_push(&d->blocks, b);
    *memory = p + offset_of(bytes);
    return RG_OK;
}

static void
release(rt_device *d, void *memory, size_t bytes)
{
    size_t k = 0;
    while (k < d->blocks.n && d->blocks.at[k].memory != (char *)memory - offset_of(bytes))
        k++;
    assert(k < d->blocks.n && d->blocks.at[k].bytes == whole_pages(bytes) && "given back once, whole");
    assert(!d->blocks.at[k].released);
    d->blocks.at[k].released = true;
}

static void
unmap_released(rt_device *d)
{
    size_t kept = 0;
    for (size_t k = 0; k < d->blocks.n; k++)
        if (d->blocks.at[k].released)
            munmap(d->blocks.at[k].memory, d->blocks.at[k].bytes);
        else
            d->blocks.at[kept++] = d->blocks.at[k];
    d->blocks.n = kept;
}

/* -- the queue --------------------------------------------------------------------------------- */

static void
do_item(const item *i)
{
    str error = {0};
    rg_status status;
    switch (i->kind) {
    case LAUNCH:
        status = inner->launch(i->on->inner, i->program->inner, i->data, &error);
        if (status && !i->on->failed) {
            i->on->failed = status;
            snprintf(i->on->text, sizeof i->on->text, "%s: %s", i->program->label, error.ptr ? error.ptr : "");
        }
        str_free(&error);
        break;
    case WRITE:
        memcpy(i->to, i->data, i->bytes);
        break;
    case COPY:
        memcpy(i->to, i->from, i->bytes);
        break;
    case FILL:
        for (size_t k = 0; k < i->count; k++)
            memcpy(i->to + k * i->bytes, i->data, i->bytes);
        break;
    }
}

static void
drain(rt_device *d)
{
    protect(d, PROT_READ | PROT_WRITE);
    while (d->done < d->list.n)
        do_item(&d->list.at[d->done++]);
    for (size_t k = 0; k < d->list.n; k++)
        mem_free(d->list.at[k].data);
    vec_clear(&d->list);
    d->done = 0;
    unmap_released(d);
    protect(d, PROT_NONE);
}

static rg_status
told(rt_queue *q, str *error)
{
    rg_status status = q->failed;
    if (status)
        str_addz(error, q->text);
    q->failed = RG_OK;
    return status;
}

static rg_status
wait(rt_queue *q, str *error)
{
    assert(!q->recording && "nobody waits for what is only recorded");
    drain(q->device);
    return told(q, error);
}

static rg_status
enqueue(rt_queue *q, item i, const void *data, size_t bytes)
{
    items *to = q->recording ? q->recording : &q->device->list;
    i.on = q;
    i.data = mem_alloc(bytes + 1);
    memcpy(i.data, data, bytes);
    vec_push(to, i);
    return RG_OK;
}

static rg_status
write_bytes(rt_queue *q, void *to, const void *host, size_t bytes, str *error)
{
    assert(!q->recording && "copies from the host are not recorded");
    return enqueue(q, (item){.kind = WRITE, .to = to, .bytes = bytes}, host, bytes);
}

static rg_status
read_bytes(rt_queue *q, void *host, const void *from, size_t bytes, str *error)
{
    rg_status status = wait(q, error);
    protect(q->device, PROT_READ);
    if (!status)
        memcpy(host, from, bytes);
    protect(q->device, PROT_NONE);
    return status;
}

static rg_status
copy_bytes(rt_queue *q, void *to, const void *from, size_t bytes, str *error)
{
    return enqueue(q, (item){.kind = COPY, .to = to, .from = from, .bytes = bytes}, "", 0);
}

static rg_status
fill(rt_queue *q, void *to, const void *element, uint32_t size, size_t count, str *error)
{
    return enqueue(q, (item){.kind = FILL, .to = to, .bytes = size, .count = count}, element, size);
}

/* The blocks of the other device are drained, and may be read while this is done. */
static rg_status
copy_across(rt_queue *q, void *to, rt_device *other, const void *from, size_t bytes, str *error)
{
    drain(other);
    protect(other, PROT_READ);
    rg_status status = write_bytes(q, to, from, bytes, error);
    protect(other, PROT_NONE);
    return status;
}

static bool
reaches(rt_device *d, const void *memory)
{
    for (size_t i = 0; i < d->blocks.n; i++)
        if ((const char *)memory >= d->blocks.at[i].memory &&
            (const char *)memory < d->blocks.at[i].memory + d->blocks.at[i].bytes)
            return true;
    return false;
}

static const rt_memory_table memory_table = {
    .allocate = allocate,
    .release = release,
    .write = write_bytes,
    .read = read_bytes,
    .copy = copy_bytes,
    .copy_across = copy_across,
    .fill = fill,
    .reaches = reaches,
};

/* -- programs ---------------------------------------------------------------------------------- */

static rg_status
open_device(uint32_t ordinal, rt_device **device, str *error)
{
    rt_device *d = mem_zalloc(sizeof *d);
    rg_status status = inner->open(ordinal, &d->inner, error);
    if (status)
        mem_free(d);
    else
        *device = d;
    return status;
}

static void
close_device(rt_device *d)
{
    drain(d);
    assert(d->blocks.n == 0 && "all memory was given back");
    inner->close(d->inner);
    vec_free(&d->blocks);
    vec_free(&d->list);
    mem_free(d);
}

static rg_status
open_queue(rt_device *d, const rt_queue_desc *desc, rt_queue **queue, str *error)
{
    rt_queue_desc given = *desc;
    if (given.stream) {
        str_addz(error, "it has no streams of callers");
        return RG_INVALID;
    }
    if (!given.tape_budget)
        given.tape_budget = 1 << 30;
    rt_queue *q = mem_zalloc(sizeof *q);
    q->device = d;
    rg_status status = inner->open_queue(d->inner, &given, &q->inner, error);
    if (status)
        mem_free(q);
    else
        *queue = q;
    return status;
}

static void
close_queue(rt_queue *q)
{
    drain(q->device);
    inner->close_queue(q->inner);
    mem_free(q);
}

static rg_status
wait_for_other(rt_queue *q, rt_queue *other, str *error)
{
    return RG_OK; /* they share the list */
}

static rg_status
set_stream(rt_queue *q, void *stream, str *error)
{
    str_addz(error, "it has no streams of callers");
    return stream ? RG_INVALID : RG_OK;
}

static void
settle(rt_device *d)
{
    drain(d);
}

static const rt_stream_table stream_table = {.sync = wait, .wait = wait_for_other, .set_stream = set_stream, .settle = settle};

static rg_status
compile(rt_device *d, const rt_program_desc *desc, rt_program **program, diag_list *diags)
{
    rt_program *p = mem_zalloc(sizeof *p);
    *p = (rt_program){.device = d, .label = desc->label ? desc->label : desc->fn->name,
                      .nparams = desc->fn->body->nparams};
    rt_program_desc given = *desc;
    given.queue = desc->queue ? desc->queue->inner : NULL;
    rg_status status = inner->compile(d->inner, &given, &p->inner, diags);
    if (status)
        mem_free(p);
    else
        *program = p;
    return status;
}

static void
release_program(rt_program *p)
{
    drain(p->device);
    inner->release(p->inner);
    mem_free(p);
}

static rg_status
launch(rt_queue *q, rt_program *p, const rt_arg *args, str *error)
{
    rg_status status = told(q, error);
    if (status)
        return status;
    return enqueue(q, (item){.kind = LAUNCH, .program = p}, args, p->nparams * sizeof *args);
}

/* -- graphs ------------------------------------------------------------------------------------ */

static void
free_items(items *list)
{
    for (size_t i = 0; i < list->n; i++)
        mem_free(list->at[i].data);
    vec_free(list);
}

static rg_status
begin(rt_queue *q, str *error)
{
    assert(!q->recording);
    q->recording = mem_zalloc(sizeof *q->recording);
    return RG_OK;
}

static rg_status
end(rt_queue *q, rt_graph **graph, str *error)
{
    items *made = q->recording;
    assert(made);
    q->recording = NULL;
    if (graph) {
        rt_graph *g = mem_zalloc(sizeof *g);
        *g = (rt_graph){q, *made};
        *graph = g;
    } else {
        free_items(made);
    }
    mem_free(made);
    return RG_OK;
}

static rg_status
launch_graph(rt_graph *g, str *error)
{
    rg_status status = told(g->queue, error);
    for (size_t i = 0; i < g->items.n && !status; i++) {
        item copy = g->items.at[i];
        size_t bytes = copy.kind == LAUNCH ? copy.program->nparams * sizeof(rt_arg) : copy.kind == FILL ? copy.bytes : 0;
        status = enqueue(g->queue, copy, copy.data, bytes);
    }
    return status;
}

static void
release_graph(rt_graph *g)
{
    free_items(&g->items);
    mem_free(g);
}

static const rt_graph_table graph_table = {
    .begin = begin,
    .end = end,
    .launch = launch_graph,
    .release = release_graph,
};

#define TABLE(called, with_graphs)                                                                 \
    {                                                                                              \
        .name = (called), .stage = IR_STAGE_AD, .look = rt_host_look, .open = open_device,           \
        .close = close_device, .open_queue = open_queue, .close_queue = close_queue,               \
        .compile = compile, .release = release_program, .launch = launch, .memory = &memory_table, \
        .streams = &stream_table, .graphs = (with_graphs)                                                      \
    }
const rt_device_table remote_device = TABLE("remote", &graph_table);
const rt_device_table plain_device = TABLE("plain", NULL);

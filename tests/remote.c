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
    rt_program *program; /* LAUNCH */
    char *to;
    const char *from; /* COPY */
    void *data;       /* owned: arguments, what is written, an element */
    size_t bytes, count;
} item;

typedef vec(item) items;

struct rt_device {
    rt_device *inner;
    vec(block) blocks;
    items queue;
    size_t done; /* of the queue */
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
    rt_device *device;
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
allocate(rt_device *d, size_t bytes, void **memory, str *error)
{
    assert(!d->recording && "memory is not asked for while a graph is recorded");
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
    assert(!d->recording && "memory is not given back while a graph is recorded");
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
do_item(rt_device *d, const item *i)
{
    str error = {0};
    rg_status status;
    switch (i->kind) {
    case LAUNCH:
        status = inner->launch(i->program->inner, i->data, &error);
        if (status && !d->failed) {
            d->failed = status;
            snprintf(d->text, sizeof d->text, "%s: %s", i->program->label, error.ptr ? error.ptr : "");
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
    while (d->done < d->queue.n)
        do_item(d, &d->queue.at[d->done++]);
    for (size_t k = 0; k < d->queue.n; k++)
        mem_free(d->queue.at[k].data);
    vec_clear(&d->queue);
    d->done = 0;
    unmap_released(d);
    protect(d, PROT_NONE);
}

static rg_status
told(rt_device *d, str *error)
{
    rg_status status = d->failed;
    if (status)
        str_addz(error, d->text);
    d->failed = RG_OK;
    return status;
}

static rg_status
wait(rt_device *d, str *error)
{
    assert(!d->recording && "nobody waits for what is only recorded");
    drain(d);
    return told(d, error);
}

static rg_status
enqueue(rt_device *d, item i, const void *data, size_t bytes)
{
    items *to = d->recording ? d->recording : &d->queue;
    i.data = mem_alloc(bytes + 1);
    memcpy(i.data, data, bytes);
    vec_push(to, i);
    return RG_OK;
}

static rg_status
write_bytes(rt_device *d, void *to, const void *host, size_t bytes, str *error)
{
    assert(!d->recording && "copies from the host are not recorded");
    return enqueue(d, (item){.kind = WRITE, .to = to, .bytes = bytes}, host, bytes);
}

static rg_status
read_bytes(rt_device *d, void *host, const void *from, size_t bytes, str *error)
{
    rg_status status = wait(d, error);
    protect(d, PROT_READ);
    if (!status)
        memcpy(host, from, bytes);
    protect(d, PROT_NONE);
    return status;
}

static rg_status
copy_bytes(rt_device *d, void *to, const void *from, size_t bytes, str *error)
{
    return enqueue(d, (item){.kind = COPY, .to = to, .from = from, .bytes = bytes}, "", 0);
}

static rg_status
fill(rt_device *d, void *to, const void *element, uint32_t size, size_t count, str *error)
{
    return enqueue(d, (item){.kind = FILL, .to = to, .bytes = size, .count = count}, element, size);
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
    .fill = fill,
    .reaches = reaches,
};

/* -- programs ---------------------------------------------------------------------------------- */

static rg_status
open_device(const rt_device_desc *desc, rt_device **device, str *error)
{
    rt_device_desc given = *desc;
    if (!given.tape_budget)
        given.tape_budget = 1 << 30;
    rt_device *d = mem_zalloc(sizeof *d);
    rg_status status = inner->open(&given, &d->inner, error);
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
    vec_free(&d->queue);
    mem_free(d);
}

static rg_status
compile(rt_device *d, const rt_program_desc *desc, rt_program **program, diag_list *diags)
{
    rt_program *p = mem_zalloc(sizeof *p);
    *p = (rt_program){.device = d, .label = desc->label ? desc->label : desc->fn->name,
                      .nparams = desc->fn->body->nparams};
    rg_status status = inner->compile(d->inner, desc, &p->inner, diags);
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
launch(rt_program *p, const rt_arg *args, str *error)
{
    rg_status status = told(p->device, error);
    if (status)
        return status;
    return enqueue(p->device, (item){.kind = LAUNCH, .program = p}, args, p->nparams * sizeof *args);
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
begin(rt_device *d, str *error)
{
    assert(!d->recording);
    d->recording = mem_zalloc(sizeof *d->recording);
    return RG_OK;
}

static rg_status
end(rt_device *d, rt_graph **graph, str *error)
{
    items *made = d->recording;
    assert(made);
    d->recording = NULL;
    if (graph) {
        rt_graph *g = mem_zalloc(sizeof *g);
        *g = (rt_graph){d, *made};
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
    rg_status status = told(g->device, error);
    for (size_t i = 0; i < g->items.n && !status; i++) {
        item copy = g->items.at[i];
        size_t bytes = copy.kind == LAUNCH ? copy.program->nparams * sizeof(rt_arg) : copy.kind == FILL ? copy.bytes : 0;
        status = enqueue(g->device, copy, copy.data, bytes);
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
        .name = (called), .stage = IR_STAGE_AD, .open = open_device, .close = close_device,        \
        .compile = compile, .release = release_program, .launch = launch, .memory = &memory_table, \
        .sync = wait, .graphs = (with_graphs)                                                      \
    }
const rt_device_table remote_device = TABLE("remote", &graph_table);
const rt_device_table plain_device = TABLE("plain", NULL);

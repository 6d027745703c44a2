/* A GPU played on this machine as a device: LLVM's code for GPUs on the fibers of rt/simt. SPDX-License-Identifier: Apache-2.0
 *
 * For tests: it behaves like device cuda. Arrays have memory of the device's own, which kernels reach and nothing else
 * of the host's; what went wrong in a launch is told by the next call that waits, or by the next launch. */
#include "base/settings.h"
#include "device/device.h"

#include <pthread.h>
#include <stdlib.h>

#include "codegen/llvm/ll.h"
#include "compiler/process.h"
#include "rt/cpu/launch.h"
#include "device/explain.h"
#include "rt/load/processor.h"
#include "rt/simt/simt.h"

static const uint64_t usual_budget = (uint64_t)1 << 30;

typedef struct piece {
    char *memory;
    size_t bytes;
} piece;

struct rt_device {
    const rt_device_table *table;
    pthread_mutex_t lock; /* of what follows, and of launches: they are done one at a time */
    ll_jit *jit; /* made with the first kernel */
    vec(rt_program *) programs; /* by number; NULL: released */
    vec(piece) pieces;          /* memory, by address */
};

struct rt_queue {
    rt_device *device;
    rt_simt *simt;
    rt_sink sink;
    rg_status failed;           /* of an earlier launch, not told yet */
    str failure;
};

struct rt_program {
    rt_device *device;
    const char *label, *file;
    uint32_t number, nparams;
    ll_code *code;
};

/* -- one at a time, also where an allocation in between fails -- */

static void
enter(rt_device *d, mem_owner *owns)
{
    pthread_mutex_lock(&d->lock);
    mem_own(owns, mem_release_mutex, &d->lock);
}

static void
leave(rt_device *d, mem_owner *owns)
{
    mem_disown(owns);
    pthread_mutex_unlock(&d->lock);
}

/* There are two, with memory of their own each. */
static rg_status
simt_look(uint32_t ordinal, rt_device_facts *facts, str *error)
{
    if (ordinal < 2)
        return rt_host_look(0, facts, error);
    str_addf(error, "it has numbers 0 and 1, not %u", ordinal);
    return RG_NOT_FOUND;
}

static rg_status
open_table(const rt_device_table *table, uint32_t ordinal, rt_device **device, str *error)
{
    TRY(simt_look(ordinal, NULL, error));
    *device = mem_zalloc(sizeof(**device));
    (*device)->table = table;
    pthread_mutex_init(&(*device)->lock, NULL);
    return RG_OK;
}

static rg_status
simt_open(uint32_t ordinal, rt_device **device, str *error)
{
    return open_table(&rt_device_simt, ordinal, device, error);
}

static rg_status
segments_open(uint32_t ordinal, rt_device **device, str *error)
{
    return open_table(&rt_device_segments, ordinal, device, error);
}

static void
simt_close(rt_device *d)
{
    ll_jit_destroy(d->jit);
    for (size_t i = 0; i < d->pieces.n; i++)
        free(d->pieces.at[i].memory);
    vec_free(&d->pieces);
    vec_free(&d->programs);
    pthread_mutex_destroy(&d->lock);
    mem_free(d);
}

static rg_status
simt_open_queue(rt_device *d, const rt_queue_desc *desc, rt_queue **queue, str *error)
{
    if (desc->stream) {
        str_addz(error, "it has no streams of callers");
        return RG_INVALID;
    }
    rt_queue *q = mem_zalloc(sizeof(*q));
    settings asked = settings_read();
    uint64_t budget = asked.simt_pool ? asked.simt_pool : desc->tape_budget ? desc->tape_budget : usual_budget;
    q->device = d;
    q->sink = desc->sink;
    q->simt = rt_simt_create(&(rt_simt_desc){.budget = budget, .blocks = asked.simt_blocks, .warps = asked.simt_warps,
                                             .order = asked.simt_order});
    if (!q->simt) {
        mem_free(q);
        str_addz(error, "out of memory");
        return RG_OUT_OF_MEMORY;
    }
    *queue = q;
    return RG_OK;
}

static void
simt_close_queue(rt_queue *q)
{
    rt_simt_destroy(q->simt);
    str_free(&q->failure);
    mem_free(q);
}

/* -- programs ------------------------------------------------------------------------------------------------------ */

static void
simt_release(rt_program *p)
{
    pthread_mutex_lock(&p->device->lock);
    if (p->number < p->device->programs.n)
        p->device->programs.at[p->number] = NULL;
    pthread_mutex_unlock(&p->device->lock);
    ll_code_free(p->code);
    mem_free(p);
}

static void
release_program(void *program)
{
    simt_release(program);
}

/* The first free number: print and report records have 16 bits for it. The caller holds the lock. */
static bool
take_number(rt_device *d, rt_program *p)
{
    size_t n = 0;
    while (n < d->programs.n && d->programs.at[n])
        n++;
    if (n > UINT16_MAX)
        return false;
    if (n == d->programs.n)
        vec_push(&d->programs, p);
    d->programs.at[n] = p;
    p->number = (uint32_t)n;
    return true;
}

static rg_status
simt_make(rt_device *d, const rt_program_desc *desc, unsigned wanted, str *code, diag_list *diags)
{
    ll_options options = {.present = desc->present, .absent = desc->absent, .contiguous = desc->dense,
                          .noalias = desc->noalias, .native_math = desc->native_math, .fast_math = desc->fast_math,
                          .deterministic = desc->deterministic};
    mem_owner locks;
    if (desc->apart)
        return process_make(desc->fn, &options, rt_program_label(desc), code, diags);
    enter(d, &locks);
    rg_status status = d->jit ? RG_OK : ll_jit_create(&d->jit, diags);
    leave(d, &locks);
    return status ? status : ll_make(d->jit, desc->fn, &options, code, diags);
}

static bool
simt_describe(rt_device *d, const rt_program_desc *desc, str *key)
{
    return rt_processor_describe(key);
}

/* What was kept and cannot be loaded is made anew. */
static rg_status
load_code(rt_program *p, const rt_program_desc *desc, diag_list *diags)
{
    str error = {.in = mem_scratch()};
    bool kept = true;
    for (unsigned wanted = 0; !p->code && kept; wanted |= RT_CODE_ANEW) {
        str bytes = {.in = mem_scratch()};
        TRY(rt_program_code(p->device->table, p->device, desc, wanted, &bytes, &kept, diags));
        error.len = 0;
        p->code = ll_load(str_view(&bytes), &error);
    }
    if (!p->code)
        diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "the code cannot be loaded: %s", error.ptr);
    return p->code ? RG_OK : RG_COMPILE;
}

static rg_status
simt_compile(rt_device *device, const rt_program_desc *desc, rt_program **program, diag_list *diags)
{
    rt_program *p = mem_zalloc(sizeof(*p));
    *p = (rt_program){.device = device, .label = rt_program_label(desc), .file = rt_program_file(desc),
                      .nparams = rt_program_params(desc), .number = UINT32_MAX};
    mem_owner owns, locks;
    mem_own(&owns, release_program, p);
    enter(device, &locks);
    bool numbered = take_number(device, p);
    leave(device, &locks);
    rg_status status = RG_UNSUPPORTED;
    if (numbered)
        status = load_code(p, desc, diags);
    else
        diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "the device has too many compiled kernels");
    mem_disown(&owns);
    if (status)
        simt_release(p);
    else
        *program = p;
    return status;
}

/* -- what launches leave ------------------------------------------------------------------------------------------- */

static const ll_place *
find_place(const rt_device *d, uint32_t program, uint32_t place)
{
    const rt_program *p = program < d->programs.n ? d->programs.at[program] : NULL;
    const ll_gpu_info *info = p ? ll_code_gpu(p->code) : NULL;
    return info && place < info->places.n ? &info->places.at[place] : NULL;
}

static void
show_print(void *user, uint32_t program, uint32_t place, const uint64_t *values, uint32_t n)
{
    const rt_queue *q = user;
    const ll_place *p = find_place(q->device, program, place);
    if (p && p->text)
        rt_print(&q->sink, p->text, values, (const uint8_t *)p->dtypes, n);
}

static rg_status
explain(const rt_program *p, const rt_gpu_report *from, str *error)
{
    return rt_explain_gpu(from, find_place(p->device, p->number, from->place), p->label, p->file, error);
}

/* What an earlier launch did wrong, once. */
static rg_status
tell(rt_queue *q, str *error)
{
    rg_status status = q->failed;
    if (status)
        str_add(error, str_view(&q->failure));
    str_free(&q->failure);
    q->failure = (str){0};
    q->failed = RG_OK;
    return status;
}

/* -- launches ------------------------------------------------------------------------------------------------------ */

/* the number of the piece that begins at or below this address; -1: there is none */
static ptrdiff_t
piece_below(const rt_device *d, const void *memory)
{
    size_t lo = 0, hi = d->pieces.n;
    while (lo < hi) {
        size_t middle = (lo + hi) / 2;
        if ((uintptr_t)d->pieces.at[middle].memory <= (uintptr_t)memory)
            lo = middle + 1;
        else
            hi = middle;
    }
    return (ptrdiff_t)lo - 1;
}

static bool
is_ours(const rt_device *d, const void *memory)
{
    ptrdiff_t i = piece_below(d, memory);
    return i >= 0 && (uintptr_t)memory - (uintptr_t)d->pieces.at[i].memory <= d->pieces.at[i].bytes;
}

/* A GPU would read garbage, or stop for good. */
static bool
reaches_all(const rt_program *p, const rt_arg *args, str *error)
{
    for (uint32_t i = 0; i < p->nparams; i++)
        for (int plane = 0; plane < RT_PLANES; plane++)
            if (args[i].plane[plane] && !is_ours(p->device, args[i].plane[plane])) {
                str_addf(error, "%s: plane %d of argument %u is not in the memory of the device", p->label, plane, i);
                return false;
            }
    return true;
}

static rt_simt_kernel *
entry_of(const rt_program *p)
{
    ll_entry *entry = ll_code_entry(p->code);
    rt_simt_kernel *kernel;
    memcpy(&kernel, &entry, sizeof(kernel));
    return kernel;
}

/* What is asked where the steps part. */
static bool
holds(const rt_queue *q, const segments_step *step)
{
    uint32_t condition = 0;
    if (step->kind == SEGMENTS_AGAIN)
        return rt_simt_pieces_are_left(q->simt);
    if (step->kind == SEGMENTS_EXIT_IF || step->kind == SEGMENTS_IF)
        memcpy(&condition, rt_simt_record(q->simt) + step->place, sizeof condition);
    return condition;
}

/* A launch in segments: one grid after the other, as the steps say. */
static const char *
run_steps(rt_queue *q, rt_program *p, const rt_arg *args)
{
    const ll_gpu_info *info = ll_code_gpu(p->code);
    const char *trouble = rt_simt_begin(q->simt, args, p->number, info->record);
    for (uint32_t at = 0; at < info->steps.n && !trouble; at = segments_behind(info->steps.at, at, holds(q, &info->steps.at[at]))) {
        const segments_step *step = &info->steps.at[at];
        if (rt_simt_has_failed(q->simt, segments_place_before(info->steps.at, info->steps.n, at)))
            break;
        if (step->kind == SEGMENTS_RUN || step->kind == SEGMENTS_TASK)
            trouble = rt_simt_grid(q->simt, entry_of(p), step->entry, step->kind == SEGMENTS_RUN);
    }
    return rt_simt_end(q->simt);
}

static rg_status
run(rt_queue *q, rt_program *p, const rt_arg *args, str *error)
{
    rt_gpu_report *report = rt_simt_report(q->simt);
    report->fault = 0;
    bool is_cut = ll_code_gpu(p->code)->is_cut;
    const char *trouble = is_cut ? run_steps(q, p, args) : rt_simt_launch(q->simt, entry_of(p), args, p->number);
    uint64_t lost = rt_simt_prints(q->simt, show_print, q);
    rt_explain_lost(&q->sink, lost);
    if (trouble)
        str_addf(error, "%s: %s", p->label, trouble);
    return trouble ? RG_DEVICE : report->fault ? explain(p, report, error) : RG_OK;
}

static rg_status
simt_launch(rt_queue *q, rt_program *p, const rt_arg *args, str *error)
{
    rt_device *d = p->device;
    mem_owner locks;
    enter(d, &locks);
    rg_status status = tell(q, error);
    if (!status && !reaches_all(p, args, error))
        status = RG_DEVICE;
    if (!status) {
        q->failed = run(q, p, args, &q->failure);
        if (q->failed == RG_DEVICE) /* a mistake of ours: where it is made */
            status = tell(q, error);
    }
    leave(d, &locks);
    return status;
}

/* Each queue has done what it was given: nothing is to be waited for. */
static rg_status
simt_wait(rt_queue *q, rt_queue *other, str *error)
{
    return RG_OK;
}

static rg_status
simt_set_stream(rt_queue *q, void *stream, str *error)
{
    if (stream)
        str_addz(error, "it has no streams of callers");
    return stream ? RG_INVALID : RG_OK;
}

static void
simt_settle(rt_device *d)
{
}

static const rt_stream_table simt_streams = {.sync = tell, .wait = simt_wait, .set_stream = simt_set_stream,
                                             .settle = simt_settle};

/* -- memory -------------------------------------------------------------------------------------------------------- */

static rg_status
simt_allocate(rt_queue *q, size_t bytes, void **memory, str *error)
{
    rt_device *d = q->device;
    char *taken = calloc(1, bytes + 64); /* so that one piece never begins where another ends */
    if (!taken) {
        str_addz(error, "out of memory");
        return RG_OUT_OF_MEMORY;
    }
    mem_owner owns, locks;
    mem_own(&owns, free, taken);
    enter(d, &locks);
    vec_push(&d->pieces, ((piece){taken, bytes}));
    size_t at = d->pieces.n - 1;
    for (; at > 0 && (uintptr_t)d->pieces.at[at - 1].memory > (uintptr_t)taken; at--)
        d->pieces.at[at] = d->pieces.at[at - 1];
    d->pieces.at[at] = (piece){taken, bytes};
    leave(d, &locks);
    mem_disown(&owns);
    *memory = taken;
    return RG_OK;
}

static void
simt_give(rt_device *d, void *memory, size_t bytes)
{
    (void)bytes;
    pthread_mutex_lock(&d->lock);
    ptrdiff_t i = memory ? piece_below(d, memory) : -1;
    assert((!memory || (i >= 0 && d->pieces.at[i].memory == memory)) && "memory of the device's");
    if (i >= 0) {
        memmove(&d->pieces.at[i], &d->pieces.at[i + 1], (d->pieces.n - (size_t)i - 1) * sizeof(piece));
        d->pieces.n--;
    }
    pthread_mutex_unlock(&d->lock);
    free(memory);
}

static rg_status
simt_write(rt_queue *q, void *to, const void *host, size_t bytes, str *error)
{
    (void)q, (void)error;
    memcpy(to, host, bytes);
    return RG_OK;
}

static rg_status
simt_read(rt_queue *q, void *host, const void *from, size_t bytes, str *error)
{
    memcpy(host, from, bytes);
    return tell(q, error);
}

static rg_status
simt_copy(rt_queue *q, void *to, const void *from, size_t bytes, str *error)
{
    (void)q, (void)error;
    memmove(to, from, bytes);
    return RG_OK;
}

static rg_status
simt_copy_across(rt_queue *q, void *to, rt_device *other, const void *from, size_t bytes, str *error)
{
    (void)other;
    return simt_copy(q, to, from, bytes, error);
}

static rg_status
simt_fill(rt_queue *q, void *to, const void *element, uint32_t size, size_t count, str *error)
{
    (void)q, (void)error;
    for (size_t i = 0; i < count; i++)
        memcpy((char *)to + i * size, element, size);
    return RG_OK;
}

static bool
simt_reaches(rt_device *d, const void *memory)
{
    pthread_mutex_lock(&d->lock);
    bool ours = is_ours(d, memory);
    pthread_mutex_unlock(&d->lock);
    return ours;
}

static void
simt_cancel(rt_queue *q)
{
    rt_simt_cancel(q->simt);
}

static uint64_t
simt_tape_peak(rt_queue *q)
{
    return (uint64_t)rt_simt_report(q->simt)->pages * RT_GPU_PAGE;
}

static const rt_memory_table simt_memory = {
    .allocate = simt_allocate,
    .release = simt_give,
    .write = simt_write,
    .read = simt_read,
    .copy = simt_copy,
    .copy_across = simt_copy_across,
    .fill = simt_fill,
    .reaches = simt_reaches,
};

#define TABLE(text, opens, of)                                                                                          \
    {                                                                                                                   \
        .name = text, .stage = IR_STAGE_SLOTS, .look = simt_look, .open = opens, .close = simt_close,                \
        .open_queue = simt_open_queue, .close_queue = simt_close_queue, .compile = simt_compile, .make = simt_make,     \
        .describe = simt_describe, .release = simt_release, .launch = simt_launch, .cancel = simt_cancel, .target = of, \
        .memory = &simt_memory, .streams = &simt_streams, .tape_peak = simt_tape_peak,                                  \
    }

const rt_device_table rt_device_simt = TABLE("simt", simt_open, &target_nvidia);
/* the same GPU, if its blocks could not wait for each other */
const rt_device_table rt_device_segments = TABLE("segments", segments_open, &target_segments);

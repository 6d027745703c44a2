/* The machine's own processor as a device: LLVM's code on the threads of rt/cpu.
 * SPDX-License-Identifier: Apache-2.0 */
#include "device/device.h"

#include "codegen/llvm/ll.h"
#include "compiler/process.h"
#include "rt/cpu/cpu.h"
#include "rt/cpu/pool.h"
#include "device/explain.h"
#include "rt/load/processor.h"

#include <pthread.h>

struct rt_device {
    pthread_mutex_t lock; /* of what follows */
    ll_jit *jit; /* made with the first kernel */
};

struct rt_queue {
    rt_cpu *cpu;
};

/* Code for one thread needs no atomic operations; which code there is follows from the threads that
 * launches have. Code for several serves one as well. */
struct rt_program {
    rt_device *device;
    rt_program_desc desc; /* its arrays are the program's */
    const char *file;
    pthread_mutex_t lock;
    ll_code *alone, *shared; /* made under the lock */
};

_Static_assert((int)RT_MAX_THREADS == (int)RG_MAX_THREADS, "a queue may have all threads of a launch");

static rg_status
cpu_open(uint32_t ordinal, rt_device **device, str *error)
{
    TRY(rt_host_look(ordinal, NULL, error));
    *device = mem_zalloc(sizeof(**device));
    pthread_mutex_init(&(*device)->lock, NULL);
    return RG_OK;
}

static void
cpu_close(rt_device *device)
{
    ll_jit_destroy(device->jit);
    pthread_mutex_destroy(&device->lock);
    mem_free(device);
}

static rg_status
cpu_open_queue(rt_device *device, const rt_queue_desc *desc, rt_queue **queue, str *error)
{
    rt_queue *q = mem_zalloc(sizeof(*q));
    q->cpu = rt_cpu_create(desc->num_threads, desc->tape_budget);
    if (!q->cpu) {
        mem_free(q);
        str_addz(error, "out of memory");
        return RG_OUT_OF_MEMORY;
    }
    rt_cpu_set_sink(q->cpu, desc->sink);
    *queue = q;
    return RG_OK;
}

static void
cpu_close_queue(rt_queue *queue)
{
    rt_cpu_destroy(queue->cpu);
    mem_free(queue);
}

static void
cpu_release(rt_program *program)
{
    ll_code_free(program->alone);
    ll_code_free(program->shared);
    mem_free((void *)program->desc.present);
    mem_free((void *)program->desc.absent);
    mem_free((void *)program->desc.dense);
    pthread_mutex_destroy(&program->lock);
    mem_free(program);
}

static void
release_program(void *program)
{
    cpu_release(program);
}

static void *
copied(const void *data, size_t bytes)
{
    if (!data)
        return NULL;
    void *copy = mem_alloc(bytes + 1);
    memcpy(copy, data, bytes);
    return copy;
}

static rg_status
open_jit(rt_device *d, diag_list *diags)
{
    mem_owner owns;
    pthread_mutex_lock(&d->lock);
    mem_own(&owns, mem_release_mutex, &d->lock);
    rg_status status = d->jit ? RG_OK : ll_jit_create(&d->jit, diags);
    mem_disown(&owns);
    pthread_mutex_unlock(&d->lock);
    return status;
}

static rg_status
cpu_make(rt_device *d, const rt_program_desc *desc, unsigned wanted, str *code, diag_list *diags)
{
    ll_options options = {.present = desc->present, .absent = desc->absent, .contiguous = desc->dense, .noalias = desc->noalias,
                          .native_math = desc->native_math, .deterministic = desc->deterministic, .alone = wanted & RT_CODE_ALONE};
    if (desc->apart)
        return process_make(desc->fn, &options, rt_program_label(desc), code, diags);
    TRY(open_jit(d, diags));
    return ll_make(d->jit, desc->fn, &options, code, diags);
}

static bool
cpu_describe(rt_device *d, const rt_program_desc *desc, str *key)
{
    return rt_processor_describe(key);
}

/* What was kept and cannot be loaded is made anew. */
static rg_status
load_code(rt_program *p, unsigned wanted, ll_code **out, diag_list *diags)
{
    str error = {.in = mem_scratch()};
    ll_code *code = NULL;
    for (bool kept = true; !code && kept; wanted |= RT_CODE_ANEW) {
        str bytes = {.in = mem_scratch()};
        TRY(rt_program_code(&rt_device_cpu, p->device, &p->desc, wanted, &bytes, &kept, diags));
        error.len = 0;
        code = ll_load(str_view(&bytes), &error);
    }
    if (!code)
        diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "the code cannot be loaded: %s", error.ptr);
    __atomic_store_n(out, code, __ATOMIC_RELEASE);
    return code ? RG_OK : RG_COMPILE;
}

/* The code for one thread, or for several, made if it is not there. One thread at a time makes a program's code. */
static rg_status
get_loaded(rt_program *p, bool alone, ll_code **code, diag_list *diags)
{
    alone &= !p->desc.deterministic;
    ll_code **at = alone ? &p->alone : &p->shared;
    mem_owner owns;
    pthread_mutex_lock(&p->lock);
    mem_own(&owns, mem_release_mutex, &p->lock);
    rg_status status = *at ? RG_OK : load_code(p, alone ? RT_CODE_ALONE : 0, at, diags);
    *code = *at;
    mem_disown(&owns);
    pthread_mutex_unlock(&p->lock);
    return status;
}

static rg_status
cpu_compile(rt_device *device, const rt_program_desc *desc, rt_program **program, diag_list *diags)
{
    rt_program *p = mem_zalloc(sizeof(*p));
    pthread_mutex_init(&p->lock, NULL);
    mem_owner owns;
    mem_own(&owns, release_program, p);
    p->device = device;
    p->desc = *desc;
    p->desc.present = p->desc.absent = NULL;
    p->desc.dense = NULL;
    p->desc.queue = NULL;
    p->file = rt_program_file(desc);
    uint32_t n = rt_program_params(desc);
    /* one by one: what is there is released if the next one fails */
    p->desc.present = copied(desc->present, n);
    p->desc.absent = copied(desc->absent, n);
    p->desc.dense = copied(desc->dense, n * sizeof(bool));
    ll_code *code;
    uint32_t threads = desc->queue ? rt_cpu_threads(desc->queue->cpu) : rt_pool_default();
    rg_status status = get_loaded(p, threads == 1, &code, diags);
    mem_disown(&owns);
    if (status)
        cpu_release(p);
    else
        *program = p;
    return status;
}

static rg_status
cpu_launch(rt_queue *queue, rt_program *program, const rt_arg *args, str *error)
{
    rt_report report;
    ll_code *code = __atomic_load_n(&program->shared, __ATOMIC_ACQUIRE);
    if (!code && rt_cpu_threads(queue->cpu) == 1)
        code = __atomic_load_n(&program->alone, __ATOMIC_ACQUIRE);
    if (!code) {
        diag_list diags = {.text.in = mem_scratch()};
        rg_status status = get_loaded(program, rt_cpu_threads(queue->cpu) == 1, &code, &diags);
        if (status) {
            str_add(error, str_view(&diags.text));
            return status;
        }
    }
    if (rt_cpu_launch(queue->cpu, ll_code_entry(code), args, &report) == RT_OK)
        return RG_OK;
    return rt_explain(&report, program->file, error);
}

static void
cpu_cancel(rt_queue *queue)
{
    rt_cpu_cancel(queue->cpu);
}

const rt_device_table rt_device_cpu = {
    .name = "cpu",
    .stage = IR_STAGE_SLOTS,
    .look = rt_host_look,
    .open = cpu_open,
    .close = cpu_close,
    .open_queue = cpu_open_queue,
    .close_queue = cpu_close_queue,
    .compile = cpu_compile,
    .make = cpu_make,
    .describe = cpu_describe,
    .release = cpu_release,
    .launch = cpu_launch,
    .cancel = cpu_cancel,
    .restores = false,
};

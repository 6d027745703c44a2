/* The machine's own processor as a device: LLVM's code on the threads of rt/cpu.
 * SPDX-License-Identifier: Apache-2.0 */
#include "device/device.h"

#include "codegen/llvm/ll.h"
#include "rt/cpu/cpu.h"
#include "device/explain.h"

struct rt_device {
    rt_cpu *cpu;
    ll_jit *jit; /* made with the first kernel */
    bool native_math;
};

/* Code for one thread needs no atomic operations; which code there is follows from the threads that
 * launches have. Code for several serves one as well. */
struct rt_program {
    rt_device *device;
    const ir_fn *fn;
    ll_options options; /* its arrays are the program's */
    ll_code *alone, *shared;
};

_Static_assert((int)RT_MAX_THREADS == (int)RG_MAX_THREADS, "a context may have all threads of a launch");

static rg_status
cpu_open(const rt_device_desc *desc, rt_device **device, str *error)
{
    rt_device *d = mem_zalloc(sizeof(*d));
    d->native_math = desc->native_math;
    d->cpu = rt_cpu_create(desc->num_threads, desc->tape_budget);
    if (!d->cpu) {
        mem_free(d);
        str_addz(error, "out of memory");
        return RG_OUT_OF_MEMORY;
    }
    *device = d;
    return RG_OK;
}

static void
cpu_close(rt_device *device)
{
    ll_jit_destroy(device->jit);
    rt_cpu_destroy(device->cpu);
    mem_free(device);
}

static void
cpu_release(rt_program *program)
{
    ll_code_free(program->alone);
    ll_code_free(program->shared);
    mem_free((void *)program->options.present);
    mem_free((void *)program->options.absent);
    mem_free((void *)program->options.contiguous);
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
compile_for(rt_program *p, bool alone, diag_list *diags)
{
    p->options.alone = alone;
    return ll_compile(p->device->jit, p->fn, &p->options, alone ? &p->alone : &p->shared, diags);
}

static rg_status
cpu_compile(rt_device *device, const rt_program_desc *desc, rt_program **program, diag_list *diags)
{
    if (!device->jit) {
        rg_status status = ll_jit_create(&device->jit, diags);
        if (status)
            return status;
    }
    rt_program *p = mem_zalloc(sizeof(*p));
    mem_owner owns;
    mem_own(&owns, release_program, p);
    *p = (rt_program){.device = device, .fn = desc->fn};
    uint32_t n = desc->fn->body->nparams;
    /* one by one: what is there is released if the next one fails */
    p->options.noalias = desc->noalias;
    p->options.native_math = device->native_math;
    p->options.present = copied(desc->present, n);
    p->options.absent = copied(desc->absent, n);
    p->options.contiguous = copied(desc->dense, n * sizeof(bool));
    rg_status status = compile_for(p, rt_cpu_threads(device->cpu) == 1, diags);
    mem_disown(&owns);
    if (status)
        cpu_release(p);
    else
        *program = p;
    return status;
}

static rg_status
cpu_launch(rt_program *program, const rt_arg *args, str *error)
{
    rt_report report;
    ll_code *code = program->shared;
    if (!code && rt_cpu_threads(program->device->cpu) == 1)
        code = program->alone;
    if (!code) {
        diag_list diags = {0};
        rg_status status = compile_for(program, false, &diags);
        if (status) {
            str_addz(error, diags.text.ptr);
            diag_free(&diags);
            return status;
        }
        code = program->shared;
    }
    if (rt_cpu_launch(program->device->cpu, ll_code_entry(code), args, &report) == RT_OK)
        return RG_OK;
    return rt_explain(&report, program->fn, error);
}

const rt_device_table rt_device_cpu = {
    .name = "cpu",
    .stage = IR_STAGE_SLOTS,
    .open = cpu_open,
    .close = cpu_close,
    .compile = cpu_compile,
    .release = cpu_release,
    .launch = cpu_launch,
    .restores = false,
};

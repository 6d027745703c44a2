/* The machine's own processor as a device: LLVM's code on the threads of rt/cpu.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rt/device.h"

#include "codegen/llvm/ll.h"
#include "rt/cpu/cpu.h"

struct rt_device {
    rt_cpu *cpu;
    ll_jit *jit; /* made with the first kernel */
};

struct rt_program {
    rt_device *device;
    ll_code *code;
    ll_entry *entry;
};

static rg_status
cpu_open(const rt_device_desc *desc, rt_device **device, str *error)
{
    rt_device *d = mem_zalloc(sizeof(*d));
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

static rg_status
cpu_compile(rt_device *device, const rt_program_desc *desc, rt_program **program, diag_list *diags)
{
    if (!device->jit) {
        rg_status status = ll_jit_create(&device->jit, diags);
        if (status)
            return status;
    }
    ll_options options = {
        .present = desc->present,
        .absent = desc->absent,
        .contiguous = desc->dense,
        .noalias = desc->noalias,
    };
    rt_program *p = mem_zalloc(sizeof(*p));
    mem_owner owns;
    mem_own(&owns, mem_free, p);
    p->device = device;
    rg_status status = ll_compile(device->jit, desc->fn, &options, &p->code, diags);
    mem_disown(&owns);
    if (status) {
        mem_free(p);
        return status;
    }
    p->entry = ll_code_entry(p->code);
    *program = p;
    return RG_OK;
}

static void
cpu_release(rt_program *program)
{
    ll_code_free(program->code);
    mem_free(program);
}

static rg_status
explain(const rt_report *report, str *error)
{
    if (report->file && report->line)
        str_addf(error, "%s:%u: ", report->file, report->line);
    else if (report->line)
        str_addf(error, "line %u: ", report->line);
    switch (report->fault) {
    case RT_OK:
        return RG_OK;
    case RT_FAULT_ASSERT:
        str_addf(error, "assertion failed: %s", report->text ? report->text : "");
        return RG_ASSERT;
    case RT_FAULT_BUDGET:
        str_addf(error, "the tape needs %llu bytes by now; the budget is %llu bytes",
                 (unsigned long long)report->needed, (unsigned long long)report->budget);
        return RG_BUDGET;
    case RT_FAULT_MEMORY:
        str_addz(error, "out of memory");
        return RG_OUT_OF_MEMORY;
    }
    return RG_DEVICE;
}

static rg_status
cpu_launch(rt_program *program, const rt_arg *args, str *error)
{
    rt_report report;
    if (rt_cpu_launch(program->device->cpu, program->entry, args, &report) == RT_OK)
        return RG_OK;
    return explain(&report, error);
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

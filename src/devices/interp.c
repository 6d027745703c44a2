/* The interpreter as a device. SPDX-License-Identifier: Apache-2.0 */
#include "device/device.h"

#include "rt/interp/interp.h"

struct rt_device {
    interp_options options;
};

struct rt_program {
    rt_device *device;
    const ir_fn *fn;
    bool races;
};

static rg_status
interp_open(const rt_device_desc *desc, rt_device **device, str *error)
{
    rt_device *d = mem_zalloc(sizeof(*d));
    d->options.budget = desc->tape_budget > INT64_MAX ? INT64_MAX : (int64_t)desc->tape_budget;
    *device = d;
    return RG_OK;
}

static void
interp_close(rt_device *device)
{
    mem_free(device);
}

static rg_status
interp_compile(rt_device *device, const rt_program_desc *desc, rt_program **program,
               diag_list *diags)
{
    rt_program *p = mem_zalloc(sizeof(*p));
    *p = (rt_program){device, desc->fn, desc->races};
    *program = p;
    return RG_OK;
}

static void
interp_release(rt_program *program)
{
    mem_free(program);
}

static rg_status
status_of(rt_fault fault)
{
    switch (fault) {
    case RT_OK:
        return RG_OK;
    case RT_FAULT_ASSERT:
    case RT_FAULT_SUBSCRIPT:
        return RG_ASSERT;
    case RT_FAULT_BUDGET:
        return RG_BUDGET;
    case RT_FAULT_MEMORY:
        return RG_OUT_OF_MEMORY;
    }
    return RG_DEVICE;
}

static rg_status
interp_launch(rt_program *program, const rt_arg *args, str *error)
{
    interp_report report;
    interp_options options = program->device->options;
    options.races = program->races;
    rt_fault fault = interp_run(program->fn, args, &options, &report);
    if (fault == RT_OK)
        return RG_OK;
    if (report.path)
        str_addf(error, "%s:%u:%u: ", report.path, report.loc.line, report.loc.col);
    str_addz(error, report.message);
    return status_of(fault);
}

const rt_device_table rt_device_interp = {
    .name = "interp",
    .stage = IR_STAGE_AD,
    .open = interp_open,
    .close = interp_close,
    .compile = interp_compile,
    .release = interp_release,
    .launch = interp_launch,
    .restores = true,
};

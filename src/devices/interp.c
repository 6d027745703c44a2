/* The interpreter as a device. SPDX-License-Identifier: Apache-2.0 */
#include "device/device.h"

#include "rt/interp/interp.h"
#include "rt/stop.h"

struct rt_device {
    char unused;
};

struct rt_queue {
    rt_stop stop;
    interp_options options;
};

struct rt_program {
    const ir_fn *fn;
    bool races;
};

static rg_status
interp_open(uint32_t ordinal, rt_device **device, str *error)
{
    TRY(rt_host_look(ordinal, NULL, error));
    *device = mem_zalloc(sizeof(**device));
    return RG_OK;
}

static void
interp_close(rt_device *device)
{
    mem_free(device);
}

static rg_status
interp_open_queue(rt_device *device, const rt_queue_desc *desc, rt_queue **queue, str *error)
{
    rt_queue *q = mem_zalloc(sizeof(*q));
    q->options.stop = &q->stop.word;
    uint64_t budget = desc->tape_budget ? desc->tape_budget : rt_default_budget();
    q->options.budget = budget > INT64_MAX ? INT64_MAX : (int64_t)budget;
    q->options.sink = desc->sink;
    *queue = q;
    return RG_OK;
}

static void
interp_cancel(rt_queue *queue)
{
    rt_stop_all(&queue->stop);
}

static void
interp_close_queue(rt_queue *queue)
{
    mem_free(queue);
}

static rg_status
interp_compile(rt_device *device, const rt_program_desc *desc, rt_program **program,
               diag_list *diags)
{
    rt_program *p = mem_zalloc(sizeof(*p));
    *p = (rt_program){desc->fn, desc->races};
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
    case RT_FAULT_CANCELLED:
        return RG_CANCELLED;
    }
    return RG_DEVICE;
}

static void
end_run(void *queue)
{
    rt_stop_end(&((rt_queue *)queue)->stop);
}

static rg_status
interp_launch(rt_queue *queue, rt_program *program, const rt_arg *args, str *error)
{
    interp_report report;
    interp_options options = queue->options;
    options.races = program->races;
    mem_owner ends;
    rt_stop_begin(&queue->stop);
    mem_own(&ends, end_run, queue);
    rt_fault fault = interp_run(program->fn, args, &options, &report);
    mem_disown(&ends);
    end_run(queue);
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
    .look = rt_host_look,
    .open = interp_open,
    .close = interp_close,
    .open_queue = interp_open_queue,
    .close_queue = interp_close_queue,
    .compile = interp_compile,
    .release = interp_release,
    .launch = interp_launch,
    .cancel = interp_cancel,
    .restores = true,
};

/* Launches: arguments in, results out, arrays put back when the budget was too small.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rt/fpenv.h"
#include "rt/interp/machine.h"

/* -- arrays as they were
 * ------------------------------------------------------------------------------ */

typedef struct backup {
    uint32_t count;
    char **copies; /* [parameter * RT_PLANES + plane]: dense, or NULL */
} backup;

/* its elements in all directions */
static int64_t
plane_total(const interp_machine *m, const interp_buffer *b, unsigned plane)
{
    return b->total * m->directions[plane];
}

static int64_t
plane_offset(const interp_buffer *b, unsigned plane, int64_t linear)
{
    return plane ? linear : interp_strided(b, linear);
}

static void
copy_out(const interp_machine *m, const interp_buffer *b, unsigned plane, char *dense)
{
    size_t size = ir_bytes((rg_dtype)b->dtype);
    for (int64_t i = 0; i < plane_total(m, b, plane); i++)
        memcpy(dense + (size_t)i * size,
               (char *)b->arg->plane[plane] + plane_offset(b, plane, i) * (int64_t)size, size);
}

static void
copy_back(const interp_machine *m, const interp_buffer *b, unsigned plane, const char *dense)
{
    size_t size = ir_bytes((rg_dtype)b->dtype);
    for (int64_t i = 0; i < plane_total(m, b, plane); i++)
        memcpy((char *)b->arg->plane[plane] + plane_offset(b, plane, i) * (int64_t)size,
               dense + (size_t)i * size, size);
}

static void
backup_take(backup *k, const interp_machine *m, uint32_t nparams)
{
    k->count = nparams;
    k->copies = arena_new_n(m->arena, char *, (size_t)nparams * RT_PLANES + 1);
    for (uint32_t i = 0; i < nparams; i++) {
        const interp_buffer *b = &m->buffers[i];
        for (unsigned plane = 0; plane < RT_PLANES; plane++) {
            if (!b->arg->plane[plane])
                continue;
            size_t total = (size_t)plane_total(m, b, plane);
            char *dense = arena_raw(m->arena, total * ir_bytes((rg_dtype)b->dtype));
            k->copies[i * RT_PLANES + plane] = dense;
            copy_out(m, b, plane, dense);
        }
    }
}

/* -- one launch
 * ---------------------------------------------------------------------------------------- */

static void
bind_arguments(interp_frame *f, const ir_fn *fn, const rt_arg *args)
{
    interp_machine *m = f->machine;
    m->buffers = arena_new_n(m->arena, interp_buffer, fn->body->nparams + 1);
    for (uint32_t k = 0; k < fn->body->nparams; k++) {
        const ir_value *v = fn->body->params[k];
        /* only temporaries' arguments are ever written */
        interp_buffer_init(&m->buffers[k], (rt_arg *)&args[k], v->type, v->name);
        if (v->type.kind == IR_BUFFER)
            f->words[v->id].buffer = &m->buffers[k];
        else
            f->words[v->id].bits = interp_element_read((rg_dtype)v->type.dtype, &args[k].bits);
    }
}

static void
give_results(interp_frame *f, const rt_arg *results)
{
    for (uint32_t k = 0; k < f->leave->nargs; k++) {
        const ir_value *v = f->leave->args[k];
        if (results[k].plane[0])
            interp_element_write((rg_dtype)v->type.dtype, results[k].plane[0], interp_bits(f, v));
    }
}

static void
run_body(interp_frame *f, const ir_fn *fn, const rt_arg *args)
{
    interp_machine *m = f->machine;
    int64_t budget = m->options->budget;
    backup saved = {0};
    if (budget)
        backup_take(&saved, m, fn->body->nparams);
    if (interp_region(f, fn->body) == FLOW_YIELD)
        give_results(f, args + fn->body->nparams);
    bool over = budget && m->most_held > budget && m->report->fault == RT_OK;
    if (over)
        interp_fault(f, f->leave, RT_FAULT_BUDGET, "`%s` records %lld bytes, the budget is %lld",
                     fn->name, (long long)m->most_held, (long long)budget);
    for (uint32_t i = 0; over && i < saved.count * RT_PLANES; i++)
        if (saved.copies[i])
            copy_back(m, &m->buffers[i / RT_PLANES], i % RT_PLANES, saved.copies[i]);
}

static void
machine_release(void *machine)
{
    interp_machine *m = machine;
    while (m->frame)
        interp_frame_close(m->frame);
    for (interp_buffer *b = m->temporaries; b; b = b->next)
        for (unsigned plane = 0; plane < RT_PLANES; plane++)
            free(b->arg->plane[plane]);
    free(m->tapes[0].at);
    free(m->tapes[1].at);
    map_free(&m->cells);
    arena_free(m->cell_arena);
    interp_races_forget(m);
    arena_free(m->arena);
}

/* What an interpreter owns besides its frames is freed by machine_release, also when memory runs
 * out below. */
static void
machine_start(interp_machine *m, mem_owner *owner, const interp_options *options,
              interp_report *report)
{
    static const interp_options defaults;
    memset(report, 0, sizeof *report);
    *m = (interp_machine){.options = options ? options : &defaults, .report = report};
    m->arena = arena_new();
    mem_own(owner, machine_release, m);
}

static void
machine_finish(interp_machine *m, mem_owner *owner)
{
    mem_disown(owner);
    m->report->steps = m->steps;
    m->report->nans = m->nans;
    m->report->tape_bytes = m->most_held;
    machine_release(m);
}

static void
leave(void *callers)
{
    rt_fpenv_leave(*(rt_fpenv *)callers);
}

rt_fault
interp_run(const ir_fn *fn, const rt_arg *args, const interp_options *options,
           interp_report *report)
{
    interp_report own;
    interp_machine m;
    interp_frame f;
    mem_owner owner, leaves;
    rt_fpenv callers = rt_fpenv_enter();
    mem_own(&leaves, leave, &callers);
    machine_start(&m, &owner, options, report ? report : &own);
    ir_directions(fn, m.directions);
    interp_frame_open(&f, &m, interp_prepare(&m, fn));
    bind_arguments(&f, fn, args);
    run_body(&f, fn, args);
    if (!m.report->fault)
        (void)(interp_tape_was_counted(&f, &m.tapes[0]) && interp_tape_was_counted(&f, &m.tapes[1]) &&
               interp_tape_was_taken_back(&f, ir_terminator(fn->body)));
    machine_finish(&m, &owner);
    mem_disown(&leaves);
    leave(&callers);
    return m.report->fault;
}

bool
interp_shape(const ir_fn *fn, const rt_arg *args, int64_t *extents)
{
    interp_report report;
    interp_machine m;
    interp_frame f;
    mem_owner owner;
    if (!fn->shape)
        return false;
    machine_start(&m, &owner, NULL, &report);
    interp_frame_open(&f, &m, interp_prepare(&m, fn));
    bind_arguments(&f, fn, args);
    bool done = interp_region(&f, fn->shape) == FLOW_YIELD;
    for (uint32_t k = 0; done && k < f.leave->nargs; k++)
        extents[k] = (int64_t)interp_bits(&f, f.leave->args[k]);
    machine_finish(&m, &owner);
    return done;
}

/* A kernel's form on a device, once. SPDX-License-Identifier: Apache-2.0 */
#include "check/check_device.h"

#include "retrograd/retrograd.h"

/* -- the device -------------------------------------------------------------------------------- */

static rg_status
complain(diag_list *diags, rg_status status, const char *name, const char *what, const str *error)
{
    diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "%s on device %s: %s", what, name,
             error->ptr ? error->ptr : rg_status_name(status));
    return status;
}

static void
print_nowhere(void *user, const char *text, size_t length)
{
}

const rt_sink check_no_prints = {.print = print_nowhere};

rg_status
check_device_open(check_device *d, const rt_device_table *table, uint32_t ordinal, bool serial, diag_list *diags)
{
    *d = (check_device){.table = table};
    str text = {.in = mem_scratch()};
    rt_queue_desc desc = {.tape_budget = table->memory ? 0 : (uint64_t)1 << 32, .num_threads = serial ? 1 : 0, .sink = check_no_prints};
    rg_status status = table->open(ordinal, &d->device, &text);
    if (!status)
        status = table->open_queue(d->device, &desc, &d->queue, &text);
    return status ? complain(diags, status, table->name, "opening", &text) : RG_OK;
}

const char *
check_device_name(const check_device *d)
{
    return strcmp(d->table->name, "interp") == 0 ? "interpreter" : d->table->name;
}

/* -- arguments in memory of the device's own --------------------------------------------------- */

typedef struct lent {
    const check_device *on;
    uint32_t n;
    const rt_arg *host;
    rt_arg *args; /* as host, with planes on the device */
    const size_t *bytes;
} lent;

static void
give_back(void *user)
{
    lent *l = user;
    for (uint32_t i = 0; i < l->n; i++)
        for (unsigned p = 0; p < RT_PLANES; p++)
            if (l->args[i].plane[p])
                l->on->table->memory->release(l->on->device, l->args[i].plane[p], l->bytes[i] ? l->bytes[i] : 1);
}

static rg_status
lend(lent *l, str *error)
{
    const rt_memory_table *memory = l->on->table->memory;
    rt_queue *queue = l->on->queue;
    rg_status status = RG_OK;
    memcpy(l->args, l->host, l->n * sizeof(*l->args));
    for (uint32_t i = 0; i < l->n; i++)
        memset(l->args[i].plane, 0, sizeof(l->args[i].plane));
    for (uint32_t i = 0; i < l->n && !status; i++)
        for (unsigned p = 0; p < RT_PLANES && !status; p++) {
            if (!l->host[i].plane[p])
                continue;
            status = memory->allocate(queue, l->bytes[i] ? l->bytes[i] : 1, &l->args[i].plane[p], error);
            if (!status && l->bytes[i])
                status = memory->write(queue, l->args[i].plane[p], l->host[i].plane[p], l->bytes[i], error);
        }
    return status;
}

/* What the launch left, where the host looks for it. */
static rg_status
take_back(const lent *l, str *error)
{
    rg_status status = RG_OK;
    for (uint32_t i = 0; i < l->n && !status; i++)
        for (unsigned p = 0; p < RT_PLANES && !status; p++)
            if (l->args[i].plane[p] && l->bytes[i])
                status = l->on->table->memory->read(l->on->queue, l->host[i].plane[p], l->args[i].plane[p],
                                                    l->bytes[i], error);
    return status;
}

static rg_status
launch_and_wait(const check_device *d, rt_program *program, const rt_arg *args, str *error)
{
    rg_status status = d->table->launch(d->queue, program, args, error);
    return status || !d->table->streams ? status : d->table->streams->sync(d->queue, error);
}

static rg_status
launch_lent(const check_device *d, rt_program *program, uint32_t n, const rt_arg *args, const size_t *bytes, str *error)
{
    if (!d->table->memory)
        return launch_and_wait(d, program, args, error);
    lent l = {d, n, args, arena_new_n(mem_scratch(), rt_arg, n), bytes};
    mem_owner owns;
    mem_own(&owns, give_back, &l);
    rg_status status = lend(&l, error);
    if (!status)
        status = launch_and_wait(d, program, l.args, error);
    if (!status)
        status = take_back(&l, error);
    mem_disown(&owns);
    give_back(&l);
    return status;
}

/* -- programs ---------------------------------------------------------------------------------- */

struct check_program {
    const rt_device_table *table;
    const ir_fn *of; /* what it was made from */
    rg_form form;
    ir_module *module;
    ir_fn *fn;
    rt_program *program;
};

static void
program_free(void *p)
{
    check_program *m = p;
    if (m->program)
        m->table->release(m->program);
    ir_module_free(m->module);
    mem_free(m);
}

void
check_device_close(check_device *d)
{
    for (size_t i = 0; i < d->programs.n; i++)
        program_free(d->programs.at[i]);
    vec_free(&d->programs);
    if (d->queue)
        d->table->close_queue(d->queue);
    if (d->device)
        d->table->close(d->device);
    *d = (check_device){0};
}

static rg_status
compile_check_program(check_program *p, check_device *d, bool contraction, diag_list *diags)
{
    pipeline_options options = {
        .form = p->form, .contraction = contraction, .target = d->table->target, .stage = d->table->stage};
    p->module = pipeline_run(p->of, &options, diags, &p->fn);
    if (!p->module)
        return RG_COMPILE;
    rt_program_desc desc = {.module = p->module, .fn = p->fn, .noalias = true, .apart = d->apart, .queue = d->queue};
    return d->table->compile(d->device, &desc, &p->program, diags);
}

static rg_status
find_program(check_device *d, const ir_fn *fn, rg_form form, bool contraction, diag_list *diags, check_program **out)
{
    for (size_t i = 0; i < d->programs.n; i++)
        if (d->programs.at[i]->of == fn && d->programs.at[i]->form == form) {
            *out = d->programs.at[i];
            return RG_OK;
        }
    check_program *p = mem_zalloc(sizeof(*p));
    *p = (check_program){.table = d->table, .of = fn, .form = form};
    mem_owner owns;
    mem_own(&owns, program_free, p);
    rg_status status = compile_check_program(p, d, contraction, diags);
    if (!status)
        vec_push(&d->programs, p);
    mem_disown(&owns);
    if (status)
        program_free(p);
    *out = status ? NULL : p;
    return status;
}

rg_status
check_device_compile(check_device *d, const ir_fn *fn, rg_form form, bool contraction, diag_list *diags,
                     const ir_fn **made)
{
    check_program *p;
    rg_status status = find_program(d, fn, form, contraction, diags, &p);
    if (made)
        *made = status ? NULL : p->fn;
    return status;
}

rg_status
check_device_run(check_device *d, const ir_fn *fn, rg_form form, bool contraction, const rt_arg *args,
                 const size_t *bytes, diag_list *diags)
{
    check_program *p;
    TRY(find_program(d, fn, form, contraction, diags, &p));
    str error = {.in = mem_scratch()};
    rg_status status = launch_lent(d, p->program, p->fn->body->nparams, args, bytes, &error);
    if (status) {
        char what[96];
        snprintf(what, sizeof(what), "kernel `%.64s`", p->fn->name);
        complain(diags, status, d->table->name, what, &error);
    }
    return status;
}

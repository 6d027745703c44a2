/* A kernel's form on a device, once. SPDX-License-Identifier: Apache-2.0 */
#include "check_device.h"

#include "retrograd/retrograd.h"

/* -- the device -------------------------------------------------------------------------------- */

static rg_status
complain(diag_list *diags, rg_status status, const char *name, const char *what, const str *error)
{
    diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "%s on device %s: %s", what, name,
             error->ptr ? error->ptr : rg_status_name(status));
    return status;
}

rg_status
check_device_open(check_device *d, const char *name, diag_list *diags)
{
    *d = (check_device){.table = rt_device_find(rg_str_of(name))};
    str text = {0};
    mem_owner owns;
    mem_own(&owns, mem_release_str, &text);
    rg_status status = RG_NOT_FOUND;
    if (d->table) {
        rt_device_desc desc = {.tape_budget = d->table->memory ? 0 : (uint64_t)1 << 32};
        status = d->table->open(&desc, &d->device, &text);
        if (status)
            complain(diags, status, name, "opening", &text);
    } else {
        rt_device_names(&text);
        diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "there is no device \"%s\" (there is %s)", name, text.ptr);
    }
    mem_disown(&owns);
    str_free(&text);
    return status;
}

void
check_device_close(check_device *d)
{
    if (d->device)
        d->table->close(d->device);
    *d = (check_device){0};
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
    mem_free(l->args);
}

static rg_status
lend(lent *l, str *error)
{
    const rt_memory_table *memory = l->on->table->memory;
    rt_device *device = l->on->device;
    rg_status status = RG_OK;
    memcpy(l->args, l->host, l->n * sizeof(*l->args));
    for (uint32_t i = 0; i < l->n; i++)
        memset(l->args[i].plane, 0, sizeof(l->args[i].plane));
    for (uint32_t i = 0; i < l->n && !status; i++)
        for (unsigned p = 0; p < RT_PLANES && !status; p++) {
            if (!l->host[i].plane[p])
                continue;
            status = memory->allocate(device, l->bytes[i] ? l->bytes[i] : 1, &l->args[i].plane[p], error);
            if (!status && l->bytes[i])
                status = memory->write(device, l->args[i].plane[p], l->host[i].plane[p], l->bytes[i], error);
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
                status = l->on->table->memory->read(l->on->device, l->host[i].plane[p], l->args[i].plane[p],
                                                    l->bytes[i], error);
    return status;
}

static rg_status
launch(const check_device *d, rt_program *program, const rt_arg *args, str *error)
{
    rg_status status = d->table->launch(program, args, error);
    return status || !d->table->sync ? status : d->table->sync(d->device, error);
}

static rg_status
launch_lent(const check_device *d, rt_program *program, uint32_t n, const rt_arg *args, const size_t *bytes, str *error)
{
    if (!d->table->memory)
        return launch(d, program, args, error);
    lent l = {d, n, args, mem_zalloc((n + 1) * sizeof(*args)), bytes};
    mem_owner owns;
    mem_own(&owns, give_back, &l);
    rg_status status = lend(&l, error);
    if (!status)
        status = launch(d, program, l.args, error);
    if (!status)
        status = take_back(&l, error);
    mem_disown(&owns);
    give_back(&l);
    return status;
}

/* -- all of it --------------------------------------------------------------------------------- */

typedef struct machine {
    const rt_device_table *table;
    ir_module *module;
    rt_program *program;
    str error;
} machine;

static void
machine_free(void *p)
{
    machine *m = p;
    if (m->program)
        m->table->release(m->program);
    ir_module_free(m->module);
    str_free(&m->error);
}

static rg_status
run(machine *m, const check_device *d, const ir_fn *fn, const pipeline_options *options, const rt_arg *args,
    const size_t *bytes, diag_list *diags)
{
    ir_fn *made;
    m->module = pipeline_run(fn, options, diags, &made);
    if (!m->module)
        return RG_COMPILE;
    rt_program_desc desc = {.module = m->module, .fn = made, .races = options->form == PIPELINE_FORWARD, .noalias = true};
    rg_status status = d->table->compile(d->device, &desc, &m->program, diags);
    if (status)
        return status;
    status = launch_lent(d, m->program, made->body->nparams, args, bytes, &m->error);
    char what[96];
    snprintf(what, sizeof(what), "kernel `%.64s`", made->name);
    return status ? complain(diags, status, d->table->name, what, &m->error) : RG_OK;
}

rg_status
check_device_run(const check_device *d, const ir_fn *fn, pipeline_form form, bool contraction, const rt_arg *args,
                 const size_t *bytes, diag_list *diags)
{
    machine m = {.table = d->table};
    pipeline_options options = {
        .form = form, .contraction = contraction, .simt = d->table->simt, .stage = d->table->stage};
    mem_owner owns;
    mem_own(&owns, machine_free, &m);
    rg_status status = run(&m, d, fn, &options, args, bytes, diags);
    mem_disown(&owns);
    machine_free(&m);
    return status;
}

/* Code of kernels: made when it is first needed, for each device, form and choice of arguments. SPDX-License-Identifier: Apache-2.0
 *
 * IR is made once for each kind of device, and only if no code is kept; programs once for each device. Threads that need the
 * same code at once wait for the first one's. */
#include "api/api.h"

/* of the lists of all programs; while it is held nothing allocates */
static pthread_mutex_t programs_mutex = PTHREAD_MUTEX_INITIALIZER;

static void
take_programs(void)
{
    pthread_mutex_lock(&programs_mutex);
}

static void
give_programs(void)
{
    pthread_mutex_unlock(&programs_mutex);
}

/* A child of fork gets the lists as no thread is changing them. */
static void
keep_programs_through_forks(void)
{
    pthread_atfork(take_programs, give_programs, give_programs);
}

static void
lock_programs(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, keep_programs_through_forks);
    take_programs();
}

/* -- IR ---------------------------------------------------------------------------------------- */

static bool
find_push(ir_op *op, void *user)
{
    return op->code != RG_OP_TAPE_PUSH;
}

/* Frames that only a loop's count bounds: pushes inside loops or parallel loops. */
static bool
find_unbounded(ir_op *op, void *user)
{
    if (op->code != RG_OP_LOOP && op->code != RG_OP_FOR && op->code != RG_OP_PARALLEL)
        return true;
    return ir_walk(op->regions[0], find_push, NULL);
}

static bool
find_group(ir_op *op, void *user)
{
    return op->code != RG_OP_PARALLEL || op->regions[0]->nparams == op->attr.rank;
}

static void
variant_free(void *variant)
{
    api_variant *v = variant;
    ir_module_free(v->module);
    mem_free(v->label);
    mem_free(v);
}

static api_variant *
make_variant(rg_kernel *k, const rt_device_table *table, const uint8_t *key)
{
    size_t size = API_KEY_SIZE(k->nparams);
    str label = {.in = mem_scratch()};
    str_addf(&label, "kernel `%s` (%s)", k->fn->name, pipeline_form_name((rg_form)key[0]));
    api_variant *v = mem_zalloc(sizeof(*v) + size);
    mem_owner owns;
    mem_own(&owns, variant_free, v);
    memcpy(v->key, key, size);
    v->table = table;
    v->kernel = k;
    v->shared = key[1];
    v->label = mem_alloc(label.len + 1);
    memcpy(v->label, label.ptr, label.len + 1);
    mem_disown(&owns);
    return v;
}

rg_status
api_variant_need(api_variant *v, diag_list *diags)
{
    rg_kernel *k = v->kernel;
    const uint8_t *key = v->key;
    if (v->module)
        return RG_OK;
    const ir_fn *body = api_kernel_body(k, diags);
    if (!body)
        return RG_COMPILE;
    uint8_t *planes = arena_new_n(mem_scratch(), uint8_t, k->nparams);
    for (uint32_t i = 0; i < k->nparams; i++)
        planes[i] = (uint8_t)((key[API_KEY_PLANES + i] >> RG_ADJOINT & 1 ? RG_ADJOINT : 0) |
                              (key[API_KEY_PLANES + i] >> RG_TANGENT & 1 ? RG_TANGENT : 0));
    uint32_t directions[RG_PLANE_COUNT];
    for (unsigned plane = 0; plane < RG_PLANE_COUNT; plane++)
        directions[plane] = key[API_KEY_DIRECTIONS + plane];
    pipeline_options options = {
        .form = (rg_form)key[0],
        .planes = planes,
        .directions = directions,
        .side_by_side = key[API_KEY_LAYOUT],
        .contraction = !k->module->desc.no_contraction,
        .shared = v->shared,
        .lanes = key[API_KEY_SINGLE] ? 1 : 0,
        .target = v->table->target,
        .checked = k->module->desc.checked,
        .stage = v->table->stage,
    };
    v->module = pipeline_run(body, &options, diags, &v->fn);
    if (!v->module)
        return RG_COMPILE;
    if (v->known)
        return RG_OK;
    v->known = true;
    v->can_fail = !v->table->restores && !v->table->memory && !ir_walk(v->fn->body, find_unbounded, NULL);
    v->grouped = !ir_walk(v->fn->body, find_group, NULL);
    return RG_OK;
}

/* -- programs ---------------------------------------------------------------------------------- */

/* Planes as the device wants them. Scalars have their planes only through companions. */
rt_program_desc
api_program_desc(const api_variant *v)
{
    const rg_kernel *k = v->kernel;
    uint32_t n = k->nparams;
    uint8_t *absent = arena_new_n(mem_scratch(), uint8_t, n);
    bool *dense = arena_new_n(mem_scratch(), bool, n);
    for (uint32_t i = 0; i < n; i++) {
        absent[i] = (uint8_t)(~v->key[API_KEY_PLANES + i] & ~1u);
        dense[i] = v->key[API_KEY_PLANES + n + i];
    }
    return (rt_program_desc){
        .nparams = n,
        .file = k->file,
        .races = k->module->desc.checked && v->key[0] == RG_FORWARD,
        .deterministic = k->module->desc.deterministic,
        .native_math = k->module->desc.native_math,
        .fast_math = k->module->desc.fast_math,
        .apart = k->module->desc.compile_process,
        .noalias = !v->shared,
        .present = v->key + API_KEY_PLANES,
        .absent = absent,
        .dense = dense,
        .label = v->label,
    };
}

/* Of a device whose programs are IR. */
static rg_status
need_and_tell(api_variant *v, diag_list *diags)
{
    settings s = api_settings(&v->kernel->module->desc);
    double since = clock_ms();
    bool makes = !v->module;
    TRY(api_variant_need(v, diags));
    if (makes && s.told)
        api_tell(&s, RG_EVENT_MADE, since, "IR of %s for %s", v->label, v->table->name);
    return RG_OK;
}

static rg_status
compile_program(api_program *p, const rg_queue *queue, diag_list *diags)
{
    api_variant *v = p->variant;
    rt_program_desc desc = api_program_desc(v);
    desc.queue = queue ? queue->queue : NULL;
    if (v->table->make) {
        desc.code = api_code;
        desc.user = p;
    } else {
        TRY(need_and_tell(v, diags));
        desc.module = v->module;
        desc.fn = v->fn;
    }
    return p->device->table->compile(p->device->device, &desc, &p->program, diags);
}

static void
unlink_program(api_program *p)
{
    api_program **at = &p->variant->programs;
    while (*at != p)
        at = &(*at)->next_of_variant;
    *at = p->next_of_variant;
    at = &p->device->programs;
    while (*at != p)
        at = &(*at)->next_of_device;
    *at = p->next_of_device;
}

/* The caller holds the lock: whoever else wants to release it finds it gone. */
static void
end_program(api_program *p)
{
    unlink_program(p);
    p->device->table->release(p->program);
    mem_free(p);
}

void
api_programs_release(rg_device *device)
{
    lock_programs();
    while (device->programs)
        end_program(device->programs);
    give_programs();
}

static void
release_variants(rg_kernel *k)
{
    lock_programs();
    for (api_variant *v = k->variants; v; v = v->next)
        while (v->programs)
            end_program(v->programs);
    give_programs();
    while (k->variants) {
        api_variant *v = k->variants;
        k->variants = v->next;
        variant_free(v);
    }
}

void
api_kernel_free(void *kernel)
{
    rg_kernel *k = kernel;
    release_variants(k);
    pthread_mutex_destroy(&k->compiling);
    mem_free(k->params);
    ir_module_free(k->outline);
    ir_module_free(k->ir);
    api_free(k);
}

/* -- looking for them -------------------------------------------------------------------------- */

static api_variant *
find_variant(rg_kernel *k, const rt_device_table *table, const uint8_t *key)
{
    for (api_variant *v = k->variants; v; v = v->next)
        if (v->table == table && memcmp(v->key, key, API_KEY_SIZE(k->nparams)) == 0)
            return v;
    return NULL;
}

static const api_program *
look_up_program(rg_kernel *k, const rg_device *device, const uint8_t *key)
{
    lock_programs();
    const api_variant *v = find_variant(k, device->table, key);
    const api_program *p = v ? v->programs : NULL;
    while (p && p->device != device)
        p = p->next_of_variant;
    give_programs();
    return p;
}

/* The caller alone makes code of this kernel. */
static rg_status
make_program(rg_kernel *k, rg_device *device, const rg_queue *queue, const uint8_t *key, diag_list *diags,
             const api_program **program)
{
    *program = look_up_program(k, device, key);
    if (*program)
        return RG_OK;
    api_variant *v = find_variant(k, device->table, key), *made = NULL;
    if (!v)
        v = made = make_variant(k, device->table, key);
    mem_owner owns_variant, owns_program;
    if (made)
        mem_own(&owns_variant, variant_free, made);
    api_program *p = mem_zalloc(sizeof(*p));
    mem_own(&owns_program, mem_free, p);
    p->variant = v;
    p->device = device;
    rg_status status = compile_program(p, queue, diags);
    mem_disown(&owns_program);
    if (made)
        mem_disown(&owns_variant);
    if (status) {
        mem_free(p);
        if (made)
            variant_free(made);
        return status;
    }
    lock_programs();
    if (made) {
        made->next = k->variants;
        k->variants = made;
    }
    p->next_of_variant = v->programs;
    v->programs = p;
    p->next_of_device = device->programs;
    device->programs = p;
    give_programs();
    *program = p;
    return RG_OK;
}

rg_status
api_program_get(rg_kernel *k, rg_device *device, const rg_queue *queue, const uint8_t *key, const api_program **program)
{
    *program = look_up_program(k, device, key);
    if (*program)
        return RG_OK;
    diag_list diags = {.text.in = mem_scratch()};
    mem_owner owns;
    pthread_mutex_lock(&k->compiling);
    mem_own(&owns, mem_release_mutex, &k->compiling);
    rg_status status = make_program(k, device, queue, key, &diags, program);
    mem_disown(&owns);
    pthread_mutex_unlock(&k->compiling);
    if (status && diags.text.len)
        api_error_text(status, str_view(&diags.text));
    else if (status)
        api_error(status, "kernel `%s` (%s) cannot be compiled for device %s", k->fn->name,
                  pipeline_form_name((rg_form)key[0]), device->table->name);
    return status;
}

/* -- ahead of a launch ------------------------------------------------------------------------- */

/* What arguments of a parameter have if nothing else is said: companions as the form wants them. */
static uint8_t
usual_planes(const rg_param *p, rg_form form)
{
    bool reverse = form != RG_FORWARD && form != RG_JVP, forward = form >= RG_JVP;
    uint8_t planes = p->array ? 1u << RG_PRIMAL : 0;
    if (!p->array || !ir_is_float(p->dtype))
        return planes;
    planes |= reverse ? 1u << RG_ADJOINT : 0;
    planes |= forward ? 1u << RG_TANGENT : 0;
    return (uint8_t)(planes | (reverse && forward ? 1u << (RG_ADJOINT | RG_TANGENT) : 0));
}

static void
compile_key(const rg_kernel *k, const rg_compile_desc *desc, uint8_t *key)
{
    uint32_t n = k->nparams, several[RG_PLANE_COUNT];
    pipeline_directions(desc->form, desc->directions ? desc->directions : 1, several);
    key[0] = (uint8_t)desc->form;
    for (unsigned plane = 0; plane < RG_PLANE_COUNT; plane++)
        key[API_KEY_DIRECTIONS + plane] = (uint8_t)several[plane];
    for (uint32_t i = 0; i < n; i++) {
        const rg_param *p = &k->params[i];
        key[API_KEY_PLANES + i] = desc->planes ? (uint8_t)(desc->planes[i] | (p->array ? 1u << RG_PRIMAL : 0))
                                               : usual_planes(p, desc->form);
        key[API_KEY_PLANES + n + i] = p->array;
    }
}

static rg_status
compile_ahead(rg_kernel *kernel, rg_device *device, const rg_compile_desc *desc)
{
    const api_program *program;
    uint8_t *key = arena_new_n(mem_scratch(), uint8_t, API_KEY_SIZE(kernel->nparams));
    compile_key(kernel, desc, key);
    return api_program_get(kernel, device, NULL, key, &program);
}

rg_status
rg_kernel_compile(rg_kernel *kernel, rg_device *device, const rg_compile_desc *desc)
{
    rg_compile_desc d;
    API_CHECK(kernel, API_KERNEL, "kernel");
    API_CHECK(device, API_DEVICE, "device");
    API_READ_DESC(&d, desc, rg_compile_desc);
    if ((unsigned)d.form >= RG_FORM_COUNT)
        return api_error(RG_INVALID, "%u is no form of a launch", (unsigned)d.form);
    if (d.directions > IR_DIRECTIONS)
        return api_error(RG_INVALID, "%u directions in one launch are too many, at most %d", d.directions, IR_DIRECTIONS);
    API_GUARDED(compile_ahead(kernel, device, &d));
}

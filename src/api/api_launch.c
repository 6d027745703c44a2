/* Launches: the form is compiled at its first use, then run. SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

/* -- compiling a form -------------------------------------------------------------------------- */

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
    mem_free(v);
}

/* Planes as the device wants them. Scalars have their planes only through companions. */
static rg_status
compile_program(rg_args *args, api_variant *v, ir_fn *fn, pipeline_form form, diag_list *diags)
{
    const rg_kernel *k = args->kernel;
    rg_context *c = k->module->context;
    uint32_t n = k->nparams;
    uint8_t *absent = arena_new_n(mem_scratch(), uint8_t, n);
    bool *dense = arena_new_n(mem_scratch(), bool, n);
    for (uint32_t i = 0; i < n; i++) {
        absent[i] = (uint8_t)(~v->key[API_KEY_PLANES + i] & ~1u);
        dense[i] = v->key[API_KEY_PLANES + n + i];
    }
    rt_program_desc desc = {
        .module = v->module,
        .fn = fn,
        .races = c->checked && form == PIPELINE_FORWARD,
        .noalias = !args->shared,
        .present = v->key + API_KEY_PLANES,
        .absent = absent,
        .dense = dense,
        .label = v->label,
    };
    return c->table->compile(c->device, &desc, &v->program, diags);
}

static rg_status
compile_variant(rg_args *args, pipeline_form form, diag_list *diags, api_variant **variant)
{
    rg_kernel *k = args->kernel;
    const rt_device_table *table = k->module->context->table;
    size_t key = API_KEY_SIZE(k->nparams);
    api_variant *v = mem_zalloc(sizeof(*v) + key);
    mem_owner owns;
    mem_own(&owns, variant_free, v);
    memcpy(v->key, args->key, key);
    uint8_t *planes = arena_new_n(mem_scratch(), uint8_t, k->nparams);
    for (uint32_t i = 0; i < k->nparams; i++)
        planes[i] = (uint8_t)((v->key[API_KEY_PLANES + i] >> RG_ADJOINT & 1 ? RG_ADJOINT : 0) |
                              (v->key[API_KEY_PLANES + i] >> RG_TANGENT & 1 ? RG_TANGENT : 0));
    uint32_t directions[RG_PLANE_COUNT];
    for (unsigned plane = 0; plane < RG_PLANE_COUNT; plane++)
        directions[plane] = v->key[API_KEY_DIRECTIONS + plane];
    pipeline_options options = {
        .form = form,
        .planes = planes,
        .directions = directions,
        .side_by_side = v->key[API_KEY_LAYOUT],
        .contraction = k->module->context->contraction,
        .shared = args->shared,
        .lanes = v->key[API_KEY_SINGLE] ? 1 : 0,
        .target = table->target,
        .checked = k->module->context->checked,
        .stage = table->stage,
    };
    ir_fn *fn;
    rg_status status = RG_COMPILE;
    v->module = pipeline_run(k->fn, &options, diags, &fn);
    if (v->module) {
        str label = {.in = v->module->arena};
        str_addf(&label, "kernel `%s` (%s)", k->fn->name, pipeline_form_name(form));
        v->label = label.ptr;
        v->can_fail = !table->restores && !table->memory && !ir_walk(fn->body, find_unbounded, NULL);
        v->grouped = !ir_walk(fn->body, find_group, NULL);
        status = compile_program(args, v, fn, form, diags);
    }
    mem_disown(&owns);
    if (status) {
        variant_free(v);
        return status;
    }
    v->next = k->variants;
    k->variants = v;
    *variant = v;
    return RG_OK;
}

static rg_status
check_taking_part(const rg_args *args, unsigned plane, const char *name)
{
    for (uint32_t i = 0; i < args->kernel->nparams; i++)
        if (args->key[API_KEY_PLANES + i] >> plane & 1)
            return RG_OK;
    return api_error(RG_INVALID,
                     "no argument of kernel `%s` has %s: rg_array_require(array, %s) "
                     "makes one",
                     args->kernel->fn->name, name,
                     plane == RG_ADJOINT ? "RG_ADJOINT" : "RG_TANGENT");
}

/* The variant for `n` directions of each plane that has several. */
static rg_status
find_variant(rg_args *args, pipeline_form form, const uint32_t *of, uint32_t n, bool side_by_side,
             api_variant **variant)
{
    rg_kernel *k = args->kernel;
    args->key[0] = (uint8_t)form;
    args->key[1] = args->shared;
    args->key[API_KEY_LAYOUT] = side_by_side;
    for (unsigned plane = 0; plane < RG_PLANE_COUNT; plane++)
        args->key[API_KEY_DIRECTIONS + plane] = (uint8_t)(of[plane] > 1 ? n : 1);
    for (api_variant *v = k->variants; v; v = v->next)
        if (memcmp(v->key, args->key, API_KEY_SIZE(k->nparams)) == 0) {
            *variant = v;
            return RG_OK;
        }
    diag_list diags = {.text.in = mem_scratch()};
    rg_status status = compile_variant(args, form, &diags, variant);
    if (status && diags.text.len)
        api_error_text(status, str_view(&diags.text));
    else if (status)
        api_error(status, "kernel `%s` (%s) cannot be compiled for device %s", k->fn->name,
                  pipeline_form_name(form), k->module->context->table->name);
    return status;
}

static rg_status
choose_variants(rg_args *args, pipeline_form form, const uint32_t *of, bool side_by_side)
{
    if (form != PIPELINE_FORWARD && form != PIPELINE_JVP &&
        check_taking_part(args, RG_ADJOINT, "an adjoint"))
        return RG_INVALID;
    if (form >= PIPELINE_JVP && check_taking_part(args, RG_TANGENT, "a tangent"))
        return RG_INVALID;
    api_choice choice = {.side_by_side = side_by_side};
    TRY(api_count_blocks(args, form, of, &choice));
    uint32_t least = choice.directions / choice.blocks;
    rg_status status = find_variant(args, form, of, least, side_by_side, &choice.narrow);
    if (!status && choice.directions % choice.blocks)
        status = find_variant(args, form, of, least + 1, side_by_side, &choice.wide);
    if (!status)
        args->chosen[form] = choice;
    return status;
}

/* -- what a launch may have to put back --------------------------------------------------------
 * Only where arrays are in the host's memory: elsewhere launches have returned before it is known, and the copies would
 * cost as much as many a kernel. */

enum action { MEASURE, SAVE, RESTORE };

/* Every plane that a derivative may change; returns their bytes. */
static size_t
each_changing(rg_args *args, enum action action)
{
    size_t used = 0;
    for (uint32_t i = 0; i < args->kernel->nparams; i++) {
        const rg_array *a = args->slots[i].array;
        for (unsigned plane = 0; a && plane < RG_PLANE_COUNT; plane++) {
            void *data = args->packed[i].plane[plane];
            if (!data || (plane == RG_PRIMAL && !args->kernel->params[i].written))
                continue;
            rt_layout layout = api_plane_layout(a, plane);
            if (action == SAVE)
                rt_layout_read(&layout, data, args->saved + used);
            else if (action == RESTORE)
                rt_layout_write(&layout, data, args->saved + used);
            size_t bytes = (size_t)rt_layout_count(&layout) * layout.size;
            used += (bytes + 15) & ~(size_t)15;
        }
    }
    return used;
}

/* -- launching --------------------------------------------------------------------------------- */

/* one block after the other */
static rg_status
launch_blocks(rg_args *args, const api_choice *c, const uint32_t *of, str *text)
{
    const rt_device_table *table = args->kernel->module->context->table;
    uint32_t wide = c->directions % c->blocks, first = 0;
    rg_status status = RG_OK;
    for (uint32_t b = 0; b < c->blocks && !status; b++) {
        api_block_args(args, of, first, args->block);
        status = table->launch((b < wide ? c->wide : c->narrow)->program, args->block, text);
        first += c->directions / c->blocks + (b < wide);
    }
    return status;
}

/* The code for the arguments as packed. */
static rg_status
prepare_code(rg_args *args, pipeline_form form, uint32_t of[RG_PLANE_COUNT])
{
    if (args->chosen[form].blocks == 1)
        return RG_OK;
    bool side_by_side;
    rg_status status = api_count_directions(args, form, of, &side_by_side);
    if (!status && !args->chosen[form].blocks)
        status = choose_variants(args, form, of, side_by_side);
    return status;
}

static rg_status
run_chosen(rg_args *args, pipeline_form form)
{
    const rg_context *context = args->kernel->module->context;
    const rt_device_table *table = context->table;
    uint32_t of[RG_PLANE_COUNT];
    rg_status status = prepare_code(args, form, of);
    if (status || (context->recording && !table->graphs))
        return status;
    const api_choice *c = &args->chosen[form];
    /* a device that restores puts back what its own launch did, not what earlier blocks did */
    bool can_fail = c->narrow->can_fail || (c->blocks > 1 && table->restores && !table->memory);
    if (can_fail) {
        size_t need = each_changing(args, MEASURE);
        if (need > args->saved_size) {
            mem_free(args->saved);
            args->saved = NULL;
            args->saved_size = 0;
            args->saved = mem_alloc(need);
            args->saved_size = need;
        }
        each_changing(args, SAVE);
    }
    str text = {0}; /* a launch takes no memory */
    mem_owner owns;
    mem_own(&owns, mem_release_str, &text);
    status = c->blocks > 1 ? launch_blocks(args, c, of, &text)
                           : table->launch(c->narrow->program, args->packed, &text);
    if (status == RG_BUDGET && can_fail)
        each_changing(args, RESTORE);
    if (status && table->sync) /* perhaps an earlier launch's, which the text names */
        api_error_device(context, status, &text, "the launch failed");
    else if (status)
        api_error(status, "%s: %s", c->narrow->label, text.ptr ? text.ptr : rg_status_name(status));
    mem_disown(&owns);
    str_free(&text);
    return status;
}

/* A budget that is too small for the tape of threads side by side may do for them one by one. */
static rg_status
run_within_budget(rg_args *args, pipeline_form form)
{
    rg_status status = run_chosen(args, form);
    if (status != RG_BUDGET || args->kernel->module->context->table->target || args->key[API_KEY_SINGLE] ||
        !args->chosen[form].narrow->grouped)
        return status;
    args->key[API_KEY_SINGLE] = true;
    memset(args->chosen, 0, sizeof(args->chosen));
    return run_chosen(args, form);
}

static rg_status
guarded_run(rg_args *args, pipeline_form form)
{
    API_GUARDED(run_within_budget(args, form));
}

rg_status
api_run(rg_args *args, pipeline_form form)
{
    rg_status status = api_args_pack(args);
    return status ? status : guarded_run(args, form);
}

bool
api_has_effects(pipeline_form form)
{
    return form != PIPELINE_VJP && form != PIPELINE_JVP_VJP;
}

/* As run_within_budget, with arguments of the graph's own. */
static rg_status
record_run(rg_args *args, pipeline_form form)
{
    rg_args *own;
    TRY(api_record_args(args, &own));
    rg_status status = api_run(own, form);
    if (status)
        api_args_free(own);
    else
        api_record_launch(own, form);
    return status;
}

static rg_status
launch_kernel(rg_kernel *kernel, rg_args *args, pipeline_form form)
{
    API_CHECK(kernel, API_KERNEL, "kernel");
    API_CHECK(args, API_ARGS, "args");
    rg_context *context = kernel->module->context;
    if (args->kernel != kernel)
        return api_error(RG_INVALID, "args were made for kernel `%s`, not for `%s`",
                         args->kernel->fn->name, kernel->fn->name);
    TRY(api_take_failure(context));
    if (context->recording)
        return record_run(args, form);
    rg_status status = api_run(args, form);
    for (uint32_t i = 0; i < kernel->nparams && api_has_effects(form); i++)
        if (kernel->params[i].written && args->slots[i].array)
            args->slots[i].array->version++;
    return status;
}

rg_status
rg_launch(rg_kernel *kernel, rg_args *args)
{
    return launch_kernel(kernel, args, PIPELINE_FORWARD);
}

rg_status
rg_launch_vjp(rg_kernel *kernel, rg_args *args)
{
    return launch_kernel(kernel, args, PIPELINE_VJP);
}

rg_status
rg_launch_forward_vjp(rg_kernel *kernel, rg_args *args)
{
    return launch_kernel(kernel, args, PIPELINE_FORWARD_VJP);
}

rg_status
rg_launch_jvp(rg_kernel *kernel, rg_args *args)
{
    return launch_kernel(kernel, args, PIPELINE_JVP);
}

rg_status
rg_launch_jvp_vjp(rg_kernel *kernel, rg_args *args)
{
    return launch_kernel(kernel, args, PIPELINE_JVP_VJP);
}

rg_status
rg_launch_jvp_forward_vjp(rg_kernel *kernel, rg_args *args)
{
    return launch_kernel(kernel, args, PIPELINE_JVP_FORWARD_VJP);
}

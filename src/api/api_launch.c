/* Launches: the code is chosen, compiled at its first use, then run. SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

/* -- choosing the code ------------------------------------------------------------------------- */

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

/* A scalar without a tangent is a constant of the jvp: the tangent of its adjoint would be left out. Arrays are refused by the compiler. */
static rg_status
check_scalars(const rg_args *args)
{
    for (uint32_t i = 0; i < args->kernel->nparams; i++) {
        unsigned planes = args->key[API_KEY_PLANES + i];
        if (!args->kernel->params[i].array && planes >> (RG_ADJOINT | RG_TANGENT) & 1 && !(planes >> RG_TANGENT & 1))
            return api_error(RG_INVALID, "scalar `%s` of kernel `%s` has the tangent of an adjoint, and no tangent: give it one, zero if it does not change",
                             args->kernel->params[i].name.ptr, args->kernel->fn->name);
    }
    return RG_OK;
}

/* The code for `n` directions of each plane that has several. */
static rg_status
find_code(const rg_queue *queue, rg_args *args, rg_form form, const uint32_t *of, uint32_t n, bool side_by_side,
          const api_program **program)
{
    args->key[0] = (uint8_t)form;
    args->key[1] = args->shared;
    args->key[API_KEY_LAYOUT] = side_by_side;
    for (unsigned plane = 0; plane < RG_PLANE_COUNT; plane++)
        args->key[API_KEY_DIRECTIONS + plane] = (uint8_t)(of[plane] > 1 ? n : 1);
    return api_program_get(args->kernel, args->device, queue, args->key, program);
}

static rg_status
choose_programs(const rg_queue *queue, rg_args *args, rg_form form, const uint32_t *of, bool side_by_side)
{
    if (form != RG_FORWARD && form != RG_JVP &&
        check_taking_part(args, RG_ADJOINT, "an adjoint"))
        return RG_INVALID;
    if (form >= RG_JVP && check_taking_part(args, RG_TANGENT, "a tangent"))
        return RG_INVALID;
    if (form > RG_JVP)
        TRY(check_scalars(args));
    api_choice choice = {.side_by_side = side_by_side};
    TRY(api_count_blocks(args, form, of, &choice));
    uint32_t least = choice.directions / choice.blocks;
    rg_status status = find_code(queue, args, form, of, least, side_by_side, &choice.narrow);
    if (!status && choice.directions % choice.blocks)
        status = find_code(queue, args, form, of, least + 1, side_by_side, &choice.wide);
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

static rg_status
launch_program(const rg_queue *queue, const api_program *program, const rt_arg *packed, str *text)
{
    if (!api_call_is_cancelled(queue))
        return queue->device->table->launch(queue->queue, program->program, packed, text);
    str_addz(text, "the launch was cancelled before it began");
    return RG_CANCELLED;
}

/* one block after the other */
static rg_status
launch_blocks(const rg_queue *queue, rg_args *args, const api_choice *c, const uint32_t *of, str *text)
{
    uint32_t wide = c->directions % c->blocks, first = 0;
    rg_status status = RG_OK;
    for (uint32_t b = 0; b < c->blocks && !status; b++) {
        api_block_args(args, of, first, args->block);
        status = launch_program(queue, b < wide ? c->wide : c->narrow, args->block, text);
        first += c->directions / c->blocks + (b < wide);
    }
    return status;
}

/* The code for the arguments as packed. */
static rg_status
prepare_code(const rg_queue *queue, rg_args *args, rg_form form, uint32_t of[RG_PLANE_COUNT])
{
    if (args->chosen[form].blocks == 1)
        return RG_OK;
    bool side_by_side;
    rg_status status = api_count_directions(args, form, of, &side_by_side);
    if (!status && !args->chosen[form].blocks)
        status = choose_programs(queue, args, form, of, side_by_side);
    return status;
}

static rg_status
run_chosen(rg_queue *queue, rg_args *args, rg_form form)
{
    const rt_device_table *table = queue->device->table;
    uint32_t of[RG_PLANE_COUNT];
    rg_status status = prepare_code(queue, args, form, of);
    if (status || (queue->recording && !table->graphs))
        return status;
    const api_choice *c = &args->chosen[form];
    /* a device that restores puts back what its own launch did, not what earlier blocks did */
    bool can_fail = c->narrow->variant->can_fail || (c->blocks > 1 && table->restores && !table->memory);
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
    args->began = true;
    status = c->blocks > 1 ? launch_blocks(queue, args, c, of, &text)
                           : launch_program(queue, c->narrow, args->packed, &text);
    if (status == RG_BUDGET && can_fail)
        each_changing(args, RESTORE);
    if (status == RG_BUDGET && (can_fail || (table->restores && c->blocks == 1)))
        args->began = false;
    if (status && table->streams) /* perhaps an earlier launch's, which the text names */
        api_error_device(queue->device, status, &text, "the launch failed");
    else if (status)
        api_error(status, "%s: %s", c->narrow->variant->label, text.ptr ? text.ptr : rg_status_name(status));
    mem_disown(&owns);
    str_free(&text);
    return status;
}

/* A budget that is too small for the tape of threads side by side may do for them one by one. */
static rg_status
run_within_budget(rg_queue *queue, rg_args *args, rg_form form)
{
    rg_status status = run_chosen(queue, args, form);
    if (status != RG_BUDGET || args->device->table->target || args->key[API_KEY_SINGLE] ||
        !args->chosen[form].narrow->variant->grouped)
        return status;
    args->key[API_KEY_SINGLE] = true;
    memset(args->chosen, 0, sizeof(args->chosen));
    return run_chosen(queue, args, form);
}

static rg_status
guarded_run(rg_queue *queue, rg_args *args, rg_form form)
{
    API_GUARDED(run_within_budget(queue, args, form));
}

rg_status
api_run(rg_queue *queue, rg_args *args, rg_form form)
{
    args->began = false;
    rg_status status = api_args_pack(args, form);
    return status ? status : guarded_run(queue, args, form);
}

bool
api_has_effects(rg_form form)
{
    return form != RG_VJP && form != RG_JVP_VJP;
}

/* As run_within_budget, with arguments of the graph's own. */
static rg_status
record_run(rg_queue *queue, rg_args *args, rg_form form)
{
    rg_args *own;
    TRY(api_record_args(queue, args, &own));
    rg_status status = api_run(queue, own, form);
    if (status)
        api_args_free(own);
    else
        api_record_launch(queue, own, form);
    return status;
}

static rg_status
run_unrecorded(rg_queue *queue, rg_args *args, rg_form form)
{
    const rg_kernel *kernel = args->kernel;
    rg_status status = api_run(queue, args, form);
    for (uint32_t i = 0; i < kernel->nparams && args->began && api_has_effects(form); i++)
        if (kernel->params[i].written && args->slots[i].array)
            api_wrote(args->slots[i].array);
    return status;
}

rg_status
rg_launch(rg_queue *queue, rg_args *args, rg_form form)
{
    API_CHECK(queue, API_QUEUE, "queue");
    API_CHECK(args, API_ARGS, "args");
    const rg_kernel *kernel = args->kernel;
    if ((unsigned)form >= RG_FORM_COUNT)
        return api_error(RG_INVALID, "%u is no form of a launch", (unsigned)form);
    if (args->device != queue->device)
        return api_error(RG_INVALID, "the arguments of kernel `%s` belong to another device than the queue",
                         kernel->fn->name);
    TRY(api_take_failure(queue));
    api_call_begin(queue);
    rg_status status = queue->recording          ? record_run(queue, args, form)
                       : api_tape_records(queue) ? api_tape_launch(queue, args, form)
                                                 : run_unrecorded(queue, args, form);
    api_call_end(queue);
    return status;
}

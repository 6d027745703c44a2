/* Tapes: recording. SPDX-License-Identifier: Apache-2.0
 *
 * What is recorded is done at once. Before it is done, what it overwrites is saved where that may be wanted later
 * (api_tape_states.c); then it is noted, with the arguments as they stood. */
#include "api/api_tape.h"

/* -- tapes ------------------------------------------------------------------------------------- */

static void
tape_free(void *tape)
{
    rg_tape *t = tape;
    for (uint32_t i = 0; i < t->arrays.n; i++) {
        for (uint32_t k = 0; k < t->arrays.at[i].versions.n; k++)
            tape_drop(t, i, k);
        vec_free(&t->arrays.at[i].versions);
        api_array_release(t->arrays.at[i].array);
    }
    for (size_t i = 0; i < t->all_sites.n; i++)
        api_args_free(t->all_sites.at[i]->args);
    for (size_t i = 0; i < RG_DTYPE_COUNT; i++)
        rg_args_destroy(t->movers[i]);
    vec_free(&t->arrays);
    vec_free(&t->all_sites);
    vec_free(&t->ops);
    map_free(&t->index);
    map_free(&t->sites);
    arena_free(t->memory);
    if (t->queue)
        api_queue_release(t->queue);
    api_free(t);
}

static rg_status
begin_tape(rg_queue *queue, const rg_tape_desc *desc, rg_tape **tape)
{
    rg_tape *t = api_new(API_TAPE, sizeof(*t));
    mem_owner owns;
    mem_own(&owns, tape_free, t);
    t->memory = arena_new();
    mem_disown(&owns);
    t->queue = queue;
    api_keep(queue);
    t->budget = desc->budget;
    t->validate = desc->validate;
    t->progress = desc->progress;
    t->user = desc->user;
    t->recording = true;
    queue->tape = t;
    *tape = t;
    return RG_OK;
}

rg_status
rg_tape_begin(rg_queue *queue, const rg_tape_desc *desc, rg_tape **tape)
{
    rg_tape_desc d;
    API_OUT(tape);
    API_CHECK(queue, API_QUEUE, "queue");
    API_READ_DESC(&d, desc, rg_tape_desc);
    TRY(api_refuse_recording(queue, "rg_tape_begin"));
    if (queue->tape)
        return api_error(RG_INVALID, "a tape records in this queue already: rg_tape_end ends it");
    API_GUARDED(begin_tape(queue, &d, tape));
}

static rg_status
check_recording(const rg_tape *t)
{
    API_CHECK(t, API_TAPE, "tape");
    if (!t->recording)
        return api_error(RG_INVALID, "the tape does not record any more");
    if (t->busy)
        return api_error(RG_INVALID, "the tape is doing a call: what that does is not recorded");
    return RG_OK;
}

rg_status
rg_tape_end(rg_tape *tape)
{
    TRY(check_recording(tape));
    tape->recording = false;
    tape->queue->tape = NULL;
    return RG_OK;
}

rg_status
rg_tape_pause(rg_tape *tape)
{
    TRY(check_recording(tape));
    if (tape->paused)
        return api_error(RG_INVALID, "the tape is paused already");
    tape->paused = true;
    return RG_OK;
}

rg_status
rg_tape_resume(rg_tape *tape)
{
    TRY(check_recording(tape));
    if (!tape->paused)
        return api_error(RG_INVALID, "the tape is not paused");
    tape->paused = false;
    return RG_OK;
}

void
rg_tape_destroy(rg_tape *tape)
{
    if (api_check(tape, API_TAPE, "tape") || tape->busy || !api_retire(tape, API_TAPE))
        return;
    if (tape->recording)
        tape->queue->tape = NULL;
    tape_free(tape);
}

rg_status
rg_tape_get_info(const rg_tape *tape, rg_tape_info *info)
{
    TRY(api_begin_info(info, "rg_tape_info"));
    API_CHECK(tape, API_TAPE, "tape");
    rg_tape_info ours = {.operations = tape->ops.n, .bytes = tape->bytes, .peak = tape->peak, .recomputed = tape->recomputed};
    api_write_info(info, &ours, sizeof(ours));
    return RG_OK;
}

bool
api_tape_records(const rg_queue *queue)
{
    return queue->tape && !queue->tape->paused;
}

rg_status
api_tape_refuse(const rg_queue *queue, const char *what)
{
    if (!api_tape_records(queue))
        return RG_OK;
    return api_error(RG_INVALID,
                     "%s: a tape records in this queue, which takes RG_FORWARD launches, rg_array_fill, _write and _copy\n"
                     "rg_tape_pause before it leaves it out of the gradient",
                     what);
}

const char *
tape_op_shown(const rg_tape *t, int64_t at, char *buffer, size_t n)
{
    static const char *const what[] = {"launch", "fill", "write", "copy", "call", "stop"};
    const tape_op *op = &t->ops.at[at];
    if (op->what == TAPE_LAUNCH)
        snprintf(buffer, n, "operation %lld (kernel `%.*s`)", (long long)at, API_SHOWN, op->site->args->kernel->fn->name);
    else if (op->what == TAPE_CALL)
        snprintf(buffer, n, "operation %lld (call `%.*s`)", (long long)at, API_SHOWN, op->call->name.ptr);
    else
        snprintf(buffer, n, "operation %lld (%s)", (long long)at, what[op->what]);
    return buffer;
}

/* -- arrays on the tape ------------------------------------------------------------------------- */

static bool
planes_overlap(const rg_array *a, const rg_array *b, unsigned plane)
{
    if (!a->plane[plane] || !b->plane[plane] || (a->owned[plane] && b->owned[plane]))
        return false;
    rt_layout here = api_plane_layout(a, plane), there = api_plane_layout(b, plane);
    return rt_layout_overlap(&here, a->plane[plane], &there, b->plane[plane]);
}

static rg_status
refuse_overlap(const tape_array *a)
{
    return api_error(RG_INVALID,
                     "%s overlaps in memory with another array of the tape, and one of them is written: the tape cannot know "
                     "what they hold",
                     API_SHOWN_NAME(a->array));
}

static bool
is_lent(const rg_array *a)
{
    return !a->owned[RG_PRIMAL] || (a->plane[RG_ADJOINT] && !a->owned[RG_ADJOINT]);
}

rg_status
tape_check_alone(rg_tape *t, tape_array *a)
{
    for (size_t i = 0; i < t->arrays.n && (t->lent || is_lent(a->array)); i++) {
        tape_array *b = &t->arrays.at[i];
        if (b == a || (!planes_overlap(a->array, b->array, RG_PRIMAL) && !planes_overlap(a->array, b->array, RG_ADJOINT)))
            continue;
        if (a->versions.n > 1 || b->versions.n > 1)
            return refuse_overlap(a);
        a->overlaps = b->overlaps = true;
    }
    return RG_OK;
}

/* Its number, new or not. */
static rg_status
find_on_tape(rg_tape *t, rg_array *array, uint32_t *number)
{
    size_t known = (size_t)(uintptr_t)map_get(&t->index, map_ptr(array));
    *number = (uint32_t)known - 1;
    if (known)
        return RG_OK;
    tape_array a = {.array = array, .seen = array->version, .moves = array->moves};
    TRY(tape_check_alone(t, &a));
    if (t->arrays.n >= TAPE_NOWHERE - 1)
        return api_error(RG_UNSUPPORTED, "a tape has at most %u arrays", TAPE_NOWHERE - 1);
    vec_reserve(&t->arrays, t->arrays.n + 1);
    mem_owner owns;
    mem_own(&owns, mem_release_ptr, &a.versions.at);
    tape_version first = {.last_use = -1, .last_need = -1, .outside = true};
    vec_push(&a.versions, first);
    map_set(&t->index, map_ptr(array), (void *)(uintptr_t)(t->arrays.n + 1));
    mem_disown(&owns);
    *number = (uint32_t)t->arrays.n;
    api_keep(array);
    t->lent += is_lent(array);
    vec_push(&t->arrays, a);
    return tape_sum(t, *number);
}

/* Room for one touch more is there. */
static rg_status
add_touch(rg_tape *t, tape_touches *all, rg_array *array, tape_touch how)
{
    TRY(find_on_tape(t, array, &how.array));
    for (uint32_t i = 0; i < all->n; i++) {
        tape_touch *same = &all->at[i];
        if (same->array != how.array)
            continue;
        same->reads |= how.reads;
        same->writes |= how.writes;
        same->uses |= how.uses;
        same->needs |= how.needs;
        return RG_OK;
    }
    all->at[all->n++] = how;
    return RG_OK;
}

/* -- what a launch does -------------------------------------------------------------------------- */

static uint64_t
site_hash(const rg_args *args)
{
    uint64_t hash = hash_u64(3, map_ptr(args->kernel));
    for (uint32_t i = 0; i < args->kernel->nparams; i++)
        hash = hash_u64(hash, map_ptr(args->slots[i].array));
    return hash;
}

static uint8_t
adjoint_of(const api_slot *slot)
{
    return slot->array && slot->array->plane[RG_ADJOINT] ? RG_ADJOINT : 0;
}

static bool
is_site_of(const tape_site *s, const rg_args *args)
{
    bool same = s->args->kernel == args->kernel;
    for (uint32_t i = 0; i < args->kernel->nparams && same; i++)
        same = s->args->slots[i].array == args->slots[i].array && s->planes[i] == adjoint_of(&args->slots[i]);
    return same;
}

static rg_status
find_site(rg_tape *t, const rg_args *args, tape_site **site)
{
    uint64_t hash = site_hash(args);
    tape_site *first = map_get(&t->sites, hash), *s = first;
    while (s && !is_site_of(s, args))
        s = s->next;
    *site = s;
    if (s)
        return RG_OK;
    uint32_t n = args->kernel->nparams;
    vec_reserve(&t->all_sites, t->all_sites.n + 1);
    s = arena_one(t->memory, tape_site);
    s->planes = arena_new_n(t->memory, uint8_t, n);
    for (uint32_t i = 0; i < n; i++) {
        s->planes[i] = adjoint_of(&args->slots[i]);
        s->scalars += !args->kernel->params[i].array;
    }
    s->args = api_args_copy(args);
    s->next = first;
    vec_push(&t->all_sites, s); /* the tape's from now on; there is room */
    map_set(&t->sites, hash, s);
    *site = s;
    return RG_OK;
}

static rg_status
guarded_find_site(rg_tape *t, const rg_args *args, tape_site **site)
{
    API_GUARDED(find_site(t, args, site));
}

static void
set_scalars(rg_args *to, const rg_args *from)
{
    for (uint32_t i = 0; i < to->kernel->nparams; i++) {
        api_slot *slot = &to->slots[i];
        to->changed |= slot->set != from->slots[i].set || slot->bits != from->slots[i].bits;
        slot->set = from->slots[i].set;
        slot->bits = from->slots[i].bits;
    }
}

static void
release_module(void *module)
{
    ir_module_free(module);
}

/* Which primals the derivative reads. NULL: there is none. */
static bool *
reads_of_form(const tape_site *s, rg_form form, diag_list *diags)
{
    rg_kernel *k = s->args->kernel;
    pipeline_options options = {
        .form = form,
        .planes = s->planes,
        .contraction = !k->module->desc.no_contraction,
        .shared = s->args->shared,
        .target = s->args->device->table->target,
        .checked = k->module->desc.checked,
        .stage = IR_STAGE_AD,
        .as_compiled = true,
    };
    ir_fn *fn;
    const ir_fn *body = api_kernel_body(k, diags);
    ir_module *m = body ? pipeline_run(body, &options, diags, &fn) : NULL;
    if (!m)
        return NULL;
    mem_owner owns;
    mem_own(&owns, release_module, m);
    bool *reads = arena_new_n(mem_scratch(), bool, k->nparams);
    ir_fn_scan_params(fn);
    for (uint32_t i = 0; i < k->nparams; i++)
        reads[i] = fn->params[i].read;
    mem_disown(&owns);
    ir_module_free(m);
    return reads;
}

static rg_status
choose_reverse(tape_site *s, bool **reads)
{
    rg_kernel *k = s->args->kernel;
    diag_list split = {.text.in = mem_scratch()}, combined = {.text.in = mem_scratch()};
    mem_owner owns;
    pthread_mutex_lock(&k->compiling);
    mem_own(&owns, mem_release_mutex, &k->compiling);
    s->form = RG_VJP;
    *reads = reads_of_form(s, RG_VJP, &split);
    if (!*reads) {
        s->form = RG_FORWARD_VJP;
        *reads = reads_of_form(s, RG_FORWARD_VJP, &combined);
    }
    mem_disown(&owns);
    pthread_mutex_unlock(&k->compiling);
    return *reads ? RG_OK : api_error_text(RG_COMPILE, str_view(&combined.text));
}

static rg_status
know_site(rg_tape *t, tape_site *s)
{
    const rg_kernel *k = s->args->kernel;
    bool *reads = NULL;
    for (uint32_t i = 0; i < k->nparams; i++)
        s->differentiable |= k->params[i].written && s->planes[i];
    if (s->differentiable)
        TRY(choose_reverse(s, &reads));
    tape_touches touches = {.at = arena_new_n(t->memory, tape_touch, k->nparams)};
    for (uint32_t i = 0; i < k->nparams; i++) {
        const rg_param *p = &k->params[i];
        if (!p->array)
            continue;
        bool needs = reads && (s->form == RG_VJP ? reads[i] : p->read);
        TRY(add_touch(t, &touches, s->args->slots[i].array,
                      (tape_touch){.reads = p->read, .writes = p->written, .uses = p->read || p->written, .needs = needs}));
    }
    s->touches = touches;
    return RG_OK;
}

static rg_status
guarded_know_site(rg_tape *t, tape_site *s)
{
    API_GUARDED(know_site(t, s));
}

/* -- one operation -------------------------------------------------------------------------------- */

static bool
has_adjoint(const tape_array *a)
{
    return a->array->plane[RG_ADJOINT];
}

/* A derivative that would get lost in an array without an adjoint. */
static rg_status
check_flow(const rg_tape *t, const tape_touches *touches)
{
    bool leads_on = false;
    for (uint32_t i = 0; i < touches->n; i++)
        leads_on |= touches->at[i].writes && has_adjoint(&t->arrays.at[touches->at[i].array]);
    for (uint32_t i = 0; i < touches->n && leads_on; i++) {
        const tape_array *a = &t->arrays.at[touches->at[i].array];
        if (touches->at[i].reads && a->carries && !has_adjoint(a))
            return api_error(RG_INVALID,
                             "%s depends on an array with an adjoint, another one with an adjoint is to depend on it, and it has "
                             "none: rg_array_require(array, RG_ADJOINT) before it is recorded, or rg_tape_stop_gradient",
                             API_SHOWN_NAME(a->array));
    }
    return RG_OK;
}

static void
carry(rg_tape *t, const tape_op *op)
{
    bool active = false;
    const tape_touches *all = &op->touches;
    for (uint32_t i = 0; i < all->n; i++) {
        const tape_array *a = &t->arrays.at[all->at[i].array];
        active |= all->at[i].reads && (a->carries || has_adjoint(a));
    }
    for (uint32_t i = 0; op->what == TAPE_LAUNCH && i < op->site->args->kernel->nparams; i++)
        active |= op->site->planes[i] && !op->site->args->kernel->params[i].array;
    bool whole = op->what == TAPE_FILL || op->what == TAPE_WRITE || op->what == TAPE_COPY || op->what == TAPE_STOP;
    for (uint32_t i = 0; i < all->n; i++) {
        tape_array *a = &t->arrays.at[all->at[i].array];
        if ((all->at[i].writes && ir_is_float(a->array->dtype)) || op->what == TAPE_STOP)
            a->carries = op->what != TAPE_STOP && (active || (a->carries && !whole));
    }
}

/* Before it is done: everything that can fail. */
static rg_status
prepare_operation(rg_tape *t, const tape_op *op, uint64_t **bits)
{
    const tape_touches *all = &op->touches;
    int64_t k = (int64_t)t->ops.n;
    vec_reserve(&t->ops, t->ops.n + 1);
    if (op->what == TAPE_LAUNCH)
        *bits = arena_new_n(t->memory, uint64_t, op->site->scalars);
    TRY(check_flow(t, all));
    for (uint32_t i = 0; i < all->n; i++) {
        tape_array *a = &t->arrays.at[all->at[i].array];
        if (all->at[i].writes && a->overlaps)
            return refuse_overlap(a);
        TRY(tape_notice(t, all->at[i].array));
        a->derives |= has_adjoint(a);
        vec_reserve(&a->versions, a->versions.n + 2);
        tape_version *v = tape_last(a);
        a->used_before = v->last_use;
        a->needed_before = v->last_need;
        if (all->at[i].uses)
            v->last_use = k;
        if (all->at[i].needs && (!all->at[i].writes || (op->what == TAPE_LAUNCH && op->site->form == RG_FORWARD_VJP)))
            v->last_need = k;
    }
    return tape_save_overwritten(t, all);
}

/* It has not been done: its number is the next one's. */
static void
forget_operation(rg_tape *t, const tape_op *op)
{
    int64_t k = (int64_t)t->ops.n;
    for (uint32_t i = 0; i < op->touches.n; i++) {
        tape_array *a = &t->arrays.at[op->touches.at[i].array];
        tape_version *v = tape_last(a);
        v->last_use = v->last_use == k ? a->used_before : v->last_use;
        v->last_need = v->last_need == k ? a->needed_before : v->last_need;
    }
}

static rg_status
guarded_prepare(rg_tape *t, const tape_op *op, uint64_t **bits)
{
    API_GUARDED(prepare_operation(t, op, bits));
}

static rg_status
begin_operation(rg_tape *t, const tape_op *op, uint64_t **bits)
{
    rg_status status = guarded_prepare(t, op, bits);
    if (status)
        forget_operation(t, op);
    return status;
}

static rg_status
sum_written(rg_tape *t, const tape_touches *all)
{
    for (uint32_t i = 0; i < all->n && t->validate; i++)
        if (all->at[i].writes)
            TRY(tape_sum(t, all->at[i].array));
    return RG_OK;
}

/* It has been done. */
static rg_status
note_operation(rg_tape *t, const tape_op *op)
{
    int64_t k = (int64_t)t->ops.n;
    vec_push(&t->ops, *op);
    carry(t, op);
    for (uint32_t i = 0; i < op->touches.n; i++) {
        const tape_touch *how = &op->touches.at[i];
        if (!how->writes)
            continue;
        tape_made(t, how->array, op->what == TAPE_WRITE);
        if (how->needs && !(op->what == TAPE_LAUNCH && op->site->form == RG_FORWARD_VJP))
            tape_last(&t->arrays.at[how->array])->last_need = k;
    }
    API_GUARDED(sum_written(t, &op->touches));
}

static rg_status
end_operation(rg_tape *t, const tape_op *op, rg_status status)
{
    if (!status)
        return note_operation(t, op);
    forget_operation(t, op);
    return status;
}

/* -- launches --------------------------------------------------------------------------------------- */

rg_status
api_tape_launch(rg_queue *queue, rg_args *args, rg_form form)
{
    rg_tape *t = queue->tape;
    tape_site *s;
    uint64_t *bits;
    if (form != RG_FORWARD)
        return api_tape_refuse(queue, "a launch of another form than RG_FORWARD");
    TRY(guarded_find_site(t, args, &s));
    set_scalars(s->args, args);
    TRY(api_args_pack(s->args, RG_FORWARD));
    if (!s->touches.at)
        TRY(guarded_know_site(t, s));
    tape_op op = {.what = TAPE_LAUNCH, .touches = s->touches, .site = s};
    TRY(begin_operation(t, &op, &bits));
    op.bits = bits;
    for (uint32_t i = 0, n = 0; i < args->kernel->nparams; i++)
        if (!args->kernel->params[i].array)
            bits[n++] = args->slots[i].bits;
    rg_status status = api_run(queue, s->args, RG_FORWARD);
    for (uint32_t i = 0; i < s->touches.n && s->args->began; i++)
        if (s->touches.at[i].writes)
            api_wrote(t->arrays.at[s->touches.at[i].array].array);
    return end_operation(t, &op, status);
}

rg_args *
tape_op_args(const tape_op *op)
{
    rg_args *args = op->site->args;
    for (uint32_t i = 0, n = 0; i < args->kernel->nparams; i++) {
        if (args->kernel->params[i].array)
            continue;
        args->changed |= args->slots[i].bits != op->bits[n];
        args->slots[i].bits = op->bits[n++];
    }
    return args;
}

/* -- what is no launch -------------------------------------------------------------------------------- */

static rg_status
make_touches(rg_tape *t, rg_array *const *reads, size_t nreads, tape_touch reading, rg_array *const *writes, size_t nwrites,
             tape_touch writing, tape_touches *all)
{
    *all = (tape_touches){.at = arena_new_n(t->memory, tape_touch, nreads + nwrites)};
    for (size_t i = 0; i < nreads; i++)
        TRY(add_touch(t, all, reads[i], reading));
    for (size_t i = 0; i < nwrites; i++)
        TRY(add_touch(t, all, writes[i], writing));
    return RG_OK;
}

static rg_status
guarded_touches(rg_tape *t, rg_array *from, rg_array *to, tape_touches *all)
{
    API_GUARDED(make_touches(t, &from, from != NULL, (tape_touch){.reads = true, .uses = true}, &to, to != NULL,
                             (tape_touch){.writes = true}, all));
}

rg_status
api_tape_fill(rg_queue *queue, rg_array *array, double value, uint64_t element)
{
    rg_tape *t = queue->tape;
    tape_op op = {.what = TAPE_FILL, .element = element};
    TRY(guarded_touches(t, NULL, array, &op.touches));
    TRY(begin_operation(t, &op, NULL));
    t->paused = true;
    rg_status status = rg_array_fill(queue, array, RG_PRIMAL, value);
    t->paused = false;
    return end_operation(t, &op, status);
}

rg_status
api_tape_write(rg_queue *queue, rg_array *array, const void *data, size_t bytes)
{
    rg_tape *t = queue->tape;
    tape_op op = {.what = TAPE_WRITE};
    TRY(guarded_touches(t, NULL, array, &op.touches));
    TRY(begin_operation(t, &op, NULL));
    t->paused = true;
    rg_status status = rg_array_write(queue, array, RG_PRIMAL, data, bytes);
    t->paused = false;
    return end_operation(t, &op, status);
}

rg_status
api_tape_copy(rg_queue *queue, rg_array *to, rg_array *from, unsigned from_plane)
{
    rg_tape *t = queue->tape;
    bool primal = from_plane == RG_PRIMAL; /* of companions nothing is known */
    tape_op op = {.what = primal ? TAPE_COPY : TAPE_WRITE};
    TRY(guarded_touches(t, primal ? from : NULL, to, &op.touches));
    TRY(begin_operation(t, &op, NULL));
    t->paused = true;
    rg_status status = rg_array_copy(queue, to, RG_PRIMAL, from, from_plane);
    t->paused = false;
    return end_operation(t, &op, status);
}

rg_status
rg_tape_stop_gradient(rg_tape *tape, rg_array *array)
{
    TRY(check_recording(tape));
    API_CHECK(array, API_ARRAY, "array");
    TRY(api_check_home(tape->queue, array));
    tape_op op = {.what = TAPE_STOP};
    TRY(guarded_touches(tape, array, NULL, &op.touches));
    op.touches.at[0].uses = false;
    TRY(begin_operation(tape, &op, NULL));
    return note_operation(tape, &op);
}

/* -- calls ---------------------------------------------------------------------------------------------- */

static rg_status
copy_call(rg_tape *t, const rg_tape_call_desc *desc, tape_op *op)
{
    op->call = arena_one(t->memory, rg_tape_call_desc);
    *op->call = *desc;
    op->call->name.ptr = arena_str(t->memory, desc->name);
    return make_touches(t, desc->reads, desc->read_count, (tape_touch){.reads = true, .uses = true, .needs = desc->reverse},
                        desc->writes, desc->write_count,
                        (tape_touch){.writes = true, .uses = true, .needs = desc->reverse}, &op->touches);
}

static rg_status
guarded_copy_call(rg_tape *t, const rg_tape_call_desc *desc, tape_op *op)
{
    API_GUARDED(copy_call(t, desc, op));
}

static rg_status
check_call_arrays(const rg_tape *t, rg_array *const *arrays, size_t n)
{
    if (n && !arrays)
        return api_error(RG_INVALID, "arrays of the call are NULL");
    for (size_t i = 0; i < n; i++) {
        API_CHECK(arrays[i], API_ARRAY, "array of the call");
        TRY(api_check_home(t->queue, arrays[i]));
    }
    return RG_OK;
}

rg_status
rg_tape_call(rg_tape *tape, const rg_tape_call_desc *desc)
{
    rg_tape_call_desc d;
    TRY(check_recording(tape));
    API_READ_DESC(&d, desc, rg_tape_call_desc);
    if (!d.forward)
        return api_error(RG_INVALID, "a call has a forward function");
    TRY(check_call_arrays(tape, d.reads, d.read_count));
    TRY(check_call_arrays(tape, d.writes, d.write_count));
    if (tape->paused)
        return d.forward(d.user);
    tape_op op = {.what = TAPE_CALL};
    TRY(guarded_copy_call(tape, &d, &op));
    TRY(begin_operation(tape, &op, NULL));
    tape->paused = tape->busy = true;
    api_call_begin(tape->queue);
    rg_status status = d.forward(d.user);
    api_call_end(tape->queue);
    tape->paused = tape->busy = false;
    for (uint32_t i = 0; i < op.touches.n; i++)
        if (op.touches.at[i].writes)
            api_wrote(tape->arrays.at[op.touches.at[i].array].array);
    return end_operation(tape, &op, status);
}

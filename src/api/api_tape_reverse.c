/* Tapes: the reverse of what was recorded. SPDX-License-Identifier: Apache-2.0
 *
 * Operations are reversed from the last to the first. Before each of them the arrays that its reverse reads are brought to the
 * versions that it needs. Where these were not kept, the nearest state before is, and what follows it is run again: by the
 * binomial schedule with the rest of the budget for further states. At the end everything holds what it held before. */
#include "api/api_tape.h"

#include "api/revolve.h"

static bool
is_combined(const tape_op *op)
{
    return op->what == TAPE_LAUNCH && op->site->form == RG_FORWARD_VJP;
}

/* -- whether it can be done ------------------------------------------------------------------------ */

static rg_status
check_versions(const rg_tape *t, const tape_array *a)
{
    for (size_t i = 0; i < a->versions.n; i++) {
        const tape_version *v = &a->versions.at[i];
        int64_t reader = v->last_need;
        if (reader < 0 && t->stride && v->outside)
            reader = v->last_use;
        if (v->lost && reader >= 0)
            return api_error(RG_INVALID,
                             "%s was written, and not on the tape, after %s had read it, whose gradient needs what it held then\n"
                             "(by the host, in another queue, or while the tape was paused)",
                             API_SHOWN_NAME(a->array), TAPE_OP_NAME(t, reader));
        if (v->severed && v->last_use >= 0)
            return api_error(RG_INVALID,
                             "%s was written, and not on the tape, between an operation that had read or written it and %s, which "
                             "read it: its adjoint belongs to either\n"
                             "(rg_tape_call records what has a reverse of its own)",
                             API_SHOWN_NAME(a->array), TAPE_OP_NAME(t, v->last_use));
    }
    return RG_OK;
}

static rg_status
check_sites(const rg_tape *t)
{
    for (size_t i = 0; i < t->all_sites.n; i++) {
        const tape_site *s = t->all_sites.at[i];
        for (uint32_t p = 0; s->touches.at && p < s->args->kernel->nparams; p++) {
            const rg_array *a = s->args->slots[p].array;
            if (a && (a->plane[RG_ADJOINT] != NULL) != (s->planes[p] != 0))
                return api_error(RG_INVALID, "%s got an adjoint, or lost it, since kernel `%s` was recorded with it",
                                 API_SHOWN_NAME(a), s->args->kernel->fn->name);
        }
    }
    return RG_OK;
}

static rg_status
check_adjoint(rg_tape *t, tape_array *a)
{
    if (a->derives && !a->array->plane[RG_ADJOINT])
        return api_error(RG_INVALID, "%s has no adjoint any more, which it had when it was recorded", API_SHOWN_NAME(a->array));
    return a->moves == a->array->moves ? RG_OK : tape_check_alone(t, a);
}

static rg_status
look_at_arrays(rg_tape *t)
{
    for (uint32_t i = 0; i < t->arrays.n; i++) {
        TRY(tape_notice(t, i));
        TRY(check_versions(t, &t->arrays.at[i]));
        TRY(check_adjoint(t, &t->arrays.at[i]));
    }
    return check_sites(t);
}

static rg_status
guarded_look(rg_tape *t)
{
    API_GUARDED(look_at_arrays(t));
}

/* -- progress ------------------------------------------------------------------------------------- */

static rg_status
tell_progress(const rg_tape *t)
{
    uint64_t n = t->ops.n;
    bool goes_on = !t->progress || t->progress(t->user, t->reversed, n, t->recomputed - t->recomputed_before);
    if (t->reversed == n || (goes_on && !api_call_is_cancelled(t->queue)))
        return RG_OK;
    return api_error(RG_CANCELLED, "the tape's reverse was ended by %s, after %llu of %llu operations",
                     goes_on ? "rg_queue_cancel" : "its callback", (unsigned long long)t->reversed, (unsigned long long)n);
}

/* -- forward again ----------------------------------------------------------------------------------- */

/* What the tape ended with is not overwritten before it is saved. */
static rg_status
save_end(rg_tape *t, uint32_t array)
{
    const tape_array *a = &t->arrays.at[array];
    if (a->here != a->versions.n - 1 || vec_last(&a->versions).saved)
        return RG_OK;
    return tape_save(t, array);
}

/* Changes when somebody writes an array of the tape that is not among those that the call writes. */
static uint64_t
versions_of_others(const rg_tape *t, const tape_op *op)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < t->arrays.n; i++)
        sum += t->arrays.at[i].array->version;
    for (uint32_t i = 0; i < op->touches.n; i++)
        if (op->touches.at[i].writes)
            sum -= t->arrays.at[op->touches.at[i].array].array->version;
    return sum;
}

/* What such an array holds the tape would not know. */
static rg_status
run_function(const rg_tape *t, const tape_op *op, rg_status (*function)(void *user))
{
    uint64_t before = versions_of_others(t, op);
    TRY(function(op->call->user));
    if (versions_of_others(t, op) == before)
        return RG_OK;
    return api_error(RG_INVALID, "call `%.*s` wrote an array of the tape that is not among its writes", API_SHOWN, op->call->name.ptr);
}

static rg_status
do_again(rg_tape *t, const tape_op *op)
{
    rg_array *to = op->touches.n ? t->arrays.at[op->touches.at[op->touches.n - 1].array].array : NULL;
    switch (op->what) {
    case TAPE_LAUNCH:
        return api_run(t->queue, tape_op_args(op), RG_FORWARD);
    case TAPE_FILL:
        return api_array_fill(t->queue, to, RG_PRIMAL, op->element);
    case TAPE_COPY:
        return api_array_copy(t->queue, to, RG_PRIMAL, t->arrays.at[op->touches.at[0].array].array, RG_PRIMAL);
    case TAPE_CALL:
        return run_function(t, op, op->call->forward);
    case TAPE_WRITE: /* kept */
    case TAPE_STOP:
        break;
    }
    return RG_OK;
}

/* Everything before operation k that it begins with is in memory or kept. */
static rg_status
forward_one(rg_tape *t, int64_t k)
{
    const tape_op *op = &t->ops.at[k];
    const tape_touches *all = &op->touches;
    if (op->what == TAPE_WRITE || op->what == TAPE_STOP)
        return RG_OK;
    for (uint32_t i = 0; i < all->n; i++) {
        if (all->at[i].uses)
            TRY(tape_bring(t, all->at[i].array, tape_version_at(&t->arrays.at[all->at[i].array], 2 * k)));
        if (all->at[i].writes)
            TRY(save_end(t, all->at[i].array));
    }
    for (uint32_t i = 0; i < all->n; i++)
        if (all->at[i].writes)
            t->arrays.at[all->at[i].array].here = TAPE_NOWHERE;
    TRY(do_again(t, op));
    for (uint32_t i = 0; i < all->n; i++)
        if (all->at[i].writes)
            t->arrays.at[all->at[i].array].here = tape_version_at(&t->arrays.at[all->at[i].array], 2 * k + 1);
    t->recomputed++;
    return tell_progress(t);
}

static rg_status
forward(rg_tape *t, int64_t from, int64_t to)
{
    for (int64_t k = from; k < to; k++)
        TRY(forward_one(t, k));
    return RG_OK;
}

/* -- reversing one ------------------------------------------------------------------------------------- */

static uint32_t
needed_version(const tape_op *op, const tape_array *a, int64_t k)
{
    return tape_version_at(a, is_combined(op) ? 2 * k : 2 * k + 1);
}

static bool
can_reverse(const rg_tape *t, int64_t k)
{
    const tape_op *op = &t->ops.at[k];
    for (uint32_t i = 0; i < op->touches.n; i++) {
        const tape_array *a = &t->arrays.at[op->touches.at[i].array];
        uint32_t v = op->touches.at[i].needs ? needed_version(op, a, k) : a->here;
        if (v != a->here && !tape_stands(a, v))
            return false;
    }
    return true;
}

static rg_status
reverse_launch(rg_tape *t, const tape_op *op, int64_t k)
{
    const tape_touches *all = &op->touches;
    if (!op->site->differentiable)
        return RG_OK;
    for (uint32_t i = 0; i < all->n && is_combined(op); i++)
        if (all->at[i].writes)
            TRY(save_end(t, all->at[i].array));
    rg_status status = api_run(t->queue, tape_op_args(op), op->site->form);
    for (uint32_t i = 0; i < all->n && is_combined(op); i++) {
        tape_array *a = &t->arrays.at[all->at[i].array];
        if (all->at[i].writes) /* what was not brought may be left in part */
            a->here = !status && a->here == tape_version_at(a, 2 * k) ? tape_version_at(a, 2 * k + 1) : TAPE_NOWHERE;
    }
    return status;
}

static rg_status
clear_adjoint(rg_tape *t, const tape_touch *of)
{
    rg_array *a = t->arrays.at[of->array].array;
    return a->plane[RG_ADJOINT] ? api_array_fill(t->queue, a, RG_ADJOINT, 0) : RG_OK;
}

/* An adjoint, as an array of its own for a kernel. */
static rg_status
wrap_adjoint(rg_queue *queue, const rg_array *a, rg_array **wrapped)
{
    rt_layout row = api_plane_layout(a, RG_ADJOINT);
    rg_array_desc desc =
        RG_DESC(rg_array_desc, .dtype = a->dtype, .rank = 1, .shape = {row.shape[0]}, .data = a->plane[RG_ADJOINT]);
    return api_array_make(queue, &desc, wrapped);
}

static rg_status
get_mover(rg_tape *t, rg_dtype dtype, rg_args **args)
{
    char text[640];
    rg_args **mover = &t->movers[dtype];
    *args = *mover;
    if (*mover)
        return RG_OK;
    const char *type = ir_dtype_name(dtype);
    snprintf(text, sizeof(text),
             "kernel @move(%%n: i64, %%to: buf<%s,1>, %%from: buf<%s,1>) {\n"
             "  %%first: i64 = const 0\n"
             "  parallel (%%i: i64) = (%%first) to (%%n) {\n"
             "    %%a: %s = load %%to[%%i]  %%b: %s = load %%from[%%i]  %%sum: %s = add %%a, %%b  %%none: %s = const 0.0\n"
             "    store %%to[%%i], %%sum  store %%from[%%i], %%none  yield\n"
             "  }\n"
             "  yield\n"
             "}\n",
             type, type, type, type, type, type);
    rg_module *module;
    rg_kernel *kernel;
    TRY(rg_module_from_ir(rg_str_of(text), NULL, &module));
    rg_status status = rg_module_get_kernel(module, RG_STR("move"), &kernel);
    if (!status)
        status = api_args_make(t->queue, kernel, mover);
    rg_module_destroy(module);
    *args = *mover;
    return status;
}

/* from += to; to = 0, of the adjoints */
static rg_status
move_adjoint(rg_tape *t, rg_array *from, rg_array *to)
{
    rg_args *args;
    rg_array *adds = NULL, *gives = NULL;
    uint32_t n = from->directions[RG_ADJOINT];
    if (n != to->directions[RG_ADJOINT] || (n > 1 && from->side_by_side != to->side_by_side))
        return api_error(RG_INVALID, "%s was copied to one whose adjoint has other directions, or has them in another order",
                         API_SHOWN_NAME(from));
    TRY(get_mover(t, to->dtype, &args));
    rg_status status = wrap_adjoint(t->queue, from, &adds);
    if (!status)
        status = wrap_adjoint(t->queue, to, &gives);
    if (!status)
        status = rg_args_set_int_at(args, 0, adds->layout.shape[0]);
    if (!status)
        status = rg_args_set_array_at(args, 1, adds);
    if (!status)
        status = rg_args_set_array_at(args, 2, gives);
    if (!status)
        status = api_run(t->queue, args, RG_FORWARD);
    rg_status taken = rg_args_set_array_at(args, 1, NULL), taken_too = rg_args_set_array_at(args, 2, NULL);
    rg_array_destroy(adds);
    rg_array_destroy(gives);
    return status ? status : taken ? taken : taken_too;
}

static rg_status
reverse_copy(rg_tape *t, const tape_op *op)
{
    const tape_touch *written = &op->touches.at[op->touches.n - 1]; /* without elements it may be the one that is read */
    rg_array *from = t->arrays.at[op->touches.at[0].array].array, *to = t->arrays.at[written->array].array;
    if (from->plane[RG_ADJOINT] && to->plane[RG_ADJOINT])
        return move_adjoint(t, from, to);
    return clear_adjoint(t, written);
}

static rg_status
reverse_call(rg_tape *t, const tape_op *op)
{
    if (op->call->reverse)
        return run_function(t, op, op->call->reverse);
    for (uint32_t i = 0; i < op->touches.n; i++)
        if (op->touches.at[i].writes)
            TRY(clear_adjoint(t, &op->touches.at[i]));
    return RG_OK;
}

static rg_status
undo_operation(rg_tape *t, int64_t k)
{
    const tape_op *op = &t->ops.at[k];
    for (uint32_t i = 0; i < op->touches.n; i++) {
        uint32_t array = op->touches.at[i].array;
        if (op->touches.at[i].needs)
            TRY(tape_bring(t, array, needed_version(op, &t->arrays.at[array], k)));
    }
    switch (op->what) {
    case TAPE_LAUNCH:
        return reverse_launch(t, op, k);
    case TAPE_COPY:
        return reverse_copy(t, op);
    case TAPE_CALL:
        return reverse_call(t, op);
    case TAPE_FILL:
    case TAPE_WRITE:
    case TAPE_STOP:
        break;
    }
    return clear_adjoint(t, &op->touches.at[0]);
}

static rg_status
reverse_one(rg_tape *t, int64_t k)
{
    TRY(undo_operation(t, k));
    t->reversed++;
    return tell_progress(t);
}

/* -- states --------------------------------------------------------------------------------------------- */

/* Calls for each version that the state before operation k consists of. false: `each` said so. */
static bool
each_of_state(rg_tape *t, int64_t k, bool (*each)(rg_tape *t, uint32_t array, uint32_t version, void *user), void *user)
{
    for (uint32_t i = 0; i < t->arrays.n; i++) {
        const tape_array *a = &t->arrays.at[i];
        uint32_t v = tape_version_at(a, 2 * k);
        if (a->versions.at[v].last_use >= k && !each(t, i, v, user))
            return false;
    }
    return true;
}

static bool
stands(rg_tape *t, uint32_t array, uint32_t version, void *user)
{
    return tape_stands(&t->arrays.at[array], version);
}

/* The nearest state up to operation k that stands; -1: none. */
static int64_t
find_state(rg_tape *t, int64_t k)
{
    int64_t stride = t->stride ? t->stride : k + 1, at = k - k % stride;
    while (at > 0 && !each_of_state(t, at, stands, NULL))
        at -= stride;
    return at > 0 || each_of_state(t, 0, stands, NULL) ? at : -1;
}

static bool
add_bytes(rg_tape *t, uint32_t array, uint32_t version, void *bytes)
{
    if (t->arrays.at[array].versions.n > 1)
        *(uint64_t *)bytes += tape_array_bytes(&t->arrays.at[array]);
    return true;
}

static bool
add_missing(rg_tape *t, uint32_t array, uint32_t version, void *bytes)
{
    if (!tape_stands(&t->arrays.at[array], version))
        *(uint64_t *)bytes += tape_array_bytes(&t->arrays.at[array]);
    return true;
}

static uint64_t
free_bytes(const rg_tape *t)
{
    uint64_t taken = t->bytes + tape_reserve(t);
    return taken < t->budget ? t->budget - taken : 0;
}

typedef struct kept {
    uint32_t array, version;
} kept;
typedef vec(kept) kept_list;

typedef struct saving {
    kept_list *list;
    rg_status status;
} saving;

static bool
save_of_state(rg_tape *t, uint32_t array, uint32_t version, void *user)
{
    saving *s = user;
    const tape_array *a = &t->arrays.at[array];
    if (tape_stands(a, version))
        return true;
    s->status = a->here == version ? tape_save(t, array)
                                   : api_error(RG_INVALID, "%s: the tape has lost what it held", API_SHOWN_NAME(a->array));
    if (!s->status)
        s->list->at[s->list->n++] = (kept){array, version};
    return !s->status;
}

static rg_status
reserve_list(rg_tape *t, kept_list *list)
{
    list->in = NULL;
    vec_reserve(list, t->arrays.n);
    return RG_OK;
}

static rg_status
guarded_reserve_list(rg_tape *t, kept_list *list)
{
    API_GUARDED(reserve_list(t, list));
}

static rg_status reverse_range(rg_tape *t, int64_t lo, int64_t hi);

/* The state before `lo` stands: keeps another one ahead, and reverses what lies behind that. */
static rg_status
reverse_from(rg_tape *t, int64_t lo, int64_t mid, int64_t hi)
{
    kept_list list = {0};
    saving s = {.list = &list};
    TRY(forward(t, lo, mid));
    TRY(guarded_reserve_list(t, &list));
    each_of_state(t, mid, save_of_state, &s);
    rg_status status = s.status ? s.status : reverse_range(t, mid, hi);
    for (size_t i = 0; i < list.n; i++)
        tape_drop(t, list.at[i].array, list.at[i].version);
    vec_free(&list);
    return status;
}

static uint64_t
missing_bytes(rg_tape *t, int64_t at)
{
    uint64_t bytes = 0;
    each_of_state(t, at, add_missing, &bytes);
    return bytes;
}

/* Where to keep a state next, between lo and hi; lo: none fits. */
static int64_t
choose_state(rg_tape *t, int64_t lo, int64_t hi)
{
    uint64_t state = 0, room = free_bytes(t);
    each_of_state(t, lo, add_bytes, &state);
    if (hi - lo < 2 || !state || room < state)
        return lo;
    int64_t mid = lo + revolve_ahead(hi - lo, room / state);
    while (mid > lo && missing_bytes(t, mid) > room) /* not all states are of one size */
        mid--;
    return mid;
}

static rg_status
reverse_range(rg_tape *t, int64_t lo, int64_t hi)
{
    while (hi > lo) {
        int64_t mid = can_reverse(t, hi - 1) ? lo : choose_state(t, lo, hi);
        if (mid > lo) {
            TRY(reverse_from(t, lo, mid, hi));
            hi = mid;
            continue;
        }
        hi--;
        if (!can_reverse(t, hi))
            TRY(forward(t, lo, hi));
        if (!can_reverse(t, hi))
            TRY(forward_one(t, hi));
        TRY(reverse_one(t, hi));
    }
    return RG_OK;
}

/* States behind operation k are not wanted any more; a later reverse makes them again. */
static void
drop_states_behind(rg_tape *t, int64_t k)
{
    for (uint32_t i = 0; i < t->arrays.n; i++) {
        const tape_array *a = &t->arrays.at[i];
        for (uint32_t v = (uint32_t)a->versions.n - 1; v-- > 0 && a->versions.at[v].made > 2 * k;)
            if (!a->versions.at[v].outside)
                tape_drop(t, i, v);
    }
}

static rg_status
reverse_all(rg_tape *t)
{
    int64_t hi = (int64_t)t->ops.n;
    while (hi > 0) {
        if (can_reverse(t, hi - 1)) {
            TRY(reverse_one(t, --hi));
            continue;
        }
        int64_t lo = find_state(t, hi - 1);
        if (lo < 0)
            return api_error(RG_INVALID, "the tape has no state from which %s can be run again", TAPE_OP_NAME(t, hi - 1));
        TRY(reverse_range(t, lo, hi));
        hi = lo;
        drop_states_behind(t, hi);
    }
    return RG_OK;
}

/* -- all of it -------------------------------------------------------------------------------------------- */

/* What every array held before; the first failure counts. */
static rg_status
put_back(rg_tape *t, rg_status status)
{
    for (uint32_t i = 0; i < t->arrays.n; i++) {
        tape_array *a = &t->arrays.at[i];
        uint32_t last = (uint32_t)a->versions.n - 1;
        rg_status put = a->here == last || status == RG_DEVICE ? RG_OK : tape_bring(t, i, last);
        if (a->here == last) {
            tape_drop(t, i, last);
            a->array->version = a->seen; /* the contents are those of then */
        } else {
            api_wrote(a->array);
        }
        status = status ? status : put;
    }
    return status;
}

rg_status
rg_tape_vjp(rg_tape *tape)
{
    API_CHECK(tape, API_TAPE, "tape");
    rg_queue *q = tape->queue;
    if (tape->recording)
        return api_error(RG_INVALID, "the tape still records: rg_tape_end ends it");
    if (tape->busy)
        return api_error(RG_INVALID, "the tape is being reversed");
    TRY(api_refuse_recording(q, "rg_tape_vjp"));
    TRY(api_tape_refuse(q, "rg_tape_vjp of another tape"));
    TRY(api_take_failure(q));
    TRY(guarded_look(tape));
    tape->busy = true;
    tape->reversed = 0;
    tape->recomputed_before = tape->recomputed;
    api_call_begin(q);
    rg_status status = reverse_all(tape);
    api_call_heed(q);
    status = put_back(tape, status);
    api_call_end(q);
    tape->busy = false;
    return api_wait_for_closed(q, status);
}

/* Tapes: which versions of arrays are kept, and where. SPDX-License-Identifier: Apache-2.0
 *
 * As long as the budget has room, a version is saved when it is overwritten and a reverse needs it. Beyond the budget states are
 * kept instead: all that later operations begin with, before every operation whose number the stride divides. Each time they do
 * not fit the stride doubles, so that the number of states stays between a half and the whole of what fits, however many
 * operations come. A version is kept if it is part of such a state. What no operation can make again is always kept then. */
#include "api/api_tape.h"

tape_version *
tape_last(tape_array *a)
{
    return &vec_last(&a->versions);
}

uint32_t
tape_version_at(const tape_array *a, int64_t time)
{
    size_t lo = 0, hi = a->versions.n; /* the last that was made by then */
    while (hi - lo > 1) {
        size_t mid = (lo + hi) / 2;
        if (a->versions.at[mid].made <= time)
            lo = mid;
        else
            hi = mid;
    }
    return (uint32_t)lo;
}

bool
tape_stands(const tape_array *a, uint32_t version)
{
    return a->versions.at[version].saved || version == a->versions.n - 1;
}

/* -- copies ------------------------------------------------------------------------------------- */

size_t
tape_array_bytes(const tape_array *a)
{
    return api_plane_bytes(a->array, RG_PRIMAL);
}

/* Elements with gaps between them pass through the host. */
static bool
stays_on_device(const tape_array *a)
{
    return a->array->device->table->memory && rt_layout_is_dense(&a->array->layout);
}

static rg_status
take_memory(rg_tape *t, const tape_array *a, void **memory)
{
    size_t bytes = tape_array_bytes(a);
    bytes = bytes ? bytes : 1;
    if (!stays_on_device(a)) {
        *memory = mem_alloc(bytes);
        return RG_OK;
    }
    str text = {.in = mem_scratch()};
    rg_status status = t->queue->device->table->memory->allocate(t->queue->queue, bytes, memory, &text);
    return api_error_device(t->queue->device, status, &text, "there is no memory for what the tape saves");
}

static void
give_memory(const tape_array *a, void *memory)
{
    size_t bytes = tape_array_bytes(a);
    if (stays_on_device(a))
        a->array->device->table->memory->release(a->array->device->device, memory, bytes ? bytes : 1);
    else
        mem_free(memory);
}

static rg_status
copy_to_saved(rg_tape *t, const tape_array *a, void *saved)
{
    rt_place place = api_place(t->queue);
    str text = {.in = mem_scratch()};
    rg_status status = stays_on_device(a)
                           ? rt_memory_copy(place, saved, a->array->plane[RG_PRIMAL], tape_array_bytes(a), &text)
                           : rt_memory_read(place, &a->array->layout, a->array->plane[RG_PRIMAL], saved, &text);
    return api_error_device(t->queue->device, status, &text, "the tape could not save an array");
}

typedef struct unfinished {
    const tape_array *a;
    void *memory;
} unfinished;

static void
give_unfinished(void *object)
{
    unfinished *u = object;
    if (u->memory)
        give_memory(u->a, u->memory);
}

/* A copy is the version's once it is whole: one that failed half-way is made again by the next operation. */
static rg_status
save(rg_tape *t, tape_array *a, tape_version *v)
{
    unfinished made = {.a = a};
    mem_owner owns;
    mem_own(&owns, give_unfinished, &made);
    rg_status status = take_memory(t, a, &made.memory);
    if (!status)
        status = copy_to_saved(t, a, made.memory);
    mem_disown(&owns);
    if (status) {
        give_unfinished(&made);
        return status;
    }
    v->saved = made.memory;
    t->bytes += tape_array_bytes(a);
    t->peak = t->bytes > t->peak ? t->bytes : t->peak;
    return RG_OK;
}

static void
drop(rg_tape *t, tape_array *a, tape_version *v)
{
    give_memory(a, v->saved);
    v->saved = NULL;
    t->bytes -= tape_array_bytes(a);
}

rg_status
tape_save(rg_tape *t, uint32_t array)
{
    tape_array *a = &t->arrays.at[array];
    API_GUARDED(save(t, a, &a->versions.at[a->here]));
}

void
tape_drop(rg_tape *t, uint32_t array, uint32_t version)
{
    tape_array *a = &t->arrays.at[array];
    if (a->versions.at[version].saved)
        drop(t, a, &a->versions.at[version]);
}

static rg_status
bring(rg_tape *t, tape_array *a, const tape_version *v)
{
    rt_place place = api_place(t->queue);
    str text = {.in = mem_scratch()};
    rg_status status = stays_on_device(a)
                           ? rt_memory_copy(place, a->array->plane[RG_PRIMAL], v->saved, tape_array_bytes(a), &text)
                           : rt_memory_write(place, &a->array->layout, a->array->plane[RG_PRIMAL], v->saved, &text);
    return api_error_device(t->queue->device, status, &text, "the tape could not put back an array");
}

static rg_status
guarded_bring(rg_tape *t, tape_array *a, const tape_version *v)
{
    API_GUARDED(bring(t, a, v));
}

rg_status
tape_bring(rg_tape *t, uint32_t array, uint32_t version)
{
    tape_array *a = &t->arrays.at[array];
    uint32_t last = (uint32_t)a->versions.n - 1;
    if (a->here == version)
        return RG_OK;
    if (!a->versions.at[version].saved)
        return api_error(RG_INVALID, "%s: the tape has no copy of what it held, which it needs", API_SHOWN_NAME(a->array));
    if (a->here == last && !a->versions.at[last].saved)
        TRY(tape_save(t, array));
    a->here = TAPE_NOWHERE;
    TRY(guarded_bring(t, a, &a->versions.at[version]));
    a->here = version;
    return RG_OK;
}

/* -- what is kept -------------------------------------------------------------------------------- */

/* Of a version that has been, or is now, overwritten. */
static bool
worth_keeping(const rg_tape *t, const tape_version *v)
{
    if (v->lost)
        return false;
    if (t->budget && v->outside && (v->last_use >= 0 || v->last_need >= 0))
        return true;
    if (!t->stride)
        return v->last_need >= 0;
    return v->last_use >= 0 && 2 * (v->last_use - v->last_use % t->stride) >= v->made;
}

uint64_t
tape_reserve(const rg_tape *t)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < t->arrays.n; i++) {
        const tape_array *a = &t->arrays.at[i];
        if (a->versions.n > 1 && !vec_last(&a->versions).saved)
            bytes += tape_array_bytes(a);
    }
    return bytes;
}

/* false: there is nothing to be gained. */
static bool
thin_out(rg_tape *t)
{
    if (t->stride > (int64_t)t->ops.n)
        return false;
    t->stride = t->stride ? 2 * t->stride : 1;
    for (size_t i = 0; i < t->arrays.n; i++) {
        tape_array *a = &t->arrays.at[i];
        for (size_t k = 0; k < a->versions.n; k++)
            if (a->versions.at[k].saved && !worth_keeping(t, &a->versions.at[k]))
                drop(t, a, &a->versions.at[k]);
    }
    return true;
}

/* Also where nothing is to be saved: what arrays hold at the end must fit. */
static rg_status
save_within_budget(rg_tape *t, tape_array *a, uint64_t ends)
{
    tape_version *v = tape_last(a);
    bool saves;
    while (saves = !v->saved && worth_keeping(t, v), t->budget && t->bytes + saves * tape_array_bytes(a) + ends > t->budget)
        if (!thin_out(t))
            return api_error(RG_BUDGET,
                             "%s: the tape's budget of %llu bytes is too small: %llu are taken, %zu are to be saved, and what "
                             "arrays hold at its end takes %llu",
                             API_SHOWN_NAME(a->array), (unsigned long long)t->budget, (unsigned long long)t->bytes,
                             saves * tape_array_bytes(a), (unsigned long long)ends);
    return saves ? save(t, a, v) : RG_OK;
}

rg_status
tape_save_overwritten(rg_tape *t, const tape_touches *touches)
{
    uint64_t ends = t->budget ? tape_reserve(t) : 0;
    for (uint32_t i = 0; i < touches->n; i++) {
        const tape_array *a = &t->arrays.at[touches->at[i].array];
        if (touches->at[i].writes && a->versions.n == 1)
            ends += tape_array_bytes(a);
    }
    for (uint32_t i = 0; i < touches->n; i++) {
        tape_array *a = &t->arrays.at[touches->at[i].array];
        if (touches->at[i].writes)
            TRY(save_within_budget(t, a, ends));
    }
    return RG_OK;
}

/* -- new versions ---------------------------------------------------------------------------------- */

/* There is room. */
static void
add_version(tape_array *a, int64_t made, bool outside)
{
    tape_version v = {.made = made, .last_use = -1, .last_need = -1, .outside = outside};
    vec_push(&a->versions, v);
    a->here = (uint32_t)a->versions.n - 1;
    a->seen = a->array->version;
}

void
tape_made(rg_tape *t, uint32_t array, bool outside)
{
    add_version(&t->arrays.at[array], 2 * (int64_t)t->ops.n - 1, outside);
}

static rg_status
array_checksum(rg_tape *t, const tape_array *a, uint64_t *sum)
{
    size_t bytes = tape_array_bytes(a);
    void *dense = arena_raw(mem_scratch(), bytes ? bytes : 1);
    str text = {.in = mem_scratch()};
    rg_status status = rt_memory_read(api_place(t->queue), &a->array->layout, a->array->plane[RG_PRIMAL], dense, &text);
    TRY(api_error_device(t->queue->device, status, &text, "the tape could not read an array"));
    *sum = hash_bytes(1, dense, bytes);
    return RG_OK;
}

static bool
cannot_be_watched(const rg_tape *t, const tape_array *a)
{
    return t->validate && (!a->array->owned[RG_PRIMAL] || api_open_to_write(a->array));
}

rg_status
tape_sum(rg_tape *t, uint32_t array)
{
    tape_array *a = &t->arrays.at[array];
    return cannot_be_watched(t, a) ? array_checksum(t, a, &a->sum) : RG_OK;
}

rg_status
tape_notice(rg_tape *t, uint32_t array)
{
    tape_array *a = &t->arrays.at[array];
    uint64_t sum = a->sum;
    if (cannot_be_watched(t, a))
        TRY(array_checksum(t, a, &sum));
    if (a->seen == a->array->version && sum == a->sum)
        return RG_OK;
    vec_reserve(&a->versions, a->versions.n + 2);
    tape_version *last = tape_last(a);
    a->sum = sum;
    a->seen = a->array->version;
    if (last->outside && last->last_use < 0 && last->last_need < 0)
        return RG_OK; /* nobody has seen it */
    last->lost = !last->saved;
    add_version(a, 2 * (int64_t)t->ops.n, true);
    tape_last(a)->severed = a->array->plane[RG_ADJOINT];
    return RG_OK;
}

/* Messages, handles, the guard against failed allocations; contexts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

#include <pthread.h>
#include <unistd.h>

/* -- messages ---------------------------------------------------------------------------------- */

enum { SHORT_MESSAGE = 1024 };

/* The message of the calling thread: a short one needs no memory, so that running out of memory can
 * be reported too; a list of diagnostics is kept in `text`. */
static _Thread_local struct {
    char small[SHORT_MESSAGE];
    char *text;
} message;

const char *
rg_error_message(void)
{
    return message.text ? message.text : message.small;
}

rg_status
api_error(rg_status status, const char *format, ...)
{
    free(message.text);
    message.text = NULL;
    va_list args;
    va_start(args, format);
    vsnprintf(message.small, sizeof(message.small), format, args);
    va_end(args);
    return status;
}

rg_status
api_error_text(rg_status status, rg_str text)
{
    if (text.len < SHORT_MESSAGE)
        return api_error(status, "%.*s", (int)text.len, text.ptr);
    char *copy = malloc(text.len + 1);
    if (!copy)
        return api_error(status, "%.*s", SHORT_MESSAGE - 1, text.ptr);
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = 0;
    free(message.text);
    message.text = copy;
    return status;
}

rg_status
api_error_device(const rg_context *context, rg_status status, const str *text, const char *what)
{
    if (status && text->len)
        return api_error_text(status, str_view(text));
    return status ? api_error(status, "device %s: %s", context->table->name, what) : RG_OK;
}

const char *
rg_version(void)
{
    return RG_VERSION;
}

const char *
rg_status_name(rg_status status)
{
    static const char *const names[] = {
        [RG_OK] = "RG_OK",
        [RG_INVALID] = "RG_INVALID",
        [RG_COMPILE] = "RG_COMPILE",
        [RG_UNSUPPORTED] = "RG_UNSUPPORTED",
        [RG_NOT_FOUND] = "RG_NOT_FOUND",
        [RG_OUT_OF_MEMORY] = "RG_OUT_OF_MEMORY",
        [RG_BUDGET] = "RG_BUDGET",
        [RG_ASSERT] = "RG_ASSERT",
        [RG_DEVICE] = "RG_DEVICE",
        [RG_IO] = "RG_IO",
    };
    return (unsigned)status < countof(names) ? names[status] : "unknown status";
}

const char *
rg_dtype_name(rg_dtype dtype)
{
    return (unsigned)dtype < RG_DTYPE_COUNT ? ir_dtype_name(dtype) : "unknown dtype";
}

size_t
rg_dtype_size(rg_dtype dtype)
{
    return dtype > RG_NONE && dtype < RG_DTYPE_COUNT ? ir_bytes(dtype) : 0;
}

/* -- handles ----------------------------------------------------------------------------------- */

enum { DEAD = 0xdeadbeef };

#ifndef NDEBUG
/* The one global: addresses of all live handles, whichever thread made them. */
static struct {
    pthread_mutex_t lock;
    map live;
} handles = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool
is_live_handle(const void *p)
{
    pthread_mutex_lock(&handles.lock);
    bool known = map_get(&handles.live, map_ptr(p)) != NULL;
    pthread_mutex_unlock(&handles.lock);
    return known;
}

static void
lock_handles(void)
{
    pthread_mutex_lock(&handles.lock);
}

static void
unlock_handles(void)
{
    pthread_mutex_unlock(&handles.lock);
}

/* A child of fork gets the table as no thread is changing it. */
static void
keep_through_forks(void)
{
    pthread_atfork(lock_handles, unlock_handles, unlock_handles);
}

/* The map may allocate while the lock is held: a failure must not leave with it. */
static void
unlock(void *lock)
{
    pthread_mutex_unlock(lock);
}

static void
set_known(void *p, bool known)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, keep_through_forks);
    pthread_mutex_lock(&handles.lock);
    mem_owner owns;
    mem_own(&owns, unlock, &handles.lock);
    map_set(&handles.live, map_ptr(p), known ? p : NULL);
    mem_disown(&owns);
    pthread_mutex_unlock(&handles.lock);
}
#else
static bool
is_live_handle(const void *p)
{
    return true;
}

static void
set_known(void *p, bool known)
{
}
#endif

void *
api_new(api_kind kind, size_t bytes)
{
    api_handle *h = mem_zalloc(bytes);
    mem_owner owns;
    mem_own(&owns, mem_free, h);
    set_known(h, true);
    mem_disown(&owns);
    h->kind = kind;
    h->refs = 1;
    return h;
}

rg_status
api_check(const void *p, api_kind kind, const char *what)
{
    if (!p)
        return api_error(RG_INVALID, "%s is NULL", what);
    if (!is_live_handle(p) || ((const api_handle *)p)->kind != (uint32_t)kind)
        return api_error(RG_INVALID,
                         "%s is not a live handle of its kind: freed, or another object", what);
    return RG_OK;
}

bool
api_retire(void *p, api_kind kind)
{
    if (!p || !is_live_handle(p) || ((api_handle *)p)->kind != (uint32_t)kind)
        return false;
    ((api_handle *)p)->kind = DEAD;
    set_known(p, false);
    return true;
}

void
api_free(void *p)
{
    api_handle *h = p;
    if (h->kind != DEAD) /* never retired: its making failed */
        set_known(p, false);
    h->kind = DEAD;
    mem_free(p);
}

/* -- failed allocations ------------------------------------------------------------------------ */

static void
allocation_failed(void *user, size_t bytes)
{
    api_guard *g = user;
    api_error(RG_OUT_OF_MEMORY, "out of memory: an allocation of %zu bytes failed", bytes);
    longjmp(g->jump, 1);
}

void
api_guard_begin(api_guard *g)
{
    mem_set_handler(allocation_failed, g);
}

void
api_guard_end(api_guard *g)
{
    mem_set_handler(NULL, NULL);
}

rg_status
api_guard_failed(api_guard *g)
{
    mem_set_handler(NULL, NULL);
    return RG_OUT_OF_MEMORY;
}

/* -- contexts ---------------------------------------------------------------------------------- */

static void *
default_allocate(void *user, size_t bytes, size_t alignment)
{
    void *p = NULL;
    return posix_memalign(&p, alignment, bytes) ? NULL : p;
}

static void
default_release(void *user, void *memory, size_t bytes)
{
    free(memory);
}

/* a quarter of the machine's memory */
static uint64_t
quarter_of_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 4 : (uint64_t)1 << 30;
}

static const rt_device_table *
find_device_table(rg_str name, rg_status *status)
{
    static const rg_str known[] = {RG_STR("cpu"), RG_STR("simt"), RG_STR("cuda")};
    const rt_device_table *table = rt_device_find(name);
    if (table)
        return table;
    *status = RG_NOT_FOUND;
    for (size_t i = 0; i < countof(known); i++)
        if (str_eq(name, known[i]))
            *status = RG_UNSUPPORTED;
    str names = {.in = mem_scratch()};
    rt_device_names(&names);
    api_error(*status,
              *status == RG_UNSUPPORTED
                  ? "this build has no device \"%.*s\": it was made without what that needs (there is %s)"
                  : "there is no device \"%.*s\" (there is %s)",
              (int)name.len, name.ptr, names.ptr);
    return NULL;
}

static rg_status
check_context_desc(const rg_context_desc *desc, const rt_device_table *table)
{
    if (!desc->allocator.allocate != !desc->allocator.release)
        return api_error(RG_INVALID, "an allocator needs both allocate and release");
    if (desc->num_threads > RG_MAX_THREADS)
        return api_error(RG_INVALID, "num_threads is %u; a context has at most %d threads (0: one for each processor)",
                         desc->num_threads, RG_MAX_THREADS);
    if (desc->stream && !table->sync)
        return api_error(RG_INVALID, "device %s has no streams: its launches have ended when they return",
                         table->name);
    if (desc->ordinal && !table->memory)
        return api_error(RG_NOT_FOUND, "device %s has number 0 only, not %u", table->name, desc->ordinal);
    return RG_OK;
}

rg_status
api_context_create(const rt_device_table *table, const rg_context_desc *desc, rg_context **context)
{
    TRY(check_context_desc(desc, table));
    rg_context *c = api_new(API_CONTEXT, sizeof(*c));
    mem_owner owns;
    mem_own(&owns, api_free, c);
    c->table = table;
    c->allocator = desc->allocator;
    c->own_allocator = c->allocator.allocate != NULL;
    if (!c->allocator.allocate)
        c->allocator = (rg_allocator){default_allocate, default_release, NULL};
    c->contraction = !desc->no_contraction;
    c->checked = desc->checked;
    rt_device_desc device = {
        .tape_budget = desc->tape_budget,
        .num_threads = desc->num_threads,
        .native_math = desc->native_math,
        .fast_math = desc->fast_math,
        .stream = desc->stream,
        .ordinal = desc->ordinal,
    };
    if (!device.tape_budget && !table->memory)
        device.tape_budget = quarter_of_memory();
    str error = {.in = mem_scratch()};
    rg_status status = table->open(&device, &c->device, &error);
    mem_disown(&owns);
    if (status) {
        api_free(c);
        return api_error(status, "device %s: %s", table->name, error.ptr ? error.ptr : "cannot be opened");
    }
    *context = c;
    return RG_OK;
}

static rg_status
context_create(const rg_context_desc *desc, rg_context **context)
{
    rg_status status = RG_OK;
    const rt_device_table *table = find_device_table(desc->device, &status);
    return table ? api_context_create(table, desc, context) : status;
}

rg_status
rg_context_create(const rg_context_desc *desc, rg_context **context)
{
    static const rg_context_desc none;
    API_OUT(context);
    API_GUARDED(context_create(desc ? desc : &none, context));
}

void
api_context_release(void *context)
{
    rg_context *c = context;
    if (--c->handle.refs)
        return;
    c->table->close(c->device);
    api_free(c);
}

void
rg_context_destroy(rg_context *context)
{
    if (!api_retire(context, API_CONTEXT))
        return;
    api_graph_drop(context);
    api_context_release(context);
}

const char *
rg_context_device(const rg_context *context)
{
    return api_check(context, API_CONTEXT, "context") ? "" : context->table->name;
}

uint64_t
rg_context_tape_peak(const rg_context *context)
{
    if (api_check(context, API_CONTEXT, "context") || !context->table->tape_peak)
        return 0;
    return context->table->tape_peak(context->device);
}

rt_place
api_place(const rg_context *context)
{
    return (rt_place){context->table, context->device};
}

bool
api_reaches(const rg_context *context, const void *data)
{
    const rt_memory_table *memory = context->table->memory;
    return !memory || memory->reaches(context->device, data);
}

rg_status
api_take_failure(rg_context *context)
{
    rg_status status = context->failed;
    context->failed = RG_OK;
    return status ? api_error(status, "%s", context->failed_text) : RG_OK;
}

static rg_status
wait(rg_context *context)
{
    if (context->table->sync) {
        str text = {.in = mem_scratch()};
        TRY(api_error_device(context, context->table->sync(context->device, &text), &text, "waiting failed"));
    }
    return api_take_failure(context);
}

rg_status
rg_sync(rg_context *context)
{
    API_CHECK(context, API_CONTEXT, "context");
    TRY(api_refuse_recording(context, "rg_sync"));
    API_GUARDED(wait(context));
}

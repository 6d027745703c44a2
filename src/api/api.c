/* Messages, handles, structs with a size, the guard against failed allocations.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

#include <pthread.h>

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
api_error_device(const rg_device *device, rg_status status, const str *text, const char *what)
{
    if (status && text->len)
        return api_error_text(status, str_view(text));
    return status ? api_error(status, "device %s: %s", device->table->name, what) : RG_OK;
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
        [RG_CANCELLED] = "RG_CANCELLED",
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

static void
set_known(void *p, bool known)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, keep_through_forks);
    pthread_mutex_lock(&handles.lock);
    mem_owner owns;
    mem_own(&owns, mem_release_mutex, &handles.lock); /* the map may allocate */
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
api_keep(void *object)
{
    __atomic_add_fetch(&((api_handle *)object)->refs, 1, __ATOMIC_RELAXED);
}

bool
api_drop(void *object)
{
    return __atomic_sub_fetch(&((api_handle *)object)->refs, 1, __ATOMIC_ACQ_REL) == 0;
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

/* -- structs with a size ----------------------------------------------------------------------- */

static uint32_t
size_in(const void *sized)
{
    uint32_t size;
    memcpy(&size, sized, sizeof(size));
    return size;
}

static rg_status
no_size(const char *type, const char *maker)
{
    return api_error(RG_INVALID, "the size of a %s is not set: make it with %s", type, maker);
}

rg_status
api_read_desc(void *to, size_t size, const void *desc, const char *type)
{
    memset(to, 0, size);
    if (!desc)
        return RG_OK;
    uint32_t theirs = size_in(desc);
    if (theirs < sizeof(uint32_t))
        return no_size(type, "RG_DESC");
    for (size_t i = size; i < theirs; i++)
        if (((const char *)desc)[i])
            return api_error(RG_INVALID, "the %s sets a field that this library (version %s) does not know", type, RG_VERSION);
    memcpy(to, desc, theirs < size ? theirs : size);
    return RG_OK;
}

rg_status
api_begin_info(void *info, const char *type)
{
    if (!info)
        return api_error(RG_INVALID, "info is NULL: it takes a %s", type);
    uint32_t size = size_in(info);
    if (size < sizeof(uint32_t))
        return no_size(type, "RG_INIT");
    memset((char *)info + sizeof(size), 0, size - sizeof(size));
    return RG_OK;
}

void
api_write_info(void *info, const void *from, size_t size)
{
    uint32_t theirs = size_in(info);
    memcpy(info, from, theirs < size ? theirs : size);
    memcpy(info, &theirs, sizeof(theirs));
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


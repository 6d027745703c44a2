/* Opens the compiler's library at its first use. SPDX-License-Identifier: Apache-2.0
 *
 * It lies beside this library, under a name that has the version. Where it is missing, what asks for it fails and says so;
 * the next call looks again. */
#include "compiler/compiler.h"

#include "cache/version.h"

#include <dlfcn.h>
#include <pthread.h>

static const char file_name[] = "libretrograd-compiler.so.0";
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const compiler *opened;

static const compiler *
start(void *library, str *error)
{
    static const compiler_host host_now = {NULL, mem_alloc, mem_zalloc, mem_realloc, mem_free, mem_own, mem_disown, mem_scratch};
    static compiler_host host;
    compiler_start *begin;
    void *symbol = dlsym(library, COMPILER_START);
    memcpy(&begin, &symbol, sizeof begin);
    host = host_now;
    host.version = cache_version();
    const compiler *c = begin ? begin(&host) : NULL;
    if (c && strcmp(c->version, host.version) == 0)
        return c;
    str_addf(error, "%s is of another version", file_name);
    return NULL;
}

static const compiler *
open_now(str *error)
{
    str path = {.in = mem_scratch()};
    file_add_own_folder(&path);
    str_addz(&path, file_name);
    void *library = dlopen(path.ptr, RTLD_NOW | RTLD_LOCAL); /* stays: LLVM does not bear being closed */
    if (library)
        return start(library, error);
    const char *why = dlerror();
    str_addz(error, why ? why : file_name);
    return NULL;
}

static void
lock_opening(void)
{
    pthread_mutex_lock(&lock);
}

static void
unlock_opening(void)
{
    pthread_mutex_unlock(&lock);
}

/* A child of fork gets it open or closed, and not half-open by a thread that it does not have. */
static void
keep_opening_through_forks(void)
{
    pthread_atfork(lock_opening, unlock_opening, unlock_opening);
}

static const compiler *
open_compiler(diag_list *diags)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const compiler *c = __atomic_load_n(&opened, __ATOMIC_ACQUIRE);
    if (c)
        return c;
    str error = {.in = mem_scratch()};
    mem_owner owns;
    pthread_once(&once, keep_opening_through_forks);
    lock_opening();
    mem_own(&owns, mem_release_mutex, &lock);
    c = opened ? opened : open_now(&error);
    __atomic_store_n(&opened, c, __ATOMIC_RELEASE);
    mem_disown(&owns);
    unlock_opening();
    if (!c)
        diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "the compiler cannot be opened: %s", error.ptr);
    return c;
}

bool
compiler_opens(diag_list *diags)
{
    return open_compiler(diags) != NULL;
}

#define COMPILER(result, name, parameters, arguments, otherwise)                                                       \
    result name parameters                                                                                             \
    {                                                                                                                  \
        const compiler *c = open_compiler(diags);                                                                                \
        return c ? c->name arguments : (otherwise);                                                                    \
    }
#define COMPILER_END(name, parameters, arguments)                                                                      \
    void name parameters                                                                                               \
    {                                                                                                                  \
        const compiler *c = __atomic_load_n(&opened, __ATOMIC_ACQUIRE);                                                \
        if (c)                                                                                                         \
            c->name arguments;                                                                                         \
    }
#include "compiler/compiler.def"

/* The compiler's library: its functions, and memory as the host has it. SPDX-License-Identifier: Apache-2.0 */
#include "compiler/compiler.h"

#include "cache/version.h"

static const compiler_host *host; /* set once, before anything else is called */

__attribute__((visibility("default"))) const compiler *
retrograd_compiler(const compiler_host *from)
{
    static compiler table = {
#define COMPILER(result, name, parameters, arguments, otherwise) .name = name,
#define COMPILER_END(name, parameters, arguments)                .name = name,
#include "compiler/compiler.def"
    };
    host = from;
    table.version = cache_version();
    return &table;
}

/* -- base/mem.c's functions ---------------------------------------------------------------------------------------- */

void *
mem_alloc(size_t bytes)
{
    return host->alloc(bytes);
}

void *
mem_zalloc(size_t bytes)
{
    return host->zalloc(bytes);
}

void *
mem_realloc(void *old, size_t bytes)
{
    return host->realloc(old, bytes);
}

void
mem_free(void *p)
{
    host->free(p);
}

void
mem_own(mem_owner *owner, void (*release)(void *object), void *object)
{
    host->own(owner, release, object);
}

void
mem_disown(mem_owner *owner)
{
    host->disown(owner);
}

/* Who calls has a guard. */
bool
mem_is_guarded(void)
{
    return true;
}

void
mem_set_handler(mem_failed *fn, void *user)
{
}

arena *
mem_scratch(void)
{
    return host->scratch();
}

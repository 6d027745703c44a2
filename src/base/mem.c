/* Memory that is never NULL: a failure runs the owners' releases and calls the thread's handler.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/base.h"

static _Thread_local struct {
    mem_failed *fn;
    void *user;
    mem_owner *owners; /* innermost first */
    mem_owner *base;   /* those from here on were there before the handler was set */
    arena *scratch[2]; /* without a handler; with one */
    long countdown; /* of mem_fail_after; 0: off */
} here;

void
mem_set_handler(mem_failed *fn, void *user)
{
    here.fn = fn;
    here.user = user;
    here.base = here.owners;
    arena_free(here.scratch[1]);
    here.scratch[1] = NULL;
}

bool
mem_is_guarded(void)
{
    return here.fn != NULL;
}

arena *
mem_scratch(void)
{
    arena **scratch = &here.scratch[here.fn != NULL];
    if (!*scratch)
        *scratch = arena_new();
    return *scratch;
}

void
mem_fail_after(long n)
{
    here.countdown = n;
}

void
mem_own(mem_owner *owner, void (*release)(void *object), void *object)
{
    owner->release = release;
    owner->object = object;
    owner->below = here.owners;
    here.owners = owner;
}

void
mem_disown(mem_owner *owner)
{
    assert(here.owners == owner && "owners are given up in reverse order");
    here.owners = owner->below;
}

/* A release may allocate nothing, so this does not come back to itself. */
static _Noreturn void
failed(size_t bytes)
{
    if (here.fn) {
        while (here.owners != here.base) {
            mem_owner *owner = here.owners;
            here.owners = owner->below;
            owner->release(owner->object);
        }
        here.fn(here.user, bytes);
    }
    fprintf(stderr, "retrograd: out of memory (%zu bytes)\n", bytes);
    exit(1);
}

static bool
must_fail(void)
{
    return here.countdown > 0 && --here.countdown == 0;
}

void *
mem_alloc(size_t bytes)
{
    void *p = must_fail() ? NULL : malloc(bytes ? bytes : 1);
    if (!p)
        failed(bytes);
    return p;
}

void *
mem_zalloc(size_t bytes)
{
    void *p = must_fail() ? NULL : calloc(1, bytes ? bytes : 1);
    if (!p)
        failed(bytes);
    return p;
}

void *
mem_realloc(void *old, size_t bytes)
{
    void *p = must_fail() ? NULL : realloc(old, bytes ? bytes : 1);
    if (!p)
        failed(bytes);
    return p;
}

void
mem_free(void *p)
{
    free(p);
}

/* Releases for mem_own. SPDX-License-Identifier: Apache-2.0 */
#include "base/base.h"

#include <pthread.h>

void
mem_release_arena(void *a)
{
    arena_free(a);
}

void
mem_release_str(void *s)
{
    str_free(s);
}

void
mem_release_map(void *m)
{
    map_free(m);
}

void
mem_release_ptr(void *pointer)
{
    void *p; /* whatever it points to, its bytes are those of a pointer */
    memcpy(&p, pointer, sizeof p);
    mem_free(p);
    memset(pointer, 0, sizeof p);
}

void
mem_release_mutex(void *lock)
{
    pthread_mutex_unlock(lock);
}

/* Arenas: memory that goes all at once, or back to a mark.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Blocks form a list, the newest first. The arena itself stands at the start of its first block, so
 * that making one is a single allocation: either it is there whole, or nothing is to be freed. */
#include "base/base.h"

#if defined(__SANITIZE_ADDRESS__)
#define POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISON 1
#endif
#endif
#ifdef POISON
#include <sanitizer/asan_interface.h>
#define poison(p, n)   __asan_poison_memory_region((p), (n))
#define unpoison(p, n) __asan_unpoison_memory_region((p), (n))
#else
#define poison(p, n)   ((void)0)
#define unpoison(p, n) ((void)0)
#endif

typedef struct block {
    struct block *below;
    size_t cap, used; /* of the bytes that follow the header */
    size_t pad;
} block;

struct arena {
    block *top;
    size_t next_cap;
};

/* the first block is small: most scratch arenas hold a message, or nothing */
enum { FIRST = 960, SECOND = 8192, LARGEST = 1 << 20 };

static char *
bytes_of(block *b)
{
    return (char *)(b + 1);
}

static block *
new_block(size_t cap)
{
    block *b = mem_alloc(sizeof(block) + cap);
    *b = (block){.cap = cap};
    poison(bytes_of(b), cap);
    return b;
}

static void
free_block(block *b)
{
    unpoison(bytes_of(b), b->cap);
    mem_free(b);
}

static void *
take(block *b, size_t bytes)
{
    char *p = bytes_of(b) + b->used;
    b->used += bytes;
    unpoison(p, bytes);
    return p;
}

static size_t
rounded(size_t bytes)
{
    return (bytes + 15) & ~(size_t)15;
}

arena *
arena_new(void)
{
    block *b = new_block(FIRST);
    arena *a = take(b, rounded(sizeof(arena)));
    *a = (arena){.top = b, .next_cap = SECOND};
    return a;
}

void
arena_free(arena *a)
{
    for (block *b = a ? a->top : NULL; b;) {
        block *below = b->below;
        free_block(b);
        b = below;
    }
}

void *
arena_raw(arena *a, size_t bytes)
{
    size_t need = rounded(bytes);
    if (need < bytes)
        need = SIZE_MAX - sizeof(block); /* too large to round up: let the allocation fail */
    if (a->top->cap - a->top->used < need) {
        block *b = new_block(need > a->next_cap ? need : a->next_cap);
        b->below = a->top;
        a->top = b;
        if (a->next_cap < LARGEST)
            a->next_cap *= 2;
    }
    return take(a->top, need);
}

void *
arena_alloc(arena *a, size_t bytes)
{
    return memset(arena_raw(a, bytes), 0, bytes);
}

arena_mark
arena_here(arena *a)
{
    return (arena_mark){a->top, a->top->used};
}

void
arena_release(arena *a, arena_mark m)
{
    while (a->top != m.block) {
        block *b = a->top;
        assert(b->below && "the mark belongs to this arena");
        a->top = b->below;
        free_block(b);
    }
    poison(bytes_of(a->top) + m.used, a->top->used - m.used);
    a->top->used = m.used;
}

const char *
arena_str(arena *a, rg_str s)
{
    char *copy = arena_alloc(a, s.len + 1);
    if (s.len)
        memcpy(copy, s.ptr, s.len);
    return copy;
}

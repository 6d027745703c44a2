/* Maps from 64-bit keys to pointers: open addressing, linear probing, deletion by shifting back.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A slot is free where its value is NULL, so every key may be used. */
#include "base/base.h"

static size_t
home(uint64_t key, size_t cap)
{
    return (size_t)((key * 0x9e3779b97f4a7c15u) >> 20) & (cap - 1);
}

/* the slot that holds key, or the free one where it belongs */
static size_t
find(const map *m, uint64_t key)
{
    size_t at = home(key, m->cap);
    while (m->values[at] && m->keys[at] != key)
        at = (at + 1) & (m->cap - 1);
    return at;
}

void *
map_get(const map *m, uint64_t key)
{
    return m->n ? m->values[find(m, key)] : NULL;
}

/* One allocation holds both arrays: growing either happens or leaves the map as it was. */
static void
grow(map *m)
{
    map bigger = {.cap = m->cap ? m->cap * 2 : 16, .n = m->n, .in = m->in};
    size_t bytes = bigger.cap * (sizeof(void *) + sizeof(uint64_t));
    bigger.values = m->in ? arena_alloc(m->in, bytes) : mem_zalloc(bytes);
    bigger.keys = (uint64_t *)(void *)(bigger.values + bigger.cap);
    for (size_t i = 0; i < m->cap; i++) {
        if (!m->values[i])
            continue;
        size_t at = find(&bigger, m->keys[i]);
        bigger.keys[at] = m->keys[i];
        bigger.values[at] = m->values[i];
    }
    mem_free(m->in ? NULL : m->values);
    *m = bigger;
}

/* Moves later entries of the same probe run back into the hole, so that none is cut off. */
static void
remove_at(map *m, size_t hole)
{
    size_t mask = m->cap - 1;
    for (size_t at = (hole + 1) & mask; m->values[at]; at = (at + 1) & mask) {
        size_t from_home = (at - home(m->keys[at], m->cap)) & mask;
        if (from_home < ((at - hole) & mask))
            continue;
        m->keys[hole] = m->keys[at];
        m->values[hole] = m->values[at];
        hole = at;
    }
    m->values[hole] = NULL;
    m->n--;
}

void
map_set(map *m, uint64_t key, void *value)
{
    if (value && (m->n + 1) * 4 > m->cap * 3)
        grow(m);
    if (!m->cap)
        return;
    size_t at = find(m, key);
    if (!value) {
        if (m->values[at])
            remove_at(m, at);
        return;
    }
    m->n += !m->values[at];
    m->keys[at] = key;
    m->values[at] = value;
}

void
map_free(map *m)
{
    mem_free(m->in ? NULL : m->values);
    *m = (map){.in = m->in};
}

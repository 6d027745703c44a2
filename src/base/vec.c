/* Growing arrays. SPDX-License-Identifier: Apache-2.0 */
#include "base/base.h"

void *
vec_grow_(arena *in, void *at, size_t *cap, size_t need, size_t size)
{
    if (need <= *cap)
        return at;
    size_t grown = *cap ? *cap * 2 : 8;
    if (grown < need)
        grown = need;
    void *moved = in ? arena_alloc(in, grown * size) : mem_realloc(at, grown * size);
    if (in && *cap)
        memcpy(moved, at, *cap * size);
    *cap = grown;
    return moved;
}

/* Growing arrays. SPDX-License-Identifier: Apache-2.0 */
#include "base/base.h"

void *
vec_grow_(void *at, size_t *cap, size_t need, size_t size)
{
    if (need <= *cap)
        return at;
    size_t grown = *cap ? *cap * 2 : 8;
    if (grown < need)
        grown = need;
    void *moved = mem_realloc(at, grown * size);
    *cap = grown;
    return moved;
}

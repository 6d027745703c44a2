/* Numbers and texts as bytes, and back. SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"

static void
put(str *out, uint64_t v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        str_addc(out, (char)(v >> 8 * i));
}

void
bytes_put_u64(str *out, uint64_t v)
{
    put(out, v, 8);
}

void
bytes_put_u32(str *out, uint32_t v)
{
    put(out, v, 4);
}

/* NULL has a length that no text has. */
void
bytes_put(str *out, rg_str s)
{
    bytes_put_u64(out, s.ptr ? s.len : UINT64_MAX);
    if (s.ptr)
        str_add(out, s);
}

void
bytes_put_list(str *out, const char *const *list, uint32_t n)
{
    bytes_put_u32(out, n);
    for (uint32_t i = 0; i < n; i++)
        bytes_put(out, rg_str_of(list[i]));
}

static bool
take(bytes_reader *r, uint64_t n)
{
    r->damaged |= n > (uint64_t)(r->end - r->at);
    return !r->damaged;
}

static uint64_t
number(bytes_reader *r, unsigned n)
{
    uint64_t v = 0;
    if (!take(r, n))
        return 0;
    for (unsigned i = 0; i < n; i++)
        v |= (uint64_t)(unsigned char)*r->at++ << 8 * i;
    return v;
}

uint64_t
bytes_u64(bytes_reader *r)
{
    return number(r, 8);
}

uint32_t
bytes_u32(bytes_reader *r)
{
    return (uint32_t)number(r, 4);
}

uint32_t
bytes_count(bytes_reader *r, size_t each)
{
    uint32_t n = bytes_u32(r);
    return take(r, (uint64_t)n * each) ? n : 0;
}

rg_str
bytes_str(bytes_reader *r)
{
    uint64_t n = bytes_u64(r);
    if (n == UINT64_MAX || !take(r, n))
        return (rg_str){NULL, 0};
    rg_str s = {r->at, n};
    r->at += n;
    return s;
}

const char *
bytes_text(bytes_reader *r, arena *in)
{
    rg_str s = bytes_str(r);
    r->damaged |= s.len && memchr(s.ptr, 0, s.len);
    return s.ptr ? arena_str(in, s) : NULL;
}

const char **
bytes_list(bytes_reader *r, uint32_t *n, arena *in)
{
    *n = bytes_count(r, 8);
    const char **list = arena_new_n(in, const char *, *n + 1);
    for (uint32_t i = 0; i < *n; i++) {
        list[i] = bytes_text(r, in);
        r->damaged |= !list[i];
    }
    return list;
}

bool
bytes_done(const bytes_reader *r)
{
    return !r->damaged && r->at == r->end;
}

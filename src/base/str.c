/* Strings under construction. SPDX-License-Identifier: Apache-2.0 */
#include "base/base.h"

static void
reserve(str *s, size_t more)
{
    s->ptr = vec_grow_(s->in, s->ptr, &s->cap, s->len + more + 1, 1);
}

void
str_add(str *s, rg_str t)
{
    reserve(s, t.len);
    if (t.len)
        memcpy(s->ptr + s->len, t.ptr, t.len);
    s->len += t.len;
    s->ptr[s->len] = 0;
}

void
str_addz(str *s, const char *zero_terminated)
{
    str_add(s, rg_str_of(zero_terminated));
}

void
str_addc(str *s, char c)
{
    str_add(s, (rg_str){&c, 1});
}

void
str_addv(str *s, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    if (n >= 0) {
        reserve(s, (size_t)n);
        vsnprintf(s->ptr + s->len, (size_t)n + 1, format, again);
        s->len += (size_t)n;
    }
    va_end(again);
}

void
str_addf(str *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    str_addv(s, format, args);
    va_end(args);
}

void
str_free(str *s)
{
    mem_free(s->in ? NULL : s->ptr);
    *s = (str){.in = s->in};
}

/* Changes of texts: words and lines are taken out, repeated, exchanged; and of bytes. SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <ctype.h>

bool fuzz_taken;

typedef struct text {
    uint8_t *at;
    size_t size, most;
    uint64_t random;
} text;

typedef struct span {
    size_t at, n;
} span;

static size_t
below(text *t, size_t n)
{
    t->random = t->random * 6364136223846793005u + 1442695040888963407u;
    return n ? (size_t)(t->random >> 33) % n : 0;
}

/* Puts n bytes in the place of the span, if there is room. */
static void
replace(text *t, span s, const void *with, size_t n)
{
    if (t->size - s.n + n > t->most)
        return;
    uint8_t *copy = malloc(n + 1);
    if (!copy)
        abort();
    memcpy(copy, with, n);
    memmove(t->at + s.at + n, t->at + s.at + s.n, t->size - s.at - s.n);
    memcpy(t->at + s.at, copy, n);
    t->size += n - s.n;
    free(copy);
}

static bool
is_word(uint8_t c)
{
    return isalnum(c) || c == '_' || c == '%' || c == '.';
}

/* the word or the single character around a place */
static span
word(text *t)
{
    span s = {below(t, t->size), 1};
    if (!is_word(t->at[s.at]))
        return s;
    while (s.at && is_word(t->at[s.at - 1]))
        s.at--, s.n++;
    while (s.at + s.n < t->size && is_word(t->at[s.at + s.n]))
        s.n++;
    return s;
}

/* whole lines, one or a few */
static span
lines(text *t)
{
    span s = {below(t, t->size), 0};
    while (s.at && t->at[s.at - 1] != '\n')
        s.at--;
    for (size_t k = 1 + below(t, 4) * below(t, 2); k && s.at + s.n < t->size; k--) {
        while (s.at + s.n < t->size && t->at[s.at + s.n] != '\n')
            s.n++;
        s.n += s.at + s.n < t->size;
    }
    return s;
}

static void
change_number(text *t, span s)
{
    static const char *const numbers[] = {"0", "1", "-1", "2", "7", "8", "9", "64", "65", "255", "65536", "2147483647", "-2147483648",
                                          "4294967296", "9223372036854775807", "9223372036854775808", "1e308", "1e999", "nan", "inf",
                                          "-0.0", "0x1p-1074", "99999999999999999999"};
    const char *n = numbers[below(t, countof(numbers))];
    replace(t, s, n, strlen(n));
}

static void
change_byte(text *t)
{
    uint8_t c = (uint8_t)below(t, 256);
    size_t at = below(t, t->size + 1), kind = below(t, 3);
    replace(t, (span){at, kind && at < t->size}, &c, kind < 2);
}

static void
change_text(text *t)
{
    bool whole = below(t, 2);
    span a = whole ? lines(t) : word(t), b = whole ? lines(t) : word(t);
    switch (below(t, 5)) {
    case 0:
        replace(t, a, "", 0);
        break;
    case 1:
        replace(t, (span){a.at, 0}, t->at + b.at, b.n);
        break;
    case 2:
        replace(t, a, t->at + b.at, b.n);
        break;
    case 3: {
        span later = a.at < b.at ? b : a, first = a.at < b.at ? a : b;
        if (first.at + first.n > later.at)
            break;
        uint8_t *copy = malloc(later.n + 1);
        if (!copy)
            abort();
        memcpy(copy, t->at + later.at, later.n);
        size_t n = later.n;
        replace(t, later, t->at + first.at, first.n);
        replace(t, first, copy, n);
        free(copy);
        break;
    }
    default:
        change_number(t, word(t));
    }
}

static size_t
change(uint8_t *data, size_t size, size_t most, unsigned seed, bool words)
{
    text t = {data, size, most, seed * 0x9e3779b97f4a7c15u + 1};
    for (size_t k = 1 + below(&t, 3); k; k--)
        if (words && t.size && below(&t, 8))
            change_text(&t);
        else
            change_byte(&t);
    return t.size;
}

size_t
fuzz_text(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    return change(data, size, most, seed, true);
}

size_t
fuzz_bytes(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    return change(data, size, most, seed, false);
}

#ifdef FUZZ_LIBFUZZER
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    return fuzz_mutate != fuzz_bytes && seed % 4 ? fuzz_mutate(data, size, most, seed) : LLVMFuzzerMutate(data, size, most);
}
#endif

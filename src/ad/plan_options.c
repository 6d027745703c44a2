/* How a plan is asked for in text. SPDX-License-Identifier: Apache-2.0 */
#include "ad/ad.h"

enum { MAX_CHUNK = 256 };

static const struct {
    const char *word;
    ad_force force;
} forces[] = {
    {"least", AD_LEAST_COST},
    {"record", AD_RECORD_ALL},
    {"recompute", AD_RECOMPUTE_ALL},
};

static bool
is_word(const char *at, size_t n, const char *word)
{
    return strlen(word) == n && memcmp(at, word, n) == 0;
}

static bool
read_chunk(const char *at, size_t n, ad_plan_options *o)
{
    static const char key[] = "chunk=";
    size_t skip = sizeof(key) - 1;
    if (n <= skip || n > skip + 3 || memcmp(at, key, skip) != 0)
        return false;
    o->chunk = 0;
    for (size_t i = skip; i < n; i++) {
        if (at[i] < '0' || at[i] > '9')
            return false;
        o->chunk = o->chunk * 10 + (uint32_t)(at[i] - '0');
    }
    return o->chunk >= 1 && o->chunk <= MAX_CHUNK;
}

static bool
read_word(const char *at, size_t n, ad_plan_options *o)
{
    for (size_t k = 0; k < countof(forces); k++)
        if (is_word(at, n, forces[k].word))
            return o->force = forces[k].force, true;
    return read_chunk(at, n, o);
}

bool
ad_plan_parse(const char *text, ad_plan_options *options)
{
    for (;;) {
        size_t n = strcspn(text, ",");
        if (!read_word(text, n, options))
            return false;
        if (!text[n])
            return true;
        text += n + 1;
    }
}

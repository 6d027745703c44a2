/* How a plan is asked for in text. SPDX-License-Identifier: Apache-2.0 */
#include "diff/ad.h"

enum { MAX_BLOCK = 256, MAX_DROP = 65535 };

static const struct {
    const char *word;
    ad_force force;
} forces[] = {
    {"least", AD_LEAST_COST},
    {"record", AD_RECORD_ALL},
    {"recompute", AD_RECOMPUTE_ALL},
};

static bool
is_option(const char *at, size_t n, const char *word)
{
    return strlen(word) == n && memcmp(at, word, n) == 0;
}

/* KEY=N, N from 1 to `most` */
static bool
read_option(const char *at, size_t n, const char *key, uint32_t most, uint32_t *number)
{
    size_t skip = strlen(key);
    if (n <= skip || n > skip + 5 || memcmp(at, key, skip) != 0)
        return false;
    *number = 0;
    for (size_t i = skip; i < n; i++) {
        if (at[i] < '0' || at[i] > '9')
            return false;
        *number = *number * 10 + (uint32_t)(at[i] - '0');
    }
    return *number >= 1 && *number <= most;
}

static bool
read_word(const char *at, size_t n, ad_plan_options *o)
{
    for (size_t k = 0; k < countof(forces); k++)
        if (is_option(at, n, forces[k].word))
            return o->force = forces[k].force, true;
    return read_option(at, n, "block=", MAX_BLOCK, &o->block) || read_option(at, n, "drop=", MAX_DROP, &o->drop);
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

/* What an object was made for: the processor that it needs, and this runtime. SPDX-License-Identifier: Apache-2.0 */
#include "rt/cpu/cpu.h"

#include <string.h>

#if defined(__aarch64__) && defined(__linux__)
#include <sys/prctl.h>
#endif

/* Objects refer to it: one that was made for another runtime does not link. */
#define NAME_OF(number) NAME_OF_(number)
#define NAME_OF_(number) rt_abi_##number
extern const char NAME_OF(RT_ABI);
const char NAME_OF(RT_ABI) = RT_ABI;

static bool
is_word(const char *at, size_t n, const char *word)
{
    return strlen(word) == n && memcmp(at, word, n) == 0;
}

/* Words that nobody here knows are of no matter, but for those of another architecture. */
static bool
has_feature(const char *at, size_t n)
{
#if defined(__x86_64__)
#define FEATURE(name, builtin)                                                                     \
    if (is_word(at, n, name))                                                                      \
        return __builtin_cpu_supports(builtin);
#include "target/features.def"
#undef FEATURE
    return !(n > 4 && memcmp(at, "sve=", 4) == 0);
#elif defined(__aarch64__) && defined(__linux__)
    int length = prctl(PR_SVE_GET_VL);
    length = length < 0 ? 0 : length & PR_SVE_VL_LEN_MASK;
    if (is_word(at, n, "sve=32") || is_word(at, n, "sve=64"))
        return length == (at[4] == '3' ? 32 : 64);
    return true;
#else
    return true;
#endif
}

const char *
rt_cpu_lacks(rt_made *made)
{
    int32_t known = __atomic_load_n(&made->known, __ATOMIC_RELAXED);
    if (known == 1)
        return NULL;
    for (const char *at = made->needs; *at;) {
        size_t n = strcspn(at, " ");
        if (!has_feature(at, n))
            return at;
        at += n + strspn(at + n, " ");
    }
    __atomic_store_n(&made->known, 1, __ATOMIC_RELAXED);
    return NULL;
}

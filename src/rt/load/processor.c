/* Which processor this is. SPDX-License-Identifier: Apache-2.0 */
#include "rt/load/processor.h"

#if defined(__x86_64__)
#include <cpuid.h>

/* The leaves of cpuid that have features or the model, and which registers of them: others differ from core to core. */
enum { A = 1, B = 2, C = 4, D = 8 };
static const struct {
    unsigned leaf, part, registers;
} leaves[] = {
    {0, 0, B | C | D}, {1, 0, A | C | D}, {7, 0, B | C | D}, {7, 1, A | B | C | D}, {0xd, 1, A}, {0x14, 0, B}, {0x19, 0, B},
    {0x1e, 1, A}, {0x24, 0, B}, {0x80000001, 0, A | C | D}, {0x80000007, 0, D}, {0x80000008, 0, B}, {0x80000021, 0, A},
};

bool
rt_processor_describe(str *out)
{
    for (size_t i = 0; i < countof(leaves); i++) {
        unsigned r[4] = {0};
        if (!__get_cpuid_count(leaves[i].leaf, leaves[i].part, &r[0], &r[1], &r[2], &r[3]))
            continue;
        for (unsigned k = 0; k < 4; k++)
            if (leaves[i].registers >> k & 1)
                str_addf(out, "%x.%x.%u=%x ", leaves[i].leaf, leaves[i].part, k, r[k]);
    }
    /* the registers that the system saves; the bit for it is in leaf 1 */
    unsigned a, b, c, d, low = 0, high = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) && c >> 27 & 1)
        __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    str_addf(out, "xcr0=%x", low);
    return true;
}
#elif defined(__aarch64__)
#include <sys/auxv.h>

bool
rt_processor_describe(str *out)
{
    str model;
    if (file_read("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", &model))
        return false;
    str_addf(out, "hwcap=%lx.%lx ", getauxval(AT_HWCAP), getauxval(AT_HWCAP2));
    str_add(out, str_view(&model));
    return true;
}
#else
bool
rt_processor_describe(str *out)
{
    (void)out;
    return false;
}
#endif

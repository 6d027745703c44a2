/* print in a kernel. SPDX-License-Identifier: Apache-2.0 */
#include "rt/cpu/launch.h"
#include "retrograd/types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double
value_float(uint64_t bits, uint8_t dtype)
{
    if (dtype == RG_F64) {
        double v;
        memcpy(&v, &bits, 8);
        return v;
    }
    uint32_t low = (uint32_t)bits; /* an f16 comes widened to f32 */
    float v;
    memcpy(&v, &low, 4);
    return (double)v;
}

/* One conversion: its flags, width and precision are kept, its length is ours. */
static void
print_value(FILE *out, const char *spec, size_t len, uint64_t bits, uint8_t dtype)
{
    char format[40];
    size_t n = 0;
    bool is_float = dtype == RG_F16 || dtype == RG_F32 || dtype == RG_F64;
    for (size_t i = 0; i + 1 < len && n < 32; i++)
        if (!strchr("hlLqjzt", spec[i]))
            format[n++] = spec[i];
    char conversion = spec[len - 1];
    if (is_float) {
        format[n++] = strchr("aAeEfFgG", conversion) ? conversion : 'g';
        format[n] = 0;
        fprintf(out, format, value_float(bits, dtype));
    } else if (conversion == 'c') {
        format[n++] = 'c';
        format[n] = 0;
        fprintf(out, format, (int)bits);
    } else {
        bool is_signed = dtype == RG_I8 || dtype == RG_I16 || dtype == RG_I32 || dtype == RG_I64;
        format[n++] = 'l';
        format[n++] = 'l';
        format[n++] = strchr("diouxX", conversion) ? conversion : is_signed ? 'd' : 'u';
        format[n] = 0;
        fprintf(out, format, (long long)bits);
    }
}

void
rt_cpu_print(rt_worker *worker, const char *format, const uint64_t *values, const uint8_t *dtypes,
             uint32_t n)
{
    (void)worker;
    uint32_t used = 0;
    flockfile(stdout); /* a line of one thread stays in one piece */
    for (const char *at = format; *at;) {
        if (at[0] != '%') {
            putc_unlocked(*at++, stdout);
        } else if (at[1] == '%') {
            putc_unlocked('%', stdout);
            at += 2;
        } else {
            size_t len = 1 + strspn(at + 1, "-+ #0123456789.hlLqjzt");
            if (at[len])
                len++;
            if (used < n)
                print_value(stdout, at, len, values[used], dtypes[used]);
            used++;
            at += len;
        }
    }
    funlockfile(stdout);
}

/* print in a kernel. SPDX-License-Identifier: Apache-2.0 */
#include "rt/cpu/launch.h"
#include "retrograd/types.h"

#include <stdarg.h>
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

enum { LINE = 4096 };

typedef struct line {
    char text[LINE];
    size_t n;
} line;

static void
add(line *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(out->text + out->n, LINE - out->n, format, args);
    va_end(args);
    out->n += n > 0 ? (size_t)n : 0;
    out->n = out->n < LINE ? out->n : LINE - 1;
}

/* One conversion: its flags, width and precision are kept, its length is ours. */
static void
add_value(line *out, const char *spec, size_t len, uint64_t bits, uint8_t dtype)
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
        add(out, format, value_float(bits, dtype));
    } else if (conversion == 'c') {
        format[n++] = 'c';
        format[n] = 0;
        add(out, format, (int)bits);
    } else {
        bool is_signed = dtype == RG_I8 || dtype == RG_I16 || dtype == RG_I32 || dtype == RG_I64;
        format[n++] = 'l';
        format[n++] = 'l';
        format[n++] = strchr("diouxX", conversion) ? conversion : is_signed ? 'd' : 'u';
        format[n] = 0;
        add(out, format, (long long)bits);
    }
}

void
rt_print(const rt_sink *sink, const char *format, const uint64_t *values, const uint8_t *dtypes, uint32_t n)
{
    line out;
    uint32_t used = 0;
    out.n = 0;
    for (const char *at = format; *at;) {
        if (at[0] != '%' || at[1] == '%') {
            if (out.n < LINE - 1)
                out.text[out.n++] = *at;
            at += at[0] == '%' ? 2 : 1;
            continue;
        }
        size_t len = 1 + strspn(at + 1, "-+ #0123456789.hlLqjzt");
        if (at[len])
            len++;
        if (used < n)
            add_value(&out, at, len, values[used], dtypes[used]);
        used++;
        at += len;
    }
    out.text[out.n] = 0;
    if (sink && sink->print)
        sink->print(sink->user, out.text, out.n);
    else
        fwrite(out.text, 1, out.n, stdout); /* in one piece */
}

void
rt_cpu_print(rt_worker *worker, const char *format, const uint64_t *values, const uint8_t *dtypes,
             uint32_t n)
{
    rt_cpu *cpu = worker->launch->cpu;
    pthread_mutex_lock(&cpu->printing);
    rt_print(&cpu->sink, format, values, dtypes, n);
    pthread_mutex_unlock(&cpu->printing);
}

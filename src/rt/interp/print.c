/* print and assert. SPDX-License-Identifier: Apache-2.0 */
#include "rt/interp/machine.h"

typedef struct conversion {
    char text[32]; /* %, flags, width, precision; the length and the letter are ours */
    size_t len;
    char letter; /* 0: the format ends early */
} conversion;

/* Text of bounded length, so that printing allocates nothing; the rest is cut. */
typedef struct line {
    char text[4096];
    size_t len;
} line;

static void
add_text(line *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(out->text + out->len, sizeof out->text - out->len, format, args);
    va_end(args);
    if (n > 0)
        out->len += (size_t)n;
    if (out->len > sizeof out->text - 1)
        out->len = sizeof out->text - 1;
}

static void
add_integer(line *out, conversion *c, rg_dtype d, uint64_t bits)
{
    if (c->letter == 'c') {
        add_text(out, "%c", (int)bits);
        return;
    }
    bool is_signed = c->letter == 'd' || c->letter == 'i';
    if (ir_bits(d) <= 32) /* C passes it as an int */
        bits = is_signed ? (uint64_t)(int64_t)(int32_t)bits : (uint32_t)bits;
    memcpy(c->text + c->len, "ll", 2);
    c->text[c->len + 2] = strchr("diuxXo", c->letter) ? c->letter : 'd';
    c->text[c->len + 3] = 0;
    add_text(out, c->text, (long long)bits);
}

static void
add_float(line *out, conversion *c, double value)
{
    c->text[c->len] = strchr("eEfFgGaA", c->letter) ? c->letter : 'g';
    c->text[c->len + 1] = 0;
    add_text(out, c->text, value);
}

static void
format_values(line *out, const interp_frame *f, const ir_op *op)
{
    uint32_t next = 0;
    for (const char *p = op->attr.text; *p;) {
        if (*p != '%' || p[1] == '%') {
            add_text(out, "%c", *p);
            p += *p == '%' ? 2 : 1;
            continue;
        }
        conversion c;
        /* Reads the conversion that begins at format[0] == '%'; returns what follows it. */
        const char *format = p;
        c.len = 0;
        c.text[c.len++] = *format++;
        while (*format && strchr("-+ #0123456789.", *format)) {
            if (c.len < sizeof c.text - 5)
                c.text[c.len++] = *format;
            format++;
        }
        while (*format && strchr("hlLqjzt*", *format))
            format++;
        c.letter = *format;
        p = *format ? format + 1 : format;
        if (next >= op->nargs || !c.letter)
            continue;
        const ir_value *v = op->args[next++];
        rg_dtype d = (rg_dtype)v->type.dtype;
        if (ir_is_float(d))
            add_float(out, &c, ir_bits_float(d, interp_bits(f, v)));
        else
            add_integer(out, &c, d, interp_bits(f, v));
    }
}

interp_flow
interp_print(interp_frame *f, const ir_op *op)
{
    const interp_options *options = f->machine->options;
    line out = {.len = 0};
    format_values(&out, f, op);
    if (options->sink.print)
        options->sink.print(options->sink.user, out.text, out.len);
    else
        fwrite(out.text, 1, out.len, stdout);
    return FLOW_NEXT;
}

interp_flow
interp_assert(interp_frame *f, const ir_op *op)
{
    if (interp_true(f, op->args[0]))
        return FLOW_NEXT;
    if (op->nargs > 1) {
        unsigned lane = 0, lanes = op->nargs > 3 ? op->args[3]->type.lanes : 0;
        while (lane + 1 < lanes && !(interp_lane(f, op->args[3], lane) & 1))
            lane++;
        return interp_fault(f, op, RT_FAULT_ASSERT, "index %lld leaves %s, extent %lld",
                            (long long)interp_lane(f, op->args[1], lane), op->attr.text,
                            (long long)interp_lane(f, op->args[2], lane));
    }
    return interp_fault(f, op, RT_FAULT_ASSERT, "assertion failed: %s", op->attr.text);
}

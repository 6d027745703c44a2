/* Numbers in IR text: each prints as something short that reads back to the same bits.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The C library writes and reads the decimal point of the process's locale; IR text always has '.'.
 */
#include "ir/text/text.h"

#include <errno.h>
#include <locale.h>
#include <math.h>

enum { LONGEST = 400 }; /* characters of a number */

static uint64_t
quiet_nan(rg_dtype d)
{
    return d == RG_F16 ? 0x7e00 : d == RG_F32 ? 0x7fc00000 : 0x7ff8000000000000;
}

/* the number at the start of zero-terminated text; *end as in strtod */
static uint64_t
read_float(rg_dtype d, const char *text, char **end)
{
    if (d == RG_F32) {
        float f = strtof(text, end);
        uint32_t bits;
        memcpy(&bits, &f, 4);
        return bits;
    }
    return ir_float_bits(d, strtod(text, end));
}

static void
print_float(str *out, rg_dtype d, uint64_t bits)
{
    double v = ir_bits_float(d, bits);
    if (v != v) {
        if (bits == quiet_nan(d))
            str_addz(out, "nan");
        else
            str_addf(out, "nan:0x%llx", (unsigned long long)bits);
        return;
    }
    if (isinf(v)) {
        str_addz(out, v < 0 ? "-inf" : "inf");
        return;
    }
    static const int digits[] = {6, 9, 15, 17};
    char text[64], *end;
    for (size_t i = 0; i < countof(digits); i++) {
        snprintf(text, sizeof text, "%.*g", digits[i], v);
        if (read_float(d, text, &end) == bits)
            break;
    }
    const char *point = localeconv()->decimal_point, *at = strstr(text, point);
    if (at) {
        str_add(out, (rg_str){text, (size_t)(at - text)});
        str_addc(out, '.');
        str_addz(out, at + strlen(point));
    } else {
        str_addz(out, text);
    }
}

void
ir_print_literal(str *out, rg_dtype d, uint64_t bits)
{
    bits = ir_wrap(d, bits);
    if (ir_is_float(d))
        print_float(out, d, bits);
    else if (d == RG_BOOL)
        str_addz(out, bits ? "true" : "false");
    else if (ir_is_signed(d))
        str_addf(out, "%lld", (long long)bits);
    else
        str_addf(out, "%llu", (unsigned long long)bits);
}

static bool
parse_magnitude(const char *text, uint64_t *out)
{
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (hex)
        text += 2;
    uint64_t base = hex ? 16 : 10, v = 0;
    if (!*text)
        return false;
    for (; *text; text++) {
        char c = *text;
        uint64_t digit = c >= '0' && c <= '9'   ? (uint64_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint64_t)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (uint64_t)(c - 'A') + 10
                                                : 99;
        if (digit >= base || v > (UINT64_MAX - digit) / base)
            return false;
        v = v * base + digit;
    }
    *out = v;
    return true;
}

static bool
parse_int_literal(const char *text, rg_dtype d, uint64_t *bits)
{
    bool negative = *text == '-';
    uint64_t v;
    if (!parse_magnitude(text + negative, &v))
        return false;
    *bits = negative ? 0 - v : v;
    uint64_t sign = (uint64_t)1 << 63;
    if (ir_is_signed(d) && (negative ? v > sign : v >= sign))
        return false;
    if (!ir_is_signed(d) && negative && v)
        return false;
    return ir_wrap(d, *bits) == *bits;
}

/* nan, or nan:0x and all bits of the value */
static bool
parse_nan(const char *text, rg_dtype d, uint64_t *bits)
{
    *bits = quiet_nan(d);
    if (!text[3])
        return true;
    if (text[3] != ':' || !parse_magnitude(text + 4, bits) || ir_wrap(d, *bits) != *bits)
        return false;
    unsigned mantissa = d == RG_F16 ? 10 : d == RG_F32 ? 23 : 52;
    uint64_t infinity = quiet_nan(d) & ~((uint64_t)1 << (mantissa - 1));
    return (*bits & ~((uint64_t)1 << (ir_bits(d) - 1))) > infinity;
}

static bool
parse_float(const char *text, rg_dtype d, uint64_t *bits)
{
    if (strncmp(text, "nan", 3) == 0)
        return parse_nan(text, d, bits);
    char local[LONGEST + 16], *end;
    const char *point = strchr(text, '.'), *written = localeconv()->decimal_point;
    if (strspn(text, "0123456789.+-abcdefABCDEFxXpPin") != strlen(text) || strlen(written) > 8)
        return false;
    if (point)
        snprintf(local, sizeof local, "%.*s%s%s", (int)(point - text), text, written, point + 1);
    else
        snprintf(local, sizeof local, "%s", text);
    *bits = read_float(d, local, &end);
    bool named = strchr(text, 'i') || strchr(text, 'n');
    if (named && strcmp(text, "inf") != 0 && strcmp(text, "-inf") != 0)
        return false;
    return *text && !*end && *text != '+' && (named || isfinite(ir_bits_float(d, *bits)));
}

bool
ir_parse_literal(rg_str text, rg_dtype d, uint64_t *bits)
{
    char copy[LONGEST + 1];
    if (text.len == 0 || text.len > LONGEST || memchr(text.ptr, 0, text.len))
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = 0;
    if (ir_is_float(d))
        return parse_float(copy, d, bits);
    if (d == RG_BOOL) {
        *bits = strcmp(copy, "true") == 0;
        return *bits || strcmp(copy, "false") == 0;
    }
    return ir_is_int(d) && parse_int_literal(copy, d, bits);
}

/* Errors, places, types and conversions of the generating files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/c/gen.h"

/* -- errors
 * ---------------------------------------------------------------------------------------- */
typedef struct error_row {
    unsigned number;
    const char *text, *remedy;
} error_row;

static error_row
row_of(front_error error)
{
    switch (error) { /* which no two share */
#define FRONT_ERROR(name, number, text, remedy)                                                    \
    case ERR_##name:                                                                               \
        return (error_row){number, text, remedy};
#include "front/c/errors.def"
#undef FRONT_ERROR
    }
    return (error_row){0, "%s", ""};
}

/* A callee is generated once per call, its errors are said once, and so is what has one cause in one line. */
static bool
said_before(gen *g, unsigned number, rg_place at, const char *text)
{
    uint64_t key = hash_u64(number, (uint64_t)at.file << 32 | at.line);
    for (const char *c = text; *c; c++)
        key = hash_u64(key, (unsigned char)*c);
    if (map_get(&g->reported, key))
        return true;
    map_set(&g->reported, key, g);
    return false;
}

void
fc_fail(gen *g, front_error error, rg_place at, ...)
{
    error_row row = row_of(error);
    va_list args;
    va_start(args, at);
    const char *text = fc_formatv(g->arena, row.text, args);
    va_end(args);
    if (!at.line)
        at = g->at;
    if (said_before(g, row.number, at, text))
        return;
    rg_build_error(g->b, row.number, at, "%s%s%s", text, row.remedy[0] ? "\n" : "", row.remedy);
}

bool
fc_is_news(gen *g, front_error error, const void *what)
{
    uint64_t key = hash_u64(map_ptr(what), (uint64_t)error);
    bool news = !map_get(&g->told, key);
    map_set(&g->told, key, g);
    return news;
}

void
fc_fail_name(gen *g, front_error error, rg_place at, const char *name, const char *more, const char *remedy)
{
    error_row row = row_of(error);
    const char *text = fc_format(g->arena, row.text, name);
    if (said_before(g, row.number, (rg_place){0}, text))
        return;
    rg_build_error(g->b, row.number, at.line ? at : g->at, "%s%s\n%s", text, more, remedy);
}

void
fc_at_node(gen *g, const node *n)
{
    if (n->place.line) {
        rg_build_at(g->b, n->place);
        g->at = n->place;
    }
}

/* -- types
 * ----------------------------------------------------------------------------------------- */
bool
fc_is_float_dtype(rg_dtype d)
{
    return d == RG_F16 || d == RG_F32 || d == RG_F64;
}

bool
fc_is_signed_dtype(rg_dtype d)
{
    return d == RG_I8 || d == RG_I16 || d == RG_I32 || d == RG_I64;
}

unsigned
fc_dtype_bits(rg_dtype d)
{
    switch (d) {
    case RG_BOOL:
        return 1;
    case RG_I8:
    case RG_U8:
        return 8;
    case RG_I16:
    case RG_U16:
    case RG_F16:
        return 16;
    case RG_I32:
    case RG_U32:
    case RG_F32:
        return 32;
    default:
        return 64;
    }
}

rg_dtype
fc_promoted(rg_dtype d)
{
    return fc_is_float_dtype(d) || fc_dtype_bits(d) >= 32 ? d : RG_I32;
}

rg_dtype
fc_common_dtype(rg_dtype x, rg_dtype y)
{
    if (fc_is_float_dtype(x) || fc_is_float_dtype(y)) {
        if (!fc_is_float_dtype(x))
            return y;
        if (!fc_is_float_dtype(y))
            return x;
        return x > y ? x : y; /* F16 < F32 < F64 in the enumeration */
    }
    x = fc_promoted(x);
    y = fc_promoted(y);
    if (fc_dtype_bits(x) != fc_dtype_bits(y))
        return fc_dtype_bits(x) > fc_dtype_bits(y) ? x : y;
    return fc_is_signed_dtype(x) ? y : x;
}

rg_value
fc_int_value(gen *g, rg_dtype d, int64_t v)
{
    return rg_build_int(g->b, d, v);
}

rg_value
fc_zero_value(gen *g, rg_dtype d)
{
    return rg_build_bits(g->b, d, 0);
}

rg_value
fc_convert(gen *g, rg_dtype to, rg_value v)
{
    return rg_value_type(v).dtype == to ? v : rg_build_cast(g->b, to, v);
}

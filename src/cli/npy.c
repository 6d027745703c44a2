/* Reading and writing .npy: six bytes of magic, a version, a header that is a Python dictionary,
 * data. SPDX-License-Identifier: Apache-2.0 */
#include "cli/npy.h"

#include "cli/cli.h"
#include "ir/ir.h"

static const char magic[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};
enum { HEADER_ALIGN = 64 };

const char *
npy_descr(rg_dtype dtype)
{
    static const char *const names[RG_DTYPE_COUNT] = {
        [RG_BOOL] = "|b1", [RG_I8] = "|i1",  [RG_U8] = "|u1",  [RG_I16] = "<i2",
        [RG_U16] = "<u2",  [RG_I32] = "<i4", [RG_U32] = "<u4", [RG_I64] = "<i8",
        [RG_U64] = "<u8",  [RG_F16] = "<f2", [RG_F32] = "<f4", [RG_F64] = "<f8",
    };
    return dtype < RG_DTYPE_COUNT ? names[dtype] : NULL;
}

/* -- the header -------------------------------------------------------------------------------- */

/* A cursor in the dictionary; it ends with 0. */
typedef struct scanner {
    const char *at;
} scanner;

static void
skip_space(scanner *s)
{
    while (*s->at == ' ' || *s->at == '\n' || *s->at == '\t')
        s->at++;
}

static bool
take(scanner *s, char c)
{
    skip_space(s);
    if (*s->at != c)
        return false;
    s->at++;
    return true;
}

static bool
take_string(scanner *s, rg_str *out)
{
    skip_space(s);
    char quote = *s->at;
    if (quote != '\'' && quote != '"')
        return false;
    const char *end = strchr(s->at + 1, quote);
    if (!end)
        return false;
    *out = (rg_str){s->at + 1, (size_t)(end - s->at - 1)};
    s->at = end + 1;
    return true;
}

static bool
take_word(scanner *s, const char *word)
{
    skip_space(s);
    size_t n = strlen(word);
    if (strncmp(s->at, word, n) != 0)
        return false;
    s->at += n;
    return true;
}

/* (3, 4) or (3,) or () */
static bool
take_shape(scanner *s, npy *out)
{
    if (!take(s, '('))
        return false;
    while (!take(s, ')')) {
        char *end;
        skip_space(s);
        if (*s->at < '0' || *s->at > '9' || out->rank == RG_MAX_RANK)
            return false;
        out->shape[out->rank++] = strtoll(s->at, &end, 10);
        s->at = *end == 'L' ? end + 1 : end;
        if (!take(s, ',') && *s->at != ')')
            return false;
    }
    return true;
}

/* "<f8": byte order, kind, size. */
static bool
dtype_of(rg_str descr, rg_dtype *dtype, str *error)
{
    if (descr.len >= 3 && descr.ptr[0] == '>' && descr.ptr[2] != '1') {
        str_addf(error, "dtype %.*s is big-endian; save it with .astype('<%.*s')", (int)descr.len,
                 descr.ptr, (int)descr.len - 1, descr.ptr + 1);
        return false;
    }
    for (int d = RG_BOOL; d < RG_DTYPE_COUNT; d++) {
        const char *known = npy_descr((rg_dtype)d);
        if (descr.len == 3 && memcmp(descr.ptr + 1, known + 1, 2) == 0) {
            *dtype = (rg_dtype)d;
            return true;
        }
    }
    str_addf(error, "dtype %.*s has no counterpart here", (int)descr.len, descr.ptr);
    return false;
}

static bool
parse_header(const char *text, npy *out, bool *fortran, str *error)
{
    scanner s = {text};
    unsigned seen = 0;
    bool ok = take(&s, '{');
    while (ok && !take(&s, '}')) {
        rg_str key, descr;
        ok = take_string(&s, &key) && take(&s, ':');
        if (!ok)
            break;
        if (str_eq(key, RG_STR("descr"))) {
            if (!take_string(&s, &descr)) {
                str_addz(error, "its elements are records; save each field as an array");
                return false;
            }
            if (!dtype_of(descr, &out->dtype, error))
                return false;
            seen |= 1;
        } else if (str_eq(key, RG_STR("fortran_order"))) {
            *fortran = take_word(&s, "True");
            ok = *fortran || take_word(&s, "False");
            seen |= 2;
        } else if (str_eq(key, RG_STR("shape"))) {
            ok = take_shape(&s, out);
            seen |= 4;
        } else {
            ok = false;
        }
        take(&s, ',');
    }
    if (!ok || seen != 7)
        str_addz(error, "its header is damaged or has more than 8 axes");
    return ok && seen == 7;
}

/* -- reading ----------------------------------------------------------------------------------- */

/* column-major to row-major */
static void
reorder(npy *f)
{
    size_t size = ir_bytes(f->dtype), count = f->bytes / size;
    char *to = arena_raw(mem_scratch(), f->bytes);
    const char *from = f->data;
    int64_t index[RG_MAX_RANK] = {0};
    for (size_t i = 0; i < count; i++) {
        int64_t at = 0;
        for (uint32_t k = 0; k < f->rank; k++)
            at = at * f->shape[k] + index[k];
        memcpy(to + (size_t)at * size, from + i * size, size);
        for (uint32_t k = 0; k < f->rank && ++index[k] == f->shape[k]; k++)
            index[k] = 0;
    }
    f->data = to;
}

static bool
header_length(rg_str file, size_t *start, size_t *length)
{
    const unsigned char *p = (const unsigned char *)file.ptr;
    if (file.len < 10 || memcmp(p, magic, sizeof(magic)) != 0 || p[6] < 1 || p[6] > 3)
        return false;
    *start = p[6] == 1 ? 10 : 12;
    if (file.len < *start)
        return false;
    *length = p[8] | (size_t)p[9] << 8;
    if (p[6] > 1)
        *length |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
    return *length <= file.len - *start;
}

bool
npy_parse(rg_str file, npy *out, str *error)
{
    size_t start, length;
    *out = (npy){0};
    if (!header_length(file, &start, &length)) {
        str_addz(error, "not a .npy file");
        return false;
    }
    bool fortran = false;
    if (!parse_header(arena_str(mem_scratch(), (rg_str){file.ptr + start, length}), out, &fortran, error))
        return false;
    int64_t bytes = ir_bytes(out->dtype);
    for (uint32_t k = 0; k < out->rank; k++)
        if (__builtin_mul_overflow(bytes, out->shape[k], &bytes))
            bytes = INT64_MAX;
    size_t there = file.len - start - length;
    if ((uint64_t)bytes > there) {
        str_addf(error, "it is cut short: %zu bytes of data instead of %lld", there,
                 (long long)bytes);
        return false;
    }
    out->bytes = (size_t)bytes;
    out->data = arena_raw(mem_scratch(), out->bytes);
    memcpy(out->data, file.ptr + start + length, out->bytes);
    if (fortran && out->rank > 1)
        reorder(out);
    return true;
}

npy
npy_read(const char *path)
{
    npy out;
    str error = {.in = mem_scratch()};
    if (!npy_parse(cli_read_file(path), &out, &error))
        cli_fail("%s: %s", path, error.ptr);
    return out;
}

/* -- writing ----------------------------------------------------------------------------------- */

void
npy_format(str *out, rg_dtype dtype, uint32_t rank, const int64_t *shape, const void *data)
{
    size_t bytes = ir_bytes(dtype), start = out->len;
    str_add(out, (rg_str){magic, sizeof(magic)});
    str_add(out, (rg_str){"\x01\x00\x00\x00", 4}); /* version 1.0; the length comes later */
    str_addf(out, "{'descr': '%s', 'fortran_order': False, 'shape': (", npy_descr(dtype));
    for (uint32_t k = 0; k < rank; k++) {
        str_addf(out, "%lld%s", (long long)shape[k], k + 1 < rank || rank == 1 ? "," : "");
        str_addz(out, k + 1 < rank ? " " : "");
        bytes *= (size_t)shape[k];
    }
    str_addz(out, "), }");
    while ((out->len - start + 1) % HEADER_ALIGN)
        str_addc(out, ' ');
    str_addc(out, '\n');
    size_t length = out->len - start - 10;
    out->ptr[start + 8] = (char)(length & 255);
    out->ptr[start + 9] = (char)(length >> 8);
    str_add(out, (rg_str){data, bytes});
}

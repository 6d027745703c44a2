/* See npz.h. A zip archive ends with a record that says where its directory is; the directory has an entry for each file,
 * which leads to a header in front of the file's bytes:
 *
 *     header, bytes | header, bytes | ... | entry | entry | ... | (zip64: record, locator) | end record
 *
 * Numbers are little-endian. What does not fit 32 bits is all ones there, and the real number stands in an entry's extra
 * field 1, or in the zip64 record. SPDX-License-Identifier: Apache-2.0 */
#include "cli/npz.h"

#include "cli/cli.h"

#if RG_HAVE_ZLIB
#include <zlib.h>
#endif

enum { END_MARK = 0x06054b50, ENTRY_MARK = 0x02014b50, HEADER_MARK = 0x04034b50 };
enum { LOCATOR_MARK = 0x07064b50, END64_MARK = 0x06064b50 };
enum { END_SIZE = 22, ENTRY_SIZE = 46, HEADER_SIZE = 30, LOCATOR_SIZE = 20, END64_SIZE = 56 };
enum { STORED = 0, DEFLATED = 8, ENCRYPTED = 1, EXTRA64 = 1, MOST_COMMENT = 65535, VERSION = 20 };
#define ALL_ONES 0xffffffffu

/* -- numbers ----------------------------------------------------------------------------------- */

static uint64_t
number(const char *at, unsigned bytes)
{
    uint64_t v = 0;
    for (unsigned i = bytes; i-- > 0;)
        v = v << 8 | (unsigned char)at[i];
    return v;
}

static void
add_number(str *out, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        str_addc(out, (char)(v >> 8 * i & 255));
}

/* the remainder of the polynomial that zip archives are protected with */
static uint32_t
checksum(const char *data, size_t n)
{
    uint32_t table[256], crc = ALL_ONES;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (unsigned bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
    }
    for (size_t i = 0; i < n; i++)
        crc = crc >> 8 ^ table[(crc ^ (unsigned char)data[i]) & 255];
    return ~crc;
}

/* -- reading ----------------------------------------------------------------------------------- */

typedef struct zip_entry {
    rg_str name;
    uint32_t method, flags, crc;
    uint64_t packed, size, header;
} zip_entry;

/* whether n bytes are there from `at` on */
static bool
holds(const rg_str *file, uint64_t at, uint64_t n)
{
    return at <= file->len && n <= file->len - at;
}

static bool
is_mark(const rg_str *file, uint64_t at, uint64_t room, uint32_t mark)
{
    return holds(file, at, room) && number(file->ptr + at, 4) == mark;
}

/* The directory's beginning and the number of its entries. */
static bool
find_directory(const rg_str *file, uint64_t *at, uint64_t *count)
{
    size_t lowest = file->len > END_SIZE + MOST_COMMENT ? file->len - END_SIZE - MOST_COMMENT : 0;
    for (size_t end = file->len < END_SIZE ? 0 : file->len - END_SIZE + 1; end-- > lowest;) {
        if (!is_mark(file, end, END_SIZE, END_MARK))
            continue;
        *count = number(file->ptr + end + 10, 2);
        *at = number(file->ptr + end + 16, 4);
        if (end < LOCATOR_SIZE || !is_mark(file, end - LOCATOR_SIZE, LOCATOR_SIZE, LOCATOR_MARK))
            return true;
        uint64_t record = number(file->ptr + end - LOCATOR_SIZE + 8, 8);
        if (!is_mark(file, record, END64_SIZE, END64_MARK))
            return false;
        *count = number(file->ptr + record + 32, 8);
        *at = number(file->ptr + record + 48, 8);
        return true;
    }
    return false;
}

/* Takes the numbers that did not fit from the entry's extra fields. */
static bool
widen(zip_entry *e, const char *extra, size_t n)
{
    uint64_t *wide[3] = {&e->size, &e->packed, &e->header};
    for (size_t at = 0; at + 4 <= n; at += 4 + number(extra + at + 2, 2)) {
        size_t next = at + 4, end = next + number(extra + at + 2, 2);
        if (number(extra + at, 2) != EXTRA64)
            continue;
        for (unsigned i = 0; i < countof(wide); i++) {
            if (*wide[i] != ALL_ONES)
                continue;
            if (next + 8 > end || end > n)
                return false;
            *wide[i] = number(extra + next, 8);
            next += 8;
        }
        return true;
    }
    return e->size != ALL_ONES && e->packed != ALL_ONES && e->header != ALL_ONES;
}

/* *at moves on to the next entry */
static bool
read_entry(const rg_str *file, uint64_t *at, zip_entry *e)
{
    if (!is_mark(file, *at, ENTRY_SIZE, ENTRY_MARK))
        return false;
    const char *p = file->ptr + *at;
    size_t name = number(p + 28, 2), extra = number(p + 30, 2), comment = number(p + 32, 2);
    if (!holds(file, *at, ENTRY_SIZE + name + extra + comment))
        return false;
    *e = (zip_entry){.name = {p + ENTRY_SIZE, name},
                     .flags = (uint32_t)number(p + 8, 2),
                     .method = (uint32_t)number(p + 10, 2),
                     .crc = (uint32_t)number(p + 16, 4),
                     .packed = number(p + 20, 4),
                     .size = number(p + 24, 4),
                     .header = number(p + 42, 4)};
    *at += ENTRY_SIZE + name + extra + comment;
    return widen(e, p + ENTRY_SIZE + name, extra);
}

static bool
inflate_all(const char *from, const zip_entry *e, char *to, str *error)
{
#if RG_HAVE_ZLIB
    enum { RAW = -15, MOST = 1 << 30 };
    z_stream z = {0};
    if (inflateInit2(&z, RAW) != Z_OK) {
        str_addz(error, "out of memory");
        return false;
    }
    uint64_t in = e->packed, out = e->size;
    int state = Z_OK;
    z.next_in = (unsigned char *)(uintptr_t)from;
    z.next_out = (unsigned char *)to;
    while (state == Z_OK) { /* zlib counts in 32 bits */
        uint32_t in_now = in < MOST ? (uint32_t)in : MOST, out_now = out < MOST ? (uint32_t)out : MOST;
        z.avail_in = in_now;
        z.avail_out = out_now;
        state = inflate(&z, Z_NO_FLUSH);
        in -= in_now - z.avail_in;
        out -= out_now - z.avail_out;
    }
    inflateEnd(&z);
    if (state == Z_STREAM_END && !out)
        return true;
    str_addz(error, "its compressed data are damaged");
#else
    str_addz(error, "it is compressed, and this build was made without zlib (zlib1g-dev): write it with numpy.savez");
#endif
    return false;
}

/* The entry's bytes; NULL: *error says why. */
static char *
unpack(const rg_str *file, const zip_entry *e, str *error)
{
    if (!is_mark(file, e->header, HEADER_SIZE, HEADER_MARK)) {
        str_addz(error, "the archive is damaged");
        return NULL;
    }
    const char *header = file->ptr + e->header;
    uint64_t data = e->header + HEADER_SIZE + number(header + 26, 2) + number(header + 28, 2);
    if (!holds(file, data, e->packed) || (e->method == STORED && e->packed != e->size) ||
        e->size / 1100 > e->packed) { /* nothing shrinks to less */
        str_addz(error, "the archive is damaged");
        return NULL;
    }
    if (e->flags & ENCRYPTED || (e->method != STORED && e->method != DEFLATED)) {
        str_addz(error, e->flags & ENCRYPTED ? "it is encrypted" : "it is neither stored nor deflated");
        return NULL;
    }
    char *bytes = arena_raw(mem_scratch(), e->size);
    if (e->method == DEFLATED && !inflate_all(file->ptr + data, e, bytes, error))
        return NULL;
    if (e->method == STORED)
        memcpy(bytes, file->ptr + data, e->size);
    if (checksum(bytes, e->size) == e->crc)
        return bytes;
    str_addz(error, "its data are damaged: the checksum differs");
    return NULL;
}

static void
read_array(const rg_str *file, const zip_entry *e, npz *out)
{
    rg_str name = e->name;
    if (name.len > 4 && memcmp(name.ptr + name.len - 4, ".npy", 4) == 0)
        name.len -= 4;
    npz_array a = {.name = arena_str(mem_scratch(), name)};
    str why = {.in = mem_scratch()};
    char *bytes = unpack(file, e, &why);
    if (!bytes || !npy_parse((rg_str){bytes, e->size}, &a.data, &why))
        cli_fail("%s: array `%s`: %s", out->path, a.name, why.ptr);
    vec_push(&out->arrays, a);
}

npz
npz_read(const char *path)
{
    npz out = {.path = path, .arrays.in = mem_scratch()};
    uint64_t at = 0, count = 0;
    rg_str file = path ? cli_read_file(path) : (rg_str){0};
    if (path && !find_directory(&file, &at, &count))
        cli_fail("%s: not a .npz file", path);
    for (uint64_t i = 0; i < count; i++) {
        zip_entry e;
        if (!read_entry(&file, &at, &e))
            cli_fail("%s: the archive is damaged", path);
        read_array(&file, &e, &out);
    }
    return out;
}

const npy *
npz_find(const npz *file, rg_str name)
{
    for (size_t i = 0; i < file->arrays.n; i++)
        if (str_eq(rg_str_of(file->arrays.at[i].name), name))
            return &file->arrays.at[i].data;
    return NULL;
}

/* -- writing ----------------------------------------------------------------------------------- */

/* what a header and an entry have in common */
static void
add_common(str *out, uint32_t crc, size_t size, size_t name)
{
    add_number(out, VERSION, 2);
    add_number(out, 0, 2); /* flags */
    add_number(out, STORED, 2);
    add_number(out, 0, 2);          /* midnight */
    add_number(out, 1 | 1 << 5, 2); /* the first of January 1980 */
    add_number(out, crc, 4);
    add_number(out, size, 4);
    add_number(out, size, 4);
    add_number(out, name, 2);
    add_number(out, 0, 2); /* extra */
}

void
npz_add(npz_writer *w, rg_str name, rg_dtype dtype, uint32_t rank, const int64_t *shape, const void *data)
{
    str file = {.in = mem_scratch()};
    npy_format(&file, dtype, rank, shape, data);
    size_t header = w->body.len, length = name.len + strlen(".npy");
    uint32_t crc = checksum(file.ptr, file.len);
    add_number(&w->body, HEADER_MARK, 4);
    add_common(&w->body, crc, file.len, length);
    str_add(&w->body, name);
    str_addz(&w->body, ".npy");
    str_add(&w->body, str_view(&file));
    add_number(&w->directory, ENTRY_MARK, 4);
    add_number(&w->directory, VERSION, 2);
    add_common(&w->directory, crc, file.len, length);
    add_number(&w->directory, 0, 2 + 2 + 2); /* comment, disk, internal attributes */
    add_number(&w->directory, 0, 4);         /* external ones */
    add_number(&w->directory, header, 4);
    str_add(&w->directory, name);
    str_addz(&w->directory, ".npy");
    w->count++;
}

void
npz_finish(npz_writer *w, const char *path)
{
    size_t directory = w->body.len, size = w->directory.len;
    if (directory + size >= ALL_ONES || w->count >= 0xffff)
        cli_fail("%s: more than 4 GiB: give a folder instead, where each array is a file of its own", path);
    str_add(&w->body, str_view(&w->directory));
    add_number(&w->body, END_MARK, 4);
    add_number(&w->body, 0, 4); /* disks */
    add_number(&w->body, w->count, 2);
    add_number(&w->body, w->count, 2);
    add_number(&w->body, size, 4);
    add_number(&w->body, directory, 4);
    add_number(&w->body, 0, 2); /* comment */
    cli_write_file(path, str_view(&w->body));
}

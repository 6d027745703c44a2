/* Numbers and texts as bytes, and back. Readers look at each length: what is damaged reads as zeros, and says so at the end.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include "base/base.h"

void bytes_put_u64(str *out, uint64_t v); /* little-endian */
void bytes_put_u32(str *out, uint32_t v);
void bytes_put(str *out, rg_str s); /* its length, then it; ptr NULL stays NULL */

void bytes_put_list(str *out, const char *const *list, uint32_t n); /* zero-terminated texts */

typedef struct bytes_reader {
    const char *at, *end;
    bool damaged;
} bytes_reader;

static inline bytes_reader
bytes_of(rg_str s)
{
    return (bytes_reader){s.ptr, s.ptr + s.len, false};
}
uint64_t bytes_u64(bytes_reader *r);
uint32_t bytes_u32(bytes_reader *r);
/* A number of things that follow, each of so many bytes at least; 0 where they cannot be there. */
uint32_t bytes_count(bytes_reader *r, size_t each);
rg_str bytes_str(bytes_reader *r); /* lies in the reader's bytes */
const char *bytes_text(bytes_reader *r, arena *in); /* zero-terminated; NULL if it was NULL */
/* Of texts, none of them NULL; a NULL behind the last. */
const char **bytes_list(bytes_reader *r, uint32_t *n, arena *in);
/* whether all was there, and nothing else */
bool bytes_done(const bytes_reader *r);

#endif

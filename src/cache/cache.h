/* Files kept from run to run. SPDX-License-Identifier: Apache-2.0
 *
 * An entry is bytes under a key, which is bytes too; what it is found under, and is compared with, is the whole key. Any
 * number of processes use a folder at the same time: an entry appears as a whole or not at all. Nothing here fails: what
 * cannot be read, written or trusted (a damaged file, another user's) is not there. Any thread. */
#ifndef CACHE_CACHE_H
#define CACHE_CACHE_H

#include "base/settings.h"

/* false: there is no such entry. The content is in mem_scratch(). */
RG_MUST_CHECK bool cache_get(const settings *s, rg_str key, rg_str *content);
/* Adds or replaces an entry; old ones go where there would be more bytes than the settings allow. */
void cache_put(const settings *s, rg_str key, rg_str content);
/* What a file holds, if it is an entry and whole; *same_key: the one of that key. false: it is damaged, or not ours. */
bool cache_entry(rg_str file, rg_str key, bool *same_key, rg_str *content);
/* A line where the settings ask for it, on stderr and told: what the cache had or lacked; and a warning that it is of no use. */
void cache_log(const settings *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cache_warn(const settings *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* -- as a whole -- */
/* Where it is; false: it is switched off, or there is no home. The text is in mem_scratch(). */
bool cache_folder(const settings *s, str *path);
typedef struct cache_size {
    uint64_t entries, bytes, limit;
} cache_size;
cache_size cache_measure(const settings *s);
cache_size cache_clear(const settings *s); /* what went */

#endif

/* What a compilation of C looked at beside its source, so that it need not be done again while all of that is the same.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_SEEN_H
#define FRONT_SEEN_H

#include "base/bytes.h"
#include "base/digest.h"

typedef enum seen_kind {
    SEEN_FILE,   /* with this content */
    SEEN_NOTHING, /* that cannot be read: a header that would be found before the one that was, for instance */
    SEEN_FOLDER  /* with C files of these names */
} seen_kind;

typedef struct seen_item {
    seen_kind kind;
    const char *path;
    uint8_t digest[DIGEST_BYTES];
} seen_item;

typedef struct seen_list {
    vec(seen_item) items; /* texts and list are in mem_scratch() */
    map known;            /* a hash of kind and path -> anything: it is listed */
    bool open; /* the result depends on something that is not listed here: it is not kept */
} seen_list;

void seen_begin(seen_list *s);
/* A file with the content that was read. */
void seen_file(seen_list *s, const char *path, rg_str content);
/* Whether nothing can be read there now; if so it is added. */
bool seen_nothing(seen_list *s, const char *path);
/* A folder whose C files were listed. */
void seen_folder(seen_list *s, const char *path, rg_str names);
/* Names of a folder's C files in order, each with a zero behind it; false: it cannot be read. */
bool seen_list_folder(const char *path, str *names);

void seen_write(const seen_list *s, str *out);
/* false: it is damaged */
bool seen_read(bytes_reader *r, seen_list *s);
/* Reads a list and looks whether all of it is as it was. texts[i]: the content of item i if it is a file; they and their
 * list are in mem_scratch(). `why`, where something has changed: the path. */
bool seen_is_same(bytes_reader *r, seen_list *s, rg_str **texts, const char **why);

#endif

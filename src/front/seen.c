/* What a compilation of C looked at beside its source. SPDX-License-Identifier: Apache-2.0 */
#include "front/seen.h"

#include <dirent.h>
#include <unistd.h>

void
seen_begin(seen_list *s)
{
    *s = (seen_list){.items.in = mem_scratch(), .known.in = mem_scratch()};
}

static seen_item *
add(seen_list *s, seen_kind kind, const char *path)
{
    uint64_t key = hash_bytes(kind, path, strlen(path));
    if (map_get(&s->known, key))
        return NULL;
    vec_push(&s->items, ((seen_item){.kind = kind, .path = arena_str(mem_scratch(), rg_str_of(path))}));
    map_set(&s->known, key, s);
    return &vec_last(&s->items);
}

void
seen_file(seen_list *s, const char *path, rg_str content)
{
    seen_item *item = add(s, SEEN_FILE, path);
    if (item)
        digest_of(content.ptr, content.len, item->digest);
}

bool
seen_nothing(seen_list *s, const char *path)
{
    bool nothing = access(path, R_OK) != 0;
    if (nothing)
        add(s, SEEN_NOTHING, path);
    return nothing;
}

void
seen_folder(seen_list *s, const char *path, rg_str names)
{
    seen_item *item = add(s, SEEN_FOLDER, path);
    if (item)
        digest_of(names.ptr, names.len, item->digest);
}

static void
close_folder(void *folder)
{
    closedir(folder);
}

static int
by_name(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

bool
seen_list_folder(const char *path, str *names)
{
    vec(const char *) list = {.in = mem_scratch()};
    DIR *folder = opendir(path);
    mem_owner owns;
    *names = (str){.in = mem_scratch()};
    if (!folder)
        return false;
    mem_own(&owns, close_folder, folder);
    for (struct dirent *e = readdir(folder); e; e = readdir(folder))
        if (e->d_name[0] != '.' && str_ends(rg_str_of(e->d_name), ".c") && e->d_name[2])
            vec_push(&list, arena_str(mem_scratch(), rg_str_of(e->d_name)));
    mem_disown(&owns);
    closedir(folder);
    if (list.n)
        qsort(list.at, list.n, sizeof(*list.at), by_name);
    str_add(names, (rg_str){NULL, 0});
    for (size_t i = 0; i < list.n; i++)
        str_add(names, (rg_str){list.at[i], strlen(list.at[i]) + 1});
    return true;
}

/* -- from run to run ------------------------------------------------------------------------------------------------ */

void
seen_write(const seen_list *s, str *out)
{
    bytes_put_u32(out, (uint32_t)s->items.n);
    for (size_t i = 0; i < s->items.n; i++) {
        const seen_item *item = &s->items.at[i];
        bytes_put_u32(out, item->kind);
        bytes_put(out, rg_str_of(item->path));
        bytes_put(out, (rg_str){(const char *)item->digest, DIGEST_BYTES});
    }
}

static void
read_item(bytes_reader *r, seen_item *item)
{
    item->kind = (seen_kind)bytes_u32(r);
    item->path = bytes_text(r, mem_scratch());
    rg_str digest = bytes_str(r);
    r->damaged |= !item->path || digest.len != DIGEST_BYTES || item->kind > SEEN_FOLDER;
    if (!r->damaged)
        memcpy(item->digest, digest.ptr, DIGEST_BYTES);
}

static bool
is_same(const seen_item *item, rg_str *text)
{
    uint8_t digest[DIGEST_BYTES];
    str now;
    if (item->kind == SEEN_NOTHING)
        return access(item->path, R_OK) != 0;
    if (item->kind == SEEN_FILE ? file_read(item->path, &now) != RG_OK : !seen_list_folder(item->path, &now))
        return false;
    *text = str_view(&now);
    digest_of(now.ptr, now.len, digest);
    return memcmp(digest, item->digest, DIGEST_BYTES) == 0;
}

bool
seen_read(bytes_reader *r, seen_list *s)
{
    uint32_t n = bytes_count(r, 4 + 8 + 8 + DIGEST_BYTES);
    seen_begin(s);
    vec_reserve(&s->items, n + 1);
    for (; s->items.n < n && !r->damaged; s->items.n++)
        read_item(r, &s->items.at[s->items.n]);
    return !r->damaged;
}

bool
seen_is_same(bytes_reader *r, seen_list *s, rg_str **texts, const char **why)
{
    *why = "the list of what was included is damaged";
    if (!seen_read(r, s))
        return false;
    *texts = arena_new_n(mem_scratch(), rg_str, s->items.n + 1);
    for (size_t i = 0; i < s->items.n; i++) {
        *why = s->items.at[i].path;
        if (!is_same(&s->items.at[i], &(*texts)[i]))
            return false;
    }
    return true;
}

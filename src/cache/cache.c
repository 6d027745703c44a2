/* Files kept from run to run. SPDX-License-Identifier: Apache-2.0
 *
 * A file holds its whole key beside the content, and a hash of both. Its name is a hash of the key, whose first digit
 * names one of 16 folders: each of these has a 16th of the bytes, so that a new entry need look at few others. A file's
 * time of change is the one of its last use. */
#include "cache/cache.h"

#include "base/bytes.h"
#include "base/digest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FOLDERS = 16, TRIES = 16, STALE_SECONDS = 3600, NAME_CHARS = 2 * DIGEST_BYTES };
static const char magic[8] = {'r', 'g', 'c', 'a', 'c', 'h', 'e', '2'}, unfinished[] = "part.";
static const uint64_t usual_limit = (uint64_t)1 << 30;

static void
say(const settings *s, bool warning, const char *format, va_list args)
{
    if (!s->cache_log && !s->told)
        return;
    str line = {.in = mem_scratch()};
    str_addv(&line, format, args);
    if (s->told)
        s->told(s->told_user, warning, line.ptr);
    if (s->cache_log)
        fprintf(stderr, "cache: %s\n", line.ptr);
}

void
cache_log(const settings *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(s, false, format, args);
    va_end(args);
}

void
cache_warn(const settings *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(s, true, format, args);
    va_end(args);
}

/* -- places -------------------------------------------------------------------------------------------------------- */

bool
cache_folder(const settings *s, str *path)
{
    *path = (str){.in = mem_scratch()};
    bool usual = !s->cache || settings_is_on(s->cache);
    if (settings_is_off(s->cache) || s->privileged)
        return false;
    if (!usual)
        str_addz(path, s->cache);
    else if (s->cache_home && *s->cache_home == '/')
        str_addf(path, "%s/retrograd", s->cache_home);
    else if (s->home && *s->home == '/')
        str_addf(path, "%s/.cache/retrograd", s->home);
    return path->len > 0;
}

static uint64_t
limit_of(const settings *s)
{
    return s->cache_size ? s->cache_size : usual_limit;
}

typedef struct place {
    str folder, path;
} place;

static bool
find_place(const settings *s, rg_str key, place *p)
{
    uint8_t hash[DIGEST_BYTES];
    str name = {.in = mem_scratch()};
    if (!cache_folder(s, &p->folder))
        return false;
    digest_of(key.ptr, key.len, hash);
    digest_print(&name, hash);
    str_addf(&p->folder, "/%c", *name.ptr);
    p->path = (str){.in = mem_scratch()};
    str_addf(&p->path, "%s/%s", p->folder.ptr, name.ptr);
    return true;
}

/* -- entries ------------------------------------------------------------------------------------------------------- */

/* Tells damage, and nothing else: who may write the file may write what he likes. */
static uint64_t
entry_hash(rg_str key, rg_str content)
{
    return hash_bytes(hash_bytes(1, key.ptr, key.len), content.ptr, content.len);
}

static void
write_entry(str *out, rg_str key, rg_str content)
{
    str_add(out, (rg_str){magic, sizeof magic});
    bytes_put_u64(out, entry_hash(key, content));
    bytes_put(out, key);
    bytes_put(out, content);
}

bool
cache_entry(rg_str file, rg_str key, bool *same_key, rg_str *content)
{
    if (file.len < sizeof magic || memcmp(file.ptr, magic, sizeof magic) != 0)
        return false;
    bytes_reader r = bytes_of((rg_str){file.ptr + sizeof magic, file.len - sizeof magic});
    uint64_t hash = bytes_u64(&r);
    rg_str its_key = bytes_str(&r);
    *content = bytes_str(&r);
    if (!bytes_done(&r) || !its_key.ptr || !content->ptr)
        return false;
    *same_key = str_eq(its_key, key);
    return hash == entry_hash(its_key, *content);
}

static bool
read_whole(int fd, char *to, size_t n)
{
    while (n) {
        ssize_t got = read(fd, to, n);
        if (got <= 0 && !(got < 0 && errno == EINTR))
            return false;
        to += got > 0 ? got : 0;
        n -= got > 0 ? (size_t)got : 0;
    }
    return true;
}

static bool
write_whole(int fd, rg_str s)
{
    while (s.len) {
        ssize_t put = write(fd, s.ptr, s.len);
        if (put <= 0 && !(put < 0 && errno == EINTR))
            return false;
        s.ptr += put > 0 ? put : 0;
        s.len -= put > 0 ? (size_t)put : 0;
    }
    return true;
}

/* What it holds is run: it has to be this user's, and nobody else's to write. */
static bool
is_trusted(const struct stat *st)
{
    return S_ISREG(st->st_mode) && st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

static void
close_number(void *fd)
{
    close(*(int *)fd);
}

/* the file, whole; ptr NULL: there is none to be trusted */
static rg_str
read_trusted(const settings *s, const char *path)
{
    rg_str file = {NULL, 0};
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return file;
    mem_owner owns;
    mem_own(&owns, close_number, &fd);
    if (fstat(fd, &st) == 0 && is_trusted(&st) && (uint64_t)st.st_size <= limit_of(s)) {
        char *bytes = arena_raw(mem_scratch(), (size_t)st.st_size + 1);
        bytes[st.st_size] = 0;
        if (read_whole(fd, bytes, (size_t)st.st_size))
            file = (rg_str){bytes, (size_t)st.st_size};
        (void)futimens(fd, NULL);
    } else {
        cache_warn(s, "the cache's %s is not used: it is not this user's alone", path);
    }
    mem_disown(&owns);
    close(fd);
    return file;
}

bool
cache_get(const settings *s, rg_str key, rg_str *content)
{
    place p;
    bool same = false;
    *content = (rg_str){NULL, 0};
    if (!find_place(s, key, &p))
        return false;
    rg_str file = read_trusted(s, p.path.ptr);
    if (!file.ptr)
        return false;
    if (!cache_entry(file, key, &same, content)) {
        cache_warn(s, "the cache's %s is damaged; it is removed", p.path.ptr);
        unlink(p.path.ptr);
        return false;
    }
    return same;
}

/* -- how much there is --------------------------------------------------------------------------------------------- */

typedef struct kept {
    char name[NAME_CHARS + 1];
    struct timespec used;
    uint64_t bytes;
} kept;
typedef vec(kept) kept_list;

static bool
is_entry(const char *name)
{
    return strlen(name) == NAME_CHARS && strspn(name, "0123456789abcdef") == NAME_CHARS;
}

static void
close_folder(void *folder)
{
    closedir(folder);
}

/* The entries of a folder; what a process left unfinished long ago goes. */
static kept_list
list_folder(const char *path)
{
    kept_list list = {.in = mem_scratch()};
    DIR *folder = opendir(path);
    if (!folder)
        return list;
    mem_owner owns;
    mem_own(&owns, close_folder, folder);
    for (struct dirent *e; (e = readdir(folder));) {
        struct stat st;
        if (fstatat(dirfd(folder), e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
            continue;
        if (is_entry(e->d_name)) {
            kept k = {.used = st.st_mtim, .bytes = (uint64_t)st.st_size};
            memcpy(k.name, e->d_name, NAME_CHARS);
            vec_push(&list, k);
        } else if (strncmp(e->d_name, unfinished, sizeof unfinished - 1) == 0 && time(NULL) - st.st_mtime > STALE_SECONDS) {
            unlinkat(dirfd(folder), e->d_name, 0);
        }
    }
    mem_disown(&owns);
    closedir(folder);
    return list;
}

static int
compare_use(const void *a, const void *b)
{
    const kept *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    return x->used.tv_nsec < y->used.tv_nsec ? -1 : x->used.tv_nsec > y->used.tv_nsec;
}

/* Those used longest ago go until the others have room. */
static cache_size
shrink(const char *folder, uint64_t room)
{
    cache_size gone = {0};
    uint64_t bytes = 0;
    kept_list list = list_folder(folder);
    for (size_t i = 0; i < list.n; i++)
        bytes += list.at[i].bytes;
    if (bytes <= room)
        return gone;
    qsort(list.at, list.n, sizeof *list.at, compare_use);
    for (size_t i = 0; i < list.n && bytes > room; i++) {
        str path = {.in = mem_scratch()};
        str_addf(&path, "%s/%s", folder, list.at[i].name);
        bytes -= list.at[i].bytes;
        if (unlink(path.ptr) == 0) {
            gone.entries++;
            gone.bytes += list.at[i].bytes;
        }
    }
    return gone;
}

static const char *
folder_number(const str *folder, unsigned i)
{
    str path = {.in = mem_scratch()};
    str_addf(&path, "%s/%x", folder->ptr, i);
    return path.ptr;
}

cache_size
cache_measure(const settings *s)
{
    cache_size size = {.limit = limit_of(s)};
    str folder;
    for (unsigned i = 0; cache_folder(s, &folder) && i < FOLDERS; i++) {
        kept_list list = list_folder(folder_number(&folder, i));
        size.entries += list.n;
        for (size_t k = 0; k < list.n; k++)
            size.bytes += list.at[k].bytes;
    }
    return size;
}

cache_size
cache_clear(const settings *s)
{
    cache_size gone = {.limit = limit_of(s)};
    str folder;
    for (unsigned i = 0; cache_folder(s, &folder) && i < FOLDERS; i++) {
        cache_size some = shrink(folder_number(&folder, i), 0);
        gone.entries += some.entries;
        gone.bytes += some.bytes;
    }
    return gone;
}

/* -- adding -------------------------------------------------------------------------------------------------------- */

/* with those around it, which only this user may look into */
static bool
make_folder(const str *path)
{
    str part = {.in = mem_scratch()};
    for (const char *at = path->ptr; *at; at++) {
        if (*at == '/' && at != path->ptr)
            (void)mkdir(part.ptr, 0700);
        str_addc(&part, *at);
    }
    return mkdir(path->ptr, 0700) == 0 || errno == EEXIST;
}

/* A file that no process has yet, to be renamed; < 0: none can be made. */
static int
open_unfinished(const char *folder, str *path)
{
    static atomic_uint next;
    int fd = -1;
    for (int i = 0; fd < 0 && i < TRIES; i++) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        *path = (str){.in = mem_scratch()};
        str_addf(path, "%s/%s%lx.%x.%lx", folder, unfinished, (long)getpid(), atomic_fetch_add(&next, 1), now.tv_nsec);
        fd = open(path->ptr, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

void
cache_put(const settings *s, rg_str key, rg_str content)
{
    place p;
    str file = {.in = mem_scratch()}, path;
    if (!find_place(s, key, &p))
        return;
    write_entry(&file, key, content);
    uint64_t room = limit_of(s) / FOLDERS;
    if (file.len > room) {
        cache_log(s, "an entry of %zu bytes is too large", file.len);
        return;
    }
    int fd = make_folder(&p.folder) ? open_unfinished(p.folder.ptr, &path) : -1;
    if (fd < 0) {
        cache_warn(s, "the cache cannot be written (RG_CACHE names another folder, or is off): %s: %s", p.folder.ptr, strerror(errno));
        return;
    }
    bool whole = write_whole(fd, str_view(&file));
    whole = close(fd) == 0 && whole;
    if (!whole || rename(path.ptr, p.path.ptr)) {
        cache_warn(s, "the cache cannot be written (RG_CACHE names another folder, or is off): %s: %s", path.ptr, strerror(errno));
        unlink(path.ptr);
        return;
    }
    shrink(p.folder.ptr, room);
}

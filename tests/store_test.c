/* The store of files kept from run to run: damage, foreign files, folders that cannot be written, its bound, many processes.
 *   store_test [PUTS]     PUTS: of each process, in the test of many
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/digest.h"
#include "cache/cache.h"
#include "check.h"
#include "process.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char here[FOLDER_BYTES];

static settings
settings_for(const char *folder, uint64_t size)
{
    str path = {.in = mem_scratch()};
    str_addf(&path, "%s/%s", here, folder);
    return (settings){.cache = path.ptr, .cache_size = size};
}

/* Where the entry of a key is. */
static const char *
path_of(const settings *s, rg_str key)
{
    uint8_t hash[DIGEST_BYTES];
    str name = {.in = mem_scratch()}, path = {.in = mem_scratch()};
    digest_of(key.ptr, key.len, hash);
    digest_print(&name, hash);
    str_addf(&path, "%s/%c/%s", s->cache, *name.ptr, name.ptr);
    return path.ptr;
}

static bool
holds(const settings *s, rg_str key, rg_str content)
{
    rg_str found;
    return cache_get(s, key, &found) && str_eq(found, content);
}

static rg_str
numbered(const char *what, unsigned i)
{
    str text = {.in = mem_scratch()};
    str_addf(&text, "%s %u", what, i);
    return str_view(&text);
}

static void
test_settings(void)
{
    str path;
    settings s = {.cache_home = "/a", .home = "/h"};
    CHECK(cache_folder(&s, &path) && strcmp(path.ptr, "/a/retrograd") == 0, "%s", path.ptr);
    s.cache = "on";
    s.cache_home = "relative";
    CHECK(cache_folder(&s, &path) && strcmp(path.ptr, "/h/.cache/retrograd") == 0, "%s", path.ptr);
    s.cache = "/c";
    CHECK(cache_folder(&s, &path) && strcmp(path.ptr, "/c") == 0, "%s", path.ptr);
    s.privileged = true;
    CHECK(!cache_folder(&s, &path), "none for a process with others' rights");
    s = (settings){.cache = "off", .home = "/h"};
    CHECK(!cache_folder(&s, &path), "switched off");
    s = (settings){0};
    CHECK(!cache_folder(&s, &path), "no home");
    rg_str content;
    CHECK(!cache_get(&s, rg_str_of("k"), &content), "nothing there");
    cache_put(&s, rg_str_of("k"), rg_str_of("c"));
    CHECK(cache_measure(&s).entries == 0, "nothing kept");
    setenv("RG_CACHE_SIZE", "3M", 1);
    CHECK(settings_read().cache_size == 3 << 20, "%llu", (unsigned long long)settings_read().cache_size);
    /* a switch has two words for off, whichever it is */
    static const char *const off[] = {"off", "0"}, *const on[] = {"on", "1"};
    for (size_t i = 0; i < countof(off); i++) {
        setenv("RG_COMPILE_PROCESS", off[i], 1);
        CHECK(!settings_read().apart, "RG_COMPILE_PROCESS=%s", off[i]);
        setenv("RG_COMPILE_PROCESS", on[i], 1);
        CHECK(settings_read().apart, "RG_COMPILE_PROCESS=%s", on[i]);
        s = (settings){.cache = off[i], .home = "/h"};
        CHECK(!cache_folder(&s, &path), "RG_CACHE=%s", off[i]);
        s.cache = on[i];
        CHECK(cache_folder(&s, &path) && strcmp(path.ptr, "/h/.cache/retrograd") == 0, "RG_CACHE=%s", on[i]);
    }
    unsetenv("RG_COMPILE_PROCESS");
    unsetenv("RG_CACHE_SIZE");
}

static void
test_entries(void)
{
    settings s = settings_for("a/b/c", 0);
    rg_str none = {NULL, 0}, key = {"k\0y", 3}, other = {"k\0z", 3}, content = {"\0\1\2", 3};
    CHECK(!holds(&s, key, content), "empty");
    cache_put(&s, key, content);
    CHECK(holds(&s, key, content), "put");
    CHECK(!cache_get(&s, other, &none), "another key");
    cache_put(&s, key, rg_str_of("new"));
    CHECK(holds(&s, key, rg_str_of("new")), "replaced");
    cache_put(&s, other, rg_str_of(""));
    CHECK(holds(&s, other, rg_str_of("")) && holds(&s, key, rg_str_of("new")), "both");
    cache_size size = cache_measure(&s);
    CHECK(size.entries == 2 && size.bytes > 6 && size.limit == 1 << 30, "%llu entries", (unsigned long long)size.entries);
    struct stat st;
    CHECK(stat(s.cache, &st) == 0 && (st.st_mode & 077) == 0, "the folder is the user's alone");
    cache_size gone = cache_clear(&s);
    CHECK(gone.entries == 2 && gone.bytes == size.bytes && cache_measure(&s).entries == 0, "cleared");
}

/* Every byte changed, every length: another answer than the entry's would be fatal. */
static void
test_damage(void)
{
    settings s = settings_for("damage", 0);
    rg_str key = rg_str_of("the key"), content = rg_str_of("the content");
    cache_put(&s, key, content);
    const char *path = path_of(&s, key);
    str whole;
    CHECK(file_read(path, &whole) == RG_OK, "%s", path);
    for (size_t i = 0; i < 2 * whole.len + 1; i++) {
        str bad = {.in = mem_scratch()};
        rg_str found;
        str_add(&bad, (rg_str){whole.ptr, i < whole.len ? whole.len : i - whole.len});
        if (i < whole.len)
            bad.ptr[i] ^= 1 << i % 8;
        else if (i == 2 * whole.len)
            str_addc(&bad, 0);
        CHECK(file_write(path, bad.len ? bad.ptr : "", bad.len) == RG_OK && chmod(path, 0600) == 0, "%s", path);
        CHECK(!cache_get(&s, key, &found), "damage %zu", i);
        CHECK(access(path, F_OK) != 0, "damage %zu is removed", i);
    }
    cache_put(&s, key, content);
    CHECK(holds(&s, key, content), "made anew");
}

static void
test_foreign(void)
{
    settings s = settings_for("foreign", 0);
    rg_str key = rg_str_of("the key"), content = rg_str_of("the content"), found;
    cache_put(&s, key, content);
    const char *path = path_of(&s, key);
    CHECK(chmod(path, 0620) == 0 && !cache_get(&s, key, &found), "others may write it");
    cache_put(&s, key, content);
    CHECK(holds(&s, key, content), "made anew");
    if (geteuid() == 0) {
        CHECK(chown(path, 1, 1) == 0 && !cache_get(&s, key, &found), "another user's");
        cache_put(&s, key, content);
        CHECK(holds(&s, key, content), "made anew");
    }
    /* an entry under the name of another key's */
    rg_str other = rg_str_of("another key");
    str bytes;
    cache_put(&s, other, rg_str_of("its content"));
    CHECK(file_read(path_of(&s, other), &bytes) == RG_OK && file_write(path, bytes.ptr, bytes.len) == RG_OK && chmod(path, 0600) == 0, "copied");
    CHECK(!cache_get(&s, key, &found), "another key's content");
    unlink(path);
    CHECK(symlink(path_of(&s, other), path) == 0 && !cache_get(&s, key, &found), "a link");
    unlink(path);
    CHECK(mkdir(path, 0700) == 0 && !cache_get(&s, key, &found), "a folder");
    cache_put(&s, key, content); /* cannot */
    CHECK(!cache_get(&s, key, &found), "still a folder");
}

static void
test_unwritable(void)
{
    settings s = settings_for("file/below", 0);
    rg_str key = rg_str_of("k"), found;
    str path = {.in = mem_scratch()};
    str_addf(&path, "%s/file", here);
    CHECK(file_write(path.ptr, "x", 1) == RG_OK, "%s", path.ptr);
    cache_put(&s, key, key);
    CHECK(!cache_get(&s, key, &found), "below a file");
    if (geteuid() != 0) {
        s = settings_for("readonly", 0);
        CHECK(mkdir(s.cache, 0500) == 0, "%s", s.cache);
        cache_put(&s, key, key);
        CHECK(!cache_get(&s, key, &found), "in a folder that cannot be written");
    }
    s.cache = "/proc/self/retrograd";
    cache_put(&s, key, key);
    CHECK(!cache_get(&s, key, &found), "in a file system that cannot be written");
}

/* Never more than allowed; those used last stay. */
static void
test_bound(void)
{
    enum { PUTS = 400, BYTES = 1000, LIMIT = 160000 };
    settings s = settings_for("bound", LIMIT);
    static char bytes[LIMIT];
    rg_str favourite = rg_str_of("used again and again"), content = {bytes, BYTES}, found;
    cache_put(&s, favourite, content);
    for (unsigned i = 0; i < PUTS; i++) {
        CHECK(holds(&s, favourite, content), "before put %u", i);
        cache_put(&s, numbered("key", i), content);
        CHECK(i % 20 || cache_measure(&s).bytes <= LIMIT, "after put %u", i);
    }
    CHECK(cache_measure(&s).bytes > LIMIT / 2, "and not much less");
    CHECK(holds(&s, numbered("key", PUTS - 1), content), "the newest");
    CHECK(!cache_get(&s, numbered("key", 0), &found), "the oldest");
    cache_put(&s, rg_str_of("large"), (rg_str){bytes, LIMIT});
    CHECK(!cache_get(&s, rg_str_of("large"), &found) && holds(&s, favourite, content), "what is too large is not kept, and costs nothing");
    /* what a process has left unfinished */
    str path = {.in = mem_scratch()};
    str_addf(&path, "%s/part.left", path_of(&s, favourite));
    path.len -= strlen("/part.left") + 64;
    path.ptr[path.len] = 0;
    str_addz(&path, "part.left");
    CHECK(file_write(path.ptr, "x", 1) == RG_OK, "%s", path.ptr);
    struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    CHECK(utimensat(AT_FDCWD, path.ptr, old, 0) == 0, "%s", path.ptr);
    cache_put(&s, favourite, content);
    CHECK(access(path.ptr, F_OK) != 0, "%s goes", path.ptr);
}

static void
put_and_get(const settings *s, unsigned seed, long puts)
{
    int wrong = 0;
    for (long i = 0; i < puts; i++) {
        uint64_t r = hash_u64(seed, (uint64_t)i);
        unsigned k = (unsigned)(r % 50);
        rg_str key = numbered("key", k), found;
        str content = {.in = mem_scratch()};
        for (unsigned n = 0; n < 20 * k + 1; n++)
            str_addf(&content, "%u of %u,", n, k);
        if (r >> 32 & 1)
            cache_put(s, key, str_view(&content));
        else if (cache_get(s, key, &found))
            wrong += !str_eq(found, str_view(&content));
    }
    _exit(wrong != 0);
}

/* Any entry that is found is right, while many processes add, replace and drop. */
static void
test_processes(long puts)
{
    enum { PROCESSES = 8 };
    settings s = settings_for("processes", 60000);
    pid_t children[PROCESSES];
    for (unsigned i = 0; i < PROCESSES; i++)
        if ((children[i] = fork()) == 0)
            put_and_get(&s, i, puts);
    for (unsigned i = 0; i < PROCESSES; i++) {
        int status;
        CHECK(waitpid(children[i], &status, 0) == children[i] && status == 0, "process %u: %d", i, status);
    }
    cache_size size = cache_measure(&s);
    CHECK(size.entries && size.bytes <= 60000, "%llu bytes", (unsigned long long)size.bytes);
    str command = {.in = mem_scratch()};
    str_addf(&command, "ls %s/* | grep part", s.cache);
    CHECK(system(command.ptr) != 0, "nothing unfinished is left");
}

int
main(int argc, char **argv)
{
    if (!folder_begin(here, "store_test"))
        return 1;
    test_settings();
    test_entries();
    test_damage();
    test_foreign();
    test_unwritable();
    test_bound();
    test_processes(argc > 1 ? atol(argv[1]) : 300);
    CHECK(folder_end(here), "%s", here);
    return check_done();
}

/* compile_commands.json, read by libclang. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/options.h"

#include <clang-c/CXCompilationDatabase.h>
#include <limits.h>

enum { MOST_DATABASE = 64 << 20 };

/* Whether the file in this folder names the source at all; most do not, and reading them takes time. */
static bool
mentions(const char *folder, const char *name)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/compile_commands.json", folder);
    FILE *f = fopen(path, "rb");
    if (!f)
        return false;
    bool found = false;
    char *text = NULL;
    if (fseek(f, 0, SEEK_END) == 0) {
        long size = ftell(f);
        rewind(f);
        if (size > 0 && size <= MOST_DATABASE && (text = malloc((size_t)size + 1))) {
            text[fread(text, 1, (size_t)size, f)] = 0;
            found = strstr(text, name) != NULL;
        }
    }
    free(text);
    fclose(f);
    return found;
}

static const char *
kept(arena *a, CXString s)
{
    const char *copy = arena_str(a, rg_str_of(clang_getCString(s)));
    clang_disposeString(s);
    return copy;
}

/* The real name of the file that a command is for; NULL: it is not there. */
static const char *
file_of(arena *a, CXCompileCommand c)
{
    char real[PATH_MAX];
    const char *folder = kept(a, clang_CompileCommand_getDirectory(c));
    const char *name = kept(a, clang_CompileCommand_getFilename(c));
    if (name[0] != '/')
        name = fc_format(a, "%s/%s", folder, name);
    return realpath(name, real) ? arena_str(a, rg_str_of(real)) : NULL;
}

/* What to take of a database, one of whose commands is for the file. */
typedef void database_use(arena *a, CXCompileCommands all, unsigned number, fc_words *out);

static void
take_command(arena *a, CXCompileCommands all, unsigned number, fc_words *out)
{
    CXCompileCommand c = clang_CompileCommands_getCommand(all, number);
    fc_words words = {0};
    const char *folder = kept(a, clang_CompileCommand_getDirectory(c));
    for (unsigned i = 1; i < clang_CompileCommand_getNumArgs(c); i++)
        list_push(a, &words, kept(a, clang_CompileCommand_getArg(c, i)));
    fc_add_words(a, words.at, words.n, folder, out);
}

static void
take_files(arena *a, CXCompileCommands all, unsigned number, fc_words *out)
{
    map seen = {.in = a};
    for (unsigned i = 0; i < clang_CompileCommands_getSize(all); i++) {
        const char *name = i == number ? NULL : file_of(a, clang_CompileCommands_getCommand(all, i));
        size_t n = name ? strlen(name) : 0;
        if (n < 2 || strcmp(name + n - 2, ".c") != 0 || map_get(&seen, hash_bytes(0, name, n) | 1))
            continue;
        map_set(&seen, hash_bytes(0, name, n) | 1, out);
        list_push(a, out, name);
    }
}

/* What is open while the arena may fail. */
typedef struct database {
    CXCompilationDatabase all;
    CXCompileCommands commands;
} database;

static void
database_close(void *object)
{
    database *d = object;
    if (d->commands)
        clang_CompileCommands_dispose(d->commands);
    if (d->all)
        clang_CompilationDatabase_dispose(d->all);
}

/* true: there was a command for the file. All commands are looked at: asked for one file, libclang makes up commands of
 * files that it does not have. */
static bool
take_from(arena *a, const char *folder, const char *path, database_use *use, fc_words *out)
{
    CXCompilationDatabase_Error error;
    if (!mentions(folder, strrchr(path, '/') + 1))
        return false;
    database d = {clang_CompilationDatabase_fromDirectory(folder, &error), NULL};
    mem_owner owns;
    mem_own(&owns, database_close, &d);
    d.commands = d.all ? clang_CompilationDatabase_getAllCompileCommands(d.all) : NULL;
    unsigned n = d.commands ? clang_CompileCommands_getSize(d.commands) : 0;
    bool found = false;
    for (unsigned i = 0; i < n && !found; i++) {
        const char *name = file_of(a, clang_CompileCommands_getCommand(d.commands, i));
        found = name && strcmp(name, path) == 0;
        if (found)
            use(a, d.commands, i, out);
    }
    mem_disown(&owns);
    database_close(&d);
    return found;
}

static void
search_folders(arena *a, const char *path, database_use *use, fc_words *out)
{
    char real[PATH_MAX], folder[PATH_MAX + 8];
    if (!realpath(path, real))
        return;
    for (size_t n = strlen(real); n > 0;) {
        do
            n--;
        while (n > 0 && real[n] != '/');
        snprintf(folder, sizeof folder, "%.*s", (int)n, real);
        if (take_from(a, n ? folder : "/", real, use, out))
            return;
        snprintf(folder, sizeof folder, "%.*s/build", (int)n, real);
        if (take_from(a, folder, real, use, out))
            return;
    }
}

void
fc_database_words(arena *a, const char *path, fc_words *out)
{
    search_folders(a, path, take_command, out);
}

void
fc_database_files(arena *a, const char *path, fc_words *out)
{
    search_folders(a, path, take_files, out);
}

/* What compiling a source depends on beside its text: files that it includes, places where others would be found, the
 * database of compile commands. SPDX-License-Identifier: Apache-2.0
 *
 * Contents are those that libclang read. Where more matters than can be listed (a header that is missing, a test whether
 * one is there, the time of day) the list is left open. */
#include "front/c/import.h"
#include "front/c/options.h"

#include <limits.h>

/* -- headers ------------------------------------------------------------------------------------------------------- */

/* Whether a line that begins with # has the word `embed`. */
static bool
has_embed(rg_str text)
{
    static const char word[] = "embed";
    const char *end = text.ptr + text.len, *at = text.ptr;
    while (at && (at = memmem(at, (size_t)(end - at), word, sizeof word - 1))) {
        const char *line = at;
        while (line > text.ptr && line[-1] != '\n')
            line--;
        line = fc_skip_blanks(line, end);
        if (*line == '#' || strncmp(line, "%:", 2) == 0)
            return true;
        at += sizeof word - 1;
    }
    return false;
}

/* Text that asks the preprocessor for what no list holds. */
static bool
asks_for_more(rg_str text)
{
    static const char *const words[] = {"__has_include", "__has_embed", "__DATE__", "__TIME__", "__TIMESTAMP__"};
    for (size_t i = 0; i < countof(words); i++)
        if (text.len && memmem(text.ptr, text.len, words[i], strlen(words[i])))
            return true;
    return has_embed(text);
}

static bool
begins_with_folder(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    while (n > 1 && folder[n - 1] == '/')
        n--;
    return strncmp(path, folder, n) == 0 && path[n] == '/';
}

static void
add_folder_of(arena *a, fc_words *folders, const char *path)
{
    const char *end = strrchr(path, '/');
    const char *folder = end ? fc_format(a, "%.*s", (int)(end - path), path) : ".";
    for (size_t i = 0; i < folders->n; i++)
        if (strcmp(folders->at[i], folder) == 0)
            return;
    list_push(a, folders, folder);
}

/* those of a variable, with colons between them */
static void
add_folders(arena *a, fc_words *folders, const char *list)
{
    for (const char *at = list; at; at = strchr(at, ':'), at = at ? at + 1 : NULL) {
        int n = (int)strcspn(at, ":");
        list_push(a, folders, n ? fc_format(a, "%.*s", n, at) : ".");
    }
}

/* The folders of the user's that headers are looked for in; false: a header comes in another way. */
static bool
user_folders(unit *u, const settings *asked, fc_words *out)
{
    add_folders(u->arena, out, asked->include_path);
    add_folders(u->arena, out, asked->c_include_path);
    for (size_t i = 0; i < u->words.n; i++) {
        const char *word = u->words.at[i];
        bool two = strcmp(word, "-isystem") == 0 || strcmp(word, "-iquote") == 0 || strcmp(word, "-idirafter") == 0;
        if (strcmp(word, "-include") == 0 || strcmp(word, "-imacros") == 0)
            return false;
        if (!two && strncmp(word, "-I", 2) != 0)
            continue;
        const char *folder = two && i + 1 < u->words.n ? u->words.at[++i] : word + 2;
        bool of_system = strncmp(folder, "/retrograd/", 11) == 0;
        for (size_t k = u->system_from; k < u->searched.n; k++)
            of_system |= strcmp(folder, u->searched.at[k]) == 0;
        if (!of_system)
            list_push(u->arena, out, folder);
    }
    return true;
}

/* Where else the file of this folder would have been found, were it there: NAME of #include <NAME> is its path in the
 * folder. false: it is not in the folder. */
static bool
look_for_others(unit *u, const fc_words *users, const char *path, const char *folder, seen_list *seen)
{
    if (!begins_with_folder(path, folder))
        return false;
    const char *name = path + strlen(folder);
    name += strspn(name, "/");
    for (size_t i = 0; i < users->n; i++)
        (void)seen_nothing(seen, fc_format(u->arena, "%s/%s", users->at[i], name));
    return true;
}

/* Of several folders that it is in, any may be the one that it was found in. */
static void
look_for_all_others(unit *u, const fc_words *users, const char *path, seen_list *seen)
{
    static const char *const ours[] = {FRONT_HEADER_DIR, FRONT_SPARE_DIR};
    const char *last = strrchr(path, '/');
    bool found = false;
    for (size_t i = 0; i < countof(ours); i++)
        found |= look_for_others(u, users, path, ours[i], seen);
    for (size_t i = 0; i < users->n; i++)
        found |= look_for_others(u, users, path, users->at[i], seen);
    for (size_t i = 0; i < u->searched.n; i++)
        found |= look_for_others(u, users, path, u->searched.at[i], seen);
    if (!found && last)
        (void)look_for_others(u, users, path, fc_format(u->arena, "%.*s", (int)(last - path), path), seen);
}

typedef struct included {
    const char *path;
    rg_str text;
    bool system;
} included;

static included
included_file(unit *u, CXFile handle)
{
    CXString name = clang_getFileName(handle);
    included f = {.path = arena_str(u->arena, rg_str_of(clang_getCString(name)))};
    clang_disposeString(name);
    f.text.ptr = clang_getFileContents(u->tu, handle, &f.text.len);
    for (size_t i = 0; i < u->originals.n; i++)
        if (strcmp(u->originals.at[i].path, f.path) == 0)
            f.text = (rg_str){u->originals.at[i].text, u->originals.at[i].len};
    f.system = clang_Location_isInSystemHeader(clang_getLocationForOffset(u->tu, handle, 0));
    return f;
}

/* Without its main file, whose text the caller knows. */
static void
look_at_headers(unit *u, seen_list *seen)
{
    fc_words users = {0};
    files all = fc_unit_inclusions(u);
    included *list = arena_new_n(u->arena, included, all.n + 1);
    settings asked = settings_read();
    seen->open |= !user_folders(u, &asked, &users) || !fc_system_folders_hold(&asked);
    for (size_t i = 0; i < u->words.n; i++)
        seen->open |= asks_for_more(rg_str_of(u->words.at[i]));
    for (size_t i = 0; i < u->errors.n; i++)
        seen->open |= u->errors.at[i].kind == ERROR_MISSING;
    for (size_t i = 0; i < all.n; i++) {
        list[i] = included_file(u, all.at[i]);
        seen->open |= !list[i].text.ptr || (!list[i].system && asks_for_more(list[i].text));
        if (!list[i].system)
            add_folder_of(u->arena, &users, list[i].path);
    }
    for (size_t i = 1; i < all.n; i++) {
        if (!begins_with_folder(list[i].path, "/retrograd"))
            seen_file(seen, list[i].path, list[i].text);
        look_for_all_others(u, &users, list[i].path, seen);
    }
}

/* -- compile_commands.json ----------------------------------------------------------------------------------------- */

static void
look_at_database(arena *a, const char *folder, seen_list *seen)
{
    const char *path = fc_format(a, "%s/compile_commands.json", folder);
    str text;
    if (seen_nothing(seen, path))
        return;
    if (file_read(path, &text) == RG_OK)
        seen_file(seen, path, str_view(&text));
    else
        seen->open = true;
}

static void
look_at_databases(arena *a, const char *path, seen_list *seen)
{
    char real[PATH_MAX];
    if (!realpath(path, real)) {
        seen->open = true;
        return;
    }
    for (char *end; (end = strrchr(real, '/'));) {
        *end = 0;
        look_at_database(a, real, seen);
        look_at_database(a, fc_format(a, "%s/build", real), seen);
    }
}

void
fc_unit_look(unit *u, bool on_disk, seen_list *seen)
{
    look_at_headers(u, seen);
    if (on_disk)
        look_at_databases(u->arena, u->originals.at[0].path, seen);
}

/* What compiling a source depends on beside its text: files that it includes, places where others would be found, the
 * database of compile commands. SPDX-License-Identifier: Apache-2.0
 *
 * Contents are those that libclang read. Where more matters than can be listed (a header that is missing, a test whether
 * one is there, the time of day) the list is left open. */
#include "front/c/import.h"

#include "base/settings.h"

#include <limits.h>

/* -- headers ------------------------------------------------------------------------------------------------------- */

/* Text that asks the preprocessor for what no list holds. */
static bool
asks_for_more(rg_str text)
{
    static const char *const words[] = {"__has_include", "__has_embed", "#embed", "__DATE__", "__TIME__", "__TIMESTAMP__"};
    for (size_t i = 0; i < countof(words); i++)
        if (text.len && memmem(text.ptr, text.len, words[i], strlen(words[i])))
            return true;
    return false;
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
user_folders(unit *u, fc_words *out)
{
    settings asked = settings_read();
    add_folders(u->arena, out, asked.include_path);
    add_folders(u->arena, out, asked.c_include_path);
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

/* How a file is called in the folder that it was found in: NAME of #include <NAME>. */
static const char *
name_in_folder(const unit *u, const fc_words *users, const char *path)
{
    static const char *const ours[] = {FRONT_HEADER_DIR, FRONT_SPARE_DIR};
    for (size_t i = 0; i < countof(ours); i++)
        if (begins_with_folder(path, ours[i]))
            return path + strlen(ours[i]) + 1;
    for (size_t i = 0; i < users->n; i++)
        if (begins_with_folder(path, users->at[i]))
            return path + strlen(users->at[i]) + strspn(path + strlen(users->at[i]), "/");
    for (size_t i = 0; i < u->searched.n; i++)
        if (begins_with_folder(path, u->searched.at[i]))
            return path + strlen(u->searched.at[i]) + strspn(path + strlen(u->searched.at[i]), "/");
    const char *last = strrchr(path, '/');
    return last ? last + 1 : path;
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
    seen->open |= !user_folders(u, &users);
    for (size_t i = 0; i < u->errors.n; i++)
        seen->open |= u->errors.at[i].kind == ERROR_MISSING;
    for (size_t i = 0; i < all.n; i++) {
        list[i] = included_file(u, all.at[i]);
        seen->open |= !list[i].text.ptr || (!list[i].system && asks_for_more(list[i].text));
        if (!list[i].system)
            add_folder_of(u->arena, &users, list[i].path);
    }
    for (size_t i = 1; i < all.n; i++) {
        const char *name = name_in_folder(u, &users, list[i].path);
        if (!begins_with_folder(list[i].path, "/retrograd"))
            seen_file(seen, list[i].path, list[i].text);
        for (size_t k = 0; k < users.n; k++)
            (void)seen_nothing(seen, fc_format(u->arena, "%s/%s", users.at[k], name));
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

void
fc_look_at_databases(arena *a, const char *path, seen_list *seen)
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
        fc_look_at_databases(u->arena, u->originals.at[0].path, seen);
}

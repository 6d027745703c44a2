/* The words that libclang is given. SPDX-License-Identifier: Apache-2.0
 *
 * Order of the folders of <...>: those named by the user; the headers that the front end knows by heart
 * (FRONT_HEADER_DIR); libclang's own, where they are installed; the system's, as the C compiler has them; and last
 * ours, for a machine without a C compiler (FRONT_SPARE_DIR). The front end's stand before the system's so that assert,
 * isnan and the like are what it knows, and results are the same everywhere. */
#include "front/c/options.h"

#include <ctype.h>
#include <unistd.h>

static const char *
joined(arena *a, const char *first, const char *second)
{
    return fc_format(a, "%s%s", first, second);
}

/* -- words of a compiler's command line ----------------------------------------------------------- */

typedef enum word_use {
    WORD_DROPPED,
    WORD_KEPT,
    WORD_MACRO,   /* -D X, -DX */
    WORD_FOLDER,  /* -I X, -IX */
    WORD_FILE,    /* -include X */
    WORD_UNWANTED /* -o X, -oX */
} word_use;

typedef struct word_row {
    const char *name;
    word_use use;
    bool prefix; /* of words without a value of their own: what follows the name belongs to it */
} word_row;

/* Names that begin like another one come first. Words that are not listed are dropped: they say how code is made, which
 * warnings there are, what is linked. */
static const word_row word_rows[] = {
    {"-isystem", WORD_FOLDER, false},
    {"-iquote", WORD_FOLDER, false},
    {"-idirafter", WORD_FOLDER, false},
    {"-include", WORD_FILE, false},
    {"-imacros", WORD_FILE, false},
    {"-isysroot", WORD_UNWANTED, false},
    {"-I", WORD_FOLDER, false},
    {"-D", WORD_MACRO, false},
    {"-U", WORD_MACRO, false},
    {"-std=", WORD_KEPT, true},
    {"--std=", WORD_KEPT, true},
    {"-ansi", WORD_KEPT, false},
    {"-trigraphs", WORD_KEPT, false},
    {"-nostdinc", WORD_KEPT, false},
    {"-nobuiltininc", WORD_KEPT, false}, /* without libclang's own headers */
    {"-undef", WORD_KEPT, false},
    {"-pthread", WORD_KEPT, false},
    {"-funsigned-char", WORD_KEPT, false},
    {"-fsigned-char", WORD_KEPT, false},
    {"-fno-unsigned-char", WORD_KEPT, false},
    {"-fno-signed-char", WORD_KEPT, false},
    {"-fshort-enums", WORD_KEPT, false},
    {"-fpack-struct", WORD_KEPT, true},
    {"-fms-extensions", WORD_KEPT, false},
    {"-fgnu89-inline", WORD_KEPT, false},
    {"-framework", WORD_UNWANTED, false},
    {"-o", WORD_UNWANTED, false},
    {"-MF", WORD_UNWANTED, false},
    {"-MT", WORD_UNWANTED, false},
    {"-MQ", WORD_UNWANTED, false},
    {"-MJ", WORD_UNWANTED, false},
    {"-x", WORD_UNWANTED, false},
    {"-arch", WORD_UNWANTED, false},
    {"-target", WORD_UNWANTED, false},
    {"-Xclang", WORD_UNWANTED, false},
    {"-Xlinker", WORD_UNWANTED, false},
    {"-Xassembler", WORD_UNWANTED, false},
    {"-Xpreprocessor", WORD_UNWANTED, false},
    {"-L", WORD_UNWANTED, false},
    {"-l", WORD_UNWANTED, false},
    {"-T", WORD_UNWANTED, false},
    {"-B", WORD_UNWANTED, false},
};

/* value: behind the name in the same word; empty: in the next one, if the use has a value */
static word_use
use_of(const char *word, const char **name, const char **value)
{
    for (size_t i = 0; i < countof(word_rows); i++) {
        const word_row *row = &word_rows[i];
        size_t n = strlen(row->name);
        bool same = strncmp(word, row->name, n) == 0;
        *name = row->name;
        *value = word + n;
        if (same && (row->use != WORD_KEPT || row->prefix || !word[n]))
            return row->use;
    }
    return WORD_DROPPED;
}

static const char *
whole_path(arena *a, const char *folder, const char *path)
{
    if (!folder || path[0] == '/' || !path[0])
        return path;
    return fc_format(a, "%s/%s", folder, path);
}

void
fc_add_words(arena *a, const char *const *words, size_t n, const char *folder, fc_words *out)
{
    for (size_t i = 0; i < n; i++) {
        const char *name, *value;
        word_use use = use_of(words[i], &name, &value);
        if (use == WORD_DROPPED)
            continue;
        if (use == WORD_KEPT) {
            list_push(a, out, words[i]);
            continue;
        }
        if (!*value && i + 1 < n)
            value = words[++i];
        if (use == WORD_UNWANTED || !*value)
            continue;
        if (use == WORD_FOLDER)
            value = whole_path(a, folder, value);
        if (use == WORD_FILE) {
            /* A file for -include is looked for among the folders if it does not lie where the compiler runs. */
            const char *whole = whole_path(a, folder, value);
            value = access(whole, R_OK) == 0 ? whole : value;
        }
        if (name[2]) { /* a name longer than -I is a word of its own */
            list_push(a, out, name);
            list_push(a, out, value);
        } else {
            list_push(a, out, joined(a, name, value));
        }
    }
}

/* -- which headers a text includes ---------------------------------------------------------------- */

static bool
is_alone(const front_header *headers, size_t n, rg_str name)
{
    for (size_t i = 0; i < n; i++)
        if (headers[i].alone && str_eq(rg_str_of(headers[i].name), name))
            return true;
    return false;
}

/* Whether an #include at p, behind the #, is of a header that needs nothing of the system. */
static bool
is_known_header(const char *p, const char *end)
{
    const char *close = p < end && *p == '<' ? memchr(p, '>', (size_t)(end - p)) : NULL;
    rg_str name = {p + 1, close ? (size_t)(close - p) - 1 : 0};
    return is_alone(front_headers, front_header_count, name) || is_alone(front_cxx_headers, front_cxx_header_count, name) ||
           is_alone(front_spare_headers, front_spare_header_count, name);
}

/* Most kernels include <math.h> and the like: then nobody is asked where the system's headers are. */
static bool
needs_system(rg_str text)
{
    const char *end = text.ptr + text.len;
    for (const char *p = text.ptr; p && p < end; p = memchr(p, '\n', (size_t)(end - p)), p = p ? p + 1 : NULL) {
        const char *at = fc_skip_blanks(p, end);
        if (at == end || *at != '#')
            continue;
        at = fc_skip_blanks(at + 1, end);
        if (end - at < 8 || (strncmp(at, "include", 7) != 0 && strncmp(at, "import", 6) != 0))
            continue;
        if (!is_known_header(fc_skip_blanks(at + 7, end), end))
            return true;
    }
    return false;
}

static bool
is_among(const fc_words *words, const char *word)
{
    for (size_t i = 0; i < words->n; i++)
        if (strcmp(words->at[i], word) == 0)
            return true;
    return false;
}

/* -- all of them ---------------------------------------------------------------------------------- */

bool
fc_is_cxx(const front_c_source *source)
{
    static const char *const endings[] = {".cpp", ".cc", ".cxx", ".c++", ".C"};
    const char *dot = source->path ? strrchr(source->path, '.') : NULL;
    for (size_t i = 0; dot && i < countof(endings); i++)
        if (strcmp(dot, endings[i]) == 0)
            return true;
    return false;
}

static void
add_fixed(arena *a, bool cxx, fc_words *out)
{
    static const char *const fixed[] = {
        "-nostdlibinc", "-ferror-limit=0",
        /* deeper ones would overflow the stack of the thread that parses */
        "-fbracket-depth=256",
        "-D_OPENMP=201511", "-D__RETROGRAD__=1", "-D__OMP(n)=__OMP2(n,__COUNTER__)", "-D__OMP2(n,c)=__OMP3(n,c)",
        "-D__OMP3(n,c)=__omp##n##_##c:",
        /* of macros that make pragmas of their arguments: of omp(7) a directive's label, of another text the pragma */
        "-D__RGQ(...)=__RGQ1(__RGT_##__VA_ARGS__,__RGP,)(#__VA_ARGS__)", "-D__RGQ1(...)=__RGQ2(__VA_ARGS__)",
        "-D__RGQ2(a,b,...)=b", "-D__RGT_omp(n)=,__OMP(n) __RGE", "-D__RGE(s)=", "-D__RGP(s)=_Pragma(s)",
        /* a directive that could not be read must not be skipped in silence */
        "-Werror=source-uses-openmp",
        /* what compilers took for a warning in the days of the programs that have it */
        "-Wno-error=implicit-function-declaration", "-Wno-error=implicit-int"};
    list_push(a, out, cxx ? "-xc++" : "-xc");
    list_push(a, out, cxx ? "-std=gnu++17" : "-std=gnu17");
    for (size_t i = 0; i < countof(fixed); i++)
        list_push(a, out, fixed[i]);
}

/* The user's words decide over those of the database: their folders stand before it, their macros also behind it. */
static void
add_given(arena *a, const front_c_source *source, fc_words *out)
{
    fc_words given = {0};
    for (uint32_t i = 0; i < source->include_count; i++)
        list_push(a, &given, joined(a, "-I", source->include_paths[i]));
    for (uint32_t i = 0; i < source->define_count; i++)
        list_push(a, &given, joined(a, "-D", source->defines[i]));
    fc_add_words(a, source->options, source->option_count, NULL, &given);
    for (size_t i = 0; i < given.n; i++)
        list_push(a, out, given.at[i]);
    size_t before = out->n;
    if (source->on_disk)
        fc_database_words(a, source->path, out);
    for (size_t i = 0; i < given.n && out->n > before; i++)
        if (given.at[i][1] == 'D' || given.at[i][1] == 'U' || strncmp(given.at[i], "-std=", 5) == 0)
            list_push(a, out, given.at[i]);
}

/* The folder of an -I that the compiler searches anyway, as -I /usr/include: its place among the others stays, or the C
 * library's headers would stand before those that the front end knows. */
static bool
is_searched_anyway(const fc_words *system, const char *folder)
{
    char plain[4096];
    size_t n = strlen(folder);
    while (n > 1 && folder[n - 1] == '/')
        n--;
    snprintf(plain, sizeof plain, "%.*s", (int)n, folder);
    return is_among(system, plain) || strcmp(plain, "/usr/include") == 0 || strcmp(plain, "/usr/local/include") == 0;
}

static void
add_folder_behind(arena *a, fc_words *out, fc_words *searched, const char *folder)
{
    list_push(a, out, "-idirafter");
    list_push(a, out, folder);
    list_push(a, searched, folder);
}

void
fc_parser_words(arena *a, const front_c_source *source, rg_str text, fc_words *out, fc_words *searched,
                size_t *system_from)
{
    fc_words given = {0}, system = {0}, behind = {0};
    const char *const *folders;
    add_given(a, source, &given);
    bool wants_system = !is_among(&given, "-nostdinc") && (is_among(&given, "-include") || needs_system(text));
    size_t n = wants_system ? fc_system_folders(&folders) : 0;
    for (size_t i = 0; i < n; i++)
        list_push(a, &system, folders[i]);
    bool cxx = fc_is_cxx(source);
    add_fixed(a, cxx, out);
    for (size_t i = 0; i < given.n; i++) {
        const char *word = given.at[i], *folder = word + 2;
        /* -std=c++17 of a command for all files */
        if (strstr(word, "-std=") && (strstr(word, "++") != NULL) != cxx)
            continue;
        bool two = strcmp(word, "-isystem") == 0 && i + 1 < given.n;
        if (two)
            folder = given.at[++i];
        if (!two && strncmp(word, "-I", 2) != 0) {
            list_push(a, out, word);
        } else if (is_searched_anyway(&system, folder)) {
            list_push(a, &behind, folder);
        } else {
            list_push(a, out, word);
            if (two)
                list_push(a, out, folder);
            list_push(a, searched, folder);
        }
    }
    *system_from = searched->n;
    list_push(a, out, "-isystem");
    list_push(a, out, FRONT_HEADER_DIR);
    for (size_t i = 0; i < system.n; i++)
        add_folder_behind(a, out, searched, system.at[i]);
    list_push(a, out, "-idirafter");
    list_push(a, out, FRONT_SPARE_DIR);
    for (size_t i = 0; i < behind.n; i++) /* one folder of several: its headers may lack others */
        if (!is_among(&system, behind.at[i]))
            add_folder_behind(a, out, searched, behind.at[i]);
}

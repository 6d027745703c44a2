/* C becomes IR, or what it became before is taken from the cache. SPDX-License-Identifier: Apache-2.0
 *
 * The key of an entry has the text and all that the caller says of it; the entry has what the front end looked at beside
 * that, the IR as text, and the kernel's outline, which is all that launches need whose code is kept.
 * The same for the list of a file's kernels. */
#include "api/api_source.h"

#include "api/api.h"

#include "cache/cache.h"
#include "cache/version.h"
#include "compiler/process.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- keys ---------------------------------------------------------------------------------------------------------- */

/* The file that is run under this name, and which one of that name it is; a name that nobody has is put alone. */
static void
put_program(str *key, const char *name, const char *folders)
{
    struct stat st;
    bytes_put(key, rg_str_of(name));
    for (const char *at = folders; at && !strchr(name, '/'); at = strchr(at, ':'), at = at ? at + 1 : NULL) {
        str path = {.in = mem_scratch()};
        str_addf(&path, "%.*s/%s", (int)strcspn(at, ":"), at, name);
        if (access(path.ptr, X_OK) || stat(path.ptr, &st))
            continue;
        bytes_put(key, str_view(&path));
        bytes_put_u64(key, (uint64_t)st.st_mtime);
        bytes_put_u64(key, (uint64_t)st.st_size);
        return;
    }
}

/* What the front end asks of the process: where it runs, and which compiler says where the system's headers are. */
static void
put_process(str *key, const settings *asked, const front_c_source *s)
{
    static const char *const usual[] = {"cc", "gcc", "clang"};
    char folder[PATH_MAX];
    bool anywhere = !s->on_disk || s->path[0] == '/';
    bytes_put(key, rg_str_of(!anywhere && getcwd(folder, sizeof folder) ? folder : ""));
    bytes_put(key, asked->include_path ? rg_str_of(asked->include_path) : (rg_str){NULL, 0});
    bytes_put(key, asked->c_include_path ? rg_str_of(asked->c_include_path) : (rg_str){NULL, 0});
    for (size_t i = 0; i < countof(usual) && !asked->compiler; i++)
        put_program(key, usual[i], asked->programs);
    if (asked->compiler) {
        str first = {.in = mem_scratch()};
        bytes_put(key, rg_str_of(asked->compiler));
        str_add(&first, (rg_str){asked->compiler, strcspn(asked->compiler, " \t")});
        put_program(key, first.ptr, asked->programs);
    }
}

static str
source_key(const settings *asked, const front_c_source *s, const char *what)
{
    str key = {.in = mem_scratch()};
    bytes_put(&key, rg_str_of(what));
    bytes_put(&key, rg_str_of(cache_version()));
    bytes_put(&key, rg_str_of(s->path));
    bytes_put(&key, s->kernel ? rg_str_of(s->kernel) : (rg_str){NULL, 0});
    bytes_put_u32(&key, s->on_disk);
    bytes_put_list(&key, s->include_paths, s->include_count);
    bytes_put_list(&key, s->defines, s->define_count);
    bytes_put_list(&key, s->options, s->option_count);
    bytes_put_u32(&key, s->file_count);
    for (uint32_t i = 0; i < s->file_count; i++) {
        bytes_put(&key, rg_str_of(s->files[i].path));
        bytes_put(&key, s->files[i].text);
    }
    put_process(&key, asked, s);
    bytes_put(&key, s->text);
    return key;
}

/* -- entries ------------------------------------------------------------------------------------------------------- */

typedef struct found {
    rg_str content;
    bytes_reader rest; /* behind the list of what was looked at */
    seen_list seen;
    rg_str *texts;
} found;

/* false: there is no entry, or it does not hold any more */
static bool
look_up(const settings *asked, const front_c_source *s, rg_str key, const char *what, found *f)
{
    const char *why;
    const char *of = s->kernel ? s->kernel : "all";
    double since = clock_ms();
    if (!cache_get(asked, key, &f->content))
        return false;
    f->rest = bytes_of(f->content);
    if (!seen_is_same(&f->rest, &f->seen, &f->texts, &why)) {
        cache_log(asked, "%s of %s, %s: %s is another", what, s->path, of, why);
        return false;
    }
    api_tell(asked, RG_EVENT_FOUND, since, "%s of %s, %s", what, s->path, of);
    return true;
}

/* The text that messages show of a file. */
static rg_str
shown_text(const front_c_source *s, const found *f, const char *path)
{
    if (strcmp(path, s->path) == 0)
        return s->text;
    for (uint32_t i = 0; i < s->file_count; i++)
        if (s->files[i].text.ptr && strcmp(s->files[i].path, path) == 0)
            return s->files[i].text;
    for (size_t i = 0; i < f->seen.items.n; i++)
        if (f->seen.items.at[i].kind == SEEN_FILE && strcmp(f->seen.items.at[i].path, path) == 0)
            return f->texts[i];
    return (rg_str){NULL, 0};
}

str
api_source_key(const settings *asked, const front_c_source *source)
{
    str folder, none = {.in = mem_scratch()};
    return cache_folder(asked, &folder) ? source_key(asked, source, "ir") : none;
}

bool
api_source_find(const settings *asked, const front_c_source *source, rg_str key, rg_str *text, rg_str *outline)
{
    found f;
    if (!key.len || !look_up(asked, source, key, "IR", &f))
        return false;
    *text = bytes_str(&f.rest);
    *outline = bytes_str(&f.rest);
    return bytes_done(&f.rest) && text->ptr && outline->ptr;
}

/* Lines of other files that messages show; none where these have changed meanwhile. */
static void
add_texts(const front_c_source *s, ir_module *m)
{
    settings quiet = settings_read();
    quiet.cache_log = false;
    found f = {0};
    str key = source_key(&quiet, s, "ir");
    if (!look_up(&quiet, s, str_view(&key), "IR", &f))
        f = (found){0};
    for (size_t i = 1; i < m->files.n; i++)
        ir_know_text(m, m->files.at[i].path, shown_text(s, &f, m->files.at[i].path));
}

static rg_status
compile_source(const settings *asked, const front_c_source *source, ir_module **out, diag_list *diags)
{
    if (asked->apart)
        return process_compile_c(source, out, diags);
    *out = front_c_compile(source, diags);
    return *out ? RG_OK : RG_COMPILE;
}

static rg_status
list_source(const settings *asked, const front_c_source *source, front_c_names *names, diag_list *diags)
{
    if (asked->apart)
        return process_list_c(source, names, diags);
    return front_c_list(source, names, diags) ? RG_OK : RG_COMPILE;
}

ir_module *
api_source_parse(const settings *asked, const front_c_source *source, rg_str text, diag_list *diags)
{
    diag_list none = {.text.in = mem_scratch()};
    cache_log(asked, "read IR of %s, %s", source->path, source->kernel);
    ir_module *m = ir_parse(text, source->path, &none);
    mem_owner owns;
    mem_own(&owns, ir_module_release, m);
    bool good = m && ir_verify(m, IR_STAGE_SOURCE, NULL, &none);
    if (good)
        add_texts(source, m);
    mem_disown(&owns);
    if (good)
        return m;
    ir_module_free(m);
    return compile_source(asked, source, &m, diags) ? NULL : m; /* it was IR when it was kept */
}

rg_status
api_source_compile(const settings *asked, const front_c_source *source, seen_list *seen, ir_module **out, diag_list *diags)
{
    str folder;
    front_c_source told = *source;
    double since = clock_ms();
    seen_begin(seen);
    told.seen = cache_folder(asked, &folder) ? seen : NULL;
    seen->open = !told.seen;
    TRY(compile_source(asked, &told, out, diags));
    mem_owner owns;
    mem_own(&owns, ir_module_release, *out);
    if (told.seen || asked->told)
        api_tell(asked, RG_EVENT_MADE, since, "IR of %s, %s%s", source->path, source->kernel,
                 seen->open ? ", which is not kept" : "");
    mem_disown(&owns);
    return RG_OK;
}

void
api_source_keep(const settings *asked, rg_str key, const seen_list *seen, rg_str text, rg_str outline)
{
    if (seen->open || !key.len)
        return;
    str content = {.in = mem_scratch()};
    seen_write(seen, &content);
    bytes_put(&content, text);
    bytes_put(&content, outline);
    cache_put(asked, key, str_view(&content));
}

static bool
read_names(found *f, front_c_names *names)
{
    names->count = bytes_u32(&f->rest);
    names->statics = bytes_u32(&f->rest);
    uint32_t n;
    names->names = bytes_list(&f->rest, &n, mem_scratch());
    return bytes_done(&f->rest) && (uint64_t)names->count + names->statics == n;
}

rg_status
api_source_list(const settings *asked, const front_c_source *source, front_c_names *names, diag_list *diags)
{
    str folder;
    if (!cache_folder(asked, &folder))
        return list_source(asked, source, names, diags);
    found f;
    str key = source_key(asked, source, "names");
    if (look_up(asked, source, str_view(&key), "names", &f) && read_names(&f, names))
        return RG_OK;
    seen_list seen;
    front_c_source told = *source;
    double since = clock_ms();
    seen_begin(&seen);
    told.seen = &seen;
    TRY(list_source(asked, &told, names, diags));
    str content = {.in = mem_scratch()};
    seen_write(&seen, &content);
    bytes_put_u32(&content, names->count);
    bytes_put_u32(&content, names->statics);
    bytes_put_list(&content, names->names, names->count + names->statics);
    api_tell(asked, RG_EVENT_MADE, since, "names of %s%s", source->path, seen.open ? ", which is not kept" : "");
    if (!seen.open)
        cache_put(asked, str_view(&key), str_view(&content));
    return RG_OK;
}

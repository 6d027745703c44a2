/* Several files as one program: what one uses and another one defines. SPDX-License-Identifier: Apache-2.0
 *
 * Each file is a unit of its own, with its own static functions, macros and types, as for a linker. A body that is
 * missing is looked for in the files that were given, then in those that compile_commands.json has beside the source;
 * their texts decide which of them are parsed. What is found takes the place of the declaration in the trees that
 * use it. */
#include "front/c/import.h"
#include "front/c/link.h"

#include <limits.h>
#include <sys/stat.h>

/* A file that may define what is missing. */
typedef struct other {
    const char *path;
    rg_str text; /* {NULL, 0}: not read yet */
    bool in_memory;
    unit *unit; /* NULL: not parsed yet */
    bool failed;
} other;

typedef list(other *) others;

struct project {
    arena *arena;
    rg_builder *builder;
    diag_list *diags;
    const front_c_source *source;
    unit *main;
    others named, given, listed; /* given: in folders; listed: by compile_commands.json, which is read once it is asked */
    bool knows_listed;
    map calls; /* of functions without a body, by name: a counter */
    list(decl *) work; /* whose trees are to be walked */
};

/* -- the files ------------------------------------------------------------------------------------ */

static const char *
real_path(arena *a, const char *path)
{
    char real[PATH_MAX];
    return realpath(path, real) ? arena_str(a, rg_str_of(real)) : path;
}

static bool
is_among(const project *p, const others *files, const char *real)
{
    for (size_t i = 0; i < files->n; i++)
        if (strcmp(real_path(p->arena, files->at[i]->path), real) == 0)
            return true;
    return false;
}

static bool
is_known(const project *p, const char *path)
{
    const char *real = real_path(p->arena, path);
    if (strcmp(real_path(p->arena, p->source->path), real) == 0)
        return true;
    return is_among(p, &p->named, real) || is_among(p, &p->given, real);
}

static void
add_other(project *p, others *to, const char *path, rg_str text)
{
    if (is_known(p, path))
        return;
    other *o = arena_one(p->arena, other);
    *o = (other){.path = path, .text = text, .in_memory = text.ptr != NULL};
    list_push(p->arena, to, o);
}

/* All C files of a folder, in the order of their names. */
static bool
add_folder(project *p, const char *path)
{
    size_t length = strlen(path);
    str names;
    if (!seen_list_folder(path, &names))
        return false;
    if (p->source->seen)
        seen_folder(p->source->seen, path, str_view(&names));
    while (length > 1 && path[length - 1] == '/')
        length--;
    for (const char *name = names.ptr; name < names.ptr + names.len; name += strlen(name) + 1)
        add_other(p, &p->given, fc_format(p->arena, "%.*s/%s", (int)length, path, name), (rg_str){0});
    return true;
}

static bool
add_given(project *p, const front_c_file *file)
{
    struct stat info;
    if (file->text.ptr) {
        add_other(p, &p->named, file->path, file->text);
        return true;
    }
    bool there = stat(file->path, &info) == 0;
    if (there && S_ISDIR(info.st_mode))
        return add_folder(p, file->path);
    if (there)
        add_other(p, &p->named, file->path, (rg_str){0});
    return there;
}

project *
fc_project_new(arena *a, rg_builder *b, diag_list *diags, const front_c_source *source, unit *main)
{
    project *p = arena_one(a, project);
    *p = (project){.arena = a, .calls.in = a, .builder = b, .diags = diags, .source = source, .main = main};
    main->project = p;
    for (uint32_t i = 0; i < source->file_count; i++) {
        if (add_given(p, &source->files[i]))
            continue;
        diag_add(diags, DIAG_ERROR, ERR_NO_FILE, (diag_place){0}, "cannot read `%s`", source->files[i].path);
        return NULL;
    }
    return p;
}

void
fc_project_close(project *p)
{
    if (!p)
        return;
    const others *all[] = {&p->named, &p->given, &p->listed};
    for (size_t k = 0; k < countof(all); k++)
        for (size_t i = 0; i < all[k]->n; i++)
            fc_unit_close(all[k]->at[i]->unit);
}

static rg_str
text_of(project *p, other *o)
{
    if (o->text.ptr)
        return o->text;
    str read;
    bool ok = file_read(o->path, &read) == RG_OK;
    o->text = (rg_str){ok ? arena_str(p->arena, str_view(&read)) : "", ok ? read.len : 0};
    return o->text;
}

/* NULL: it could not be parsed, which was said. */
static unit *
unit_of(project *p, other *o)
{
    if (o->unit || o->failed)
        return o->failed ? NULL : o->unit;
    front_c_source source = *p->source;
    source.path = o->path;
    source.text = text_of(p, o);
    source.on_disk = !o->in_memory;
    o->unit = fc_unit_new(p->arena, p->builder, p->diags);
    o->unit->project = p;
    o->failed = !fc_unit_parse(o->unit, &source);
    return o->failed ? NULL : o->unit;
}

static void
note_missing(const others *files)
{
    for (size_t i = 0; i < files->n; i++)
        if (files->at[i]->unit && files->at[i]->unit->concerned)
            fc_unit_note_missing(files->at[i]->unit);
}

void
fc_project_note_missing(project *p)
{
    fc_unit_note_missing(p->main);
    note_missing(&p->named);
    note_missing(&p->given);
    note_missing(&p->listed);
}

/* Files that were never read matter, too, if they were named: they have to be there. */
static void
look_at(project *p, const others *files, bool named, seen_list *seen)
{
    for (size_t i = 0; i < files->n; i++) {
        other *o = files->at[i];
        if (o->unit)
            fc_unit_look(o->unit, !o->in_memory, seen);
        if (o->in_memory || (!named && !o->text.ptr))
            continue;
        rg_str text = text_of(p, o);
        if (text.len || !seen_nothing(seen, o->path))
            seen_file(seen, o->path, text);
    }
}

void
fc_project_look(project *p, seen_list *seen)
{
    fc_unit_look(p->main, p->source->on_disk, seen);
    look_at(p, &p->named, true, seen);
    look_at(p, &p->given, false, seen);
    look_at(p, &p->listed, false, seen);
}

/* -- numbers of files ----------------------------------------------------------------------------- */

/* Headers that several units include are one file. */
static uint32_t
number_in(const unit *u, const source_file *f)
{
    for (size_t i = 0; u && i < u->files.n; i++) {
        const source_file *known = &u->files.at[i];
        if (strcmp(known->path, f->path) == 0 && known->len == f->len &&
            (!f->len || memcmp(known->text, f->text, f->len) == 0))
            return known->number;
    }
    return 0;
}

static uint32_t
number_among(const others *files, const source_file *f)
{
    uint32_t number = 0;
    for (size_t i = 0; i < files->n && !number; i++)
        number = number_in(files->at[i]->unit, f);
    return number;
}

uint32_t
fc_project_file(const project *p, const source_file *f)
{
    uint32_t number = p ? number_in(p->main, f) : 0;
    if (p && !number)
        number = number_among(&p->named, f);
    if (p && !number)
        number = number_among(&p->given, f);
    return p && !number ? number_among(&p->listed, f) : number;
}

/* -- definitions ---------------------------------------------------------------------------------- */

static const char *
place_text(const project *p, const unit *u, rg_place place)
{
    for (size_t i = 0; i < u->files.n; i++)
        if (u->files.at[i].number == place.file)
            return fc_format(p->arena, "%s:%u", u->files.at[i].path, place.line);
    return u->originals.at[0].path;
}

static bool
is_same_place(const decl *x, const decl *y)
{
    return x->place.file == y->place.file && x->place.line == y->place.line && x->place.col == y->place.col;
}

/* What was found so far: a second definition is an error. */
typedef struct search {
    project *project;
    const decl *wanted;
    decl *found, *second;
} search;

static void
look_into(search *s, unit *u)
{
    decl *d = u ? fc_unit_definition(u, s->wanted->name, s->wanted->kind == DECL_FUNCTION) : NULL;
    if (!d)
        return;
    if (!s->found)
        s->found = d;
    else if (!s->second && !is_same_place(s->found, d))
        s->second = d;
}

static void
look_among(search *s, const others *files, bool by_mention)
{
    const char *name = s->wanted->name;
    for (size_t i = 0; i < files->n; i++) {
        other *o = files->at[i];
        rg_str text = text_of(s->project, o);
        bool may = by_mention ? fc_text_mentions(text, name)
                              : fc_text_defines(text, name, s->wanted->kind == DECL_FUNCTION);
        if (may)
            look_into(s, unit_of(s->project, o));
    }
}

static void
see_listed(project *p)
{
    fc_words paths = {0};
    if (p->knows_listed)
        return;
    p->knows_listed = true;
    if (p->source->on_disk)
        fc_database_files(p->arena, p->source->path, &paths);
    for (size_t i = 0; i < paths.n; i++)
        add_other(p, &p->listed, paths.at[i], (rg_str){0});
}

/* A file that was named goes before those of folders, so that one can take another's place. Where no text seems to
 * define the name, a macro may. */
static void
look_everywhere(search *s)
{
    project *p = s->project;
    const others *both[] = {&p->named, &p->given};
    if (s->wanted->unit != p->main)
        look_into(s, p->main);
    for (size_t by_mention = 0; by_mention < 2; by_mention++)
        for (size_t k = 0; k < countof(both) && (!s->found || (k == 0 && !by_mention)); k++)
            if (!by_mention || !s->wanted->system)
                look_among(s, both[k], by_mention);
    if (s->found || s->wanted->system)
        return;
    see_listed(p);
    look_among(s, &p->listed, false);
}

/* -- whether a declaration fits a definition ------------------------------------------------------ */

static bool
fits(const ctype *x, const ctype *y)
{
    if (x->kind != y->kind)
        return false;
    switch (x->kind) {
    case TYPE_SCALAR:
        return x->dtype == y->dtype;
    case TYPE_POINTER:
        return (x->elem->kind == TYPE_VOID) == (y->elem->kind == TYPE_VOID) &&
               (fc_same_elements(x->elem, y->elem) || (x->elem->kind == TYPE_POINTER && fits(x->elem, y->elem)));
    case TYPE_BAD:
        return strcmp(x->name, y->name) == 0;
    default:
        return fc_same_elements(x, y);
    }
}

static const record *
record_below(const ctype *t)
{
    while (t->kind == TYPE_ARRAY || t->kind == TYPE_POINTER)
        t = t->elem;
    return t->kind == TYPE_STRUCT ? t->rec : NULL;
}

static void
say_misfit(project *p, const decl *declared, const decl *defined)
{
    rg_build_error(p->builder, ERR_DECLARED_OTHERWISE, declared->place,
                   "`%s` is declared here with other types than where it is defined, %s\nlet both files include one "
                   "header that declares it",
                   declared->name, place_text(p, defined->unit, defined->place));
}

/* Says why not, if it does not. */
static bool
check_fit(project *p, const decl *declared, const ctype *x, const decl *defined, const ctype *y)
{
    if (fits(x, y))
        return true;
    const record *a = record_below(x), *b = record_below(y);
    if (a && b && strcmp(a->name, b->name) == 0)
        rg_build_error(p->builder, ERR_STRUCTS_DIFFER, a->place,
                       "`%s` has other fields here than in %s, for `%s`\nlet both files include one header that "
                       "defines it, with the same options",
                       a->name, place_text(p, b->unit, b->place), defined->name);
    else
        say_misfit(p, declared, defined);
    return false;
}

static bool
check_function(project *p, decl *declared, decl *defined)
{
    ctype **types;
    int64_t n = fc_declared_parameters(declared, &types);
    fc_import_parameters(defined);
    if (!check_fit(p, declared, declared->type, defined, defined->type))
        return false;
    if (n >= 0 && n != defined->nparams) {
        say_misfit(p, declared, defined);
        return false;
    }
    for (uint32_t i = 0; n >= 0 && i < defined->nparams; i++)
        if (!check_fit(p, declared, types[i], defined, defined->params[i]->type))
            return false;
    return true;
}

static bool
check_definition(project *p, decl *declared, decl *defined)
{
    return declared->kind == DECL_FUNCTION ? check_function(p, declared, defined)
                                           : check_fit(p, declared, declared->type, defined, defined->type);
}

/* What the declaration means, NULL after errors or if there is nothing; it is looked for once. */
static decl *
definition_of(project *p, decl *d)
{
    if (d->looked_up)
        return d->definition;
    d->looked_up = true;
    search s = {.project = p, .wanted = d};
    unsigned before = p->diags->errors;
    look_everywhere(&s);
    if (s.second)
        rg_build_error(p->builder, ERR_DEFINED_TWICE, s.found->place,
                       "`%s` is defined here and in %s\nleave one of the files out: --with (files of rg_module_desc) "
                       "names those that belong to this one",
                       d->name, place_text(p, s.second->unit, s.second->place));
    if (s.found && !s.second && fc_unit_is_sound(s.found->unit, s.found) && check_definition(p, d, s.found))
        d->definition = s.found;
    if (s.found)
        s.found->unit->concerned = true;
    d->refused |= !d->definition && p->diags->errors > before;
    if (d->definition && d->kind == DECL_FUNCTION && !d->definition->vjp && !d->definition->jvp) {
        d->definition->vjp = d->vjp;
        d->definition->jvp = d->jvp;
    }
    return d->definition;
}

/* -- walking what is reached ---------------------------------------------------------------------- */

static uint64_t
name_key(const char *name)
{
    return hash_bytes(0, name, strlen(name)) | 1;
}

uint32_t
fc_project_calls(const project *p, const char *name)
{
    const uint32_t *count = map_get(&p->calls, name_key(name));
    return count ? *count : 0;
}

static void
want_walk(project *p, decl *d)
{
    if (d && !d->linked)
        list_push(p->arena, &p->work, d);
}

static bool
link_node(const node *n, void *user)
{
    project *p = user;
    decl *d = n->decl;
    if ((n->kind != E_CALL && n->kind != E_REF) || !d)
        return true;
    bool function = d->kind == DECL_FUNCTION;
    bool missing = function ? !d->has_body : d->lasting && d->elsewhere;
    decl *defined = missing && d->shared ? definition_of(p, d) : NULL;
    if (function && missing && !defined && n->kind == E_CALL) {
        uint32_t *count = map_get(&p->calls, name_key(d->name));
        if (!count) {
            count = arena_one(p->arena, uint32_t);
            map_set(&p->calls, name_key(d->name), count);
        }
        ++*count;
    }
    if (defined) {
        ((node *)n)->decl = d = defined;
        if (!function)
            ((node *)n)->type = defined->type;
    }
    if (function || d->lasting)
        want_walk(p, d);
    return true;
}

static void
link_decl(project *p, decl *d)
{
    d->linked = true;
    if (d->kind != DECL_FUNCTION) {
        fc_node_walk(d->init, link_node, p);
        return;
    }
    fc_unit_import_body(d->unit, d);
    want_walk(p, d->vjp);
    want_walk(p, d->jvp);
    fc_node_walk(d->body, link_node, p);
}

void
fc_link(project *p, decl *fn)
{
    want_walk(p, fn);
    while (p->work.n) {
        decl *d = list_pop(&p->work);
        if (!d->linked)
            link_decl(p, d);
    }
}

/* -- who mentions a variable ---------------------------------------------------------------------- */

static void
mention_in(project *p, unit *u, decl *variable, mention *out, uint32_t *n)
{
    decl *own = u && u != variable->unit ? fc_unit_variable(u, variable->name) : NULL;
    if (own)
        out[(*n)++] = (mention){u, own};
}

uint32_t
fc_project_mentions(project *p, decl *variable, mention **out)
{
    uint32_t n = 0;
    bool shared = variable->shared && variable->global;
    if (shared)
        see_listed(p);
    *out = arena_new_n(p->arena, mention, p->named.n + p->given.n + p->listed.n + 2);
    (*out)[n++] = (mention){variable->unit, variable};
    if (!shared)
        return n;
    mention_in(p, p->main, variable, *out, &n);
    const others *all[] = {&p->named, &p->given, &p->listed};
    for (size_t k = 0; k < countof(all); k++)
        for (size_t i = 0; i < all[k]->n; i++)
            if (fc_text_mentions(text_of(p, all[k]->at[i]), variable->name))
                mention_in(p, unit_of(p, all[k]->at[i]), variable, *out, &n);
    return n;
}

/* -- what to do about what is missing ------------------------------------------------------------- */

/* A file of the source's folder that seems to define it; NULL: none. */
static const char *
sibling_with(project *p, const decl *d)
{
    const char *path = p->source->path, *slash = strrchr(path, '/');
    const char *folder = slash ? fc_format(p->arena, "%.*s", (int)(slash - path), path) : ".";
    project siblings = {.arena = p->arena, .source = p->source};
    if (!p->source->on_disk || d->system || !add_folder(&siblings, folder))
        return NULL;
    for (size_t i = 0; i < siblings.given.n; i++) {
        other *o = siblings.given.at[i];
        if (fc_text_defines(text_of(p, o), d->name, d->kind == DECL_FUNCTION))
            return slash ? o->path : o->path + 2; /* without ./ */
    }
    return NULL;
}

const char *
fc_project_remedy(project *p, const decl *d)
{
    const char *sibling = sibling_with(p, d);
    if (sibling)
        return fc_format(p->arena, "%s defines it: add --with %s", sibling, sibling);
    if (d->system)
        return "of the C library, <math.h>, assert, printf and what copies memory are known";
    return d->kind == DECL_FUNCTION ? "name the file that defines it with --with FILE (files of rg_module_desc)"
                                    : "name the file that defines it with --with FILE (files of rg_module_desc), or "
                                      "pass it as a parameter";
}

/* rgc explain: source lines with notes below them. SPDX-License-Identifier: Apache-2.0 */
#include "cli/explain.h"

typedef struct note {
    ir_loc loc;
    const char *text;
} note;

typedef struct place {
    uint32_t file, line;
} place;

struct listing {
    arena *arena;
    vec(note) notes;
    vec(place) lines; /* that the kernel's ops come from */
    vec(ir_file) files;
};

/* Lines between two that are shown are shown too, if there are no more than so many. */
enum { GAP = 6, HEAD = 12 };

listing *
listing_new(void)
{
    listing *l = arena_one(mem_scratch(), listing);
    l->arena = l->notes.in = l->lines.in = l->files.in = mem_scratch();
    return l;
}

void
listing_files(listing *l, const ir_module *m)
{
    for (size_t i = l->files.n; i < m->files.n; i++) {
        const ir_file *f = &m->files.at[i];
        ir_file copy = {.path = f->path ? arena_str(l->arena, rg_str_of(f->path)) : NULL, .len = f->len};
        if (f->text)
            copy.text = arena_str(l->arena, (rg_str){f->text, f->len});
        vec_push(&l->files, copy);
    }
}

void
listing_cover(listing *l, ir_loc loc)
{
    place p = {loc.file, loc.line};
    if (loc.line && (!l->lines.n || vec_last(&l->lines).line != p.line || vec_last(&l->lines).file != p.file))
        vec_push(&l->lines, p);
}

static bool
same_line(ir_loc a, ir_loc b)
{
    return a.file == b.file && a.line == b.line;
}

void
listing_note(listing *l, ir_loc loc, const char *format, ...)
{
    if (!loc.line)
        return;
    str text = {.in = l->arena};
    va_list args;
    va_start(args, format);
    str_addv(&text, format, args);
    va_end(args);
    for (size_t i = 0; i < l->notes.n; i++)
        if (same_line(l->notes.at[i].loc, loc) && strcmp(l->notes.at[i].text, text.ptr) == 0)
            return;
    note n = {loc, text.ptr};
    vec_push(&l->notes, n);
    listing_cover(l, loc);
}

/* whether the list that follows `start` holds the item */
static bool
lists(const char *list, const char *item)
{
    size_t n = strlen(item);
    for (const char *at = list; (at = strstr(at, item)); at++)
        if ((at == list || at[-1] == ' ') && (at[n] == 0 || at[n] == ','))
            return true;
    return false;
}

void
listing_note_item(listing *l, ir_loc loc, const char *start, const char *item)
{
    size_t skip = strlen(start);
    for (size_t i = 0; i < l->notes.n; i++) {
        note *n = &l->notes.at[i];
        if (!same_line(n->loc, loc) || strncmp(n->text, start, skip) != 0)
            continue;
        if (!lists(n->text + skip, item)) {
            size_t room = strlen(n->text) + strlen(item) + 3;
            char *longer = arena_alloc(l->arena, room);
            snprintf(longer, room, "%s, %s", n->text, item);
            n->text = longer;
        }
        return;
    }
    listing_note(l, loc, "%s%s", start, item);
}

/* -- printing ---------------------------------------------------------------------------------- */

static bool
begins(const note *n, const char *word)
{
    return strncmp(n->text, word, strlen(word)) == 0;
}

/* loops' heads first, advice last */
static int
rank_of(const note *n)
{
    return begins(n, "loop") || begins(n, "parallel") ? 0 : begins(n, "advice") ? 2 : 1;
}

static int
compare_notes(const void *a, const void *b)
{
    const note *x = a, *y = b;
    if (x->loc.file != y->loc.file)
        return x->loc.file < y->loc.file ? -1 : 1;
    if (x->loc.line != y->loc.line)
        return x->loc.line < y->loc.line ? -1 : 1;
    if (rank_of(x) != rank_of(y))
        return rank_of(x) - rank_of(y);
    return x->loc.col < y->loc.col ? -1 : x->loc.col > y->loc.col;
}

static int
compare_places(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

typedef struct source {
    const char *path;
    str read; /* where the module does not have the text */
    rg_str *lines;
    uint32_t n;
} source;

static void
split_lines(source *s, rg_str text)
{
    uint32_t room = 1;
    for (size_t i = 0; i < text.len; i++)
        room += text.ptr[i] == '\n';
    s->lines = arena_new_n(mem_scratch(), rg_str, room);
    while (text.len) {
        const char *end = memchr(text.ptr, '\n', text.len);
        size_t n = end ? (size_t)(end - text.ptr) : text.len, skip = n + (end != NULL);
        s->lines[s->n++] = (rg_str){text.ptr, n};
        text = (rg_str){text.ptr + skip, text.len - skip};
    }
}

/* false: nobody has the text */
static bool
open_source(source *s, const listing *l, uint32_t file)
{
    *s = (source){0};
    if (file >= l->files.n)
        return false;
    const ir_file *f = &l->files.at[file];
    s->path = f->path;
    if (f->text)
        split_lines(s, (rg_str){f->text, f->len});
    else if (f->path && file_read(f->path, &s->read) == RG_OK)
        split_lines(s, str_view(&s->read));
    return s->lines != NULL;
}

static bool
begins_function(rg_str line)
{
    return line.len && !strchr(" \t#{}/*\r", line.ptr[0]);
}

/* The head of a function that the line stands in, as it is usually written; else the line itself. */
static uint32_t
head_of(const source *s, uint32_t line, uint32_t lowest)
{
    for (uint32_t at = line; at > lowest && at + HEAD > line; at--)
        if (at <= s->n && begins_function(s->lines[at - 1]))
            return at;
    return line;
}

static uint32_t
end_of(const source *s, uint32_t line)
{
    for (uint32_t at = line; at <= s->n && at <= line + 2; at++)
        if (s->lines[at - 1].len && s->lines[at - 1].ptr[0] == '}')
            return at;
    return line;
}

static void
print_line(const listing *l, const source *s, uint32_t file, uint32_t line, size_t *next)
{
    rg_str shown = line <= s->n ? s->lines[line - 1] : (rg_str){"", 0};
    size_t indent = 0;
    while (indent < shown.len && (shown.ptr[indent] == ' ' || shown.ptr[indent] == '\t'))
        indent++;
    printf("%5u | %.*s\n", line, (int)shown.len, shown.ptr);
    for (; *next < l->notes.n; ++*next) {
        const note *n = &l->notes.at[*next];
        if (n->loc.file != file || n->loc.line != line)
            return;
        printf("      | %.*s^ %s\n", (int)indent, shown.ptr, n->text);
    }
}

/* The places [from, to) of one file: in pieces, with the heads of their functions. */
static void
print_file(const listing *l, const source *s, size_t from, size_t to)
{
    uint32_t file = l->lines.at[from].file, done = 0;
    size_t next = 0;
    while (next < l->notes.n && l->notes.at[next].loc.file != file)
        next++;
    for (size_t i = from; i < to;) {
        uint32_t first = head_of(s, l->lines.at[i].line, done), last = l->lines.at[i].line;
        while (i < to && l->lines.at[i].line <= last + GAP)
            last = l->lines.at[i++].line;
        if (done && first > done + 1)
            printf("  ... |\n");
        last = end_of(s, last);
        for (uint32_t line = first > done ? first : done + 1; line <= last; line++)
            print_line(l, s, file, line, &next);
        done = last;
    }
}

static void
print_notes_only(const listing *l, uint32_t file)
{
    for (size_t i = 0; i < l->notes.n; i++)
        if (l->notes.at[i].loc.file == file)
            printf("%5u: %s\n", l->notes.at[i].loc.line, l->notes.at[i].text);
}

static void
print_places(const listing *l, uint32_t file, bool named)
{
    size_t from = 0, to;
    while (from < l->lines.n && l->lines.at[from].file != file)
        from++;
    to = from;
    while (to < l->lines.n && l->lines.at[to].file == file)
        to++;
    source s;
    bool there = open_source(&s, l, file);
    if (named)
        printf("%s:\n", s.path ? s.path : "?");
    if (there && to > from)
        print_file(l, &s, from, to);
    else
        print_notes_only(l, file);
}

void
listing_print(listing *l, uint32_t first_file)
{
    if (l->notes.n)
        qsort(l->notes.at, l->notes.n, sizeof(note), compare_notes);
    if (l->lines.n)
        qsort(l->lines.at, l->lines.n, sizeof(place), compare_places);
    print_places(l, first_file, false);
    for (size_t i = 0; i < l->lines.n; i++)
        if (l->lines.at[i].file != first_file && (!i || l->lines.at[i].file != l->lines.at[i - 1].file))
            print_places(l, l->lines.at[i].file, true);
}

/* Diagnostics as a compiler writes them:
 *
 *   kernels.c:4:17: error[E0312]: text
 *    4 |     int x = goto;
 *      |             ^~~~
 *     = help: what to do about it
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/base.h"

enum { DEFAULT_LIMIT = 20, SHOWN_COLUMNS = 160 };

/* the text of line `number`, without its end; false if the source has no such line */
static bool
find_line(const diag_place *at, rg_str *line)
{
    const char *p = at->source, *end = p + at->source_len;
    for (uint32_t number = 1; number < at->line; number++) {
        p = memchr(p, '\n', (size_t)(end - p));
        if (!p)
            return false;
        p++;
    }
    const char *stop = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
    *line = (rg_str){p, (size_t)((stop ? stop : end) - p)};
    if (line->len && p[line->len - 1] == '\r')
        line->len--;
    return true;
}

/* Bytes that a terminal might obey are shown as '?'. */
static void
add_shown(str *out, rg_str line)
{
    for (size_t i = 0; i < line.len; i++) {
        unsigned char c = (unsigned char)line.ptr[i];
        str_addc(out, (c < 32 && c != '\t') || c == 127 ? '?' : (char)c);
    }
}

static void
add_source_line(str *out, const diag_place *at)
{
    rg_str line;
    if (!at->source || !at->line || !find_line(at, &line))
        return;
    size_t first = 0, col = at->col ? at->col - 1 : 0;
    if (col > line.len)
        col = line.len;
    if (col > SHOWN_COLUMNS / 2 && line.len > SHOWN_COLUMNS)
        first = col - SHOWN_COLUMNS / 2;
    rg_str shown = {line.ptr + first, line.len - first};
    if (shown.len > SHOWN_COLUMNS)
        shown.len = SHOWN_COLUMNS;
    int width = snprintf(NULL, 0, "%u", at->line);
    str_addf(out, " %u | ", at->line);
    add_shown(out, shown);
    str_addf(out, "\n %*s | ", width, "");
    if (!at->col) {
        str_addc(out, '\n');
        return;
    }
    for (size_t i = 0; i < col - first; i++)
        str_addc(out, shown.ptr[i] == '\t' ? '\t' : ' ');
    str_addc(out, '^');
    for (size_t i = col + 1; i + 1 < at->end_col && i < first + shown.len; i++)
        str_addc(out, '~');
    str_addc(out, '\n');
}

static void
add_message(diag_list *d, diag_level level, unsigned number, const diag_place *at, rg_str text)
{
    static const char *const levels[] = {"error", "warning", "note"};
    if (at->path) {
        str_addf(&d->text, "%s:", at->path);
        if (at->line)
            str_addf(&d->text, "%u:", at->line);
        if (at->line && at->col)
            str_addf(&d->text, "%u:", at->col);
        str_addc(&d->text, ' ');
    }
    str_addz(&d->text, levels[level]);
    if (number)
        str_addf(&d->text, "[E%04u]", number);
    str_addz(&d->text, ": ");
    const char *rest = memchr(text.ptr, '\n', text.len);
    str_add(&d->text, (rg_str){text.ptr, rest ? (size_t)(rest - text.ptr) : text.len});
    str_addc(&d->text, '\n');
    add_source_line(&d->text, at);
    while (rest) {
        const char *line = rest + 1, *end = text.ptr + text.len;
        rest = memchr(line, '\n', (size_t)(end - line));
        str_addz(&d->text, "  = help: ");
        str_add(&d->text, (rg_str){line, (size_t)((rest ? rest : end) - line)});
        str_addc(&d->text, '\n');
    }
}

void
diag_addv(diag_list *d, diag_level level, unsigned number, diag_place at, const char *format,
          va_list args)
{
    unsigned limit = d->limit ? d->limit : DEFAULT_LIMIT;
    if (level == DIAG_ERROR) {
        d->errors++;
        d->kinds |= 1u << number / 100;
    }
    if (d->errors > limit) {
        if (level == DIAG_ERROR && d->errors == limit + 1)
            str_addf(&d->text, "error: more than %u errors; the rest is not shown\n", limit);
        return;
    }
    str text = {.in = mem_scratch()};
    str_addv(&text, format, args);
    add_message(d, level, number, &at, str_view(&text));
}

void
diag_add(diag_list *d, diag_level level, unsigned number, diag_place at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag_addv(d, level, number, at, format, args);
    va_end(args);
}

void
diag_join(diag_list *d, const diag_list *more)
{
    str_add(&d->text, str_view(&more->text));
    d->errors += more->errors;
    d->kinds |= more->kinds;
}

void
diag_free(diag_list *d)
{
    str_free(&d->text);
    *d = (diag_list){.text.in = d->text.in, .limit = d->limit};
}

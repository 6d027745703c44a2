/* IR text to tokens: any bytes are read without harm.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/text/lex.h"

void
lex_error(lexer *l, const token *at, unsigned number, const char *format, ...)
{
    size_t width = at->to > at->from ? at->to - at->from : 1;
    diag_place place = {.path = l->path,
                        .source = l->source.ptr,
                        .source_len = l->source.len,
                        .line = at->line,
                        .col = at->col,
                        .end_col = at->col + (uint32_t)(width < 1000 ? width : 1000)};
    va_list args;
    va_start(args, format);
    diag_addv(l->diags, DIAG_ERROR, number, place, format, args);
    va_end(args);
}

void
lex_stop(lexer *l)
{
    l->stopped = true;
    l->now.kind = TOKEN_END;
    l->now.text = (rg_str){"", 0};
}

static int
peek(const lexer *l, size_t ahead)
{
    return l->at + ahead < l->source.len ? (unsigned char)l->source.ptr[l->at + ahead] : -1;
}

static bool
is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool
is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool
is_name(int c)
{
    return is_letter(c) || is_digit(c) || c == '.' || c == '$';
}

static void
skip_blanks(lexer *l)
{
    for (;;) {
        int c = peek(l, 0);
        if (c == ';') {
            while (peek(l, 0) >= 0 && peek(l, 0) != '\n')
                l->at++;
        } else if (c == '\n') {
            l->at++;
            l->line++;
            l->line_start = l->at;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            l->at++;
        } else {
            return;
        }
    }
}

static void
fail_token(lexer *l, const char *text)
{
    l->now.to = l->at > l->now.from ? l->at : l->now.from + 1;
    lex_error(l, &l->now, E_TOKEN, "%s", text);
    lex_stop(l);
}

static int
hex_digit(int c)
{
    return is_digit(c)              ? c - '0'
           : (c >= 'a' && c <= 'f') ? c - 'a' + 10
           : (c >= 'A' && c <= 'F') ? c - 'A' + 10
                                    : -1;
}

/* one escape after its backslash; -1 after an error */
static int
escape(lexer *l)
{
    int c = peek(l, 0), high = hex_digit(peek(l, 1)), low = hex_digit(peek(l, 2));
    l->at++;
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case '"':
    case '\\':
        return c;
    case 'x':
        if (high >= 0 && low >= 0 && high + low > 0) {
            l->at += 2;
            return high * 16 + low;
        }
        break;
    default:
        break;
    }
    fail_token(l,
               "a string has an escape that is not known\nwrite \\n, \\t, \\\", \\\\ or \\x and two hex "
               "digits that are not 00");
    return -1;
}

/* after the opening quote; text is what the string says */
static void
read_string(lexer *l, token_kind kind)
{
    size_t start = l->at;
    while (peek(l, 0) >= 0 && peek(l, 0) != '"')
        l->at += peek(l, 0) == '\\' && peek(l, 1) >= 0 ? 2 : 1;
    char *text = arena_alloc(l->strings, l->at - start + 1);
    size_t n = 0;
    l->at = start;
    for (int c; (c = peek(l, 0)) != '"';) {
        if (c <= 0 || c == '\n') {
            fail_token(l, "a string does not end on its line\nclose it with \", and write a line's end "
                    "as \\n");
            return;
        }
        l->at++;
        if (c == '\\' && (c = escape(l)) < 0)
            return;
        text[n++] = (char)c;
    }
    l->at++;
    l->now.kind = kind;
    l->now.text = (rg_str){text, n};
}

static void
read_name(lexer *l, token_kind kind)
{
    size_t start = l->at;
    while (is_name(peek(l, 0)))
        l->at++;
    l->now.kind = kind;
    l->now.text = (rg_str){l->source.ptr + start, l->at - start};
}

/* digits, letters, points, and a sign after an exponent's letter */
static void
lex_number(lexer *l)
{
    size_t start = l->at++;
    bool hex = peek(l, 0) == 'x' || peek(l, 1) == 'x';
    for (;;) {
        int c = peek(l, 0);
        int before = (unsigned char)l->source.ptr[l->at - 1];
        bool exponent =
            before == 'p' || before == 'P' || (!hex && (before == 'e' || before == 'E'));
        if (!is_name(c) && !((c == '-' || c == '+') && exponent))
            break;
        l->at++;
    }
    l->now.kind = TOKEN_NUMBER;
    l->now.text = (rg_str){l->source.ptr + start, l->at - start};
}

static void
read_sigil(lexer *l, token_kind kind)
{
    l->at++;
    if (peek(l, 0) == '"') {
        l->at++;
        read_string(l, kind);
    } else {
        read_name(l, kind);
    }
}

static void
read_punct(lexer *l, int c)
{
    size_t n = c == '-' ? 2 : 1;
    if (!strchr("(){}[]<>=,:-/+.$", c)) {
        fail_token(l, "a character that has no meaning here");
        return;
    }
    l->now.kind = TOKEN_PUNCT;
    l->now.text = (rg_str){l->source.ptr + l->at, n};
    l->at += n;
}

void
lex_next(lexer *l)
{
    if (l->stopped)
        return;
    skip_blanks(l);
    int c = peek(l, 0), next = peek(l, 1);
    l->now = (token){.kind = TOKEN_END,
                     .text = {"", 0},
                     .from = l->at,
                     .line = l->line,
                     .col = (uint32_t)(l->at - l->line_start) + 1};
    if (c < 0)
        ;
    else if (c == '%' && (is_name(next) || next == '"'))
        read_sigil(l, TOKEN_VALUE);
    else if (c == '@' && (is_name(next) || next == '"'))
        read_sigil(l, TOKEN_GLOBAL);
    else if (c == '@')
        l->now.kind = TOKEN_AT, l->at++;
    else if (c == '"')
        l->at++, read_string(l, TOKEN_STRING);
    else if (is_letter(c))
        read_name(l, TOKEN_WORD);
    else if (is_digit(c) || (c == '-' && next != '>'))
        lex_number(l);
    else if (c == 0)
        fail_token(l, "a character that has no meaning here");
    else
        read_punct(l, c);
    l->now.to = l->at;
}

/* Paths hold characters that tokens do not, so this goes back to where the present token began. */
rg_str
lex_path(lexer *l)
{
    rg_str path = {"", 0};
    if (l->now.kind == TOKEN_STRING) {
        path = l->now.text;
    } else if (!l->stopped) {
        l->at = l->now.from;
        size_t start = l->at;
        for (int c; is_name(c = peek(l, 0)) || c == '/' || c == '-' || c == '+';)
            l->at++;
        path = (rg_str){l->source.ptr + start, l->at - start};
    }
    lex_next(l);
    return path;
}

void
lex_start(lexer *l, rg_str source, const char *path, arena *strings, diag_list *diags)
{
    *l = (lexer){.source = source, .path = path, .diags = diags, .strings = strings, .line = 1};
    lex_next(l);
}

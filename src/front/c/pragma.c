/* OpenMP directives. libclang shows either what a directive governs or the directive, never both,
 * so the text is rewritten before it is parsed: `#pragma omp parallel for ...` becomes a label of
 * no more characters. The preprocessor then decides which directives are alive, the parser which
 * statement each one governs, and lines and columns stay what they were.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/c/parse.h"

#include <ctype.h>

typedef struct scanner {
    arena *arena;
    const char *path;
    char *text; /* being rewritten */
    size_t at, len;
    omp_list *list;
    const char **tail;
} scanner;

/* -- the words of one directive
 * -------------------------------------------------------------------- */
typedef struct words {
    const char *text; /* comments and line ends blanked */
    size_t at, len;
    arena *arena;
    omp *d;
} words;

static void
skip_space(words *w)
{
    while (w->at < w->len && (isspace((unsigned char)w->text[w->at]) || w->text[w->at] == ','))
        w->at++;
}

/* The next identifier or NULL. */
static const char *
next_word(words *w)
{
    skip_space(w);
    size_t start = w->at;
    while (w->at < w->len && (isalnum((unsigned char)w->text[w->at]) || w->text[w->at] == '_'))
        w->at++;
    if (w->at == start)
        return NULL;
    return arena_str(w->arena, (rg_str){w->text + start, w->at - start});
}

/* What stands in parentheses here, without them; NULL if nothing does. */
static const char *
next_group(words *w)
{
    skip_space(w);
    if (w->at >= w->len || w->text[w->at] != '(')
        return NULL;
    size_t start = ++w->at;
    for (int depth = 1; w->at < w->len; w->at++) {
        if (w->text[w->at] == '(')
            depth++;
        if (w->text[w->at] == ')' && --depth == 0)
            break;
    }
    const char *group = arena_str(w->arena, (rg_str){w->text + start, w->at - start});
    if (w->at < w->len)
        w->at++;
    return group;
}

static void
refuse(omp *d, unsigned error, const char *what)
{
    while (what && isspace((unsigned char)*what))
        what++;
    if (!d->error) {
        d->error = error;
        d->what = what;
    }
}

/* `a, b, c`: each a plain identifier. */
static void
add_names(words *w, omp_names *names, const char *list, rg_rmw op, bool first)
{
    words inner = {list, 0, strlen(list), w->arena, w->d};
    for (;;) {
        const char *name = next_word(&inner);
        if (!name)
            break;
        omp_name *grown = arena_new_n(w->arena, omp_name, names->count + 1);
        if (names->count)
            memcpy(grown, names->at, names->count * sizeof(*grown));
        grown[names->count++] = (omp_name){name, op, first, w->d->place};
        names->at = grown;
    }
    if (inner.at < inner.len)
        refuse(w->d, ERR_OMP_REDUCTION, list);
}

static bool
reduction_op(const char *text, size_t n, rg_rmw *op)
{
    static const struct {
        const char *text;
        rg_rmw op;
    } table[] = {{"+", RG_RMW_ADD},   {"-", RG_RMW_ADD}, {"*", RG_RMW_MUL}, {"min", RG_RMW_MIN},
                 {"max", RG_RMW_MAX}, {"&", RG_RMW_AND}, {"|", RG_RMW_OR},  {"^", RG_RMW_XOR}};
    while (n && isspace((unsigned char)*text))
        text++, n--;
    while (n && isspace((unsigned char)text[n - 1]))
        n--;
    for (size_t i = 0; i < countof(table); i++) {
        if (strlen(table[i].text) == n && memcmp(table[i].text, text, n) == 0) {
            *op = table[i].op;
            return true;
        }
    }
    return false;
}

static void
add_reduction(words *w, const char *group)
{
    const char *colon = group ? strchr(group, ':') : NULL;
    rg_rmw op;
    if (!colon || !reduction_op(group, (size_t)(colon - group), &op)) {
        refuse(w->d, ERR_OMP_REDUCTION, group ? group : "");
        return;
    }
    add_names(w, &w->d->reductions, colon + 1, op, false);
}

static void
add_collapse(words *w, const char *group, const char **tail, size_t number)
{
    char *end = NULL;
    unsigned long n = group ? strtoul(group, &end, 0) : 0;
    while (end && isspace((unsigned char)*end))
        end++;
    if (group && end != group && *end == 0) {
        if (n < 1 || n > RG_MAX_RANK)
            refuse(w->d, ERR_OMP_CLAUSE, "collapse");
        w->d->collapse = (uint32_t)n;
    } else if (group) {
        w->d->collapse = 0; /* the preprocessor knows */
        *tail = fc_format(w->arena, "%s\nenum { __omp_collapse%zu = (%s) };", *tail, number, group);
    }
}

static bool
listed(const char *word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(word, list[i]) == 0)
            return true;
    }
    return false;
}

static void
read_clauses(words *w, const char **tail, size_t number)
{
    static const char *const without_effect[] = {
        "shared",  "default", "schedule", "num_threads", "if",         "proc_bind",
        "nowait",  "simdlen", "safelen",  "aligned",     "seq_cst",    "relaxed",
        "acq_rel", "acquire", "release",  "hint",        "nontemporal"};
    for (;;) {
        const char *word = next_word(w);
        if (!word)
            break;
        if (strcmp(word, "collapse") == 0) {
            add_collapse(w, next_group(w), tail, number);
        } else if (strcmp(word, "reduction") == 0) {
            add_reduction(w, next_group(w));
        } else if (strcmp(word, "private") == 0 || strcmp(word, "firstprivate") == 0) {
            const char *group = next_group(w);
            add_names(w, &w->d->privates, group ? group : "", RG_RMW_ADD, word[0] == 'f');
        } else if (listed(word, without_effect, countof(without_effect))) {
            next_group(w);
        } else {
            next_group(w);
            refuse(w->d, ERR_OMP_CLAUSE, word);
        }
    }
    skip_space(w);
    if (w->at < w->len)
        refuse(w->d, ERR_OMP_DIRECTIVE,
               arena_str(w->arena, (rg_str){w->text + w->at, w->len - w->at}));
}

static void
read_atomic(words *w)
{
    static const struct {
        const char *word;
        omp_kind kind;
    } table[] = {{"update", OMP_ATOMIC_UPDATE},
                 {"capture", OMP_ATOMIC_CAPTURE},
                 {"compare", OMP_ATOMIC_COMPARE},
                 {"read", OMP_ATOMIC_READ},
                 {"write", OMP_ATOMIC_WRITE}};
    w->d->kind = OMP_ATOMIC_UPDATE;
    bool compare = false, capture = false;
    for (;;) {
        size_t here = w->at;
        const char *word = next_word(w);
        size_t i = 0;
        while (word && i < countof(table) && strcmp(word, table[i].word) != 0)
            i++;
        if (!word || i == countof(table)) {
            w->at = here;
            break;
        }
        w->d->kind = table[i].kind;
        compare |= table[i].kind == OMP_ATOMIC_COMPARE;
        capture |= table[i].kind == OMP_ATOMIC_CAPTURE;
    }
    if (compare)
        w->d->kind = OMP_ATOMIC_COMPARE;
    if (compare && capture)
        refuse(w->d, ERR_OMP_CLAUSE, "compare capture");
}

/* Whether the next word is `expected`; takes it then. */
static bool
take(words *w, const char *expected)
{
    size_t here = w->at;
    const char *word = next_word(w);
    if (word && strcmp(word, expected) == 0)
        return true;
    w->at = here;
    return false;
}

static bool
at_word(words *w)
{
    size_t here = w->at;
    const char *word = next_word(w);
    w->at = here;
    static const char *const clauses[] = {"private",     "firstprivate", "shared", "default",
                                          "num_threads", "reduction",    "if",     "proc_bind"};
    return word && !listed(word, clauses, countof(clauses));
}

/* Regions and what stands in them. */
static bool
read_region(words *w, const char *word)
{
    if (strcmp(word, "for") == 0) {
        w->d->kind = OMP_FOR;
        w->d->simd = take(w, "simd");
    } else if (strcmp(word, "parallel") == 0 && !at_word(w)) {
        w->d->kind = OMP_PARALLEL;
    } else if (strcmp(word, "single") == 0 || strcmp(word, "master") == 0 || strcmp(word, "masked") == 0) {
        w->d->kind = OMP_SINGLE;
    } else if (strcmp(word, "critical") == 0) {
        w->d->kind = OMP_CRITICAL;
        next_group(w);
    } else {
        return false;
    }
    return true;
}

/* Sorts the directive by its first words. false: one that stands at file scope and has no effect.
 */
static bool
read_directive(words *w, const char **tail, size_t number)
{
    static const char *const declarative[] = {"declare", "threadprivate", "requires",
                                              "begin",   "end",           "assumes"};
    const char *word = next_word(w);
    omp *d = w->d;
    d->collapse = 1;
    d->kind = OMP_OTHER;
    if (!word)
        word = "";
    if (listed(word, declarative, countof(declarative)) || strcmp(word, "barrier") == 0)
        return false; /* iterations of a loop do not wait, and what is outside of loops has one thread */
    if (strcmp(word, "parallel") == 0 && take(w, "for")) {
        d->kind = OMP_PARALLEL_FOR;
        d->simd = take(w, "simd");
        read_clauses(w, tail, number);
    } else if (read_region(w, word)) {
        read_clauses(w, tail, number);
    } else if (strcmp(word, "simd") == 0) {
        d->kind = OMP_SIMD;
        d->collapse = 1;
    } else if (strcmp(word, "atomic") == 0) {
        read_atomic(w);
        read_clauses(w, tail, number);
    } else {
        size_t end = w->len;
        while (end && isspace((unsigned char)w->text[end - 1]))
            end--;
        bool tasks = strncmp(word, "section", 7) == 0 || strncmp(word, "task", 4) == 0 ||
                     (strcmp(word, "parallel") == 0 && take(w, "sections"));
        refuse(d, tasks ? ERR_OMP_TASKS : ERR_OMP_DIRECTIVE, arena_str(w->arena, (rg_str){w->text, end}));
    }
    return true;
}

/* -- finding directives in a file ----------------------------------------------------------------- */
static size_t
skip_word(const scanner *s, size_t at, const char *word)
{
    size_t n = strlen(word);
    at = (size_t)(fc_skip_blanks(s->text + at, s->text + s->len) - s->text);
    if (at + n > s->len || memcmp(s->text + at, word, n) != 0)
        return 0;
    return at + n;
}

/* Copies the directive's words from `at` to its line's end, comments and continuations blanked;
 * out: NULL or at least as long as what is read. Returns where the line ends. */
static size_t
directive_text(const scanner *s, size_t at, char *out)
{
    while (at < s->len && s->text[at] != '\n') {
        const char *here = s->text + at, *after = *here == '"' ? here : fc_skip_opaque(here, s->text + s->len);
        if (after > here) {
            if (out)
                *out++ = ' ';
            at += (size_t)(after - here);
        } else if (s->text[at] == '\\' && at + 1 < s->len && s->text[at + 1] == '\n') {
            at += 2;
        } else {
            if (out)
                *out++ = s->text[at];
            at++;
        }
    }
    return at;
}

static void
add_directive(scanner *s, size_t from, size_t to, const char *words_text, size_t n,
              const char *format)
{
    omp *d = arena_one(s->arena, omp);
    rg_place p = {0, 1, 1, 0};
    for (size_t i = 0; i < from; i++) {
        p.col++;
        if (s->text[i] == '\n')
            p.line++, p.col = 1;
    }
    p.end_col = p.col + 1;
    d->place = p;
    words w = {words_text, 0, n, s->arena, d};
    char label[32] = "";
    if (read_directive(&w, s->tail, s->list->n)) {
        snprintf(label, sizeof(label), format, s->list->n);
        list_push(s->arena, s->list, d);
    }
    /* Blanks [from, to) but line ends, then writes the label there if it is wanted. */
    for (size_t i = from; i < to; i++) {
        if (s->text[i] != '\n')
            s->text[i] = ' ';
    }
    memcpy(s->text + from, label, strlen(label));
}

/* `#pragma omp ...` at a line's start. */
static size_t
scan_hash(scanner *s, size_t hash)
{
    size_t at = skip_word(s, hash + 1, "pragma");
    at = at ? skip_word(s, at, "omp") : 0;
    if (!at || (at < s->len && isalnum((unsigned char)s->text[at])))
        return hash + 1;
    size_t end = directive_text(s, at, NULL);
    char *text = arena_alloc(s->arena, end - at + 1);
    directive_text(s, at, text);
    add_directive(s, hash, end, text, strlen(text), "__omp%zu:");
    return end;
}

/* `_Pragma("omp ...")`, often in a macro: the label then gets a number of its own at each use. */
static size_t
scan_operator(scanner *s, size_t start)
{
    size_t at = skip_word(s, start + strlen("_Pragma"), "(");
    at = at ? skip_word(s, at, "\"") : 0;
    at = at ? skip_word(s, at, "omp") : 0;
    size_t close = at;
    while (close && close < s->len && s->text[close] != '"' && s->text[close] != '\n')
        close++;
    size_t end = close ? skip_word(s, close, "\"") : 0;
    end = end ? skip_word(s, end, ")") : 0;
    if (!end)
        return start + 1;
    const char *text = arena_str(s->arena, (rg_str){s->text + at, close - at});
    add_directive(s, start, end, text, close - at, "__OMP(%zu)");
    return end;
}

char *
fc_pragma_rewrite(arena *a, const char *path, rg_str text, omp_list *list, const char **tail)
{
    scanner s = {a, path, arena_alloc(a, text.len + 1), 0, text.len, list, tail};
    memcpy(s.text, text.ptr, text.len);
    bool line_start = true;
    while (s.at < s.len) {
        const char *here = s.text + s.at, *after = fc_skip_opaque(here, s.text + s.len);
        char c = *here;
        if (after > here) {
            line_start &= c == '/';
            s.at += (size_t)(after - here);
        } else if (c == '#' && line_start) {
            s.at = scan_hash(&s, s.at);
        } else if (c == '_' && skip_word(&s, s.at, "_Pragma")) {
            s.at = scan_operator(&s, s.at);
        } else {
            line_start = c == '\n' || (line_start && isspace((unsigned char)c));
            s.at++;
        }
    }
    return s.text;
}

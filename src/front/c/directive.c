/* What an OpenMP directive says: the words of its construct, then its clauses. Nothing is known of variables here: clauses
 * leave names. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/parse.h"

#include <ctype.h>

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

static bool
listed(const char *word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(word, list[i]) == 0)
            return true;
    }
    return false;
}

/* -- lists of variables
 * ---------------------------------------------------------------------------- */
static void
add_name(words *w, omp_names *names, omp_name name)
{
    omp_name *grown = arena_new_n(w->arena, omp_name, names->count + 1);
    if (names->count)
        memcpy(grown, names->at, names->count * sizeof(*grown));
    grown[names->count++] = name;
    names->at = grown;
}

/* Over the sections and fields of an item, up to the comma behind it. */
static bool
skip_parts(words *w)
{
    size_t start = w->at;
    for (int depth = 0; w->at < w->len && (depth || w->text[w->at] != ','); w->at++)
        depth += w->text[w->at] == '[' || w->text[w->at] == '(' ? 1 : w->text[w->at] == ']' || w->text[w->at] == ')' ? -1 : 0;
    size_t end = w->at;
    while (end > start && isspace((unsigned char)w->text[end - 1]))
        end--;
    return end > start;
}

/* `a, b, c`: each an identifier; parts: or sections of arrays, and fields (`a[0:n]`). What it is else is returned. */
static const char *
add_names(words *w, omp_names *names, const char *list, omp_name like, bool parts)
{
    words inner = {list, 0, strlen(list), w->arena, w->d};
    for (;;) {
        like.name = next_word(&inner);
        if (!like.name)
            return inner.at < inner.len ? list : NULL;
        add_name(w, names, like);
        if (skip_parts(&inner) && !parts)
            return list;
    }
}

/* -- clauses
 * --------------------------------------------------------------------------------------- */
static bool
is_text(const char *text, size_t n, const char *expected)
{
    while (n && isspace((unsigned char)*text))
        text++, n--;
    while (n && isspace((unsigned char)text[n - 1]))
        n--;
    return strlen(expected) == n && memcmp(expected, text, n) == 0;
}

static bool
reduction_op(const char *text, size_t n, omp_name *name)
{
    static const struct {
        const char *text;
        rg_rmw op;
        bool logical;
    } table[] = {{"+", RG_RMW_ADD, false},   {"-", RG_RMW_ADD, false},  {"*", RG_RMW_MUL, false}, {"min", RG_RMW_MIN, false},
                 {"max", RG_RMW_MAX, false}, {"&", RG_RMW_AND, false},  {"|", RG_RMW_OR, false},  {"^", RG_RMW_XOR, false},
                 {"&&", RG_RMW_AND, true},   {"||", RG_RMW_OR, true}};
    for (size_t i = 0; i < countof(table); i++) {
        if (is_text(text, n, table[i].text)) {
            name->op = table[i].op;
            name->logical = table[i].logical;
            return true;
        }
    }
    return false;
}

/* `+: a, b[0:n]`, with a modifier before. Returns whether the loop is one with `scan` in it: its iterations follow each other, and
 * what it sums up is the variable itself. */
static bool
add_reduction(words *w, const char *group)
{
    const char *colon = group ? strchr(group, ':') : NULL, *from = group;
    omp_name like = {0};
    bool scans = false;
    for (const char *comma; colon && (comma = memchr(from, ',', (size_t)(colon - from))); from = comma + 1)
        scans |= is_text(from, (size_t)(comma - from), "inscan");
    bool known = colon && reduction_op(from, (size_t)(colon - from), &like);
    if (!known || add_names(w, scans ? &w->d->kept : &w->d->reductions, colon + 1, like, true))
        refuse(w->d, ERR_OMP_REDUCTION, group ? group : "");
    return scans;
}

/* `tofrom: a, b[0:n]`: what stands before the last colon outside of brackets says how. */
static void
add_map(words *w, const char *group)
{
    const char *list = group;
    int depth = 0;
    for (const char *at = group; *at; at++) {
        depth += *at == '[' || *at == '(' ? 1 : *at == ']' || *at == ')' ? -1 : 0;
        if (*at == ':' && !depth)
            list = at + 1;
    }
    (void)add_names(w, &w->d->kept, list, (omp_name){0}, true);
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

typedef enum construct {
    PARALLEL = 1,
    TEAMS = 2,
    TARGET = 4,
    LOOP = 8,
    SHARED_LOOP = 16, /* by the threads, or teams, of a region around */
    SIMD = 32,
    ORDERED = 64,
    CRITICAL = 128,
    TASK = 256,
    ONCE = 512, /* what one thread of a region does */
    DATA = 1024,
} construct;

/* What an atomic statement does, among its other clauses in any order; a capture stays one if it compares, too. */
static bool
read_atomic(omp *d, const char *word)
{
    static const struct {
        const char *word;
        omp_kind kind;
    } table[] = {{"atomic", OMP_ATOMIC_UPDATE},   {"update", OMP_ATOMIC_UPDATE}, {"compare", OMP_ATOMIC_COMPARE},
                 {"capture", OMP_ATOMIC_CAPTURE}, {"read", OMP_ATOMIC_READ},     {"write", OMP_ATOMIC_WRITE}};
    for (size_t i = 0; d->kind != OMP_OTHER && i < countof(table); i++)
        if (strcmp(word, table[i].word) == 0) {
            d->kind = d->kind == OMP_ATOMIC_CAPTURE ? d->kind : table[i].kind;
            return true;
        }
    return false;
}

/* What is said with names. false: it is another clause. */
static bool
read_list(words *w, const char *word, const char *group)
{
    omp *d = w->d;
    omp_names *names = strcmp(word, "private") == 0 || strcmp(word, "firstprivate") == 0 ? &d->privates
                       : strcmp(word, "lastprivate") == 0                               ? &d->lasts
                       : strcmp(word, "shared") == 0                                    ? &d->kept
                                                                                        : NULL;
    if (!names)
        return false;
    const char *odd = add_names(w, names, group, (omp_name){.first = word[0] == 'f'}, false);
    if (odd)
        refuse(d, ERR_OMP_CLAUSE, fc_format(w->arena, "%s(%s)", word, odd));
    return true;
}

static construct
read_clauses(words *w, construct set, const char **tail, size_t number)
{
    static const char *const without_effect[] = {
        "default",     "schedule",    "num_threads",     "if",        "proc_bind",       "nowait",       "simdlen",
        "safelen",     "aligned",     "seq_cst",         "relaxed",   "acq_rel",         "acquire",      "release",
        "hint",        "nontemporal", "order",           "bind",      "device",          "is_device_ptr", "use_device_ptr",
        "allocate",    "depend",      "use_device_addr", "num_teams", "has_device_addr", "thread_limit", "dist_schedule",
        "copyprivate", "copyin",      "num_tasks",       "grainsize", "nogroup",         "untied",       "mergeable",
        "final",       "priority",    "threads",         "weak",      "fail"};
    for (;;) {
        const char *word = next_word(w);
        if (!word)
            break;
        const char *group = next_group(w), *list = group ? group : "";
        if (strcmp(word, "collapse") == 0)
            add_collapse(w, group, tail, number);
        else if (strcmp(word, "reduction") == 0)
            set |= add_reduction(w, group) ? ORDERED : 0;
        else if (strcmp(word, "map") == 0)
            add_map(w, list);
        else if (strcmp(word, "defaultmap") == 0)
            w->d->target &= strncmp(list + strspn(list, " "), "tofrom", 6) != 0;
        else if (strcmp(word, "ordered") == 0 || strcmp(word, "linear") == 0) /* each iteration goes on where the last one ended */
            set |= ORDERED;
        else if (!read_list(w, word, list) && !read_atomic(w->d, word) && !listed(word, without_effect, countof(without_effect)))
            refuse(w->d, ERR_OMP_CLAUSE, word);
    }
    skip_space(w);
    if (w->at < w->len)
        refuse(w->d, ERR_OMP_DIRECTIVE, arena_str(w->arena, (rg_str){w->text + w->at, w->len - w->at}));
    return set;
}

/* -- constructs
 * ------------------------------------------------------------------------------------ */
static const char *
peek_word(words *w)
{
    size_t here = w->at;
    const char *word = next_word(w);
    w->at = here;
    return word ? word : "";
}

static construct
read_construct(words *w)
{
    static const struct {
        const char *word;
        construct is;
    } table[] = {{"parallel", PARALLEL}, {"teams", TEAMS},       {"target", TARGET},
                 {"for", LOOP},          {"loop", LOOP},         {"distribute", LOOP | SHARED_LOOP},
                 {"taskloop", LOOP},     {"simd", SIMD},         {"ordered", ORDERED},
                 {"critical", CRITICAL}, {"task", TASK},         {"single", ONCE},
                 {"master", ONCE},       {"masked", ONCE},       {"sections", ONCE},
                 {"section", ONCE},      {"scope", ONCE},        {"taskgroup", ONCE},
                 {"data", DATA}};
    construct set = 0;
    for (;;) {
        size_t i = 0;
        const char *word = peek_word(w);
        while (i < countof(table) && strcmp(word, table[i].word) != 0)
            i++;
        if (i == countof(table))
            return set;
        set |= table[i].is;
        next_word(w);
        if (table[i].is == ORDERED && set & LOOP)
            next_group(w); /* of how many loops */
    }
}

/* A team of one thread does what is between the loops once, in the order of the text, and so it does loops whose iterations
 * wait for each other. */
static omp_kind
kind_of(construct set)
{
    if (set & LOOP && !(set & ORDERED))
        return set & TEAMS || (set & PARALLEL && !(set & SHARED_LOOP)) ? OMP_PARALLEL_FOR : OMP_FOR;
    if (set & (PARALLEL | TEAMS) && !(set & LOOP))
        return OMP_PARALLEL;
    return set & CRITICAL ? OMP_CRITICAL : OMP_BLOCK;
}

/* What stands alone and changes nothing: tasks run where they are met, iterations of a loop do not wait, and what is outside of
 * loops has one thread, whose memory is the device's. */
static bool
stands_alone(words *w, construct set)
{
    static const char *const alone[] = {"declare", "threadprivate", "requires",     "begin",     "end",      "assumes",     "allocate",
                                        "barrier", "taskwait",      "taskyield",    "cancel",    "scan",     "cancellation", "nothing"};
    static const char *const data[] = {"enter", "exit", "update"}, *const waits[] = {"depend", "doacross"};
    const char *word = peek_word(w);
    return (!set && listed(word, alone, countof(alone))) || (set == TARGET && listed(word, data, countof(data))) ||
           (set == ORDERED && listed(word, waits, countof(waits)));
}

bool
fc_directive_read(arena *a, rg_str text, omp *d, const char **tail, size_t number)
{
    words w = {text.ptr, 0, text.len, a, d};
    d->collapse = 1;
    d->kind = OMP_OTHER;
    construct set = read_construct(&w);
    if (stands_alone(&w, set))
        return false;
    if (!set && strcmp(peek_word(&w), "atomic") == 0)
        d->kind = OMP_ATOMIC_UPDATE;
    if (!set && d->kind == OMP_OTHER) {
        size_t end = w.len;
        while (end && isspace((unsigned char)w.text[end - 1]))
            end--;
        refuse(d, ERR_OMP_DIRECTIVE, arena_str(a, (rg_str){w.text, end}));
        return true;
    }
    d->simd = set & SIMD;
    d->target = set & TARGET && !(set & DATA);
    d->task = set & TASK;
    if (set & CRITICAL)
        next_group(&w); /* its name */
    set = read_clauses(&w, set, tail, number);
    if (set)
        d->kind = kind_of(set);
    return true;
}

/* See ptx_loops.h. A function's blocks begin at labels and behind branches; a loop is what lies between a block and branches
 * back to it from blocks that it dominates. SPDX-License-Identifier: Apache-2.0 */
#include "ptx_loops.h"

enum { NOWHERE = -1 };

typedef struct block {
    int label;
    size_t first, n; /* where it goes on: so many of flow.edges */
    int order;       /* by which all blocks but heads of loops come behind those that lead to them; 0: not reached */
    int over;        /* its immediate dominator */
} block;

typedef struct flow {
    vec(block) blocks;
    vec(int) edges;   /* numbers of blocks; of labels, until all of these are known */
    vec(int) targets; /* of the last table of jumps */
    vec(int) first;   /* by label: 1 + number of its block; 0: none */
    vec(int) sorted;  /* blocks in that order */
    vec(bool) in, seen;
    str *why;
} flow;

static bool
fail(flow *f, const char *what, const char *at)
{
    str_addf(f->why, "%s: %.*s", what, (int)strcspn(at, "\n"), at);
    return false;
}

/* -- blocks ---------------------------------------------------------------------------------------------------------- */

/* of "$L__BB3_17" 17; NOWHERE: no label */
static int
label_at(const char *at)
{
    int number, end = 0;
    return sscanf(at, "$L__BB%*d_%d%n", &number, &end) == 1 && end ? number : NOWHERE;
}

static void
begin(flow *f, int label)
{
    block b = {.label = label, .first = f->edges.n};
    vec_push(&f->blocks, b);
    while (label != NOWHERE && f->first.n <= (size_t)label)
        vec_push(&f->first, 0);
    if (label != NOWHERE)
        f->first.at[label] = (int)f->blocks.n;
}

/* An edge to a label is kept as -2 - label. */
static void
lead(flow *f, int to)
{
    vec_push(&f->edges, to);
    vec_last(&f->blocks).n++;
}

static bool
lead_to_label(flow *f, const char *at)
{
    int label = label_at(at + strcspn(at, "$\n"));
    if (label == NOWHERE)
        return fail(f, "a branch to no label", at);
    lead(f, -2 - label);
    return true;
}

static bool
starts(const char *at, const char *word)
{
    return strncmp(at, word, strlen(word)) == 0;
}

/* "$L_brx_0: .branchtargets $L__BB0_2, ...;" */
static bool
read_targets(flow *f, const char *at)
{
    vec_clear(&f->targets);
    for (const char *end = at + strcspn(at, ";"); (at += strcspn(at, "$;")) < end; at++)
        if (starts(at, "$L__BB"))
            vec_push(&f->targets, label_at(at));
    return f->targets.n > 0 || fail(f, "a table of no jumps", at);
}

/* falls: whether what stands behind the line is reached from it */
static bool
read_instruction(flow *f, const char *line, bool *falls)
{
    bool some = *line == '@';
    if (some) {
        line += strcspn(line, " \t");
        line += strspn(line, " \t");
    }
    bool jumps = starts(line, "bra"), table = starts(line, "brx.idx");
    bool ends = starts(line, "ret;") || starts(line, "exit;") || starts(line, "trap;");
    if (!jumps && !table && !ends)
        return true;
    if (jumps && !lead_to_label(f, line))
        return false;
    for (size_t i = 0; table && i < f->targets.n; i++)
        lead(f, -2 - f->targets.at[i]);
    *falls = some;
    if (some) {
        lead(f, (int)f->blocks.n);
        begin(f, NOWHERE);
    }
    return true;
}

static bool
read_line(flow *f, const char *line, bool *falls)
{
    if (strstr(line, ".branchtargets") && strstr(line, ".branchtargets") < line + strcspn(line, "\n"))
        return read_targets(f, line);
    int label = label_at(line);
    if (label == NOWHERE)
        return !*falls || read_instruction(f, line, falls);
    if (*falls)
        lead(f, (int)f->blocks.n);
    begin(f, label);
    *falls = true;
    return true;
}

/* From behind "{" to the line "}", where `at` is then. */
static bool
read_body(flow *f, const char **at)
{
    bool falls = true;
    vec_clear(&f->blocks);
    vec_clear(&f->edges);
    vec_clear(&f->first);
    begin(f, NOWHERE);
    for (; **at && **at != '}'; *at += strcspn(*at, "\n"), *at += **at == '\n')
        if (!read_line(f, *at + strspn(*at, " \t"), &falls))
            return false;
    for (size_t i = 0; i < f->edges.n; i++) {
        int label = -2 - f->edges.at[i];
        if (label >= 0 && ((size_t)label >= f->first.n || !f->first.at[label]))
            return fail(f, "a branch to a label that is not there", *at);
        f->edges.at[i] = label >= 0 ? f->first.at[label] - 1 : f->edges.at[i];
    }
    vec_reserve(&f->in, f->blocks.n);
    vec_reserve(&f->seen, f->blocks.n);
    return true;
}

static int
next_of(const flow *f, int i, size_t k)
{
    return f->edges.at[f->blocks.at[i].first + k];
}

/* -- who dominates whom -------------------------------------------------------------------------------------------- */

static void
visit(flow *f, int i)
{
    f->seen.at[i] = true;
    for (size_t k = 0; k < f->blocks.at[i].n; k++)
        if (!f->seen.at[next_of(f, i, k)])
            visit(f, next_of(f, i, k));
    vec_push(&f->sorted, i);
}

static void
sort(flow *f)
{
    vec_clear(&f->sorted);
    memset(f->seen.at, 0, f->blocks.n * sizeof *f->seen.at);
    visit(f, 0);
    for (size_t i = 0, n = f->sorted.n; i < n / 2; i++) {
        int other = f->sorted.at[i];
        f->sorted.at[i] = f->sorted.at[n - 1 - i];
        f->sorted.at[n - 1 - i] = other;
    }
    for (size_t i = 0; i < f->sorted.n; i++)
        f->blocks.at[f->sorted.at[i]].order = (int)i + 1;
}

static int
common(const flow *f, int a, int b)
{
    const block *of = f->blocks.at;
    while (a != b)
        if (of[a].order > of[b].order)
            a = of[a].over;
        else
            b = of[b].over;
    return a;
}

static void
dominate(flow *f)
{
    block *of = f->blocks.at;
    for (size_t i = 0; i < f->blocks.n; i++)
        of[i].over = i ? NOWHERE : 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < f->sorted.n; i++)
            for (size_t k = 0; k < of[f->sorted.at[i]].n; k++) {
                int from = f->sorted.at[i], to = next_of(f, from, k);
                int over = to == 0 ? 0 : of[to].over == NOWHERE ? from : common(f, of[to].over, from);
                changed |= over != of[to].over;
                of[to].over = over;
            }
    }
}

static bool
is_behind(const flow *f, int block, int other)
{
    while (f->blocks.at[block].order > f->blocks.at[other].order)
        block = f->blocks.at[block].over;
    return block == other;
}

/* -- loops in loops ------------------------------------------------------------------------------------------------ */

static bool
leads_back(const flow *f, int from, int to)
{
    bool leads = false;
    for (size_t k = 0; k < f->blocks.at[from].n; k++)
        leads |= next_of(f, from, k) == to;
    return leads && f->blocks.at[from].order && is_behind(f, from, to);
}

static bool
is_head(const flow *f, int i)
{
    for (size_t k = 0; k < f->blocks.n; k++)
        if (leads_back(f, (int)k, i))
            return true;
    return false;
}

static void
reach(flow *f, int from, int head)
{
    f->seen.at[from] = true;
    for (size_t k = 0; k < f->blocks.at[from].n; k++)
        if (next_of(f, from, k) != head && !f->seen.at[next_of(f, from, k)])
            reach(f, next_of(f, from, k), head);
}

/* How many branches lead back to the head that are reached from another block, but not by way of the head. */
static int
ways_back(flow *f, int head, int from)
{
    int n = 0;
    memset(f->seen.at, 0, f->blocks.n * sizeof *f->seen.at);
    reach(f, from, head);
    for (size_t i = 0; i < f->blocks.n; i++)
        n += f->seen.at[i] && leads_back(f, (int)i, head);
    return n;
}

static bool
leads_into(const flow *f, int from, int head)
{
    for (size_t k = 0; k < f->blocks.at[from].n; k++)
        if (next_of(f, from, k) != head && f->in.at[next_of(f, from, k)])
            return true;
    return false;
}

/* Blocks from which the head is reached without leaving the loop. */
static void
collect(flow *f, int head)
{
    for (size_t i = 0; i < f->blocks.n; i++)
        f->in.at[i] = (int)i == head || leads_back(f, (int)i, head);
    for (bool more = true; more;) {
        more = false;
        for (size_t i = f->sorted.n; i-- > 0;)
            if (!f->in.at[f->sorted.at[i]] && leads_into(f, f->sorted.at[i], head))
                f->in.at[f->sorted.at[i]] = more = true;
    }
}

/* The head of a loop in the one of `head` from which two branches are reached that lead back to that; NOWHERE: there is none. */
static int
forked(flow *f, int head)
{
    if (ways_back(f, head, head) < 2)
        return NOWHERE;
    collect(f, head);
    for (size_t i = 0; i < f->blocks.n; i++)
        if ((int)i != head && f->in.at[i] && is_head(f, (int)i) && ways_back(f, head, (int)i) > 1)
            return (int)i;
    return NOWHERE;
}

static bool
body_is_plain(flow *f)
{
    sort(f);
    dominate(f);
    for (size_t i = 0; i < f->blocks.n; i++) {
        int inner = forked(f, (int)i);
        if (inner == NOWHERE)
            continue;
        str_addf(f->why, "%d branches lead back to label %d out of the loop of label %d or from behind it",
                 ways_back(f, (int)i, inner), f->blocks.at[i].label, f->blocks.at[inner].label);
        return false;
    }
    return true;
}

bool
ptx_loops_are_plain(const char *text, str *why)
{
    flow f = {.why = why};
    const char *at = strstr(text, "\n{");
    bool plain = at || fail(&f, "no function", "");
    for (; at && plain; at = strstr(at, "\n{")) {
        at += strcspn(at + 1, "\n") + 1;
        at += *at == '\n';
        plain = read_body(&f, &at) && body_is_plain(&f);
    }
    vec_free(&f.blocks);
    vec_free(&f.edges);
    vec_free(&f.targets);
    vec_free(&f.first);
    vec_free(&f.sorted);
    vec_free(&f.in);
    vec_free(&f.seen);
    return plain;
}

/* See ptx_loops.h. A function's blocks begin at labels and behind branches; a loop is what lies between a block and branches
 * back to it from blocks that it dominates. SPDX-License-Identifier: Apache-2.0 */
#include "ptx_loops.h"

#include <ctype.h>

enum { LABELS = 1 << 14, NOWHERE = -1 };

typedef struct block {
    int label;
    int to[2]; /* where it goes on, NOWHERE: it ends */
    int order; /* by which all blocks but heads of loops come behind those that lead to them; 0: not reached */
    int over;  /* its immediate dominator */
} block;

typedef struct flow {
    vec(block) blocks;
    vec(int) sorted; /* in that order */
    int *first;      /* by label; 0: none */
    bool *in, *seen;
} flow;

/* -- blocks ---------------------------------------------------------------------------------------------------------- */

/* of "$L__BB3_17" 17; NOWHERE: no label */
static int
label_at(const char *at)
{
    int number, end = 0;
    return sscanf(at, "$L__BB%*d_%d%n", &number, &end) == 1 && end && number < LABELS ? number : NOWHERE;
}

static void
begin(flow *f, int label)
{
    block b = {.label = label, .to = {NOWHERE, NOWHERE}};
    vec_push(&f->blocks, b);
    if (label != NOWHERE)
        f->first[label] = (int)f->blocks.n - 1;
}

/* Whether what stands behind the line is reached from it. Branches go to labels until all of these are known. */
static bool
read_line(flow *f, const char *line)
{
    bool some = *line == '@';
    if (some)
        line += strcspn(line, " \t") + strspn(line + strcspn(line, " \t"), " \t");
    if (strncmp(line, "ret;", 4) == 0 || strncmp(line, "exit;", 5) == 0 || strncmp(line, "trap;", 5) == 0)
        return some;
    if (strncmp(line, "bra", 3) != 0)
        return true;
    vec_last(&f->blocks).to[0] = label_at(line + strcspn(line, "$"));
    if (some)
        begin(f, NOWHERE);
    return some;
}

/* From behind "{" to the line "}", which is returned. */
static const char *
read_body(flow *f, const char *at)
{
    bool falls = true;
    vec_clear(&f->blocks);
    memset(f->first, 0, LABELS * sizeof *f->first);
    begin(f, NOWHERE);
    for (; *at && *at != '}'; at += strcspn(at, "\n"), at += *at == '\n') {
        const char *line = at + strspn(at, " \t");
        int label = label_at(line);
        if (label != NOWHERE) {
            if (falls)
                vec_last(&f->blocks).to[1] = (int)f->blocks.n;
            begin(f, label);
            falls = true;
        } else if (falls) {
            size_t n = f->blocks.n;
            falls = read_line(f, line);
            if (f->blocks.n > n)
                f->blocks.at[n - 1].to[1] = (int)n;
        }
    }
    for (size_t i = 0; i < f->blocks.n; i++)
        if (f->blocks.at[i].to[0] != NOWHERE)
            f->blocks.at[i].to[0] = f->first[f->blocks.at[i].to[0]];
    return at;
}

/* -- who dominates whom -------------------------------------------------------------------------------------------- */

static void
visit(flow *f, int i)
{
    f->seen[i] = true;
    for (int k = 0; k < 2; k++)
        if (f->blocks.at[i].to[k] != NOWHERE && !f->seen[f->blocks.at[i].to[k]])
            visit(f, f->blocks.at[i].to[k]);
    vec_push(&f->sorted, i);
}

static void
sort(flow *f)
{
    vec_clear(&f->sorted);
    memset(f->seen, 0, f->blocks.n * sizeof *f->seen);
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
    for (size_t i = 0; i < f->blocks.n; i++)
        f->blocks.at[i].over = NOWHERE;
    f->blocks.at[0].over = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < f->sorted.n; i++)
            for (int k = 0, from = f->sorted.at[i]; k < 2; k++) {
                int to = f->blocks.at[from].to[k];
                if (to == NOWHERE || to == 0)
                    continue;
                int over = f->blocks.at[to].over == NOWHERE ? from : common(f, f->blocks.at[to].over, from);
                changed |= over != f->blocks.at[to].over;
                f->blocks.at[to].over = over;
            }
    }
}

static bool
leads_back(const flow *f, int from, int to)
{
    const block *of = f->blocks.at;
    if (!of[from].order || (of[from].to[0] != to && of[from].to[1] != to))
        return false;
    while (of[from].order > of[to].order)
        from = of[from].over;
    return from == to;
}

static int
ways_back(const flow *f, int head)
{
    int n = 0;
    for (size_t i = 0; i < f->blocks.n; i++)
        n += leads_back(f, (int)i, head);
    return n;
}

/* -- loops in loops ------------------------------------------------------------------------------------------------ */

/* Blocks from which the head is reached without leaving the loop. */
static void
collect(flow *f, int head)
{
    memset(f->in, 0, f->blocks.n * sizeof *f->in);
    f->in[head] = true;
    for (size_t i = 0; i < f->blocks.n; i++)
        f->in[i] |= leads_back(f, (int)i, head);
    for (bool more = true; more;) {
        more = false;
        for (size_t i = f->sorted.n; i-- > 0;) {
            const block *b = &f->blocks.at[f->sorted.at[i]];
            for (int k = 0; k < 2; k++)
                if (!f->in[f->sorted.at[i]] && b->to[k] != NOWHERE && b->to[k] != head && f->in[b->to[k]])
                    f->in[f->sorted.at[i]] = more = true;
        }
    }
}

static bool
is_plain(flow *f, int head)
{
    if (ways_back(f, head) < 2)
        return true;
    collect(f, head);
    for (size_t i = 0; i < f->blocks.n; i++)
        if ((int)i != head && f->in[i] && ways_back(f, (int)i))
            return false;
    return true;
}

bool
ptx_loops_are_plain(const char *text, str *why)
{
    bool plain = true;
    flow f = {.first = mem_zalloc(LABELS * sizeof(int)), .in = mem_zalloc(4 * LABELS), .seen = mem_zalloc(4 * LABELS)};
    for (const char *at = strstr(text, "\n{\n"); at && plain; at = strstr(at, "\n{\n")) {
        at = read_body(&f, at + 3);
        sort(&f);
        dominate(&f);
        for (size_t i = 0; i < f.blocks.n && plain; i++) {
            plain = is_plain(&f, (int)i);
            if (!plain)
                str_addf(why, "%d branches lead back to label %d, whose loop has loops in it", ways_back(&f, (int)i),
                         f.blocks.at[i].label);
        }
    }
    vec_free(&f.blocks);
    vec_free(&f.sorted);
    mem_free(f.first);
    mem_free(f.in);
    mem_free(f.seen);
    return plain;
}

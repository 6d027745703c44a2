/* Loads of warps go out together. SPDX-License-Identifier: Apache-2.0
 *
 *   %a: f32x32 = load %x[%i] if %m                %j: i32x32 = add %i, %one
 *   ... (uses of %a)                              %a: f32x32 = load %x[%i] if %m
 *   if %any {                                     %b: f32x32 = load %x[%j] if %k
 *     %j: i32x32 = add %i, %one             ->    ... (uses of %a)
 *     %b: f32x32 = load %x[%j] if %k              if %any {
 *     ... (uses of %b)                              ... (uses of %b)
 *
 * where %any is whether some lane of %k holds: the mask keeps lanes from what is not theirs, before the branch as well.
 * A warp waits where a value is used first, for all loads at once. What is in straight code between loops moves to its
 * beginning, with the arithmetic that it needs: first what needs no other load, then what needs those. A loop that only
 * loads and computes does so with loads that all lanes share, too. */
#include "analysis/access.h"
#include "opt/pass.h"

enum {
    EARLY_MAX = 24, /* loads of one piece of straight code, which all have a register */
    PULLED_MAX = 8, /* ... that come out of one branch */
    CLOSURE = 48,   /* ops that a load needs */
    LEVELS = 3,
    CHANGES_MAX = 64 /* that a load goes before */
};

/* a piece of straight code: up to `end`, which is a loop or the like, or NULL */
typedef struct piece {
    ir_op *first, *end;
    uint32_t loads;
} piece;

typedef struct search {
    bool *inside, *marked; /* by value: defined in the piece; to be moved */
    ir_op *found[CLOSURE]; /* what the load at hand needs */
    uint32_t n;
    ir_footprints footprints;
    vec(const ir_op *) changes; /* of memory */
    bool shared; /* what all lanes load alike is meant too */
    bool changed;
} search;

/* -- what stands between --------------------------------------------------------------------------------- */

static bool
ends_piece(search *s, const ir_op *op)
{
    return ir_footprint(&s->footprints, op)->guards || (op->nregions && op->code != RG_OP_IF) || op->code == RG_OP_YIELD;
}

static bool
changes_memory(const ir_effects *e)
{
    bool changes = false;
    for (size_t i = 0; i < e->at.n; i++)
        changes |= e->at.at[i].does & IR_CHANGES;
    return changes;
}

static void
list_change(search *s, const ir_op *op)
{
    if (changes_memory(ir_footprint(&s->footprints, op)))
        vec_push(&s->changes, op);
}

/* whether the load may go before what was listed */
static bool
may_overtake(search *s, const ir_op *load)
{
    bool free = s->changes.n <= CHANGES_MAX;
    for (size_t i = 0; i < s->changes.n && free; i++)
        free = access_passes(&s->footprints, load, s->changes.at[i]);
    return free;
}

static bool
is_own_load(const ir_op *op)
{
    return op->code == RG_OP_LOAD && op->results[0]->type.lanes && !op->atomic;
}

/* -- what a load needs ------------------------------------------------------------------------------------- */

static bool
computes_numbers(const ir_op *op)
{
    return ir_is_arithmetic(op) || op->code == RG_OP_LANE || op->code == RG_OP_EXTENT;
}

static bool
is_cheap_arithmetic(const ir_op *op)
{
    return computes_numbers(op) && op->code != RG_OP_DIV && op->code != RG_OP_REM && !(ir_ops[op->code].flags & IR_FUNCTION);
}

typedef bool may_need(const ir_op *op);

/* puts what has to move with op before op into s->found; false: that cannot be */
static bool
find_needed(search *s, const ir_op *op, may_need *may)
{
    for (uint32_t i = 0; i < op->nargs; i++) {
        ir_op *def = op->args[i]->def;
        bool known = !s->inside[op->args[i]->id] || s->marked[op->args[i]->id];
        for (uint32_t k = 0; k < s->n && !known; k++)
            known = s->found[k] == def;
        if (known)
            continue;
        if (!def || !may(def) || s->n == CLOSURE || !find_needed(s, def, may) || s->n == CLOSURE)
            return false;
        s->found[s->n++] = def;
    }
    return true;
}

static void
set(bool *flags, const ir_op *op, bool to)
{
    for (uint32_t i = 0; i < op->nresults; i++)
        flags[op->results[i]->id] = to;
}

/* -- out of branches ----------------------------------------------------------------------------------------- */

/* whether lanes of mask are lanes of `of` */
static bool
implies(const ir_value *mask, const ir_value *of)
{
    if (mask == of)
        return true;
    const ir_op *def = mask->def;
    return def && def->code == RG_OP_AND && (implies(def->args[0], of) || implies(def->args[1], of));
}

/* whether no lane loads where the branch is not taken */
static bool
is_safe_before(const ir_op *load, const ir_op *branch)
{
    const ir_op *any = branch->args[0]->def;
    return load->masked && any && any->code == RG_OP_LANES_ANY && implies(load->args[load->nargs - 1], any->args[0]);
}

static void
move_before(search *s, ir_op *op, ir_op *at)
{
    set(s->inside, op, false);
    ir_remove(op);
    ir_insert_before(at, op);
    s->changed = true;
}

static void
pull_out(search *s, ir_op *branch)
{
    ir_region *r = branch->regions[0];
    uint32_t pulled = 0;
    ir_for_ops(op, r)
        set(s->inside, op, true);
    vec_clear(&s->changes);
    for (ir_op *op = r->first, *next; op && !ends_piece(s, op) && pulled < PULLED_MAX; op = next) {
        next = op->next;
        list_change(s, op);
        s->n = 0;
        if (!is_own_load(op) || !is_safe_before(op, branch) || !may_overtake(s, op) || !find_needed(s, op, is_cheap_arithmetic))
            continue;
        for (uint32_t k = 0; k < s->n; k++)
            move_before(s, s->found[k], branch);
        move_before(s, op, branch);
        pulled++;
    }
    ir_for_ops(op, r)
        set(s->inside, op, false);
}

/* -- to the beginning ------------------------------------------------------------------------------------------ */

/* marks loads that need no others but those that moved before */
static void
mark_level(search *s, piece *p)
{
    vec_clear(&s->changes);
    for (ir_op *op = p->first; op != p->end; op = op->next) {
        list_change(s, op);
        s->n = 0;
        bool load = is_own_load(op) || (s->shared && op->code == RG_OP_LOAD && !op->atomic);
        bool wanted = load && s->inside[op->results[0]->id] && p->loads < EARLY_MAX;
        if (!wanted || !may_overtake(s, op) || !find_needed(s, op, computes_numbers))
            continue;
        for (uint32_t k = 0; k < s->n; k++)
            set(s->marked, s->found[k], true);
        p->loads++;
        set(s->marked, op, true);
    }
}

static bool
is_marked(const search *s, const ir_op *op)
{
    return op->nresults && s->marked[op->results[0]->id];
}

/* keeps the order of what is marked, and of the rest */
static void
move_level(search *s, piece *p)
{
    ir_op *at = p->first;
    for (ir_op *op = p->first, *next; op != p->end; op = next) {
        next = op->next;
        if (!is_marked(s, op))
            continue;
        if (at == op)
            at = next;
        else
            move_before(s, op, at);
        set(s->marked, op, false);
        set(s->inside, op, false);
    }
    p->first = at;
}

static void
load_early(search *s, piece *p)
{
    for (ir_op *op = p->first; op != p->end; op = op->next)
        set(s->inside, op, true);
    for (unsigned level = 0; level < LEVELS && p->first != p->end; level++) {
        mark_level(s, p);
        move_level(s, p);
    }
    for (ir_op *op = p->first; op != p->end; op = op->next)
        set(s->inside, op, false);
}

static void
pull_into(search *s, piece *p)
{
    for (ir_op *op = p->first; op != p->end; op = op->next) {
        ir_op *before = op->prev;
        if (op->code != RG_OP_IF)
            continue;
        pull_out(s, op);
        if (op == p->first)
            p->first = before ? before->next : op->parent->first;
    }
}

/* (elsewhere registers are worth more than a wait that others share) */
static bool
only_loads(const ir_region *r)
{
    ir_for_ops(op, r)
        if ((op->code != RG_OP_LOAD || op->atomic) && op->code != RG_OP_YIELD && !computes_numbers(op))
            return false;
    return r->op && r->op->code == RG_OP_FOR;
}

static void
load_early_in(search *s, ir_region *r)
{
    piece p = {.first = r->first};
    ir_for_ops(op, r)
        for (uint32_t i = 0; i < op->nregions; i++)
            load_early_in(s, op->regions[i]);
    s->shared = only_loads(r);
    while (p.first) {
        for (p.end = p.first; p.end && !ends_piece(s, p.end);)
            p.end = p.end->next;
        pull_into(s, &p);
        load_early(s, &p);
        p = (piece){.first = p.end ? p.end->next : NULL};
    }
}

bool
opt_early_loads(ir_module *m, pass_context *c)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next) {
        search s = {.footprints = ir_footprints_in(c->scratch),
                    .changes.in = c->scratch,
                    .inside = arena_new_n(c->scratch, bool, fn->next_id),
                    .marked = arena_new_n(c->scratch, bool, fn->next_id)};
        load_early_in(&s, fn->body);
        changed |= s.changed;
    }
    return changed;
}

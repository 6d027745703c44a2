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
#include "analysis/elements.h"
#include "opt/pass.h"

enum {
    EARLY_MAX = 24, /* loads of one piece of straight code, which all have a register */
    PULLED_MAX = 8, /* ... that come out of one branch */
    CLOSURE = 48,   /* ops that a load needs */
    LEVELS = 3,
    WRITES_MAX = 64
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
    const ir_op *writes[WRITES_MAX];
    uint32_t nwrites;
    bool full; /* of writes: nothing is known any more */
    bool shared; /* what all lanes load alike is meant too */
    bool changed;
} search;

/* -- what stands between --------------------------------------------------------------------------------- */

/* behind an assert subscripts may be good that are not before it */
static bool
goes_on(ir_op *op, void *user)
{
    (void)user;
    return op->code != RG_OP_ASSERT && op->code != RG_OP_CALL;
}

static bool
ends_piece(ir_op *op)
{
    if (op->code == RG_OP_IF)
        return !ir_walk(op->regions[0], goes_on, NULL) || !ir_walk(op->regions[1], goes_on, NULL);
    return !goes_on(op, NULL) || op->nregions || op->code == RG_OP_EXIT_IF || op->code == RG_OP_YIELD;
}

static bool
list_write(ir_op *op, void *user)
{
    search *s = user;
    bool writes = op->code == RG_OP_STORE || op->code == RG_OP_RMW;
    s->full |= op->code == RG_OP_CALL || op->code == RG_OP_TAPE_RESTORE || (writes && s->nwrites == WRITES_MAX);
    if (writes && !s->full)
        s->writes[s->nwrites++] = op;
    return true;
}

static void
list_writes(search *s, ir_op *op)
{
    list_write(op, s);
    for (uint32_t i = 0; i < op->nregions; i++)
        ir_walk(op->regions[i], list_write, s);
}

/* whether the load may go before the writes that were listed */
static bool
may_overtake(const search *s, const ir_op *load)
{
    bool free = !s->full;
    for (uint32_t i = 0; i < s->nwrites && free; i++)
        free = !elements_may_meet(s->writes[i], load);
    return free;
}

static bool
is_own_load(const ir_op *op)
{
    return op->code == RG_OP_LOAD && op->results[0]->type.lanes;
}

/* -- what a load needs ------------------------------------------------------------------------------------- */

static bool
is_arithmetic(const ir_op *op)
{
    return ir_is_arithmetic(op) || op->code == RG_OP_LANE || op->code == RG_OP_EXTENT;
}

static bool
is_cheap(const ir_op *op)
{
    return is_arithmetic(op) && op->code != RG_OP_DIV && op->code != RG_OP_REM && !(ir_ops[op->code].flags & IR_FUNCTION);
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
    s->nwrites = 0;
    s->full = false;
    for (ir_op *op = r->first, *next; op && !ends_piece(op) && pulled < PULLED_MAX; op = next) {
        next = op->next;
        list_writes(s, op);
        s->n = 0;
        if (!is_own_load(op) || !is_safe_before(op, branch) || !may_overtake(s, op) || !find_needed(s, op, is_cheap))
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
    s->nwrites = 0;
    s->full = false;
    for (ir_op *op = p->first; op != p->end; op = op->next) {
        list_writes(s, op);
        s->n = 0;
        bool load = is_own_load(op) || (s->shared && op->code == RG_OP_LOAD);
        bool wanted = load && s->inside[op->results[0]->id] && p->loads < EARLY_MAX;
        if (!wanted || !may_overtake(s, op) || !find_needed(s, op, is_arithmetic))
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
        if (op->code != RG_OP_LOAD && op->code != RG_OP_YIELD && !is_arithmetic(op))
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
        for (p.end = p.first; p.end && !ends_piece(p.end);)
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
        search s = {.inside = mem_zalloc(fn->next_id * sizeof(bool)), .marked = mem_zalloc(fn->next_id * sizeof(bool))};
        load_early_in(&s, fn->body);
        mem_free(s.inside);
        mem_free(s.marked);
        changed |= s.changed;
    }
    return changed;
}

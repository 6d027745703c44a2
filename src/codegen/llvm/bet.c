/* Sines, quotients and roots in straight code: a bet that no operand is out of the common. SPDX-License-Identifier: Apache-2.0
 *
 * A sine asks whether its operand is large, a quotient of f32 whether what is computed along with it may lose digits, and
 * each calls a slow path if so: in the threads of a warp a branch, behind which they have to meet again. Where several
 * follow one another, all are computed the fast way, the answers come together, and one branch behind the last does
 * everything once more, each in its own way:
 *
 *   %v1 = sin %v0   %v2 = add %v1, %k   %v3 = sqrt %v2   (fast)
 *   if large %v0 or small %v2 { the same, slow }
 *
 * What stands between is arithmetic, and loads that do not depend on it: wrong numbers do no harm. */
#include "codegen/llvm/gen.h"

enum { FEWEST = 2, OPS_FOR_EACH = 16, DEPTH = 6, LONGEST = 1024 /* ops: all of them are compiled twice */ };

typedef struct stretch {
    const ir_op *first, *last; /* that ask; NULL: there is none */
    const ir_op *end;          /* no op before it begins another stretch */
    uint32_t asking, ops, ops_to_last;
} stretch;

typedef struct value_list {
    const ir_value **value;
    uint32_t n;
} value_list;

static bool
is_sine(const ir_op *op)
{
    return op->code == RG_OP_SIN || op->code == RG_OP_COS || op->code == RG_OP_TAN;
}

/* Functions whose slow path is a branch, or of f32 alone a quotient's. */
static const struct {
    rg_op op;
    const char *name;
    bool of_f32;
} functions[] = {
    {RG_OP_SIN, "sin", false}, {RG_OP_COS, "cos", false},   {RG_OP_COS, "sincos", false},  {RG_OP_TAN, "tan", false},
    {RG_OP_LOG, "log", false}, {RG_OP_LOG2, "log2", false}, {RG_OP_LOG10, "log10", false},
    {RG_OP_SINH, "sinh", true}, {RG_OP_COSH, "cosh", true}, {RG_OP_TANH, "tanh", true},
};

bool
gen_bets_on(const gen *g, const char *name, bool is_f32)
{
    for (size_t i = 0; g->bet && i < countof(functions); i++)
        if (strcmp(name, functions[i].name) == 0)
            return is_f32 || !functions[i].of_f32;
    return false;
}

/* the platform's ask for themselves */
static bool
is_asking_function(const gen *g, const ir_op *op)
{
    for (size_t i = 0; !g->native_math && i < countof(functions); i++)
        if (functions[i].op == op->code)
            return !functions[i].of_f32 || op->results[0]->type.dtype == RG_F32;
    return false;
}

/* by a power of two it is a product */
static bool
is_quotient(const ir_op *op)
{
    uint64_t bits;
    return op->code == RG_OP_DIV && !(ir_is_const(op->args[1], &bits) && !((uint32_t)bits << 9));
}

static bool
asks(const gen *g, const ir_op *op)
{
    if (is_asking_function(g, op))
        return true;
    bool is_rounded = is_quotient(op) || op->code == RG_OP_SQRT || op->code == RG_OP_RSQRT;
    return is_rounded && op->results[0]->type.dtype == RG_F32;
}

/* -- what a stretch may hold --------------------------------------------------------------------------- */

/* from before the stretch, or integers computed from such alone */
static bool
stands_apart(const ir_value *v, const ir_op *first, unsigned depth)
{
    const ir_op *op = v->def;
    if (v->type.kind == IR_BUFFER || ir_is_const(v, NULL))
        return true;
    if (!op)
        return true;
    if (op->parent == first->parent) {
        const ir_op *before = first->prev;
        while (before && before != op)
            before = before->prev;
        if (before)
            return true;
    } else if (ir_region_inside(first->parent, op->parent)) {
        return true;
    }
    if (!depth || ir_ops[op->code].form == IR_OTHER)
        return false;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (ir_is_float((rg_dtype)op->args[i]->type.dtype) || !stands_apart(op->args[i], first, depth - 1))
            return false;
    return true;
}

static bool
is_sure(const ir_op *op, const ir_op *first)
{
    if (op->code == RG_OP_CONST || op->code == RG_OP_SPLAT)
        return true;
    if (op->code == RG_OP_LOAD) {
        if (!op->results[0]->type.lanes)
            return false; /* what is the same for all may need to meet */
        for (uint32_t i = 0; i < op->nargs; i++)
            if (!stands_apart(op->args[i], first, DEPTH))
                return false;
        return true;
    }
    if (ir_ops[op->code].form == IR_OTHER || op->nresults != 1)
        return false;
    bool divides = op->code == RG_OP_DIV || op->code == RG_OP_REM;
    return !divides || ir_is_float((rg_dtype)op->results[0]->type.dtype) || ir_is_const(op->args[1], NULL);
}

static void
add_to_stretch(const gen *g, stretch *s, const ir_op *op)
{
    s->ops += s->first && op->code != RG_OP_CONST;
    if (!asks(g, op))
        return;
    s->first = s->first ? s->first : op;
    s->last = op;
    s->ops_to_last = s->ops;
    s->asking += 1 + (op->code == RG_OP_RSQRT);
}

static stretch
find_stretch(const gen *g, const ir_op *first)
{
    stretch s = {.end = first};
    for (; s.end && s.end->code != RG_OP_YIELD && s.ops < LONGEST && is_sure(s.end, first); s.end = s.end->next)
        add_to_stretch(g, &s, s.end);
    return s;
}

/* -- whose operands count ------------------------------------------------------------------------------------ */

/* the lanes of which there must be one for a loop to go on */
static const ir_value *
stay_in_loop(const ir_op *exit)
{
    const ir_op *none = exit->args[0]->def, *any = none && none->code == RG_OP_NOT ? none->args[0]->def : NULL;
    return any && any->code == RG_OP_LANES_ANY ? any->args[0] : NULL;
}

/* whether lanes of `mask` are lanes of `of` */
static bool
are_among(const ir_value *mask, const ir_value *of)
{
    const ir_op *def = mask->def;
    return mask == of || (def && def->code == RG_OP_AND && (are_among(def->args[0], of) || are_among(def->args[1], of)));
}

/* Whether what op does, and what it tells other lanes, is of lanes of the mask alone. */
static bool
stays_among(ir_op *op, void *user)
{
    const ir_value *mask = user;
    switch ((int)op->code) {
    case RG_OP_STORE:
    case RG_OP_RMW:
    case RG_OP_SLOT_STORE:
        return op->masked && are_among(op->args[op->nargs - 1], mask);
    case RG_OP_LANES_ANY:
        return are_among(op->args[0], mask);
    case RG_OP_IF:
    case RG_OP_LOAD:
    case RG_OP_TAPE_POP:
    case RG_OP_YIELD:
    case RG_OP_CONST:
    case RG_OP_SPLAT:
    case RG_OP_SLOT_LOAD:
        return true;
    }
    return ir_ops[op->code].form != IR_OTHER;
}

/* the lanes whose carried values an iteration of a reverse loop changes; NULL: all, or it may do more */
static const ir_value *
changed_lanes(const ir_op *loop)
{
    const ir_region *body = loop->regions[0];
    const ir_op *yield = ir_terminator(body);
    const ir_value *mask = NULL;
    uint32_t first = body->nparams - yield->nargs;
    for (uint32_t k = 0; k < yield->nargs; k++) {
        const ir_op *def = yield->args[k]->def;
        if (!yield->args[k]->type.lanes || yield->args[k] == body->params[first + k])
            continue;
        bool kept = def && def->code == RG_OP_SELECT && def->args[2] == body->params[first + k] && def->args[0]->type.lanes;
        if (!kept || (mask && mask != def->args[0]))
            return NULL;
        mask = def->args[0];
    }
    return mask && ir_walk((ir_region *)body /* only looked at */, stays_among, (void *)mask) ? mask : NULL;
}

static bool
stands_before(const ir_value *v, const ir_op *at)
{
    const ir_op *op = at;
    while (op && op != v->def)
        op = op->prev;
    return op != NULL;
}

/* Lanes that have left a loop, are not yet in a reverse loop, or do not take a branch go on computing, often with 0; what
 * they get is not used. NULL: all take part. */
static const ir_value *
taking_part(const ir_op *at)
{
    for (; at && at->code != RG_OP_PARALLEL; at = at->parent->op) {
        for (const ir_op *op = at->prev; op; op = op->prev)
            if (op->code == RG_OP_EXIT_IF && stay_in_loop(op))
                return stay_in_loop(op);
        const ir_op *around = at->parent->op;
        const ir_op *any = around && around->code == RG_OP_IF && at->parent == around->regions[0] ? around->args[0]->def : NULL;
        if (any && any->code == RG_OP_LANES_ANY)
            return any->args[0];
        const ir_value *changed = around && around->code == RG_OP_FOR ? changed_lanes(around) : NULL;
        if (changed && stands_before(changed, at))
            return changed;
    }
    return NULL;
}

/* -- both ways --------------------------------------------------------------------------------------------- */

/* What the ops of a stretch will leave: their results, and those of sines' twins, which may stand behind it. What came
 * with a twin before it is there already. */
static value_list
left_by(gen *g, const ir_op *first, const ir_op *behind)
{
    uint32_t n = 0;
    for (const ir_op *op = first; op != behind; op = op->next)
        n += op->nresults + 1;
    value_list v = {.value = arena_new_n(g->scratch, const ir_value *, n + 1)};
    for (const ir_op *op = first; op != behind; op = op->next) {
        if (is_sine(op) && g->s->values[op->results[0]->id])
            continue;
        for (uint32_t i = 0; i < op->nresults; i++)
            v.value[v.n++] = op->results[i];
        if (is_sine(op) && g->twins && g->twins[op->results[0]->id])
            v.value[v.n++] = g->twins[op->results[0]->id];
    }
    return v;
}

static LLVMValueRef *
made_now(gen *g, const value_list *v)
{
    LLVMValueRef *made = arena_new_n(g->scratch, LLVMValueRef, v->n + 1);
    for (uint32_t i = 0; i < v->n; i++)
        made[i] = g->s->values[v->value[i]->id];
    return made;
}

/* a cosine is not there because its sine was */
static void
forget_values(gen *g, const value_list *v)
{
    for (uint32_t i = 0; i < v->n; i++)
        g->s->values[v->value[i]->id] = NULL;
}

static void
generate_ops(gen *g, const ir_op *first, const ir_op *behind)
{
    for (const ir_op *op = first; op != behind; op = op->next)
        gen_op(g, op);
}

static void
join_values(gen *g, const value_list *v, LLVMValueRef *fast, LLVMBasicBlockRef from[2])
{
    LLVMValueRef *slow = made_now(g, v);
    for (uint32_t i = 0; i < v->n; i++) {
        if (!fast[i] || !slow[i] || fast[i] == slow[i])
            continue;
        LLVMValueRef joined = LLVMBuildPhi(g->b, LLVMTypeOf(slow[i]), "");
        LLVMAddIncoming(joined, (LLVMValueRef[]){fast[i], slow[i]}, from, 2);
        gen_set(g, v->value[i], joined);
    }
}

static void
generate_both(gen *g, const ir_op *first, const ir_op *behind)
{
    value_list v = left_by(g, first, behind);
    gen_bet_begin(g, gen_alloca(g, g->i1, NULL, "lost"));
    LLVMBuildStore(g->b, LLVMConstNull(g->i1), g->bet);
    generate_ops(g, first, behind);
    LLVMValueRef lost = LLVMBuildLoad2(g->b, g->i1, g->bet, "");
    const ir_value *lanes = taking_part(first);
    if (lanes)
        lost = LLVMBuildAnd(g->b, lost, gen_get(g, lanes), "");
    LLVMValueRef *fast = made_now(g, &v);
    LLVMBasicBlockRef again = gen_block(g, "again"), after = gen_block(g, "settled"), from[2] = {gen_here(g)};
    gen_unlikely(g, LLVMBuildCondBr(g->b, lost, again, after), false);
    gen_at(g, again);
    g->bet = NULL;
    g->bet_is_lost = true;
    forget_values(g, &v);
    generate_ops(g, first, behind);
    g->bet_is_lost = false;
    from[1] = gen_here(g);
    LLVMBuildBr(g->b, after);
    gen_at(g, after);
    join_values(g, &v, fast, from);
}

/* Generates a stretch that begins with op; returns its last op, NULL if there is none: *look is then the next one that
 * might begin one. */
static const ir_op *
bet(gen *g, const ir_op *op, const ir_op **look)
{
    stretch s = find_stretch(g, op);
    *look = s.end == op ? op->next : s.end;
    if (s.asking < FEWEST || s.ops_to_last > OPS_FOR_EACH * s.asking)
        return NULL;
    if (s.first != op) {
        *look = s.first;
        return NULL;
    }
    generate_both(g, op, s.last->next);
    *look = s.last->next;
    return s.last;
}

const ir_op *
gen_straight(gen *g, const ir_op *op, const ir_op **look)
{
    bool may_bet = g->target->warp && !g->bet && !g->bet_is_lost && !g->options->fast_math;
    const ir_op *last = may_bet && op == *look ? bet(g, op, look) : NULL;
    return last ? last : gen_next(g, op);
}

/* A slow path within a bet: its condition is kept, and the fast way gone. */
void
gen_bet_if(gen *g, const ir_op *op)
{
    const ir_op *yield = ir_terminator(op->regions[1]);
    LLVMValueRef before = LLVMBuildLoad2(g->b, g->i1, g->bet, "");
    LLVMBuildStore(g->b, LLVMBuildOr(g->b, before, gen_get(g, op->args[0]), ""), g->bet);
    gen_region(g, op->regions[1]);
    for (uint32_t i = 0; i < op->nresults; i++)
        gen_set(g, op->results[i], gen_get(g, yield->args[i]));
}

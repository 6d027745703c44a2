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

#include "analysis/straight.h"

enum { FEWEST = 2, OPS_FOR_EACH = 16, LONGEST = 1024 /* ops: all of them are compiled twice */ };

typedef struct stretch {
    const ir_op *first, *last; /* that ask; NULL: there is none */
    const ir_op *end;          /* no op before it begins another stretch */
    uint32_t asking, ops, ops_to_last;
    bool same; /* some that ask have no lanes */
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

static void
add_to_stretch(const gen *g, stretch *s, const ir_op *op)
{
    s->ops += s->first && op->code != RG_OP_CONST;
    if (!asks(g, op))
        return;
    s->first = s->first ? s->first : op;
    s->last = op;
    s->ops_to_last = s->ops;
    s->same |= !op->results[0]->type.lanes;
    s->asking += 1 + (op->code == RG_OP_RSQRT);
}

static stretch
find_stretch(const gen *g, const ir_op *first)
{
    stretch s = {.end = first};
    for (; s.end && s.end->code != RG_OP_YIELD && s.ops < LONGEST && ir_is_sure(s.end, first); s.end = s.end->next)
        add_to_stretch(g, &s, s.end);
    return s;
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

/* What is the same in all lanes has to stay so: then lanes that take no part repeat it, too. */
static void
generate_both(gen *g, const stretch *s)
{
    const ir_op *first = s->first, *behind = s->last->next;
    value_list v = left_by(g, first, behind);
    gen_bet_begin(g, gen_alloca(g, g->i1, NULL, "lost"));
    LLVMBuildStore(g->b, LLVMConstNull(g->i1), g->bet);
    generate_ops(g, first, behind);
    LLVMValueRef lost = LLVMBuildLoad2(g->b, g->i1, g->bet, "");
    const ir_value *lanes = s->same ? NULL : ir_taking_part(first);
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
    generate_both(g, &s);
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

/* Directions as vectors. SPDX-License-Identifier: Apache-2.0
 *
 * What a function for several directions computes in each of them stands there as so many equal
 * ops, one behind the other (a bundle). Here a bundle becomes one op on vectors; what it carries
 * through ifs and loops are vectors too. Nothing rests on bundles being found: what was taken apart
 * or moved on the way is computed one by one, and vectors are put together, or elements taken out,
 * where the two meet. */
#include "ir/edges.h"
#include "codegen/llvm/gen.h"

enum { DEPTH = 8 };

/* -- values ------------------------------------------------------------------------------------ */

static LLVMTypeRef
bundle_type(gen *g, rg_dtype d)
{
    return LLVMVectorType(gen_type(g, d), g->beside);
}

LLVMValueRef
gen_lane(gen *g, const ir_value *v)
{
    LLVMValueRef vector = g->s->vectors ? g->s->vectors[v->id] : NULL;
    return vector ? LLVMBuildExtractElement(g->b, vector, gen_i32(g, g->s->lane[v->id]), "") : NULL;
}

static void
set_vector(gen *g, ir_value *const *v, LLVMValueRef vector)
{
    for (uint32_t i = 0; i < g->beside; i++) {
        g->s->vectors[v[i]->id] = vector;
        g->s->lane[v[i]->id] = (uint8_t)i;
    }
}

/* whether v[0] .. are the elements of one vector, in order */
static LLVMValueRef
whole_vector(const gen *g, ir_value *const *v)
{
    LLVMValueRef vector = g->s->vectors[v[0]->id];
    for (uint32_t i = 0; i < g->beside && vector; i++)
        if (g->s->vectors[v[i]->id] != vector || g->s->lane[v[i]->id] != i)
            return NULL;
    return vector;
}

static LLVMValueRef
get_vector(gen *g, ir_value *const *v)
{
    LLVMValueRef vector = whole_vector(g, v);
    if (vector)
        return vector;
    LLVMTypeRef type = bundle_type(g, (rg_dtype)v[0]->type.dtype);
    bool same = true;
    for (uint32_t i = 1; i < g->beside; i++)
        same &= v[i] == v[0];
    if (same)
        return gen_splat(g, g->beside, gen_get(g, v[0]));
    vector = LLVMGetPoison(type);
    for (uint32_t i = 0; i < g->beside; i++)
        vector = LLVMBuildInsertElement(g->b, vector, gen_get(g, v[i]), gen_i32(g, i), "");
    return vector;
}

LLVMValueRef
gen_get_group(gen *g, ir_value *const *v, uint32_t n)
{
    return n == 1 ? gen_get(g, v[0]) : get_vector(g, v);
}

void
gen_set_group(gen *g, ir_value *const *v, uint32_t n, LLVMValueRef value)
{
    if (n == 1)
        gen_set(g, v[0], value);
    else
        set_vector(g, v, value);
}

LLVMTypeRef
gen_group_type(gen *g, const ir_value *first, uint32_t n)
{
    return n == 1 ? gen_value_type(g, first->type) : bundle_type(g, (rg_dtype)first->type.dtype);
}

/* -- what is carried --------------------------------------------------------------------------- */

static bool is_run(const gen *g, ir_value *const *v, unsigned depth);

/* whether v and those after it are handed on such a run */
static bool
gets_run(const gen *g, const ir_value *v, unsigned depth)
{
    const ir_op *op = v->def ? v->def : v->region->op;
    if (op->code == RG_OP_IF || ir_is_loop(op))
        for (ir_source s = {0}; ir_next_source(v, &s);)
            if (s.at + g->beside <= s.by->nargs && is_run(g, s.by->args + s.at, depth))
                return true;
    return false;
}

static bool
is_float_value(const ir_value *v)
{
    return v->type.kind == IR_SCALAR && !v->type.lanes && (v->type.dtype == RG_F32 || v->type.dtype == RG_F64);
}

/* Whether v[0] .. are made by one bundle, or carried as what such a bundle made. */
static bool
is_run(const gen *g, ir_value *const *v, unsigned depth)
{
    const ir_op *def = v[0]->def;
    bool one = def && !def->nregions;
    if (!depth || (one && !def->bundle))
        return false;
    for (uint32_t i = 0; i < g->beside; i++) {
        const ir_value *x = v[i];
        if (!is_float_value(x) || x->type.dtype != v[0]->type.dtype || x->region != v[0]->region)
            return false;
        if (one ? !x->def || x->def->bundle != def->bundle || x->def->code != def->code
                : x->def != def || x->index != v[0]->index + i)
            return false;
        if (one && i && x == v[i - 1])
            return false;
    }
    if (one)
        return true;
    return (def || v[0]->region->op) && gets_run(g, v[0], depth - 1);
}

/* Splits n values, carried ones (inits from args, or results), into vectors and single ones. */
group *
gen_groups(gen *g, const ir_op *op, bool results, uint32_t n, uint32_t *count)
{
    group *groups = arena_new_n(g->scratch, group, n + 1);
    uint32_t used = 0;
    for (uint32_t k = 0; k < n; k += groups[used++].n) {
        ir_value *const *v = results ? op->results : op->args + ir_first_init(op);
        ir_value *const *to = results ? op->results : op->regions[0]->params + ir_first_carried(op);
        bool may = g->s->vectors && k + g->beside <= n;
        for (uint32_t i = k; may && i < k + g->beside; i++)
            may = is_float_value(v[i]) && v[i]->type.dtype == v[k]->type.dtype;
        bool run = may && gets_run(g, to[k], DEPTH);
        groups[used] = (group){k, run ? g->beside : 1};
    }
    *count = used;
    return groups;
}

/* -- ops --------------------------------------------------------------------------------------- */

static bool
is_vector_op(const ir_op *op)
{
    rg_dtype from = (rg_dtype)op->args[0]->type.dtype, to = (rg_dtype)op->results[0]->type.dtype;
    bool real = from == RG_F32 || from == RG_F64;
    switch ((int)op->code) {
    case RG_OP_SELECT:
        return is_float_value(op->results[0]);
    case RG_OP_AND:
    case RG_OP_OR:
    case RG_OP_NOT:
        return from == RG_BOOL;
    case RG_OP_CAST:
        return real && from == to;
    case RG_OP_NEG:
    case RG_OP_ABS:
    case RG_OP_ADD:
    case RG_OP_SUB:
    case RG_OP_MUL:
    case RG_OP_DIV:
    case RG_OP_FMA:
    case RG_OP_MIN:
    case RG_OP_MAX:
    case RG_OP_SQRT:
    case RG_OP_ZERO_GUARD:
    case RG_OP_EQ:
    case RG_OP_NE:
    case RG_OP_LT:
    case RG_OP_LE:
    case RG_OP_GT:
    case RG_OP_GE:
        return real;
    }
    return false;
}

/* The ops of the bundle that begins with op; false: they do not stand there alone, one behind the
 * other, or need each other. */
static bool
collect_bundle(const gen *g, const ir_op *op, const ir_op **ops)
{
    const ir_op *at = op;
    for (uint32_t i = 0; i < g->beside; i++, at = at->next) {
        if (!at || at->bundle != op->bundle || at->code != op->code || at->nargs != op->nargs)
            return false;
        for (uint32_t k = 0; k < at->nargs; k++)
            if (!ir_type_eq(at->args[k]->type, op->args[k]->type) ||
                (at->args[k]->def && at->args[k]->def->bundle == op->bundle &&
                 at->args[k]->def->code == op->code))
                return false;
        ops[i] = at;
    }
    return true;
}

static void
vector_op(gen *g, const ir_op **ops)
{
    const ir_op *op = ops[0];
    ir_value *v[IR_DIRECTIONS];
    LLVMValueRef args[3] = {0};
    for (uint32_t k = 0; k < op->nargs && k < 3; k++) {
        bool same = true;
        for (uint32_t i = 0; i < g->beside; i++) {
            v[i] = ops[i]->args[k];
            same &= v[i] == v[0];
        }
        bool choice = op->code == RG_OP_SELECT && k == 0 && same;
        args[k] = choice ? gen_get(g, v[0]) : get_vector(g, v);
    }
    for (uint32_t i = 0; i < g->beside; i++)
        v[i] = ops[i]->results[0];
    set_vector(g, v, gen_op_value(g, op, args));
}

/* -- memory ------------------------------------------------------------------------------------ */

static bool
is_access(const ir_op *op)
{
    return op->code == RG_OP_LOAD || op->code == RG_OP_STORE ||
           (op->code == RG_OP_RMW && op->rmw == RG_RMW_ADD && !op->nresults);
}

/* The directions of one element that lie side by side, in order. */
static bool
lies_together(const gen *g, const ir_op **ops)
{
    const ir_op *op = ops[0];
    uint32_t places = op->nargs - (op->code == RG_OP_LOAD ? 0 : 1);
    for (uint32_t i = 0; i < g->beside; i++) {
        if (ops[i]->beside != g->beside || ops[i]->direction != i || ops[i]->atomic != op->atomic)
            return false;
        for (uint32_t k = 0; k < places; k++)
            if (ops[i]->args[k] != op->args[k])
                return false;
    }
    return gen_presence(g, op->args[0], op->plane) == THERE;
}

static LLVMValueRef
mark_vector_access(gen *g, LLVMValueRef instruction, const ir_op *op)
{
    LLVMSetAlignment(instruction, ir_bytes((rg_dtype)op->args[0]->type.dtype));
    gen_mark_alias(g, instruction, op);
    return instruction;
}

static void
values_of(const gen *g, const ir_op **ops, ir_value **v)
{
    for (uint32_t i = 0; i < g->beside; i++)
        v[i] = ops[i]->nresults ? ops[i]->results[0] : ops[i]->args[ops[i]->nargs - 1];
}

/* false: nothing was made */
static bool
vector_access(gen *g, const ir_op **ops)
{
    const ir_op *op = ops[0];
    ir_value *v[IR_DIRECTIONS];
    bool shared = op->code == RG_OP_RMW && op->atomic && !gen_is_alone(g);
    values_of(g, ops, v);
    if (shared || !is_float_value(v[0]) || !lies_together(g, ops) || gen_is_private(g, op))
        return false;
    LLVMTypeRef type = bundle_type(g, (rg_dtype)v[0]->type.dtype);
    LLVMValueRef at = gen_element(g, op, op->code != RG_OP_LOAD).address;
    LLVMValueRef old = NULL;
    if (op->code != RG_OP_STORE)
        old = mark_vector_access(g, LLVMBuildLoad2(g->b, type, at, ""), op);
    if (op->code == RG_OP_LOAD) {
        set_vector(g, v, old);
        return true;
    }
    LLVMValueRef value = get_vector(g, v);
    if (old)
        value = LLVMBuildFAdd(g->b, old, value, "");
    mark_vector_access(g, LLVMBuildStore(g->b, value, at), op);
    return true;
}

/* each direction's element, from where no vector can be read at once */
static void
gather_directions(gen *g, const ir_op **ops)
{
    ir_value *v[IR_DIRECTIONS];
    values_of(g, ops, v);
    for (uint32_t i = 0; i < g->beside; i++)
        gen_load(g, ops[i]);
    set_vector(g, v, get_vector(g, v));
}

const ir_op *
gen_next(gen *g, const ir_op *op)
{
    const ir_op *ops[IR_DIRECTIONS] = {op};
    bool scalar = ir_ops[op->code].form != IR_OTHER && op->nresults == 1 && op->nargs;
    bool together = !ir_lanes_of(op) && (scalar ? is_vector_op(op) : is_access(op));
    bool made = false;
    if (op->bundle && g->s->vectors && together && collect_bundle(g, op, ops)) {
        made = scalar || vector_access(g, ops);
        if (scalar)
            vector_op(g, ops);
        else if (!made && op->code == RG_OP_LOAD && (made = is_float_value(op->results[0])))
            gather_directions(g, ops);
    }
    if (!made)
        gen_op(g, op);
    return made ? ops[g->beside - 1] : op;
}

/* Buffers: where an element lies, loads, stores, read-modify-writes. SPDX-License-Identifier: Apache-2.0
 *
 * A plane that may be NULL costs no branch: the address becomes that of a cell that holds 0 for reads,
 * of one that nobody reads for writes; both choices are the same for the whole loop. */
#include "codegen/llvm/gen.h"

#include <math.h>

/* -- what is known of a buffer --------------------------------------------------------------------- */

/* the parameter that a buffer (or scalar with planes) is; -1: something else */
int64_t
gen_parameter_of(const gen *g, const ir_value *v)
{
    return !v->def && v->region == g->ir->body ? (int64_t)v->index : -1;
}

/* a temp, also one that was recorded or carried out of a region */
static bool
is_temp(const ir_value *buffer)
{
    return buffer->def ? buffer->def->code != RG_OP_PICK : buffer->region->op != NULL;
}

presence
gen_presence(const gen *g, const ir_value *buffer, unsigned plane)
{
    int64_t p = gen_parameter_of(g, buffer);
    if (buffer->type.kind == IR_BUFFER && plane == RG_PRIMAL)
        return THERE;
    if (p >= 0) {
        if (g->options->present && g->options->present[p] >> plane & 1)
            return THERE;
        if (g->options->absent && g->options->absent[p] >> plane & 1)
            return MISSING;
        return MAYBE;
    }
    if (is_temp(buffer))
        return THERE;
    presence all = gen_presence(g, buffer->def->args[1], plane);
    for (uint32_t i = 2; i < buffer->def->nargs; i++)
        if (gen_presence(g, buffer->def->args[i], plane) != all)
            return MAYBE;
    return all;
}

bool
gen_is_dense(const gen *g, const ir_value *buffer)
{
    int64_t p = gen_parameter_of(g, buffer);
    if (p >= 0)
        return g->options->contiguous && g->options->contiguous[p];
    if (is_temp(buffer))
        return true;
    for (uint32_t i = 1; i < buffer->def->nargs; i++)
        if (!gen_is_dense(g, buffer->def->args[i]))
            return false;
    return true;
}

/* the extent that the kernel's shape fixes to a constant; -1: none */
static int64_t
fixed_extent(const gen *g, int64_t p, uint32_t axis)
{
    if (p < 0 || !g->ir->shape)
        return -1;
    uint32_t at = 0;
    for (int64_t i = 0; i < p; i++)
        if (g->ir->body->params[i]->type.kind == IR_BUFFER)
            at += g->ir->body->params[i]->type.rank;
    uint64_t bits;
    const ir_op *yield = ir_terminator(g->ir->shape);
    if (!yield || at + axis >= yield->nargs || !ir_is_const(yield->args[at + axis], &bits))
        return -1;
    return (int64_t)bits;
}

/* -- reading the rt_arg ---------------------------------------------------------------------------- */

enum { FIELD_BITS, FIELD_PLANE, FIELD_EXTENT, FIELD_STRIDE };

static LLVMValueRef
read_field(gen *g, LLVMBuilderRef b, LLVMValueRef arg, unsigned field, unsigned index)
{
    LLVMValueRef at[3] = {gen_i32(g, 0), gen_i32(g, (int)field), gen_i32(g, (int)index)};
    LLVMValueRef where = LLVMBuildInBoundsGEP2(b, g->arg_type, arg, at, 3, "");
    return LLVMBuildLoad2(b, field == FIELD_PLANE ? g->ptr : g->i64, where, "");
}

/* Parameters' fields are loaded once, where the function begins; others where they are needed. */
static LLVMValueRef
buffer_field(gen *g, const ir_value *buffer, unsigned field, unsigned index)
{
    int64_t p = gen_parameter_of(g, buffer);
    if (p < 0)
        return read_field(g, g->b, gen_get(g, buffer), field, index);
    LLVMValueRef *cache = field == FIELD_PLANE    ? g->s->planes
                          : field == FIELD_EXTENT ? g->s->extents
                                                  : g->s->strides;
    LLVMValueRef *at = &cache[p * 8 + index];
    if (!*at) {
        LLVMValueRef number = gen_i64(g, p);
        LLVMValueRef arg =
            LLVMBuildInBoundsGEP2(g->s->top, g->arg_type, g->s->args, &number, 1, "");
        *at = gen_invariant(g, read_field(g, g->s->top, arg, field, index));
    }
    return *at;
}

LLVMValueRef
gen_extent_of(gen *g, const ir_value *buffer, uint32_t axis)
{
    int64_t fixed = fixed_extent(g, gen_parameter_of(g, buffer), axis);
    return fixed >= 0 ? gen_i64(g, fixed) : buffer_field(g, buffer, FIELD_EXTENT, axis);
}

void
gen_extent(gen *g, const ir_op *op)
{
    gen_set(g, op->results[0], gen_extent_of(g, op->args[0], (uint32_t)op->attr.bits));
}

LLVMValueRef
gen_plane(gen *g, const ir_value *buffer, unsigned plane)
{
    return buffer_field(g, buffer, FIELD_PLANE, plane);
}

/* -- addresses ------------------------------------------------------------------------------------- */

/* The element's number from the plane's first. An index outside its extent is the program's fault, so
 * the products do not overflow. */
LLVMValueRef
gen_element_number(gen *g, const ir_value *buffer, unsigned plane, ir_value **index)
{
    uint32_t rank = buffer->type.rank;
    LLVMValueRef sum = gen_index(g, index[0]);
    bool dense = plane != RG_PRIMAL || gen_is_dense(g, buffer);
    if (!dense)
        sum = LLVMBuildNSWMul(g->b, sum, buffer_field(g, buffer, FIELD_STRIDE, 0), "");
    for (uint32_t k = 1; k < rank; k++) {
        LLVMValueRef i = gen_index(g, index[k]);
        if (dense)
            sum = LLVMBuildNSWMul(g->b, sum, gen_extent_of(g, buffer, k), "");
        else
            i = LLVMBuildNSWMul(g->b, i, buffer_field(g, buffer, FIELD_STRIDE, k), "");
        sum = LLVMBuildNSWAdd(g->b, sum, i, "");
    }
    return sum;
}

static LLVMValueRef
zero_cell(gen *g)
{
    if (!g->zero_cell) {
        g->zero_cell = LLVMAddGlobal(g->module, g->i64, "zero");
        LLVMSetInitializer(g->zero_cell, LLVMConstNull(g->i64));
        LLVMSetLinkage(g->zero_cell, LLVMPrivateLinkage);
        LLVMSetGlobalConstant(g->zero_cell, true);
    }
    return g->zero_cell;
}

static LLVMValueRef
dropped_cell(gen *g)
{
    if (!g->s->dropped)
        g->s->dropped = gen_alloca(g, g->i64, NULL, "dropped");
    return g->s->dropped;
}

typedef struct place {
    LLVMValueRef address;
    LLVMValueRef missing; /* i1: the plane is not there; NULL: it is */
    bool nothing;         /* it never is */
} place;

static place
element(gen *g, const ir_op *op, bool writes)
{
    const ir_value *buffer = op->args[0];
    presence known = gen_presence(g, buffer, op->plane);
    if (known == MISSING)
        return (place){.nothing = true};
    LLVMValueRef base = buffer_field(g, buffer, FIELD_PLANE, op->plane);
    place at = {.address = base};
    if (buffer->type.kind == IR_BUFFER && buffer->type.rank) {
        LLVMTypeRef type = gen_memory_type(g, (rg_dtype)buffer->type.dtype);
        LLVMValueRef number = gen_element_number(g, buffer, op->plane, op->args + 1);
        at.address = known == THERE ? LLVMBuildInBoundsGEP2(g->b, type, base, &number, 1, "")
                                    : LLVMBuildGEP2(g->b, type, base, &number, 1, "");
    }
    if (known == MAYBE) {
        LLVMValueRef cell = writes ? dropped_cell(g) : zero_cell(g);
        at.missing = LLVMBuildIsNull(g->b, base, "");
        at.address = LLVMBuildSelect(g->b, at.missing, cell, at.address, "");
    }
    return at;
}

/* -- aliasing -------------------------------------------------------------------------------------- */

static LLVMValueRef
metadata_list(gen *g, LLVMMetadataRef *parts, size_t n)
{
    return LLVMMetadataAsValue(g->context, LLVMMDNodeInContext2(g->context, parts, n));
}

static LLVMMetadataRef
alias_scope(gen *g, LLVMMetadataRef domain, const char *name)
{
    LLVMMetadataRef parts[2] = {LLVMMDStringInContext2(g->context, name, strlen(name)), domain};
    return LLVMMDNodeInContext2(g->context, parts, 2);
}

static LLVMMetadataRef
alias_domain(gen *g, const char *name)
{
    LLVMMetadataRef part = LLVMMDStringInContext2(g->context, name, strlen(name));
    return LLVMMDNodeInContext2(g->context, &part, 1);
}

static bool
mark_used(ir_op *op, void *user)
{
    gen *g = user;
    if (op->code != RG_OP_LOAD && op->code != RG_OP_STORE && op->code != RG_OP_RMW)
        return true;
    const ir_value *buffer = op->args[0];
    int64_t p = gen_parameter_of(g, buffer);
    if (p >= 0)
        g->used_planes[p] |= (uint8_t)(1u << op->plane);
    else if (buffer->def->code == RG_OP_PICK)
        for (uint32_t i = 1; i < buffer->def->nargs; i++)
            if ((p = gen_parameter_of(g, buffer->def->args[i])) >= 0)
                g->used_planes[p] |= (uint8_t)(1u << op->plane);
    return true;
}

/* Two domains: one tells the tape from all that is the user's, the other (where the caller says that
 * they do not overlap) the planes of parameters from each other. Within a domain an access is in its own
 * scope and apart from all others. */
void
gen_make_alias_scopes(gen *g)
{
    enum { SCOPES_MAX = 96 };
    LLVMMetadataRef domain = alias_domain(g, "planes"), other = alias_domain(g, "memory");
    LLVMMetadataRef all[SCOPES_MAX + 1], rest[SCOPES_MAX + 1];
    size_t places[SCOPES_MAX], n = 0;
    ir_walk(g->ir->body, mark_used, g);
    for (uint32_t p = 0; g->options->noalias && p < g->ir->body->nparams; p++)
        for (unsigned plane = 0; plane < RT_PLANES; plane++)
            if (g->used_planes[p] >> plane & 1 && n < SCOPES_MAX)
                places[n++] = p * RT_PLANES + plane;
    if (n == SCOPES_MAX)
        n = 0; /* the lists would grow with the square */
    for (size_t i = 0; i < n; i++) {
        char text[32];
        snprintf(text, sizeof text, "plane.%zu", places[i]);
        all[i] = alias_scope(g, domain, text);
    }
    LLVMMetadataRef tape = alias_scope(g, other, "tape"), user = alias_scope(g, other, "user");
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        for (size_t j = 0; j < n; j++)
            if (j != i)
                rest[k++] = all[j];
        rest[k++] = tape;
        g->own_scope[places[i]] = metadata_list(g, (LLVMMetadataRef[]){all[i], user}, 2);
        g->other_scopes[places[i]] = metadata_list(g, rest, k);
    }
    g->tape_scope = metadata_list(g, &tape, 1);
    g->tape_others = metadata_list(g, &user, 1);
    for (uint32_t i = 0; i < g->nbuffers * RT_PLANES; i++)
        if (!g->own_scope[i]) {
            g->own_scope[i] = g->tape_others;
            g->other_scopes[i] = g->tape_scope;
        }
}

LLVMValueRef
gen_mark_own(gen *g, LLVMValueRef access)
{
    LLVMSetMetadata(access, g->alias_kind, g->tape_scope);
    LLVMSetMetadata(access, g->noalias_kind, g->tape_others);
    return access;
}

static void
mark_alias(gen *g, LLVMValueRef access, const ir_op *op)
{
    int64_t p = gen_parameter_of(g, op->args[0]);
    bool known = p >= 0;
    size_t at = known ? (size_t)p * RT_PLANES + op->plane : 0;
    LLVMSetMetadata(access, g->alias_kind, known ? g->own_scope[at] : g->tape_others);
    LLVMSetMetadata(access, g->noalias_kind, known ? g->other_scopes[at] : g->tape_scope);
}

/* -- load and store -------------------------------------------------------------------------------- */

LLVMValueRef
gen_to_memory(gen *g, rg_dtype d, LLVMValueRef v)
{
    return d == RG_BOOL ? LLVMBuildZExt(g->b, v, g->i8, "") : v;
}

LLVMValueRef
gen_from_memory(gen *g, rg_dtype d, LLVMValueRef v)
{
    return d == RG_BOOL ? LLVMBuildICmp(g->b, LLVMIntNE, v, LLVMConstNull(g->i8), "") : v;
}

static rg_dtype
element_dtype(const ir_op *op)
{
    return (rg_dtype)op->args[0]->type.dtype;
}

void
gen_load(gen *g, const ir_op *op)
{
    rg_dtype d = element_dtype(op);
    place at = element(g, op, false);
    if (at.nothing) {
        gen_set(g, op->results[0], LLVMConstNull(gen_type(g, d)));
        return;
    }
    const char *name = op->results[0]->name;
    LLVMValueRef load = LLVMBuildLoad2(g->b, gen_memory_type(g, d), at.address, name ? name : "");
    mark_alias(g, load, op);
    gen_set(g, op->results[0], gen_from_memory(g, d, load));
}

void
gen_store(gen *g, const ir_op *op)
{
    place at = element(g, op, true);
    if (at.nothing)
        return;
    LLVMValueRef value = gen_to_memory(g, element_dtype(op), gen_get(g, op->args[op->nargs - 1]));
    mark_alias(g, LLVMBuildStore(g->b, value, at.address), op);
}

/* -- read-modify-write ----------------------------------------------------------------------------- */

LLVMValueRef
gen_combine(gen *g, rg_rmw how, rg_dtype d, LLVMValueRef old, LLVMValueRef value)
{
    static const uint16_t ops[RG_RMW_COUNT] = {
        [RG_RMW_ADD] = RG_OP_ADD, [RG_RMW_MIN] = RG_OP_MIN, [RG_RMW_MAX] = RG_OP_MAX,
        [RG_RMW_MUL] = RG_OP_MUL, [RG_RMW_AND] = RG_OP_AND, [RG_RMW_OR] = RG_OP_OR,
        [RG_RMW_XOR] = RG_OP_XOR};
    if (how == RG_RMW_EXCHANGE || how == RG_RMW_CAS)
        return value;
    return gen_scalar(g, (rg_op)ops[how], d, d, (LLVMValueRef[3]){old, value});
}

LLVMValueRef
gen_reduce_identity(gen *g, rg_rmw how, rg_dtype d)
{
    bool is_float = ir_is_float(d), is_signed = ir_is_signed(d);
    uint64_t ones = ~(uint64_t)0, top = (uint64_t)1 << (ir_bits(d) - 1);
    switch ((int)how) {
    case RG_RMW_ADD: /* -0: it leaves a sum of -0 as it is */
        return gen_const(g, d, is_float ? ir_float_bits(d, -0.0) : 0);
    case RG_RMW_MUL:
        return gen_const(g, d, is_float ? ir_float_bits(d, 1) : 1);
    case RG_RMW_MIN:
        return gen_const(g, d, is_float ? ir_float_bits(d, INFINITY) : is_signed ? top - 1 : ones);
    case RG_RMW_MAX:
        return gen_const(g, d, is_float ? ir_float_bits(d, -INFINITY) : is_signed ? top : 0);
    case RG_RMW_AND:
        return gen_const(g, d, ones);
    }
    return LLVMConstNull(gen_type(g, d));
}

/* a float as the integer of its width, which compare-exchange takes */
static LLVMValueRef
as_bits(gen *g, rg_dtype d, LLVMValueRef v)
{
    if (!ir_is_float(d))
        return gen_to_memory(g, d, v);
    return LLVMBuildBitCast(g->b, v, LLVMIntTypeInContext(g->context, ir_bits(d)), "");
}

static LLVMValueRef
from_bits(gen *g, rg_dtype d, LLVMValueRef v)
{
    if (!ir_is_float(d))
        return gen_from_memory(g, d, v);
    return LLVMBuildBitCast(g->b, v, gen_type(g, d), "");
}

static LLVMValueRef
compare_exchange(gen *g, const ir_op *op, LLVMValueRef address, LLVMValueRef expected,
                 LLVMValueRef desired)
{
    LLVMValueRef pair = LLVMBuildAtomicCmpXchg(g->b, address, expected, desired,
                                               LLVMAtomicOrderingMonotonic,
                                               LLVMAtomicOrderingMonotonic, false);
    mark_alias(g, pair, op);
    return pair;
}

/* read, compute, compare-exchange until nobody came between */
static LLVMValueRef
exchange_loop(gen *g, const ir_op *op, rg_dtype d, LLVMValueRef address, LLVMValueRef value)
{
    LLVMTypeRef bits = LLVMIntTypeInContext(g->context, ir_bytes(d) * 8);
    LLVMValueRef first = LLVMBuildLoad2(g->b, bits, address, "");
    LLVMSetOrdering(first, LLVMAtomicOrderingMonotonic);
    LLVMSetAlignment(first, ir_bytes(d));
    mark_alias(g, first, op);
    LLVMBasicBlockRef before = gen_here(g), loop = gen_block(g, "exchange"),
                      after = gen_block(g, "exchanged");
    LLVMBuildBr(g->b, loop);
    gen_at(g, loop);
    LLVMValueRef seen = LLVMBuildPhi(g->b, bits, "");
    LLVMValueRef old = from_bits(g, d, seen);
    LLVMValueRef desired = as_bits(g, d, gen_combine(g, (rg_rmw)op->rmw, d, old, value));
    LLVMValueRef pair = compare_exchange(g, op, address, seen, desired);
    LLVMValueRef found = LLVMBuildExtractValue(g->b, pair, 0, "");
    LLVMBasicBlockRef end = gen_here(g);
    LLVMBuildCondBr(g->b, LLVMBuildExtractValue(g->b, pair, 1, ""), after, loop);
    LLVMAddIncoming(seen, (LLVMValueRef[]){first, found}, (LLVMBasicBlockRef[]){before, end}, 2);
    gen_at(g, after);
    return old;
}

/* the instruction for it, if there is one with our meaning */
static bool
atomic_instruction(rg_rmw how, rg_dtype d, LLVMAtomicRMWBinOp *out)
{
    static const struct {
        bool ok;
        LLVMAtomicRMWBinOp of_signed, of_unsigned;
    } table[RG_RMW_COUNT] = {
        [RG_RMW_ADD] = {true, LLVMAtomicRMWBinOpAdd, LLVMAtomicRMWBinOpAdd},
        [RG_RMW_MIN] = {true, LLVMAtomicRMWBinOpMin, LLVMAtomicRMWBinOpUMin},
        [RG_RMW_MAX] = {true, LLVMAtomicRMWBinOpMax, LLVMAtomicRMWBinOpUMax},
        [RG_RMW_AND] = {true, LLVMAtomicRMWBinOpAnd, LLVMAtomicRMWBinOpAnd},
        [RG_RMW_OR] = {true, LLVMAtomicRMWBinOpOr, LLVMAtomicRMWBinOpOr},
        [RG_RMW_XOR] = {true, LLVMAtomicRMWBinOpXor, LLVMAtomicRMWBinOpXor},
        [RG_RMW_EXCHANGE] = {true, LLVMAtomicRMWBinOpXchg, LLVMAtomicRMWBinOpXchg},
    };
    bool logic = how == RG_RMW_AND || how == RG_RMW_OR || how == RG_RMW_XOR || how == RG_RMW_EXCHANGE;
    if (how == RG_RMW_ADD && (d == RG_F32 || d == RG_F64)) {
        *out = LLVMAtomicRMWBinOpFAdd;
        return true;
    }
    *out = ir_is_signed(d) ? table[how].of_signed : table[how].of_unsigned;
    return table[how].ok && !ir_is_float(d) && (d != RG_BOOL || logic);
}

static LLVMValueRef
atomic_rmw(gen *g, const ir_op *op, rg_dtype d, LLVMValueRef address, LLVMValueRef value)
{
    LLVMAtomicRMWBinOp code;
    if (op->rmw == RG_RMW_CAS) {
        LLVMValueRef expected = as_bits(g, d, gen_get(g, op->args[op->nargs - 1]));
        LLVMValueRef pair = compare_exchange(g, op, address, expected, as_bits(g, d, value));
        return from_bits(g, d, LLVMBuildExtractValue(g->b, pair, 0, ""));
    }
    if (!atomic_instruction((rg_rmw)op->rmw, d, &code))
        return exchange_loop(g, op, d, address, value);
    LLVMValueRef old = LLVMBuildAtomicRMW(g->b, code, address, gen_to_memory(g, d, value),
                                          LLVMAtomicOrderingMonotonic, false);
    mark_alias(g, old, op);
    return gen_from_memory(g, d, old);
}

static LLVMValueRef
plain_rmw(gen *g, const ir_op *op, rg_dtype d, LLVMValueRef address, LLVMValueRef value)
{
    LLVMValueRef load = LLVMBuildLoad2(g->b, gen_memory_type(g, d), address, "");
    mark_alias(g, load, op);
    LLVMValueRef old = gen_from_memory(g, d, load), new = NULL;
    if (op->rmw == RG_RMW_CAS) {
        LLVMValueRef expected = as_bits(g, d, gen_get(g, op->args[op->nargs - 1]));
        LLVMValueRef same = LLVMBuildICmp(g->b, LLVMIntEQ, as_bits(g, d, old), expected, "");
        new = LLVMBuildSelect(g->b, same, value, old, "");
    } else {
        new = gen_combine(g, (rg_rmw)op->rmw, d, old, value);
    }
    mark_alias(g, LLVMBuildStore(g->b, gen_to_memory(g, d, new), address), op);
    return old;
}

/* Whether other threads run is known when the task starts. */
LLVMValueRef
gen_several_workers(gen *g)
{
    scope *s = g->s;
    if (!s->atomic) {
        LLVMValueRef at = gen_i64(g, offsetof(rt_worker, atomic));
        at = LLVMBuildInBoundsGEP2(s->top, g->i8, s->worker, &at, 1, "");
        LLVMValueRef load = gen_invariant(g, LLVMBuildLoad2(s->top, g->i32, at, "atomic"));
        s->atomic = LLVMBuildICmp(s->top, LLVMIntNE, load, gen_i32(g, 0), "");
    }
    return s->atomic;
}

/* with the instruction that the number of workers asks for */
static LLVMValueRef
shared_rmw(gen *g, const ir_op *op, rg_dtype d, LLVMValueRef address, LLVMValueRef value)
{
    if (!op->atomic || !g->s->task || g->options->alone)
        return plain_rmw(g, op, d, address, value);
    LLVMBasicBlockRef shared = gen_block(g, "atomic"), alone = gen_block(g, "alone"),
                      after = gen_block(g, "added"), ends[2];
    LLVMValueRef olds[2];
    LLVMBuildCondBr(g->b, gen_several_workers(g), shared, alone);
    gen_at(g, shared);
    olds[0] = atomic_rmw(g, op, d, address, value);
    ends[0] = gen_here(g);
    LLVMBuildBr(g->b, after);
    gen_at(g, alone);
    olds[1] = plain_rmw(g, op, d, address, value);
    ends[1] = gen_here(g);
    LLVMBuildBr(g->b, after);
    gen_at(g, after);
    LLVMValueRef old = LLVMBuildPhi(g->b, gen_type(g, d), "");
    LLVMAddIncoming(old, olds, ends, 2);
    return old;
}

void
gen_rmw(gen *g, const ir_op *op)
{
    rg_dtype d = element_dtype(op);
    ir_value *result = op->nresults ? op->results[0] : NULL;
    LLVMBasicBlockRef end = gen_private_add(g, op);
    place at = element(g, op, true);
    if (at.nothing) {
        if (result)
            gen_set(g, result, LLVMConstNull(gen_type(g, d)));
        return;
    }
    uint32_t last = op->nargs - (op->rmw == RG_RMW_CAS ? 2 : 1);
    LLVMValueRef old = shared_rmw(g, op, d, at.address, gen_get(g, op->args[last]));
    if (result && at.missing)
        old = LLVMBuildSelect(g->b, at.missing, LLVMConstNull(gen_type(g, d)), old, "");
    if (result)
        gen_set(g, result, old);
    if (end) {
        LLVMBuildBr(g->b, end);
        gen_at(g, end);
    }
}

/* -- buffers that the kernel makes or chooses ------------------------------------------------------ */

void
gen_pick(gen *g, const ir_op *op)
{
    LLVMValueRef which = gen_get(g, op->args[0]);
    LLVMValueRef chosen = gen_get(g, op->args[op->nargs - 1]);
    for (uint32_t i = op->nargs - 2; i >= 1; i--) {
        LLVMValueRef at = gen_i32(g, i - 1);
        LLVMIntPredicate p = i == 1 ? LLVMIntSLE : LLVMIntEQ; /* clamped to the list */
        LLVMValueRef hit = LLVMBuildICmp(g->b, p, which, at, "");
        chosen = LLVMBuildSelect(g->b, hit, gen_get(g, op->args[i]), chosen, "");
    }
    gen_set(g, op->results[0], chosen);
}

typedef struct plane_search {
    const ir_value *buffer;
    uint8_t planes;
} plane_search;

bool
gen_may_be(const ir_value *buffer, const ir_value *wanted)
{
    if (buffer == wanted)
        return true;
    if (!buffer->def || buffer->def->code == RG_OP_TEMP)
        return buffer->def == NULL && buffer->region->op != NULL;
    if (buffer->def->code != RG_OP_PICK)
        return true; /* a temp of an earlier iteration, or carried out of a region */
    for (uint32_t i = 1; i < buffer->def->nargs; i++)
        if (gen_may_be(buffer->def->args[i], wanted))
            return true;
    return false;
}

static bool
find_planes(ir_op *op, void *user)
{
    plane_search *search = user;
    if ((op->code == RG_OP_LOAD || op->code == RG_OP_STORE || op->code == RG_OP_RMW) &&
        gen_may_be(op->args[0], search->buffer))
        search->planes |= (uint8_t)(1u << op->plane);
    return true;
}

static void
write_field(gen *g, LLVMValueRef arg, unsigned field, unsigned index, LLVMValueRef value)
{
    LLVMValueRef at[3] = {gen_i32(g, 0), gen_i32(g, (int)field), gen_i32(g, (int)index)};
    LLVMBuildStore(g->b, value, LLVMBuildInBoundsGEP2(g->b, g->arg_type, arg, at, 3, ""));
}

static bool
pushes_no_buffer(ir_op *op, void *user)
{
    (void)user;
    for (uint32_t i = 1; op->code == RG_OP_TAPE_PUSH && i < op->nargs; i++)
        if (op->args[i]->type.kind == IR_BUFFER)
            return false;
    return true;
}

/* zeroed memory for a plane; `again` may give the place of the iteration before */
static LLVMValueRef
temp_plane(gen *g, LLVMValueRef bytes, bool again)
{
    LLVMValueRef args[3] = {g->s->launch, bytes, NULL};
    if (!again)
        return gen_runtime_call(g, g->b, "rt_cpu_temp", g->ptr, 2, args);
    LLVMValueRef last = gen_alloca(g, g->ptr, NULL, "last");
    LLVMBuildStore(g->s->top, LLVMConstNull(g->ptr), last);
    args[2] = LLVMBuildLoad2(g->b, g->ptr, last, "");
    LLVMValueRef now = gen_runtime_call(g, g->b, "rt_cpu_temp_again", g->ptr, 3, args);
    LLVMBuildStore(g->b, now, last);
    return now;
}

/* A temporary is an rt_arg of the kernel's own, with the planes that anything reaches. Where buffers
 * are recorded each execution has a place of its own; else a loop reuses one. */
void
gen_temp(gen *g, const ir_op *op)
{
    ir_value *buffer = op->results[0];
    uint32_t rank = buffer->type.rank;
    plane_search search = {.buffer = buffer};
    ir_walk(g->ir->body, find_planes, &search);
    bool again = ir_walk(g->ir->body, pushes_no_buffer, NULL);
    LLVMValueRef arg = again ? gen_alloca(g, g->arg_type, NULL, "temp")
                             : temp_plane(g, gen_i64(g, sizeof(rt_arg)), false);
    LLVMValueRef count = gen_i64(g, 1);
    for (uint32_t k = rank; k-- > 0;) {
        LLVMValueRef extent = gen_wide(g, op->args[k]);
        write_field(g, arg, FIELD_EXTENT, k, extent);
        write_field(g, arg, FIELD_STRIDE, k, count);
        count = LLVMBuildMul(g->b, count, extent, "");
    }
    LLVMValueRef bytes =
        LLVMBuildMul(g->b, count, gen_i64(g, ir_bytes((rg_dtype)buffer->type.dtype)), "");
    for (unsigned p = 0; p < RT_PLANES; p++)
        if (search.planes >> p & 1)
            write_field(g, arg, FIELD_PLANE, p, temp_plane(g, bytes, again));
    gen_set(g, buffer, arg);
}

/* the kernel's results: one-element outputs behind the parameters */
void
gen_results(gen *g, const ir_op *yield)
{
    for (uint32_t i = 0; i < yield->nargs; i++) {
        LLVMValueRef number = gen_i64(g, g->ir->body->nparams + i);
        LLVMValueRef arg =
            LLVMBuildInBoundsGEP2(g->b, g->arg_type, g->s->args, &number, 1, "");
        LLVMValueRef to = read_field(g, g->b, arg, FIELD_PLANE, RG_PRIMAL);
        rg_dtype d = (rg_dtype)yield->args[i]->type.dtype;
        LLVMBuildStore(g->b, gen_to_memory(g, d, gen_get(g, yield->args[i])), to);
    }
}

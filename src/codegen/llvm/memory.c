/* Buffers: where an element lies, loads, stores, read-modify-writes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A plane that may be NULL costs no branch: the address becomes that of a cell that holds 0 for
 * reads, of one that nobody reads for writes; both choices are the same for the whole loop. */
#include "codegen/llvm/gen.h"

/* -- what is known of a buffer ----------------------------------------------------------------- */

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

/* the extent that the kernel's shape, or what makes the buffer, fixes to a constant; -1: none */
static int64_t
constant_extent(const gen *g, const ir_value *buffer, uint32_t axis)
{
    uint64_t extent;
    const ir_op *temp = buffer->def;
    if (temp && temp->code == RG_OP_TEMP && ir_is_const(temp->args[axis], &extent))
        return (int64_t)extent;
    int64_t p = gen_parameter_of(g, buffer);
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

/* -- reading the rt_arg ------------------------------------------------------------------------ */

static LLVMValueRef
read_arg_field(gen *g, LLVMBuilderRef b, LLVMValueRef arg, unsigned field, unsigned index)
{
    LLVMValueRef at[3] = {gen_i32(g, 0), gen_i32(g, (int)field), gen_i32(g, (int)index)};
    LLVMValueRef where = LLVMBuildInBoundsGEP2(b, g->arg_type, arg, at, 3, "");
    return LLVMBuildLoad2(b, field == FIELD_PLANE ? g->ptr : g->i64, where, "");
}

/* Where the fields of a buffer that stands still while the function runs are kept: a parameter, or
 * in a task any buffer from outside. NULL: another one. */
static held_buffer *
held(gen *g, const ir_value *buffer)
{
    bool outside = g->s->task && !ir_region_inside(buffer->region, g->s->region);
    if (gen_parameter_of(g, buffer) < 0 && !outside)
        return NULL;
    held_buffer *h = g->s->held;
    while (h && h->buffer != buffer)
        h = h->next;
    if (!h) {
        h = arena_one(g->scratch, held_buffer);
        *h = (held_buffer){.buffer = buffer, .next = g->s->held};
        g->s->held = h;
    }
    return h;
}

LLVMValueRef
gen_argument(gen *g, const ir_value *buffer)
{
    int64_t p = gen_parameter_of(g, buffer);
    if (p < 0)
        return gen_get(g, buffer); /* captured: loaded where the task begins */
    LLVMValueRef number = gen_i64(g, p);
    return LLVMBuildInBoundsGEP2(g->s->top, g->arg_type, g->s->args, &number, 1, "");
}

/* Fields that stand still are loaded once, where the function begins; others where they are needed.
 */
static LLVMValueRef
buffer_field(gen *g, const ir_value *buffer, unsigned field, unsigned index)
{
    held_buffer *h = held(g, buffer);
    bool plane = field == FIELD_PLANE;
    if (!h) {
        LLVMValueRef now = read_arg_field(g, g->b, gen_get(g, buffer), field, index);
        return plane ? gen_global(g, g->b, now) : now;
    }
    LLVMValueRef *at = &h->fields[field][index];
    if (!*at) {
        *at = read_arg_field(g, g->s->top, gen_argument(g, buffer), field, index);
        /* a GPU's tasks are inlined where a temporary's fields change */
        if (!g->target->warp || gen_parameter_of(g, buffer) >= 0)
            gen_invariant(g, *at);
        *at = plane ? gen_global(g, g->s->top, *at) : *at;
    }
    return *at;
}

LLVMValueRef
gen_extent_of(gen *g, const ir_value *buffer, uint32_t axis)
{
    int64_t fixed = constant_extent(g, buffer, axis);
    return fixed >= 0 ? gen_i64(g, fixed) : buffer_field(g, buffer, FIELD_EXTENT, axis);
}

void
gen_extent(gen *g, const ir_op *op)
{
    gen_set(g, op->results[0], gen_extent_of(g, op->args[0], (uint32_t)op->attr.bits));
}

LLVMValueRef
gen_stride_of(gen *g, const ir_value *buffer, uint32_t axis)
{
    return buffer_field(g, buffer, FIELD_STRIDE, axis);
}

LLVMValueRef
gen_plane(gen *g, const ir_value *buffer, unsigned plane)
{
    return buffer_field(g, buffer, FIELD_PLANE, plane);
}

/* All factors of a held buffer's count stand still as well. */
LLVMValueRef
gen_elements(gen *g, const ir_value *buffer)
{
    held_buffer *h = held(g, buffer);
    if (h && h->elements)
        return h->elements;
    LLVMBuilderRef b = h ? g->s->top : g->b;
    LLVMValueRef n = gen_i64(g, 1);
    for (uint32_t k = 0; buffer->type.kind == IR_BUFFER && k < buffer->type.rank; k++)
        n = LLVMBuildNSWMul(b, n, gen_extent_of(g, buffer, k), "");
    if (h)
        h->elements = n;
    return n;
}

static LLVMValueRef
start_of(gen *g, LLVMBuilderRef b, const ir_value *buffer, unsigned plane, unsigned direction)
{
    LLVMTypeRef type = gen_memory_type(g, (rg_dtype)buffer->type.dtype);
    LLVMValueRef base = gen_plane(g, buffer, plane), elements = gen_elements(g, buffer);
    LLVMValueRef skip = LLVMBuildNSWMul(b, elements, gen_i64(g, direction), "");
    return gen_presence(g, buffer, plane) == THERE
               ? LLVMBuildInBoundsGEP2(b, type, base, &skip, 1, "")
               : LLVMBuildGEP2(b, type, base, &skip, 1, "");
}

LLVMValueRef
gen_direction(gen *g, const ir_value *buffer, unsigned plane, unsigned direction)
{
    held_buffer *h = held(g, buffer);
    if (!direction)
        return gen_plane(g, buffer, plane);
    if (!h)
        return start_of(g, g->b, buffer, plane, direction);
    if (!h->starts[plane])
        h->starts[plane] = arena_new_n(g->scratch, LLVMValueRef, IR_DIRECTIONS);
    LLVMValueRef *at = &h->starts[plane][direction];
    if (!*at)
        *at = start_of(g, g->s->top, buffer, plane, direction);
    return *at;
}

/* -- addresses --------------------------------------------------------------------------------- */

/* The element's number from the plane's first. An index outside its extent is the program's fault,
 * so the products do not overflow. */
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

/* from the first of op's direction, or of the plane where directions lie side by side; NULL: 0 */
LLVMValueRef
gen_number_in_copy(gen *g, const ir_op *op)
{
    const ir_value *buffer = op->args[0];
    LLVMValueRef number = NULL;
    if (buffer->type.kind == IR_BUFFER && buffer->type.rank)
        number = gen_element_number(g, buffer, op->plane, op->args + 1);
    if (!op->beside)
        return number;
    LLVMValueRef direction = gen_i64(g, op->direction);
    if (!number)
        return direction;
    number = LLVMBuildNSWMul(g->b, number, gen_i64(g, op->beside), "");
    return LLVMBuildNSWAdd(g->b, number, direction, "");
}

LLVMValueRef
gen_zero_cell(gen *g)
{
    if (!g->zero_cell) {
        LLVMTypeRef type = LLVMArrayType2(g->i64, g->threads ? g->threads : 1);
        LLVMValueRef cell = gen_constant(g, type, "zero");
        LLVMSetInitializer(cell, LLVMConstNull(type));
        LLVMSetLinkage(cell, LLVMPrivateLinkage);
        g->zero_cell = gen_address(g, cell);
    }
    return g->zero_cell;
}

LLVMValueRef
gen_dropped_cell(gen *g)
{
    LLVMTypeRef type = LLVMArrayType2(g->i64, g->threads ? g->threads : 1);
    if (!g->s->dropped)
        g->s->dropped = gen_alloca(g, type, NULL, "dropped");
    return g->s->dropped;
}

gen_place
gen_element(gen *g, const ir_op *op, bool writes)
{
    const ir_value *buffer = op->args[0];
    presence known = gen_presence(g, buffer, op->plane);
    if (known == MISSING)
        return (gen_place){.nothing = true};
    LLVMValueRef base = gen_plane(g, buffer, op->plane);
    unsigned copy = op->beside ? 0 : op->direction;
    gen_place at = {.address = gen_direction(g, buffer, op->plane, copy)};
    LLVMValueRef number = gen_number_in_copy(g, op);
    if (number) {
        LLVMTypeRef type = gen_memory_type(g, (rg_dtype)buffer->type.dtype);
        at.address = known == THERE
                         ? LLVMBuildInBoundsGEP2(g->b, type, at.address, &number, 1, "")
                         : LLVMBuildGEP2(g->b, type, at.address, &number, 1, "");
    }
    if (known == MAYBE) {
        LLVMValueRef cell = writes ? gen_dropped_cell(g) : gen_zero_cell(g);
        at.missing = LLVMBuildIsNull(g->b, base, "");
        at.address = LLVMBuildSelect(g->b, at.missing, cell, at.address, "");
    }
    return at;
}

/* -- load and store ---------------------------------------------------------------------------- */

LLVMValueRef
gen_to_memory(gen *g, rg_dtype d, LLVMValueRef v)
{
    return d == RG_BOOL ? LLVMBuildZExt(g->b, v, gen_like(v, g->i8), "") : v;
}

LLVMValueRef
gen_from_memory(gen *g, rg_dtype d, LLVMValueRef v)
{
    return d == RG_BOOL ? LLVMBuildICmp(g->b, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v)), "") : v;
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
    if (ir_lanes_of(op)) {
        gen_load_lanes(g, op);
        return;
    }
    if (g->target->warp) {
        gen_load_same(g, op);
        return;
    }
    gen_place at = gen_element(g, op, false);
    if (at.nothing) {
        gen_set(g, op->results[0], LLVMConstNull(gen_type(g, d)));
        return;
    }
    const char *name = op->results[0]->name;
    LLVMValueRef load = LLVMBuildLoad2(g->b, gen_memory_type(g, d), at.address, name ? name : "");
    gen_mark_alias(g, load, op);
    gen_set(g, op->results[0], gen_from_memory(g, d, load));
}

void
gen_store(gen *g, const ir_op *op)
{
    if (ir_lanes_of(op)) {
        gen_store_lanes(g, op);
        return;
    }
    if (g->target->warp) {
        gen_store_same(g, op);
        return;
    }
    gen_place at = gen_element(g, op, true);
    if (at.nothing)
        return;
    LLVMValueRef value = gen_to_memory(g, element_dtype(op), gen_get(g, op->args[op->nargs - 1]));
    gen_mark_alias(g, LLVMBuildStore(g->b, value, at.address), op);
}

/* the kernel's results: one-element outputs behind the parameters */
void
gen_results(gen *g, const ir_op *yield)
{
    gen_some once = {0};
    if (g->target->warp && yield->nargs)
        once = gen_once_begin(g);
    for (uint32_t i = 0; i < yield->nargs; i++) {
        LLVMValueRef number = gen_i64(g, g->ir->body->nparams + i);
        LLVMValueRef arg = LLVMBuildInBoundsGEP2(g->b, g->arg_type, g->s->args, &number, 1, "");
        LLVMValueRef to = read_arg_field(g, g->b, arg, FIELD_PLANE, RG_PRIMAL);
        rg_dtype d = (rg_dtype)yield->args[i]->type.dtype;
        LLVMBuildStore(g->b, gen_to_memory(g, d, gen_get(g, yield->args[i])), to);
    }
    if (once.after)
        gen_once_end(g, &once);
}

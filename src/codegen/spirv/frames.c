/* Frames of the tape. SPDX-License-Identifier: Apache-2.0
 *
 * As rt/gpu has them: lane l of a field of n bytes lies at n * l; a bool in lanes is a word of bits. What is the same in all lanes all
 * write, so that each reads what it has written itself; only where narrow elements are exchanged in words the first lane does. */
#include "codegen/spirv/tape.h"

static bool
is_word_of_bits(const ir_value *v)
{
    return v->type.kind == IR_SCALAR && v->type.dtype == RG_BOOL && v->type.lanes;
}

static uint32_t
field_bytes(const ir_value *v)
{
    bool number = v->type.kind == IR_SCALAR || v->type.kind == IR_SLOT;
    return is_word_of_bits(v) ? 4 : number ? ir_bytes(ir_dtype(v)) : 8;
}

/* whether lanes that write the same come between each other's exchanges */
static bool
collides(const gen *g, uint32_t bytes, bool lanes)
{
    spirv_features feature = bytes == 1 ? SPIRV_STORAGE8 : SPIRV_STORAGE16;
    return bytes < 4 && !lanes && !(g->options->features & feature);
}

static void
write_number(gen *g, uint32_t bytes, bool lanes, spv_id at, spv_id raw)
{
    bool once = collides(g, bytes, lanes);
    if (lanes)
        at = emit(g, SPV_I_ADD, g->u64, at, emit(g, SPV_I_MUL, g->u64, sv_high(g, g->lane), sv_u64(g, bytes)));
    sv_branch b = once ? sv_once(g) : (sv_branch){0};
    sv_write(g, bytes, at, raw);
    if (once)
        sv_end_once(g, &b);
}

static void
push_slot(gen *g, const ir_value *slot, spv_id to)
{
    uint32_t bytes = field_bytes(slot), all = slot->type.lanes ? bytes * RT_WARP : bytes;
    (void)sv_get(g, slot);
    sv_loop l = sv_count(g, sv_u64(g, 0), sv_u64(g, slot->type.length), 0, NULL, NULL);
    spv_id at = emit(g, SPV_I_ADD, g->u64, to, emit(g, SPV_I_MUL, g->u64, l.at[0], sv_u64(g, all)));
    write_number(g, bytes, slot->type.lanes, at, sv_raw(g, ir_dtype(slot), sv_slot_get(g, slot, l.at[0])));
    sv_count_end(g, &l, sv_u64(g, 1), NULL);
}

static void
put_value(gen *g, const ir_value *v, spv_id to)
{
    if (v->type.kind == IR_SLOT) {
        push_slot(g, v, to);
        return;
    }
    bool bits = is_word_of_bits(v), scalar = v->type.kind == IR_SCALAR;
    spv_id value = sv_get(g, v), raw = bits ? sv_ballot(g, value) : scalar ? sv_raw(g, ir_dtype(v), value) : value;
    write_number(g, field_bytes(v), v->type.lanes && !bits, to, raw);
}

/* A popped slot is its place in the frame, good until the next push. */
static void
take_value(gen *g, const ir_value *v, spv_id from)
{
    bool bits = is_word_of_bits(v);
    uint32_t bytes = field_bytes(v);
    if (v->type.kind == IR_SLOT) {
        g->in_memory[v->id] = true;
        sv_set(g, v, from);
        return;
    }
    if (v->type.lanes && !bits)
        from = emit(g, SPV_I_ADD, g->u64, from, emit(g, SPV_I_MUL, g->u64, sv_high(g, g->lane), sv_u64(g, bytes)));
    spv_id raw = sv_read(g, bytes, from);
    if (bits) {
        spv_id mine = emit(g, SPV_AND, g->u32, emit(g, SPV_SHIFT_RIGHT, g->u32, raw, g->lane), sv_u32(g, 1));
        raw = emit(g, SPV_I_NOT_EQUAL, g->truth, mine, sv_u32(g, 0));
    } else if (v->type.kind == IR_SCALAR) {
        raw = sv_from_raw(g, ir_dtype(v), raw);
    }
    sv_set(g, v, raw);
}

/* -- flags are gathered byte by byte ------------------------------------------------------------------------------------- */

static void
write_values(gen *g, ir_value *const *values, uint32_t n, spv_id frame)
{
    ir_field *places = arena_new_n(g->in, ir_field, n + 1);
    spv_id flags = 0;
    uint32_t byte = 0;
    ir_frame_layout(values, n, places);
    for (uint32_t i = 0; i < n; i++) {
        if (!ir_is_flag(values[i]->type)) {
            put_value(g, values[i], sv_add(g, frame, places[i].byte));
            continue;
        }
        if (flags && places[i].byte != byte)
            write_number(g, 1, false, sv_add(g, frame, byte), flags);
        spv_id flag = emit(g, SPV_SHIFT_LEFT, g->u32, sv_raw(g, RG_BOOL, sv_get(g, values[i])), sv_u32(g, places[i].bit));
        flags = places[i].bit ? emit(g, SPV_OR, g->u32, flags, flag) : flag;
        byte = places[i].byte;
    }
    if (flags)
        write_number(g, 1, false, sv_add(g, frame, byte), flags);
}

static void
read_values(gen *g, ir_value *const *values, uint32_t n, spv_id frame)
{
    ir_field *places = arena_new_n(g->in, ir_field, n + 1);
    spv_id flags = 0;
    ir_frame_layout(values, n, places);
    for (uint32_t i = 0; i < n; i++) {
        spv_id from = sv_add(g, frame, places[i].byte);
        if (!ir_is_flag(values[i]->type)) {
            take_value(g, values[i], from);
            continue;
        }
        if (!places[i].bit)
            flags = sv_read(g, 1, from);
        spv_id bit = emit(g, SPV_AND, g->u32, flags, sv_u32(g, 1u << places[i].bit));
        sv_set(g, values[i], emit(g, SPV_I_NOT_EQUAL, g->truth, bit, sv_u32(g, 0)));
    }
}

/* -- frames in a variable of each invocation (ir_tape_is_own): fields one after the other; a cursor counts them ------------ */

void
sv_begin_own_frames(gen *g, const ir_op *begin, const ir_own_tape *own)
{
    g->own_unit = own->unit;
    g->own_frames = spv_local(&g->s, spv_array(&g->s, own->unit == 8 ? g->u64 : g->u32, own->bytes / own->unit));
    sv_set(g, begin->results[0], sv_u64(g, 0));
}

static spv_id
own_field(gen *g, spv_id cursor)
{
    spv_id type = g->own_unit == 8 ? g->u64 : g->u32;
    return emit(g, SPV_CHAIN, spv_pointer(&g->s, SPV_IN_FUNCTION, type), g->own_frames, sv_low(g, cursor));
}

static void
push_own(gen *g, const ir_op *op, spv_id cursor)
{
    for (uint32_t i = 1; i < op->nargs; i++) {
        rg_dtype d = ir_dtype(op->args[i]);
        spv_id raw = sv_raw(g, d, sv_get(g, op->args[i]));
        raw = g->own_unit > ir_bytes(d) ? sv_high(g, raw) : raw;
        emit_do(g, SPV_STORE, own_field(g, sv_add(g, cursor, i - 1)), raw);
    }
    sv_set(g, op->results[0], sv_add(g, cursor, op->nargs - 1));
}

static void
pop_own(gen *g, const ir_op *op, spv_id cursor)
{
    cursor = sv_add(g, cursor, -(uint64_t)(op->nresults - 1));
    for (uint32_t i = 1; i < op->nresults; i++) {
        rg_dtype d = ir_dtype(op->results[i]);
        spv_id raw = emit(g, SPV_LOAD, g->own_unit == 8 ? g->u64 : g->u32, own_field(g, sv_add(g, cursor, i - 1)));
        sv_set(g, op->results[i], sv_from_raw(g, d, g->own_unit > ir_bytes(d) ? sv_low(g, raw) : raw));
    }
    sv_set(g, op->results[0], cursor);
}

/* -- pushes and pops ----------------------------------------------------------------------------------------------------- */

/* Lanes that are ahead must not write over what others have still to read. */
void
sv_push(gen *g, const ir_op *op)
{
    uint32_t n = op->nargs - 1, size = ir_frame_of(op->args + 1, n);
    spv_id cursor = sv_get(g, op->args[0]);
    for (uint32_t i = 0; i < n; i++)
        (void)sv_get(g, op->args[1 + i]);
    if (g->own_frames) {
        push_own(g, op, cursor);
        return;
    }
    if (!op->in_page)
        cursor = sv_with_room(g, cursor, sv_u64(g, size), op);
    if (!g->behind_pops)
        g->behind_pops = ir_pushes_behind_pops(g->region, g->in);
    if (g->behind_pops[op->results[0]->id])
        sv_barrier(g);
    write_values(g, op->args + 1, n, cursor);
    sv_set(g, op->results[0], sv_add(g, cursor, size));
}

void
sv_pop(gen *g, const ir_op *op)
{
    uint32_t n = op->nresults - 1;
    spv_id cursor = sv_get(g, op->args[0]);
    if (g->own_frames) {
        pop_own(g, op, cursor);
        return;
    }
    if (!op->in_page)
        cursor = sv_above_bottom(g, cursor);
    cursor = sv_add(g, cursor, -(uint64_t)ir_frame_of(op->results + 1, n));
    read_values(g, op->results + 1, n, cursor);
    sv_set(g, op->results[0], cursor);
}

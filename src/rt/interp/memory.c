/* Loads, stores and read-modify-writes of arrays, every index checked.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rt/interp/machine.h"

uint64_t
interp_element_read(rg_dtype d, const void *p)
{
    switch (d) {
    case RG_BOOL:
        return *(const uint8_t *)p != 0;
    case RG_I8:
        return (uint64_t)(int64_t) * (const int8_t *)p;
    case RG_U8:
        return *(const uint8_t *)p;
    case RG_I16:
        return (uint64_t)(int64_t) * (const int16_t *)p;
    case RG_U16:
    case RG_F16:
        return *(const uint16_t *)p;
    case RG_I32:
        return (uint64_t)(int64_t) * (const int32_t *)p;
    case RG_U32:
    case RG_F32:
        return *(const uint32_t *)p;
    case RG_I64:
    case RG_U64:
    case RG_F64:
        return *(const uint64_t *)p;
    case RG_NONE:
    case RG_DTYPE_COUNT:
        break;
    }
    return 0;
}

void
interp_element_write(rg_dtype d, void *p, uint64_t bits)
{
    switch (ir_bytes(d)) {
    case 1:
        *(uint8_t *)p = (uint8_t)bits;
        break;
    case 2:
        *(uint16_t *)p = (uint16_t)bits;
        break;
    case 4:
        *(uint32_t *)p = (uint32_t)bits;
        break;
    case 8:
        *(uint64_t *)p = bits;
        break;
    }
}

void
interp_buffer_init(interp_buffer *b, rt_arg *arg, ir_type type, const char *name)
{
    *b = (interp_buffer){.arg = arg,
                         .name = name ? name : "?",
                         .dtype = type.dtype,
                         .rank = (uint8_t)type.rank,
                         .total = 1};
    for (unsigned k = 0; k < b->rank; k++)
        b->total *= arg->extent[k];
}

int64_t
interp_strided(const interp_buffer *b, int64_t linear)
{
    int64_t offset = 0;
    for (unsigned k = b->rank; k-- > 0;) {
        offset += linear % b->arg->extent[k] * b->arg->stride[k];
        linear /= b->arg->extent[k];
    }
    return offset;
}

static interp_flow
outside(interp_frame *f, const ir_op *op, const interp_buffer *b, unsigned axis, int64_t index)
{
    return interp_fault(f, op, RT_FAULT_ASSERT,
                        "index %lld leaves axis %u of array `%s`, extent %lld", (long long)index,
                        axis, b->name, (long long)b->arg->extent[axis]);
}

/* Where no row is promised, an index outside its axis is allowed while the element stays inside the array: C code walks
 * rows of contiguous arrays through pointers. */
static interp_flow
locate_by_row(interp_frame *f, const ir_op *op, const interp_buffer *b, unsigned lane, int64_t *linear)
{
    __extension__ typedef __int128 wide;
    wide sum = 0;
    unsigned worst = b->rank;
    int64_t worst_index = 0;
    for (unsigned k = 0; k < b->rank; k++) {
        int64_t i = interp_index(f, op, b, k, lane);
        if (i < 0 || i >= b->arg->extent[k]) {
            worst = k;
            worst_index = i;
            if (i > INT64_MAX / 16 || i < INT64_MIN / 16)
                return outside(f, op, b, k, i);
        }
        sum = sum * b->arg->extent[k] + i;
        if (sum > INT64_MAX || sum < INT64_MIN)
            return outside(f, op, b, worst, worst_index);
    }
    if (op->in_row || sum < 0 || sum >= b->total)
        return outside(f, op, b, worst, worst_index);
    *linear = (int64_t)sum;
    return FLOW_NEXT;
}

/* The place of an access; *at is NULL where the plane is missing. */
static interp_flow
locate(interp_frame *f, const ir_op *op, interp_buffer *b, unsigned lane, void **at)
{
    int64_t linear = 0, strided = 0;
    bool inside = true;
    for (unsigned k = 0; k < b->rank; k++) {
        int64_t i = interp_index(f, op, b, k, lane);
        inside &= i >= 0 && i < b->arg->extent[k];
        linear = (int64_t)((uint64_t)linear * (uint64_t)b->arg->extent[k] + (uint64_t)i);
        strided = (int64_t)((uint64_t)strided + (uint64_t)i * (uint64_t)b->arg->stride[k]);
    }
    if (!inside) {
        if (locate_by_row(f, op, b, lane, &linear) == FLOW_FAULT)
            return FLOW_FAULT;
        strided = interp_strided(b, linear);
    }
    char *plane = b->arg->plane[op->plane];
    linear = op->beside ? linear * op->beside + op->direction : linear + op->direction * b->total;
    *at = plane ? plane + (op->plane ? linear : strided) * (int64_t)ir_bytes((rg_dtype)b->dtype)
                : NULL;
    return FLOW_NEXT;
}

static size_t
plane_bytes(const interp_machine *m, const interp_buffer *b, unsigned plane)
{
    return (size_t)b->total * m->directions[plane] * ir_bytes((rg_dtype)b->dtype);
}

/* Scalar parameters have one-element planes above 0. */
static interp_flow
find(interp_frame *f, const ir_op *op, unsigned lane, rg_dtype *dtype, void **at)
{
    const ir_value *v = op->args[0];
    if (v->type.kind == IR_SCALAR) {
        *dtype = (rg_dtype)v->type.dtype;
        char *plane = f->machine->buffers[v->index].arg->plane[op->plane];
        *at = plane ? plane + op->direction * ir_bytes(*dtype) : NULL;
        return FLOW_NEXT;
    }
    interp_buffer *b = f->words[v->id].buffer;
    if (!b)
        return interp_fault(f, op, RT_FAULT_ASSERT, "an array that was never chosen is used");
    *dtype = (rg_dtype)b->dtype;
    if (b->temporary && !b->arg->plane[op->plane] && op->code != RG_OP_LOAD) {
        b->arg->plane[op->plane] = calloc(1, plane_bytes(f->machine, b, op->plane) + 1);
        if (!b->arg->plane[op->plane])
            return interp_fault(f, op, RT_FAULT_MEMORY, "out of memory for a temporary array");
    }
    return locate(f, op, b, lane, at);
}

/* f16 adjoints and tangents are f32 in registers and f16 in memory. */
static uint64_t
convert(rg_dtype from, rg_dtype to, uint64_t bits)
{
    return from == to ? bits : ir_float_bits(to, ir_bits_float(from, bits));
}

static interp_flow
touch(interp_frame *f, const ir_op *op, unsigned lane, const void *at, interp_access access)
{
    if (!f->machine->options->races || op->args[0]->type.kind != IR_BUFFER)
        return FLOW_NEXT;
    return interp_touch(f, op, f->words[op->args[0]->id].buffer, lane, at, access);
}

static interp_flow
load(interp_frame *f, const ir_op *op, unsigned lane, uint64_t *out)
{
    rg_dtype dtype;
    void *at;
    if (find(f, op, lane, &dtype, &at) == FLOW_FAULT)
        return FLOW_FAULT;
    if (touch(f, op, lane, at, op->atomic ? INTERP_UPDATES : INTERP_READS) == FLOW_FAULT)
        return FLOW_FAULT;
    interp_cell_settle(f->machine, at);
    uint64_t bits = at ? interp_element_read(dtype, at) : 0;
    *out = convert(dtype, (rg_dtype)op->results[0]->type.dtype, bits);
    return FLOW_NEXT;
}

interp_flow
interp_load(interp_frame *f, const ir_op *op)
{
    const ir_value *result = op->results[0];
    if (!result->type.lanes)
        return load(f, op, 0, &f->words[result->id].bits);
    uint64_t *out = interp_lanes_set(f, op, result);
    interp_flow flow = out ? FLOW_NEXT : FLOW_FAULT;
    for (unsigned l = 0; l < result->type.lanes && flow == FLOW_NEXT; l++) {
        out[l] = 0;
        if (interp_takes_part(f, op, l))
            flow = load(f, op, l, &out[l]);
    }
    return flow;
}

static interp_flow
store(interp_frame *f, const ir_op *op, unsigned lane)
{
    rg_dtype dtype;
    void *at;
    if (find(f, op, lane, &dtype, &at) == FLOW_FAULT)
        return FLOW_FAULT;
    if (touch(f, op, lane, at, INTERP_WRITES) == FLOW_FAULT)
        return FLOW_FAULT;
    const ir_value *v = op->args[op->nargs - 1 - op->masked];
    interp_cell_settle(f->machine, at);
    if (at)
        interp_element_write(dtype, at, convert((rg_dtype)v->type.dtype, dtype, interp_lane(f, v, lane)));
    return FLOW_NEXT;
}

interp_flow
interp_store(interp_frame *f, const ir_op *op)
{
    unsigned lanes = ir_lanes_of(op);
    interp_flow flow = lanes ? FLOW_NEXT : store(f, op, 0);
    for (unsigned l = 0; l < lanes && flow == FLOW_NEXT; l++)
        if (interp_takes_part(f, op, l))
            flow = store(f, op, l);
    return flow;
}

uint64_t
interp_combine(rg_rmw rmw, rg_dtype d, uint64_t old, uint64_t value, uint64_t compare)
{
    uint64_t result = 0;
    if (rmw == RG_RMW_EXCHANGE)
        return value;
    if (rmw == RG_RMW_CAS)
        return old == compare ? value : old;
    ir_eval(ir_combining(rmw), d, d, old, value, 0, &result);
    return result;
}

static interp_flow
update(interp_frame *f, const ir_op *op, unsigned lane, void **at, uint64_t *was)
{
    rg_dtype dtype;
    if (find(f, op, lane, &dtype, at) == FLOW_FAULT ||
        touch(f, op, lane, *at, op->atomic ? INTERP_UPDATES : INTERP_WRITES) == FLOW_FAULT)
        return FLOW_FAULT;
    bool cas = op->rmw == RG_RMW_CAS;
    uint32_t last = op->nargs - 1 - op->masked;
    const ir_value *v = op->args[cas ? last - 1 : last];
    uint64_t value = interp_lane(f, v, lane);
    rg_dtype computed = (rg_dtype)v->type.dtype;
    bool added = false;
    if (ir_is_float(computed) &&
        interp_cell_add(f, op, dtype, *at, ir_bits_float(computed, value), &added) == FLOW_FAULT)
        return FLOW_FAULT;
    if (added)
        return FLOW_NEXT;
    uint64_t old = *at ? convert(dtype, computed, interp_element_read(dtype, *at)) : 0;
    if (*at) {
        uint64_t compare = cas ? interp_lane(f, op->args[last], lane) : 0;
        uint64_t now = interp_combine((rg_rmw)op->rmw, computed, old, value, compare);
        interp_element_write(dtype, *at, convert(computed, dtype, now));
    }
    *was = old;
    return FLOW_NEXT;
}

/* No two lanes may update one element, but atomically. */
static interp_flow
update_lanes(interp_frame *f, const ir_op *op, unsigned lanes)
{
    void *at[64] = {0};
    bool apart = !op->atomic;
    uint64_t none[64], *was = op->nresults ? interp_lanes_set(f, op, op->results[0]) : none;
    interp_flow flow = was ? FLOW_NEXT : FLOW_FAULT;
    for (unsigned l = 0; l < lanes && flow == FLOW_NEXT; l++) {
        was[l] = 0;
        if (!interp_takes_part(f, op, l))
            continue;
        f->machine->lane = op->by_row ? f->machine->group : l;
        flow = update(f, op, l, &at[l], &was[l]);
        for (unsigned k = 0; apart && at[l] && k < l && flow == FLOW_NEXT; k++)
            if (at[k] == at[l])
                flow = interp_fault(f, op, RT_FAULT_ASSERT, "lanes %u and %u add to one element of `%s`", k, l,
                                    op->args[0]->name ? op->args[0]->name : "?");
    }
    f->machine->lane = f->machine->group;
    return flow;
}

interp_flow
interp_rmw(interp_frame *f, const ir_op *op)
{
    void *at;
    uint64_t none;
    unsigned lanes = ir_lanes_of(op);
    return lanes ? update_lanes(f, op, lanes)
                 : update(f, op, 0, &at, op->nresults ? &f->words[op->results[0]->id].bits : &none);
}

interp_flow
interp_extent(interp_frame *f, const ir_op *op)
{
    const interp_buffer *b = f->words[op->args[0]->id].buffer;
    f->words[op->results[0]->id].bits = b ? (uint64_t)b->arg->extent[op->attr.bits] : 0;
    return FLOW_NEXT;
}

interp_flow
interp_pick(interp_frame *f, const ir_op *op)
{
    int32_t selector = (int32_t)interp_bits(f, op->args[0]), last = (int32_t)op->nargs - 2;
    selector = selector < 0 ? 0 : selector > last ? last : selector;
    f->words[op->results[0]->id] = f->words[op->args[1 + selector]->id];
    return FLOW_NEXT;
}

interp_flow
interp_temp(interp_frame *f, const ir_op *op)
{
    interp_machine *m = f->machine;
    rt_arg *arg = arena_one(m->arena, rt_arg);
    int64_t total = 1;
    for (uint32_t k = op->nargs; k-- > 0;) {
        arg->extent[k] = (int64_t)interp_bits(f, op->args[k]);
        arg->stride[k] = total;
        if (arg->extent[k] < 0 || __builtin_mul_overflow(total, arg->extent[k], &total))
            return interp_fault(f, op, RT_FAULT_MEMORY,
                                "a temporary array has an impossible extent");
    }
    interp_buffer *b = arena_one(m->arena, interp_buffer);
    interp_buffer_init(b, arg, op->results[0]->type, op->results[0]->name);
    b->temporary = true;
    b->next = m->temporaries;
    m->temporaries = b;
    f->words[op->results[0]->id].buffer = b;
    return FLOW_NEXT;
}

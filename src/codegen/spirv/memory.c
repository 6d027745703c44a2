/* Elements of arrays in memory. SPDX-License-Identifier: Apache-2.0
 *
 * What has lanes is each lane's own. What has none is the same for all: in a task that writes there all have what the first lane
 * has loaded, so that control that follows from it stays the warp's; one lane stores. A plane that is not there reads as 0 and drops
 * what is written: a condition of the access. Elements narrower than a word are parts of words where the device cannot access them by
 * themselves: they are exchanged then, as others may write what stands beside them. */
#include "codegen/spirv/gen.h"

enum { ALIGNED = 2, NON_PRIVATE = 32 };

/* -- addresses ------------------------------------------------------------------------------------------------------- */

spv_id
sv_pointer_to(gen *g, spv_id type, spv_id address)
{
    return emit(g, SPV_TO_POINTER, spv_pointer(&g->s, SPV_MEMORY, type), address);
}

spv_id
sv_read_as(gen *g, spv_id type, uint32_t align, spv_id address)
{
    return emit(g, SPV_LOAD, type, sv_pointer_to(g, type, address), ALIGNED | NON_PRIVATE, align);
}

void
sv_write_as(gen *g, spv_id type, uint32_t align, spv_id address, spv_id v)
{
    emit_do(g, SPV_STORE, sv_pointer_to(g, type, address), v, ALIGNED | NON_PRIVATE, align);
}

spv_id
sv_read32(gen *g, spv_id address, uint32_t at)
{
    return sv_read_as(g, g->u32, 4, sv_add(g, address, at));
}

spv_id
sv_read64(gen *g, spv_id address, uint32_t at)
{
    return sv_read_as(g, g->u64, 8, sv_add(g, address, at));
}

void
sv_write32(gen *g, spv_id address, uint32_t at, spv_id v)
{
    sv_write_as(g, g->u32, 4, sv_add(g, address, at), v);
}

void
sv_write64(gen *g, spv_id address, uint32_t at, spv_id v)
{
    sv_write_as(g, g->u64, 8, sv_add(g, address, at), v);
}

/* -- elements of any size, as raw bits ------------------------------------------------------------------------------------ */

static bool
has_storage(gen *g, uint32_t bytes)
{
    spirv_features feature = bytes == 1 ? SPIRV_STORAGE8 : SPIRV_STORAGE16;
    if (!(g->options->features & feature))
        return false;
    spv_capability(&g->s, bytes == 1 ? SPV_CAP_STORAGE8 : SPV_CAP_STORAGE16);
    g->code.uses |= feature;
    return true;
}

/* the word that an element is a part of, and how many bits stand below it there */
static spv_id
word_of(gen *g, spv_id address, spv_id *below)
{
    spv_id byte = emit(g, SPV_AND, g->u32, sv_low(g, address), sv_u32(g, 3));
    *below = emit(g, SPV_SHIFT_LEFT, g->u32, byte, sv_u32(g, 3));
    return emit(g, SPV_AND, g->u64, address, sv_u64(g, ~(uint64_t)3));
}

spv_id
sv_read(gen *g, uint32_t bytes, spv_id address)
{
    spv_id below, mask = sv_u32(g, bytes == 1 ? 0xff : 0xffff);
    if (bytes >= 4)
        return bytes == 8 ? sv_read64(g, address, 0) : sv_read32(g, address, 0);
    if (has_storage(g, bytes))
        return emit(g, SPV_U_CONVERT, g->u32, sv_read_as(g, spv_int(&g->s, 8 * bytes), bytes, address));
    spv_id word = sv_read32(g, word_of(g, address, &below), 0);
    return emit(g, SPV_AND, g->u32, emit(g, SPV_SHIFT_RIGHT, g->u32, word, below), mask);
}

void
sv_write(gen *g, uint32_t bytes, spv_id address, spv_id raw)
{
    spv_id below, zero = sv_u32(g, 0), scope = sv_u32(g, 1), mask = sv_u32(g, bytes == 1 ? 0xff : 0xffff);
    if (bytes >= 4) {
        sv_write_as(g, bytes == 8 ? g->u64 : g->u32, bytes, address, raw);
        return;
    }
    if (has_storage(g, bytes)) {
        spv_id type = spv_int(&g->s, 8 * bytes);
        sv_write_as(g, type, bytes, address, emit(g, SPV_U_CONVERT, type, raw));
        return;
    }
    spv_id word = sv_pointer_to(g, g->u32, word_of(g, address, &below)); /* the old bits go, then the new ones come */
    mask = emit(g, SPV_NOT, g->u32, emit(g, SPV_SHIFT_LEFT, g->u32, mask, below));
    emit(g, SPV_ATOMIC_AND, g->u32, word, scope, zero, mask);
    emit(g, SPV_ATOMIC_OR, g->u32, word, scope, zero, emit(g, SPV_SHIFT_LEFT, g->u32, raw, below));
}

/* -- what is known of a buffer --------------------------------------------------------------------------------------------- */

typedef enum presence { THERE, MAYBE, MISSING } presence;

static int64_t
parameter_of(const gen *g, const ir_value *v)
{
    return !v->def && v->region == g->kernel->body ? (int64_t)v->index : -1;
}

/* a temp, also one that was recorded or carried out of a region */
static bool
is_temporary(const ir_value *buffer)
{
    return buffer->def ? buffer->def->code != RG_OP_PICK : buffer->region->op != NULL;
}

static presence
presence_of(const gen *g, const ir_value *buffer, unsigned plane)
{
    int64_t p = parameter_of(g, buffer);
    const spirv_options *o = g->options;
    if (buffer->type.kind == IR_BUFFER && plane == RG_PRIMAL)
        return THERE;
    if (p >= 0)
        return o->present && o->present[p] >> plane & 1 ? THERE : o->absent && o->absent[p] >> plane & 1 ? MISSING : MAYBE;
    return is_temporary(buffer) ? THERE : MAYBE;
}

bool
sv_may_be_there(const gen *g, const ir_value *buffer, unsigned plane)
{
    return presence_of(g, buffer, plane) != MISSING;
}

bool
sv_is_row_major(const gen *g, const ir_value *buffer)
{
    int64_t p = parameter_of(g, buffer);
    if (p >= 0)
        return g->options->contiguous && g->options->contiguous[p];
    if (is_temporary(buffer))
        return true;
    for (uint32_t i = 1; i < buffer->def->nargs; i++)
        if (!sv_is_row_major(g, buffer->def->args[i]))
            return false;
    return true;
}

/* what a segment hands out */
static const ir_value *
handed_out(const ir_value *v)
{
    while (v->def && v->def->code == RG_OP_SEGMENT)
        v = ir_terminator(v->def->regions[0])->args[v->index];
    return v;
}

/* the extent that the kernel's shape, or what makes the buffer, fixes to a constant; -1: none */
static int64_t
known_extent(const gen *g, const ir_value *buffer, uint32_t axis)
{
    uint64_t extent;
    const ir_value *known = ir_declared_extent(handed_out(buffer), axis);
    return known && ir_is_const(known, &extent) ? (int64_t)extent : -1;
}

/* Fields of what stands still while the entry runs are read once, where it begins. */
spv_id
sv_field(gen *g, const ir_value *buffer, uint32_t at)
{
    bool still = parameter_of(g, buffer) >= 0 || !ir_region_inside(buffer->region, g->region);
    uint64_t key = (uint64_t)buffer->id << 32 | at;
    if (!still)
        return sv_read64(g, sv_get(g, buffer), at);
    void *known = map_get(&g->fields, key + 1);
    if (known)
        return (spv_id)(uintptr_t)known;
    bool was = g->s.at_top;
    spv_id argument = sv_address_of_argument(g, buffer);
    g->s.at_top = true;
    spv_id field = sv_read64(g, argument, at);
    g->s.at_top = was;
    map_set(&g->fields, key + 1, (void *)(uintptr_t)field);
    return field;
}

/* a scalar parameter's too, for its planes */
spv_id
sv_address_of_argument(gen *g, const ir_value *buffer)
{
    if (buffer->type.kind == IR_BUFFER)
        return sv_get(g, buffer);
    assert(parameter_of(g, buffer) >= 0);
    bool was = g->s.at_top;
    g->s.at_top = true;
    spv_id at = sv_add(g, g->args, (uint64_t)buffer->index * sizeof(rt_arg));
    g->s.at_top = was;
    return at;
}

spv_id
sv_extent(gen *g, const ir_value *buffer, uint32_t axis)
{
    int64_t fixed = known_extent(g, buffer, axis);
    return fixed >= 0 ? sv_u64(g, (uint64_t)fixed) : sv_field(g, buffer, (uint32_t)(offsetof(rt_arg, extent) + 8 * axis));
}

spv_id
sv_elements(gen *g, const ir_value *buffer)
{
    spv_id n = sv_u64(g, 1);
    for (uint32_t k = 0; buffer->type.kind == IR_BUFFER && k < buffer->type.rank; k++)
        n = k ? emit(g, SPV_I_MUL, g->u64, n, sv_extent(g, buffer, k)) : sv_extent(g, buffer, 0);
    return n;
}

/* -- elements ------------------------------------------------------------------------------------------------------------ */

spv_id
sv_number_of_element(gen *g, const ir_op *op)
{
    const ir_value *buffer = op->args[0];
    uint32_t rank = buffer->type.kind == IR_BUFFER ? buffer->type.rank : 0;
    bool dense = op->plane != RG_PRIMAL || sv_is_row_major(g, buffer);
    spv_id sum = 0;
    for (uint32_t k = 0; k < rank; k++) {
        spv_id i = sv_wide(g, op->args[1 + k]);
        if (op->successive && k + 1 == rank)
            i = emit(g, SPV_I_ADD, g->u64, i, sv_high(g, g->lane));
        if (dense && sum)
            sum = emit(g, SPV_I_MUL, g->u64, sum, sv_extent(g, buffer, k));
        else if (!dense)
            i = emit(g, SPV_I_MUL, g->u64, i, sv_field(g, buffer, (uint32_t)(offsetof(rt_arg, stride) + 8 * k)));
        sum = sum ? emit(g, SPV_I_ADD, g->u64, sum, i) : i;
    }
    if (op->beside) {
        sum = sum ? emit(g, SPV_I_MUL, g->u64, sum, sv_u64(g, op->beside)) : 0;
        sum = sum ? sv_add(g, sum, op->direction) : sv_u64(g, op->direction);
    } else if (op->direction) {
        spv_id skip = emit(g, SPV_I_MUL, g->u64, sv_elements(g, buffer), sv_u64(g, op->direction));
        sum = sum ? emit(g, SPV_I_ADD, g->u64, sum, skip) : skip;
    }
    return sum;
}

sv_place
sv_element(gen *g, const ir_op *op)
{
    const ir_value *buffer = op->args[0];
    presence known = presence_of(g, buffer, op->plane);
    if (known == MISSING)
        return (sv_place){.nothing = true};
    spv_id base = sv_field(g, buffer, (uint32_t)(offsetof(rt_arg, plane) + 8 * op->plane)), number = sv_number_of_element(g, op);
    sv_place p = {.address = base};
    if (number) {
        spv_id bytes = emit(g, SPV_I_MUL, g->u64, number, sv_u64(g, ir_bytes(ir_dtype(buffer))));
        p.address = emit(g, SPV_I_ADD, g->u64, base, bytes);
    }
    if (op->masked)
        p.condition = sv_get(g, op->args[op->nargs - 1]);
    if (known == MAYBE)
        p.condition = sv_and(g, p.condition, emit(g, SPV_I_NOT_EQUAL, g->truth, base, sv_u64(g, 0)));
    return p;
}

unsigned
sv_does_there(gen *g, const ir_op *op)
{
    unsigned does = 0;
    const ir_effects *task = ir_footprint(&g->footprints, g->task);
    if (g->options->noalias)
        return ir_effects_on(task, op->args[0], op->plane);
    for (size_t i = 0; i < task->at.n; i++)
        does |= task->at.at[i].does;
    return does;
}

/* outside of tasks one lane writes, and barriers stand around that */
bool
sv_changes_there(gen *g, const ir_op *op)
{
    return g->task && sv_does_there(g, op) & IR_CHANGES;
}

/* others may be changing it right now */
static spv_id
read_element(gen *g, const ir_op *op, uint32_t bytes, spv_id address)
{
    if (!op->atomic || bytes < 4 || (bytes == 8 && !(g->options->features & SPIRV_ATOMIC_INT64)))
        return sv_read(g, bytes, address);
    spv_id type = bytes == 8 ? g->u64 : g->u32;
    if (bytes == 8)
        spv_capability(&g->s, SPV_CAP_INT64_ATOMICS);
    return emit(g, SPV_ATOMIC_LOAD, type, sv_pointer_to(g, type, address), sv_u32(g, 1), sv_u32(g, 0));
}

void
sv_load(gen *g, const ir_op *op)
{
    rg_dtype d = ir_dtype(op->args[0]);
    uint32_t bytes = ir_bytes(d);
    spv_id type = bytes == 8 ? g->u64 : g->u32, nil = bytes == 8 ? sv_u64(g, 0) : sv_u32(g, 0);
    sv_place p = sv_element(g, op);
    if (p.nothing) {
        sv_set(g, op->results[0], sv_const(g, d, 0));
        return;
    }
    bool same = !ir_lanes_of(op), changes = same && sv_changes_there(g, op);
    if (changes)
        sv_barrier(g);
    sv_branch b = sv_if(g, p.condition);
    spv_id raw = read_element(g, op, bytes, p.address);
    sv_end_if(g, &b);
    raw = sv_made(g, &b, type, raw, nil);
    if (changes)
        raw = sv_take_id(g, type, raw, sv_u32(g, 0));
    sv_set(g, op->results[0], sv_from_raw(g, d, raw));
}

const ir_value *
sv_value_of(const ir_op *op)
{
    bool compares = op->code == RG_OP_RMW && op->rmw == RG_RMW_CAS;
    return op->args[op->nargs - 1 - op->masked - compares];
}

void
sv_store(gen *g, const ir_op *op)
{
    rg_dtype d = ir_dtype(op->args[0]);
    sv_place p = sv_element(g, op);
    if (p.nothing)
        return;
    spv_id raw = sv_raw(g, d, sv_get(g, sv_value_of(op)));
    bool same = !ir_lanes_of(op);
    if (same) {
        sv_barrier(g);
        p.condition = sv_and(g, p.condition, sv_is_first(g));
    }
    sv_branch b = sv_if(g, p.condition);
    sv_write(g, ir_bytes(d), p.address, raw);
    sv_end_if(g, &b);
    if (same)
        sv_barrier(g);
}

/* -- buffers that the kernel makes or chooses -------------------------------------------------------------------------- */

void
sv_pick(gen *g, const ir_op *op)
{
    spv_id which = sv_get(g, op->args[0]), chosen = sv_get(g, op->args[op->nargs - 1]);
    for (uint32_t i = op->nargs - 2; i >= 1; i--) { /* clamped to the list */
        spv_id hit = emit(g, i == 1 ? SPV_S_LESS_EQUAL : SPV_I_EQUAL, g->truth, which, sv_u32(g, i - 1));
        chosen = sv_choose(g, g->u64, hit, sv_get(g, op->args[i]), chosen);
    }
    sv_set(g, op->results[0], chosen);
}

/* Lines of the pool's end. The size stands in front of what is zeroed: an execution that needs no more takes it again. */
enum { LINE = 128 };

/* so many bytes from the pool's end for a plane, behind a line with their number; 0 after a fault. A function: heap(bytes, place) */
static spv_id
heap_function(gen *g)
{
    spv_id types[2] = {g->u64, g->u32}, params[2];
    sv_function f;
    if (!sv_function_open(g, &f, "heap", g->u64, 2, types, params))
        return f.id;
    spv_id launch = sv_launch_here(g), lane = g->lane;
    g->lane = emit(g, SPV_LOAD, g->u32, g->lane_input);
    spv_id whole = emit(g, SPV_AND, g->u64, sv_add(g, params[0], LINE - 1), sv_u64(g, ~(uint64_t)(LINE - 1)));
    spv_id used = emit(g, SPV_I_ADD, g->u64, sv_read64(g, launch, offsetof(rt_vulkan_launch, heap)), sv_add(g, whole, LINE));
    spv_id all = sv_high(g, sv_read32(g, launch, offsetof(rt_vulkan_launch, pages)));
    all = emit(g, SPV_I_MUL, g->u64, all, sv_u64(g, RT_GPU_PAGE));
    spv_id top = sv_high(g, sv_read32(g, launch, offsetof(rt_vulkan_launch, top)));
    spv_id taken = emit(g, SPV_I_MUL, g->u64, top, sv_u64(g, RT_GPU_PAGE));
    spv_id above = emit(g, SPV_U_GREATER, g->truth, emit(g, SPV_I_ADD, g->u64, used, taken), all);
    spv_id vast = emit(g, SPV_U_GREATER, g->truth, params[0], all), none = emit(g, SPV_LOGICAL_OR, g->truth, above, vast);
    sv_barrier(g);
    sv_tell_fault(g, RT_FAULT_MEMORY, params[1], params[0], all, sv_and(g, none, sv_is_first(g)));
    spv_id at = emit(g, SPV_I_SUB, g->u64, emit(g, SPV_I_ADD, g->u64, sv_read64(g, launch, offsetof(rt_vulkan_launch, pool)), all), used);
    sv_branch first = sv_if(g, sv_and(g, sv_not(g, none), sv_is_first(g)));
    sv_write64(g, launch, offsetof(rt_vulkan_launch, heap), used);
    sv_write64(g, at, 0, params[0]);
    sv_end_once(g, &first);
    emit_do(g, SPV_RETURN_VALUE, sv_choose(g, g->u64, none, sv_u64(g, 0), sv_add(g, at, LINE)));
    g->lane = lane;
    sv_function_close(g, &f);
    return f.id;
}

static bool
records_no_buffer(ir_op *op, void *user)
{
    (void)user;
    for (uint32_t i = 1; op->code == RG_OP_TAPE_PUSH && i < op->nargs; i++)
        if (op->args[i]->type.kind == IR_BUFFER)
            return false;
    return true;
}

spv_id
sv_heap(gen *g, const ir_op *op, spv_id bytes)
{
    spv_id place = sv_u32(g, sv_place_number(g, op, NULL, NULL, 0));
    spv_id at = sv_call_function(g, heap_function(g), g->u64, 2, (spv_id[]){bytes, place});
    sv_leave_if(g, sv_is_zero(g, at));
    return at;
}

/* `last`: where the execution before had it; 0: nowhere */
static spv_id
plane_memory(gen *g, const ir_op *op, unsigned plane, spv_id bytes, spv_id last)
{
    spv_id found = sv_u64(g, 0);
    if (last) {
        sv_branch there = sv_if(g, emit(g, SPV_I_NOT_EQUAL, g->truth, last, found));
        spv_id size = sv_read64(g, emit(g, SPV_I_SUB, g->u64, last, sv_u64(g, LINE)), 0);
        spv_id fits = emit(g, SPV_U_LESS_EQUAL, g->truth, bytes, size);
        spv_id place = sv_choose(g, g->u64, fits, last, sv_u64(g, 0));
        sv_end_if(g, &there);
        found = sv_made(g, &there, g->u64, place, found);
    }
    sv_branch new = sv_if(g, sv_is_zero(g, found));
    spv_id made = sv_heap(g, op, bytes);
    sv_end_if(g, &new);
    found = sv_made(g, &new, g->u64, made, found);
    sv_zero(g, op, plane, found, bytes);
    return found;
}

static spv_id
place_of_temp(gen *g, const ir_op *op, bool again)
{
    if (!again)
        return sv_heap(g, op, sv_u64(g, sizeof(rt_arg)));
    spv_id record = sv_read64(g, g->launch, offsetof(rt_vulkan_launch, record));
    return sv_add(g, record, g->segments.places[op->results[0]->id]);
}

/* An rt_arg of the kernel's own, with the planes that anything reaches. Where buffers are recorded each execution has a place of its
 * own; else a loop uses one again. */
void
sv_temp(gen *g, const ir_op *op)
{
    const ir_value *buffer = op->results[0];
    uint8_t planes = ir_effects_planes(&g->effects, buffer);
    bool again = ir_walk(g->kernel->body, records_no_buffer, NULL);
    spv_id arg = place_of_temp(g, op, again), count = sv_u64(g, 1), extents[RT_RANK], strides[RT_RANK], memory[RT_PLANES] = {0};
    for (uint32_t k = buffer->type.rank; k-- > 0;) {
        extents[k] = sv_wide(g, op->args[k]);
        strides[k] = count;
        count = emit(g, SPV_I_MUL, g->u64, count, extents[k]);
    }
    spv_id bytes = emit(g, SPV_I_MUL, g->u64, count, sv_u64(g, ir_bytes(ir_dtype(buffer))));
    sv_barrier(g);
    for (unsigned p = 0; p < RT_PLANES; p++)
        if (planes >> p & 1) {
            uint32_t kept = (uint32_t)(sizeof(rt_arg) + 8 * p);
            spv_id all = emit(g, SPV_I_MUL, g->u64, bytes, sv_u64(g, g->directions[p] ? g->directions[p] : 1));
            memory[p] = plane_memory(g, op, p, all, again ? sv_read64(g, arg, kept) : 0);
        }
    sv_branch once = sv_once(g);
    for (uint32_t k = 0; k < buffer->type.rank; k++) {
        sv_write64(g, arg, (uint32_t)(offsetof(rt_arg, extent) + 8 * k), extents[k]);
        sv_write64(g, arg, (uint32_t)(offsetof(rt_arg, stride) + 8 * k), strides[k]);
    }
    for (unsigned p = 0; p < RT_PLANES; p++) {
        sv_write64(g, arg, (uint32_t)(offsetof(rt_arg, plane) + 8 * p), memory[p] ? memory[p] : sv_u64(g, 0));
        if (memory[p] && again)
            sv_write64(g, arg, (uint32_t)(sizeof(rt_arg) + 8 * p), memory[p]);
    }
    sv_end_once(g, &once);
    sv_set(g, buffer, arg);
}

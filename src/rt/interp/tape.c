/* The tape after lower_tape: a stack of frames, checked. SPDX-License-Identifier: Apache-2.0
 *
 *   values...  bytes  types        a frame, upwards; a cursor is the height above it
 *
 * `bytes` is what all frames up to this one hold, `types` identifies what was pushed. */
#include "rt/interp/machine.h"

static interp_tape *
tape_of(interp_machine *m)
{
    return &m->tapes[m->parallel];
}

/* words of a value; 0: one, which is no array's */
static uint64_t
array_words(ir_type t)
{
    return t.lanes ? (uint64_t)t.lanes * (t.length ? t.length : 1) : t.length;
}

static uint64_t
frame_words(ir_value *const *values, uint32_t n)
{
    uint64_t words = 2;
    for (uint32_t k = 0; k < n; k++)
        words += array_words(values[k]->type) ? array_words(values[k]->type) : 1;
    return words;
}

static uint64_t
frame_types(ir_value *const *values, uint32_t n)
{
    uint64_t hash = 0xcbf29ce484222325ull ^ n;
    for (uint32_t k = 0; k < n; k++)
        hash = (hash ^ values[k]->type.dtype ^ (uint64_t)values[k]->type.length << 8 ^
                (uint64_t)values[k]->type.lanes << 40) *
               0x100000001b3ull;
    return hash;
}

static uint64_t
bytes_up_to(const interp_tape *tape, uint64_t cursor)
{
    return cursor ? tape->at[cursor - 2] : 0;
}

/* whether the last thread has recorded what was counted before it began */
bool
interp_tape_was_counted(interp_frame *f, const interp_tape *tape)
{
    if (!tape->begin || tape->reached == tape->counted)
        return true;
    interp_fault(f, tape->begin, RT_FAULT_ASSERT, "%llu bytes were counted, %llu recorded",
                 (unsigned long long)tape->counted, (unsigned long long)tape->reached);
    return false;
}

/* Whether at a kernel's end no frame is left of what its tasks recorded: else some task has taken back another one's,
 * which may hold values of the same types. */
bool
interp_tape_was_taken_back(interp_frame *f, const ir_op *end)
{
    if (!f->machine->tapes[1].top)
        return true;
    interp_fault(f, end, RT_FAULT_ASSERT, "frames of threads are left that nobody has taken back");
    return false;
}

/* false: a loop drops frames whatever the budget (ad_plan_options.drop) */
static bool
keeps_frames(ir_op *op, void *user)
{
    uint64_t parts;
    (void)user;
    bool asks = op->code == RG_OP_TAPE_OVER || op->code == RG_OP_TAPE_OVER_TASKS || op->code == RG_OP_TAPE_ROOM;
    return !(asks && ir_is_const(op->args[3], &parts) && !parts);
}

interp_flow
interp_tape_begin(interp_frame *f, const ir_op *op)
{
    const interp_machine *m = f->machine;
    interp_tape *tape = tape_of(f->machine);
    bool drops = op->drops && (m->options->budget || !ir_walk(op->parent, keeps_frames, NULL));
    if (!interp_tape_was_counted(f, tape))
        return FLOW_FAULT;
    f->words[op->results[0]->id].bits = tape->top;
    tape->reached = bytes_up_to(tape, tape->top);
    tape->counted = op->nargs && !drops ? tape->reached + interp_bits(f, op->args[0]) : 0;
    uint64_t bound; /* known before: it may be more than what is recorded */
    tape->begin = tape->counted && !ir_is_const(op->args[0], &bound) ? op : NULL;
    return FLOW_NEXT;
}

interp_flow
interp_tape_end(interp_frame *f, const ir_op *op)
{
    interp_tape *tape = tape_of(f->machine);
    tape->top = interp_bits(f, op->args[0]);
    tape->held = (int64_t)bytes_up_to(tape, tape->top);
    return FLOW_NEXT;
}

static bool
reserve(interp_tape *tape, uint64_t need)
{
    if (need <= tape->capacity)
        return true;
    uint64_t capacity = need + need / 2 + 64;
    uint64_t *at = realloc(tape->at, capacity * sizeof *at);
    if (!at)
        return false;
    tape->at = at;
    tape->capacity = capacity;
    return true;
}

static void
note_held(interp_machine *m, interp_tape *tape, uint64_t bytes)
{
    tape->held = (int64_t)bytes;
    tape->reached = bytes > tape->reached ? bytes : tape->reached;
    int64_t held = m->held + m->tapes[0].held + m->tapes[1].held;
    if (held > m->most_held)
        m->most_held = held;
}

interp_flow
interp_tape_push(interp_frame *f, const ir_op *op)
{
    interp_tape *tape = tape_of(f->machine);
    ir_value *const *values = op->args + 1;
    uint32_t n = op->nargs - 1;
    uint64_t cursor = interp_bits(f, op->args[0]), words = frame_words(values, n);
    if (!reserve(tape, cursor + words))
        return interp_fault(f, op, RT_FAULT_MEMORY, "out of memory for the tape");
    uint64_t bytes = bytes_up_to(tape, cursor) + ir_frame_of(values, n);
    if (tape->counted && bytes > tape->counted)
        return interp_fault(f, op, RT_FAULT_ASSERT, "pushes more than the tape has room for");
    for (uint32_t k = 0; k < n; k++) {
        ir_type type = values[k]->type;
        const interp_array *a = f->words[values[k]->id].array;
        if (type.length && !a)
            return interp_fault(f, op, RT_FAULT_ASSERT, "a consumed local array is recorded");
        if (!array_words(type))
            tape->at[cursor++] = interp_bits(f, values[k]);
        for (uint64_t i = 0; i < array_words(type); i++)
            tape->at[cursor++] = a ? a->at[i] : 0;
    }
    tape->at[cursor++] = bytes;
    tape->at[cursor++] = frame_types(values, n);
    f->words[op->results[0]->id].bits = cursor;
    note_held(f->machine, tape, bytes);
    return FLOW_NEXT;
}

static interp_flow
pop_array(interp_frame *f, const ir_op *op, const ir_value *v, const uint64_t *from)
{
    interp_array *a = interp_array_new((uint32_t)array_words(v->type));
    if (!a)
        return interp_fault(f, op, RT_FAULT_MEMORY, "out of memory for a local array");
    memcpy(a->at, from, sizeof(uint64_t) * a->length);
    interp_set(f, v, (interp_word){.array = a});
    return FLOW_NEXT;
}

interp_flow
interp_tape_pop(interp_frame *f, const ir_op *op)
{
    interp_tape *tape = tape_of(f->machine);
    ir_value *const *values = op->results + 1;
    uint32_t n = op->nresults - 1;
    uint64_t cursor = interp_bits(f, op->args[0]), words = frame_words(values, n);
    if (cursor < words || cursor > tape->capacity || tape->at[cursor - 1] != frame_types(values, n))
        return interp_fault(f, op, RT_FAULT_ASSERT,
                            "pops a frame of other values than were pushed");
    uint64_t at = cursor -= words;
    for (uint32_t k = 0; k < n; k++) {
        if (!array_words(values[k]->type))
            f->words[values[k]->id].bits = tape->at[at++];
        else if (pop_array(f, op, values[k], tape->at + at) == FLOW_FAULT)
            return FLOW_FAULT;
        else
            at += array_words(values[k]->type);
    }
    f->words[op->results[0]->id].bits = cursor;
    note_held(f->machine, tape, bytes_up_to(tape, cursor));
    return FLOW_NEXT;
}

static bool
takes_too_much(const interp_machine *m, int64_t used, int64_t left, uint64_t parts, uint64_t room)
{
    if (!parts)
        return used > (int64_t)room;
    return m->options->budget && used > 0 && used + (int64_t)room >= left / (int64_t)parts;
}

interp_flow
interp_tape_over(interp_frame *f, const ir_op *op)
{
    const interp_machine *m = f->machine;
    const interp_tape *tape = tape_of(f->machine);
    int64_t mark = (int64_t)bytes_up_to(tape, interp_bits(f, op->args[1]));
    int64_t used = (int64_t)bytes_up_to(tape, interp_bits(f, op->args[0])) - mark;
    bool over = takes_too_much(m, used, m->options->budget - m->held - mark, interp_bits(f, op->args[3]),
                               interp_bits(f, op->args[4]));
    f->words[op->results[0]->id].bits = interp_bits(f, op->args[0]); /* of a tape_room: room is anywhere */
    f->words[op->results[op->nresults - 1]->id].bits = over;
    return FLOW_NEXT;
}

enum { FIRST_OF_STATE = 3 }; /* operand of tape_thin */

/* how many words and bytes frame i of a state has: of a saved buffer, or (the last one) of values */
static void
state_frame(const interp_frame *f, const ir_op *op, uint32_t i, uint64_t *words, uint64_t *bytes)
{
    const ir_value *v = op->args[i];
    if (v->type.kind == IR_BUFFER) {
        const interp_buffer *b = f->words[v->id].buffer;
        *words = (uint64_t)b->total + 2;
        *bytes = (uint64_t)b->total * ir_bytes((rg_dtype)b->dtype);
        return;
    }
    *words = frame_words(op->args + i, op->nargs - i);
    *bytes = ir_frame_of(op->args + i, op->nargs - i);
}

interp_flow
interp_tape_thin(interp_frame *f, const ir_op *op)
{
    interp_machine *m = f->machine;
    interp_tape *tape = tape_of(m);
    uint64_t header = interp_bits(f, op->args[0]), mark = interp_bits(f, op->args[1]), to = header;
    uint64_t below = bytes_up_to(tape, header), words, bytes;
    uint32_t last = FIRST_OF_STATE;
    while (op->args[last]->type.kind == IR_BUFFER)
        last++;
    int64_t states = (int64_t)(bytes_up_to(tape, mark) - below);
    int64_t most = (int64_t)interp_bits(f, op->args[2]);
    if (!most)
        most = m->options->budget ? (m->options->budget - m->held - (int64_t)below) / 2 : INT64_MAX;
    f->words[op->results[0]->id].bits = mark;
    if (states <= most)
        return FLOW_NEXT;
    bool keep = true;
    for (uint64_t from = header, held = below; from < mark; keep = !keep)
        for (uint32_t i = FIRST_OF_STATE; i <= last; i++, from += words) {
            state_frame(f, op, i, &words, &bytes);
            if (!keep)
                continue;
            memmove(&tape->at[to], &tape->at[from], sizeof(tape->at[0]) * words);
            to += words;
            tape->at[to - 2] = held += bytes;
        }
    f->words[op->results[0]->id].bits = to;
    return FLOW_NEXT;
}

/* -- snapshots of arrays, and where workers stand: frames of words that end as others do ------------ */
enum { TYPES_SNAPSHOT = 0x5a, TYPES_TASKS = 0x7a };

/* NULL: a fault, which is noted */
static uint64_t *
push_words(interp_frame *f, const ir_op *op, uint64_t n, uint64_t bytes, uint64_t types)
{
    interp_tape *tape = tape_of(f->machine);
    uint64_t cursor = interp_bits(f, op->args[0]), end = cursor + n + 2;
    if (!reserve(tape, end)) {
        interp_fault(f, op, RT_FAULT_MEMORY, "out of memory for the tape");
        return NULL;
    }
    bytes += bytes_up_to(tape, cursor);
    tape->at[end - 2] = bytes;
    tape->at[end - 1] = types;
    note_held(f->machine, tape, bytes);
    f->words[op->results[0]->id].bits = end;
    return &tape->at[cursor];
}

interp_flow
interp_tape_save(interp_frame *f, const ir_op *op)
{
    const interp_buffer *b = f->words[op->args[1]->id].buffer;
    unsigned size = ir_bytes((rg_dtype)b->dtype);
    uint64_t *words = push_words(f, op, (uint64_t)b->total, (uint64_t)b->total * size, TYPES_SNAPSHOT);
    if (!words)
        return FLOW_FAULT;
    interp_elements_keep(b, (interp_word *)words);
    return FLOW_NEXT;
}

interp_flow
interp_tape_restore(interp_frame *f, const ir_op *op)
{
    interp_tape *tape = tape_of(f->machine);
    interp_buffer *b = f->words[op->args[1]->id].buffer;
    uint64_t cursor = interp_bits(f, op->args[0]), words = (uint64_t)b->total + 2;
    if (cursor < words || tape->at[cursor - 1] != TYPES_SNAPSHOT)
        return interp_fault(f, op, RT_FAULT_ASSERT, "restores an array that was not saved");
    cursor -= words;
    if (!interp_elements_put(b, (interp_word *)&tape->at[cursor]))
        return interp_fault(f, op, RT_FAULT_MEMORY, "out of memory for a temporary array");
    f->words[op->results[0]->id].bits = cursor;
    return FLOW_NEXT;
}

interp_flow
interp_tape_tasks(interp_frame *f, const ir_op *op)
{
    uint64_t *words = push_words(f, op, 1, 8, TYPES_TASKS);
    if (!words)
        return FLOW_FAULT;
    words[0] = f->machine->tapes[1].top;
    return FLOW_NEXT;
}

interp_flow
interp_tape_over_tasks(interp_frame *f, const ir_op *op)
{
    interp_machine *m = f->machine;
    interp_tape *kernel = &m->tapes[0], *workers = &m->tapes[1];
    uint64_t top = kernel->at[interp_bits(f, op->args[2]) - 3];
    int64_t mark = (int64_t)bytes_up_to(kernel, interp_bits(f, op->args[1]));
    int64_t below = (int64_t)bytes_up_to(workers, top);
    int64_t used = (int64_t)bytes_up_to(kernel, interp_bits(f, op->args[0])) - mark +
                   (int64_t)bytes_up_to(workers, workers->top) - below;
    bool over = takes_too_much(m, used, m->options->budget - m->held - mark - below,
                               interp_bits(f, op->args[3]), interp_bits(f, op->args[4]));
    f->words[op->results[0]->id].bits = over;
    if (over) {
        workers->top = top;
        workers->held = below;
    }
    return FLOW_NEXT;
}

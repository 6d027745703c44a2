/* The tape: pushes and pops of frames, inline. SPDX-License-Identifier: Apache-2.0
 *
 * A frame's layout (ir_frame_layout) follows from the types of its values alone, so that the pop finds what
 * the push left. Frames of one loop stay aligned; other loops' frames below may shift them, and nothing
 * relies on it. The page change is the unlikely side of one comparison. */
#include "codegen/llvm/nvidia.h"
#include "analysis/pages.h"
#include "rt/gpu/gpu.h"

static int64_t
page_bytes(const gen *g)
{
    return g->target->page;
}

/* the runtime's function of that name, for this kind of device; it gives a cursor, which a GPU looks at */
static LLVMValueRef
cursor_of(gen *g, const char *name, unsigned n, LLVMValueRef *args)
{
    char room[32];
    bool warps = g->target->warp;
    snprintf(room, sizeof room, "rt_%s_%s", warps ? "gpu" : "cpu", name);
    LLVMValueRef cursor = gen_runtime_call(g, g->b, room, g->ptr, n, args);
    if (!warps)
        return cursor;
    g->gpu->has_tape = true;
    return gen_global(g, g->b, gen_or_leave(g, cursor));
}

/* the line, as the runtime is told of it */
static LLVMValueRef
line_of(gen *g, const ir_op *op)
{
    return g->target->warp ? gen_place_of(g, op, NULL, NULL, 0) : gen_i32(g, op->loc.line);
}

static LLVMValueRef
worker_cursor(gen *g, LLVMBuilderRef b)
{
    bool task = g->target->warp && g->s->task;
    LLVMValueRef at = gen_i64(g, task ? offsetof(rt_gpu_task, cursor) : offsetof(rt_worker, cursor));
    return LLVMBuildInBoundsGEP2(b, g->i8, task ? g->s->running : gen_worker(g), &at, 1, "");
}

/* While a function runs its worker's cursor is a variable of its own: in memory it would be written
 * and read again by each thread. (After a fault nobody asks for it.) */
static LLVMValueRef
own_cursor(gen *g)
{
    scope *s = g->s;
    if (!s->cursor) {
        s->cursor = gen_alloca(g, g->ptr, NULL, "tape");
        LLVMValueRef first = LLVMBuildLoad2(s->top, g->ptr, worker_cursor(g, s->top), "");
        LLVMBuildStore(s->top, first, s->cursor);
    }
    return s->cursor;
}

void
gen_tape_leave(gen *g)
{
    if (!g->s->cursor)
        return;
    LLVMValueRef last = LLVMBuildLoad2(g->b, g->ptr, g->s->cursor, "");
    LLVMBuildStore(g->b, last, worker_cursor(g, g->b));
}

void
gen_tape_end(gen *g, const ir_op *op)
{
    LLVMBuildStore(g->b, gen_get(g, op->args[0]), own_cursor(g));
}

/* GPUs do in two steps what has 64 bits, and LLVM would make 64 bits of a test of the lower 32 */
static LLVMValueRef
place_in_page(gen *g, LLVMValueRef cursor)
{
    LLVMTypeRef type = g->target->warp ? g->i32 : g->i64;
    LLVMValueRef bits = LLVMBuildPtrToInt(g->b, cursor, g->i64, ""), most = gen_i64(g, page_bytes(g) - 1);
    LLVMValueRef low = gen_for_nvidia(g) ? gen_low_half(g, bits) : LLVMBuildIntCast2(g->b, bits, type, false, "");
    return LLVMBuildAnd(g->b, low, LLVMBuildIntCast2(g->b, most, type, false, ""), "");
}

static LLVMValueRef
moved(gen *g, LLVMValueRef cursor, int64_t bytes)
{
    LLVMValueRef by = gen_i64(g, bytes);
    return LLVMBuildInBoundsGEP2(g->b, g->i8, cursor, &by, 1, "");
}

/* `other` where the condition (rarely) holds: made by the caller between begin and end */
typedef struct rare {
    LLVMBasicBlockRef before, after;
    LLVMValueRef usual;
} rare;

static rare
rare_begin(gen *g, LLVMValueRef condition, LLVMValueRef usual)
{
    rare r = {.before = gen_here(g), .usual = usual};
    LLVMBasicBlockRef aside = gen_block(g, "page");
    r.after = gen_block(g, "frame");
    gen_unlikely(g, LLVMBuildCondBr(g->b, condition, aside, r.after), false);
    gen_at(g, aside);
    return r;
}

/* behind it; `end` is where the rare side ends */
static LLVMValueRef
rare_join(gen *g, const rare *r, LLVMValueRef usual, LLVMValueRef other, LLVMBasicBlockRef end)
{
    LLVMBasicBlockRef from[2] = {r->before, end};
    LLVMValueRef joined = LLVMBuildPhi(g->b, LLVMTypeOf(usual), "");
    LLVMAddIncoming(joined, (LLVMValueRef[]){usual, other}, from, 2);
    return joined;
}

static LLVMValueRef
rare_end(gen *g, rare *r, LLVMValueRef other)
{
    LLVMBasicBlockRef end = gen_here(g);
    LLVMBuildBr(g->b, r->after);
    gen_at(g, r->after);
    return rare_join(g, r, r->usual, other, end);
}

bool
gen_is_mask(const ir_value *v)
{
    return v->type.kind == IR_SCALAR && v->type.dtype == RG_BOOL && v->type.lanes;
}

static LLVMValueRef
mask_in_frame(gen *g, LLVMValueRef mask)
{
    LLVMValueRef bits = gen_mask_bits(g, mask);
    return gen_width(mask) < 8 ? LLVMBuildZExt(g->b, bits, g->i8, "") : bits;
}

static LLVMValueRef
mask_from_frame(gen *g, const ir_value *v, LLVMValueRef bits)
{
    LLVMTypeRef type = LLVMIntTypeInContext(g->context, v->type.lanes);
    bits = v->type.lanes < 8 ? LLVMBuildTrunc(g->b, bits, type, "") : bits;
    return gen_mask_of_bits(g, bits, v->type.lanes);
}

static void
push_value(gen *g, const ir_value *v, LLVMValueRef to)
{
    if (g->target->warp) {
        gen_push_own(g, v, to);
        return;
    }
    LLVMValueRef value = gen_get(g, v);
    if (v->type.kind == IR_SLOT) {
        LLVMValueRef bytes = gen_i64(g, ir_slot_bytes(v->type));
        gen_mark_own(g, LLVMBuildMemCpy(g->b, to, 1, value, ir_bytes((rg_dtype)v->type.dtype), bytes));
        return;
    }
    if (v->type.kind == IR_SCALAR)
        value = gen_is_mask(v) ? mask_in_frame(g, value) : gen_to_memory(g, (rg_dtype)v->type.dtype, value);
    LLVMValueRef store = LLVMBuildStore(g->b, value, to);
    LLVMSetAlignment(store, 1);
    gen_mark_own(g, store);
}

/* A popped slot is its place in the frame, good until the next push; lower_arrays copies it first.
 */
static void
pop_value(gen *g, const ir_value *v, LLVMValueRef from)
{
    bool scalar = v->type.kind == IR_SCALAR;
    rg_dtype d = (rg_dtype)v->type.dtype;
    if (v->type.kind == IR_SLOT) {
        gen_set(g, v, from);
        return;
    }
    if (g->target->warp) {
        gen_pop_own(g, v, from);
        return;
    }
    LLVMTypeRef type = g->ptr;
    if (gen_is_mask(v))
        type = LLVMIntTypeInContext(g->context, v->type.lanes < 8 ? 8 : v->type.lanes);
    else if (scalar)
        type = gen_in_lanes(g, gen_memory_type(g, d), v->type.lanes);
    LLVMValueRef load = gen_mark_own(g, LLVMBuildLoad2(g->b, type, from, ""));
    LLVMSetAlignment(load, 1);
    gen_set(g, v, gen_is_mask(v) ? mask_from_frame(g, v, load) : scalar ? gen_from_memory(g, d, load) : load);
}

/* Flags are gathered byte by byte. */
static void
push_values(gen *g, ir_value *const *values, uint32_t n, LLVMValueRef frame)
{
    ir_field *places = arena_new_n(g->scratch, ir_field, n + 1);
    LLVMValueRef flags = NULL;
    uint32_t byte = 0;
    ir_frame_layout(values, n, places);
    for (uint32_t i = 0; i < n; i++) {
        if (!ir_is_flag(values[i]->type)) {
            push_value(g, values[i], moved(g, frame, places[i].byte));
            continue;
        }
        if (flags && places[i].byte != byte)
            gen_mark_own(g, LLVMBuildStore(g->b, flags, moved(g, frame, byte)));
        LLVMValueRef flag = gen_to_memory(g, RG_BOOL, gen_get(g, values[i]));
        flag = LLVMBuildShl(g->b, flag, LLVMConstInt(g->i8, places[i].bit, false), "");
        flags = places[i].bit ? LLVMBuildOr(g->b, flags, flag, "") : flag;
        byte = places[i].byte;
    }
    if (flags)
        gen_mark_own(g, LLVMBuildStore(g->b, flags, moved(g, frame, byte)));
}

static void
pop_values(gen *g, ir_value *const *values, uint32_t n, LLVMValueRef frame)
{
    ir_field *places = arena_new_n(g->scratch, ir_field, n + 1);
    LLVMValueRef flags = NULL;
    ir_frame_layout(values, n, places);
    for (uint32_t i = 0; i < n; i++) {
        LLVMValueRef from = moved(g, frame, places[i].byte);
        if (!ir_is_flag(values[i]->type)) {
            pop_value(g, values[i], from);
            continue;
        }
        if (!places[i].bit)
            flags = gen_mark_own(g, LLVMBuildLoad2(g->b, g->i8, from, ""));
        LLVMValueRef bit = LLVMConstInt(g->i8, 1u << places[i].bit, false);
        gen_set(g, values[i], gen_from_memory(g, RG_BOOL, LLVMBuildAnd(g->b, flags, bit, "")));
    }
}

/* whether a frame of so many bytes does not fit into the cursor's page */
static LLVMValueRef
is_full(gen *g, LLVMValueRef cursor, LLVMValueRef bytes)
{
    LLVMValueRef limit = LLVMBuildSub(g->b, gen_i64(g, page_bytes(g)), bytes, ""), place = place_in_page(g, cursor);
    if (LLVMIsAConstantInt(limit) && llabs(LLVMConstIntGetSExtValue(limit)) < INT32_MAX) /* a frame, or a few */
        limit = LLVMBuildIntCast2(g->b, limit, LLVMTypeOf(place), true, "");
    return LLVMBuildICmp(g->b, LLVMIntSGE, LLVMBuildIntCast2(g->b, place, LLVMTypeOf(limit), false, ""), limit, "");
}

/* `cursor`, or where it has left its page if a frame (or all that a thread pushes) does not fit there */
static LLVMValueRef
with_room(gen *g, LLVMValueRef cursor, LLVMValueRef bytes, const ir_op *op)
{
    LLVMValueRef worker = gen_worker(g);
    rare r = rare_begin(g, is_full(g, cursor, bytes), cursor);
    LLVMValueRef args[3] = {worker, cursor, line_of(g, op)};
    return rare_end(g, &r, cursor_of(g, "page", 3, args));
}

static uint32_t
largest_frame(gen *g, const ir_region *r)
{
    uint32_t most = 0;
    ir_for_ops(op, r)
    {
        uint32_t size = op->code == RG_OP_TAPE_PUSH ? ir_frame_of(op->args + 1, op->nargs - 1) : 0;
        most = size > most ? size : most;
        for (uint32_t i = 0; op->code != RG_OP_PARALLEL && i < op->nregions; i++) {
            size = largest_frame(g, op->regions[i]);
            most = size > most ? size : most;
        }
    }
    return most;
}

/* Pages are taken now, so that a thread that would not find enough fails before it has done anything. */
static void
reserve_pages(gen *g, LLVMValueRef cursor, const ir_op *op)
{
    LLVMValueRef bytes = gen_get(g, op->args[0]);
    LLVMValueRef args[5] = {gen_worker(g), cursor, bytes, gen_i32(g, (int)largest_frame(g, op->parent)),
                            line_of(g, op)};
    rare r = rare_begin(g, is_full(g, cursor, bytes), cursor);
    (void)rare_end(g, &r, cursor_of(g, "reserve", 5, args));
}

/* Where room was made the tape stays: the next thread finds it. */
void
gen_tape_begin(gen *g, const ir_op *op)
{
    ir_own_tape own;
    if (g->target->warp && g->s->task && ir_tape_is_own(op, &own)) {
        gen_own_frames_begin(g, op, own.bytes, own.unit);
        return;
    }
    LLVMValueRef cursor = gen_global(g, g->b, LLVMBuildLoad2(g->b, g->ptr, own_cursor(g), "cursor"));
    if (g->target->warp && g->s->task) /* all lanes have read what the thread before left here */
        gen_warp_sync(g);
    if (op->one_page) {
        cursor = with_room(g, cursor, gen_get(g, op->args[0]), op);
        LLVMBuildStore(g->b, cursor, own_cursor(g));
    } else if (op->nargs && !op->drops) {
        reserve_pages(g, cursor, op);
    }
    gen_set(g, op->results[0], cursor);
}

void
gen_tape_push(gen *g, const ir_op *op)
{
    uint32_t n = op->nargs - 1;
    uint32_t size = ir_frame_of(op->args + 1, n);
    assert(size <= RT_FRAME_MAX);
    LLVMValueRef cursor = gen_get(g, op->args[0]);
    if (g->s->own_unit) {
        gen_push_own_frame(g, op, cursor);
        return;
    }
    if (!op->in_page)
        cursor = with_room(g, cursor, gen_i64(g, size), op);
    gen_some once = gen_push_begin(g, op);
    push_values(g, op->args + 1, n, cursor);
    if (once.after)
        gen_once_end(g, &once);
    gen_set(g, op->results[0], moved(g, cursor, size));
}

void
gen_tape_pop(gen *g, const ir_op *op)
{
    uint32_t n = op->nresults - 1;
    LLVMValueRef cursor = gen_get(g, op->args[0]);
    if (g->s->own_unit) {
        gen_pop_own_frame(g, op, cursor);
        return;
    }
    if (g->target->warp && !g->s->task)
        gen_kernel_reads(g);
    if (!op->in_page) {
        /* a cursor at its page's bottom goes to the page below */
        int64_t header = g->target->page_header;
        LLVMValueRef place = place_in_page(g, cursor), bottom = LLVMConstInt(LLVMTypeOf(place), (uint64_t)header, false);
        LLVMValueRef empty = LLVMBuildICmp(g->b, LLVMIntEQ, place, bottom, "");
        rare r = rare_begin(g, empty, cursor);
        LLVMValueRef page = moved(g, cursor, -header);
        LLVMValueRef field = moved(g, page, offsetof(rt_page, below));
        cursor = rare_end(g, &r, gen_global(g, g->b, LLVMBuildLoad2(g->b, g->ptr, field, "")));
    }
    cursor = moved(g, cursor, -(int64_t)ir_frame_of(op->results + 1, n));
    pop_values(g, op->results + 1, n, cursor);
    gen_set(g, op->results[0], cursor);
}

/* Asked of the runtime only after a page change: that sets a bit for each level of loops. */
void
gen_tape_over(gen *g, const ir_op *op)
{
    LLVMValueRef worker = gen_worker(g), at = gen_i64(g, offsetof(rt_worker, turned));
    LLVMValueRef field = LLVMBuildInBoundsGEP2(g->b, g->i8, worker, &at, 1, "");
    LLVMValueRef turned = LLVMBuildLoad2(g->b, g->i32, field, "");
    LLVMValueRef level = gen_get(g, op->args[2]), one = gen_i32(g, 1);
    LLVMValueRef bit = LLVMBuildAnd(g->b, turned, LLVMBuildShl(g->b, one, level, ""), "");
    LLVMValueRef zero = gen_i32(g, 0);
    uint64_t parts;
    bool always = ir_is_const(op->args[3], &parts) && !parts;
    LLVMValueRef set = always ? LLVMConstInt(g->i1, 1, 0) : LLVMBuildICmp(g->b, LLVMIntNE, bit, zero, "");
    rare r = rare_begin(g, set, LLVMConstNull(g->i1));
    LLVMValueRef args[6] = {worker, gen_get(g, op->args[0]), gen_get(g, op->args[1]), level,
                            gen_get(g, op->args[3]), gen_get(g, op->args[4])};
    LLVMValueRef over = gen_runtime_call(g, g->b, g->target->warp ? "rt_gpu_over" : "rt_cpu_over", g->i32, 6, args);
    over = LLVMBuildICmp(g->b, LLVMIntNE, over, zero, "");
    gen_set(g, op->results[0], rare_end(g, &r, over));
}

void
gen_tape_room(gen *g, const ir_op *op)
{
    LLVMValueRef worker = gen_worker(g), cursor = gen_get(g, op->args[0]);
    LLVMValueRef args[6] = {worker, cursor, gen_get(g, op->args[1]), gen_get(g, op->args[3]),
                            gen_get(g, op->args[4]), line_of(g, op)};
    rare r = rare_begin(g, is_full(g, cursor, gen_get(g, op->args[5])), cursor);
    LLVMValueRef next = cursor_of(g, "room", 6, args);
    LLVMValueRef is_over = g->target->warp ? LLVMBuildICmp(g->b, LLVMIntEQ, next, cursor, "")
                                            : LLVMBuildIsNull(g->b, next, "");
    LLVMBasicBlockRef end = gen_here(g);
    gen_set(g, op->results[0], rare_end(g, &r, next));
    gen_set(g, op->results[1], rare_join(g, &r, LLVMConstNull(g->i1), is_over, end));
}

static LLVMValueRef
buffer_bytes(gen *g, const ir_value *buffer)
{
    LLVMValueRef bytes = gen_i64(g, ir_bytes((rg_dtype)buffer->type.dtype));
    for (uint32_t k = 0; k < buffer->type.rank; k++)
        bytes = LLVMBuildMul(g->b, bytes, gen_extent_of(g, buffer, k), "");
    if (!g->target->warp)
        return bytes;
    /* a frame, as ir_frame_bytes rounds it */
    return LLVMBuildAnd(g->b, LLVMBuildAdd(g->b, bytes, gen_i64(g, 7), ""), gen_i64(g, -8), "");
}

void
gen_tape_thin(gen *g, const ir_op *op)
{
    uint32_t first = 3, n = 0;
    while (op->args[first]->type.kind == IR_BUFFER)
        first++;
    LLVMValueRef frame = gen_i64(g, ir_frame_of(op->args + first, op->nargs - first)), sizes;
    if (first == 3) { /* a constant: registers are not kept for an address in the stack */
        LLVMValueRef size = gen_constant(g, g->i64, "size");
        LLVMSetInitializer(size, frame);
        LLVMSetLinkage(size, LLVMPrivateLinkage);
        sizes = gen_address(g, size);
        n = 1;
    } else {
        LLVMTypeRef type = LLVMArrayType2(g->i64, first - 2);
        sizes = gen_alloca(g, type, NULL, "sizes");
        for (uint32_t i = 3; i <= first; i++, n++) {
            LLVMValueRef at[2] = {gen_i64(g, 0), gen_i64(g, n)}, size = i < first ? buffer_bytes(g, op->args[i]) : frame;
            LLVMBuildStore(g->b, size, LLVMBuildInBoundsGEP2(g->b, type, sizes, at, 2, ""));
        }
    }
    LLVMValueRef args[6] = {gen_worker(g), gen_get(g, op->args[0]), gen_get(g, op->args[1]),
                            gen_get(g, op->args[2]), sizes, gen_i32(g, (int)n)};
    gen_set(g, op->results[0], cursor_of(g, "thin", 6, args));
}

/* -- kernel level: arrays on the tape, and the tapes of all workers ---------------------------------- */
void
gen_tape_snapshot(gen *g, const ir_op *op)
{
    const ir_value *buffer = op->args[1];
    bool save = op->code == RG_OP_TAPE_SAVE;
    LLVMValueRef args[6] = {gen_worker(g), gen_get(g, op->args[0]), gen_argument(g, buffer),
                            gen_i32(g, (int)ir_bytes((rg_dtype)buffer->type.dtype)),
                            gen_i32(g, buffer->type.rank), save ? line_of(g, op) : NULL};
    gen_set(g, op->results[0], cursor_of(g, save ? "save" : "restore", save ? 6 : 5, args));
}

void
gen_tape_tasks(gen *g, const ir_op *op)
{
    LLVMValueRef args[3] = {gen_worker(g), gen_get(g, op->args[0]), line_of(g, op)};
    gen_set(g, op->results[0], cursor_of(g, "tasks", 3, args));
}

void
gen_tape_over_tasks(gen *g, const ir_op *op)
{
    LLVMValueRef args[6] = {gen_worker(g)};
    for (uint32_t i = 0; i < 5; i++)
        args[1 + i] = gen_get(g, op->args[i]);
    const char *name = g->target->warp ? "rt_gpu_over_tasks" : "rt_cpu_over_tasks";
    LLVMValueRef over = gen_runtime_call(g, g->b, name, g->i32, 6, args);
    gen_set(g, op->results[0], LLVMBuildICmp(g->b, LLVMIntNE, over, gen_i32(g, 0), ""));
}

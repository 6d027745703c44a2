/* See spirv_by_hand.h. SPDX-License-Identifier: Apache-2.0 */
#include "spirv_by_hand.h"

#include "device/driver/needs.h"
#include "rt/vulkan/launch.h"

enum {
    EXT_NONE = 0, MEMORY_MODEL = 14, ENTRY_POINT = 15, EXECUTION_MODE = 16, CAPABILITY = 17, TYPE_VOID = 19, TYPE_BOOL = 20,
    TYPE_INT = 21, TYPE_VECTOR = 23, TYPE_STRUCT = 30, TYPE_POINTER = 32, TYPE_FUNCTION = 33, CONSTANT = 43, FUNCTION = 54,
    FUNCTION_END = 56, VARIABLE = 59, LOAD = 61, STORE = 62, ACCESS_CHAIN = 65, DECORATE = 71, MEMBER_DECORATE = 72,
    COMPOSITE_EXTRACT = 81, CONVERT_U = 113, TO_POINTER = 120, ADD = 128, MUL = 132,
    LOGICAL_AND = 167, SELECT = 169, EQUAL = 170, NOT_EQUAL = 171, NOT_LESS = 174, SHIFT_RIGHT = 194, BIT_AND = 199, ATOMIC_LOAD = 227,
    LOOP_MERGE = 246, SELECTION_MERGE = 247, LABEL = 248, BRANCH = 249, BRANCH_IF = 250, RETURN = 253,
    ALIGNED = 2, VOLATILE_ALIGNED = 3
};

typedef struct writer {
    vec(uint32_t) words;
    uint32_t next; /* id */
    uint32_t void_, fn, u32, u64, bool_, push, to_push, to_push64, to_push32, to_u32, to_u64, v3, to_v3, var, group, local, zero, one;
} writer;

static void
put(writer *w, uint32_t code, uint32_t n, const uint32_t *operands)
{
    vec_push(&w->words, (n + 1) << 16 | code);
    for (uint32_t i = 0; i < n; i++)
        vec_push(&w->words, operands[i]);
}
#define PUT(w, code, ...) put(w, code, sizeof((uint32_t[]){__VA_ARGS__}) / 4, (uint32_t[]){__VA_ARGS__})

/* An instruction with a result, whose id is taken behind those that its operands are made with. type 0: it is one. */
static uint32_t
write_result(writer *w, uint32_t code, uint32_t type, uint32_t n, const uint32_t *operands)
{
    uint32_t all[8] = {type, w->next}, *first = type ? all : all + 1;
    memcpy(all + 2, operands, n * sizeof(*operands));
    put(w, code, n + (type ? 2 : 1), first);
    return w->next++;
}
#define NEW(w, code, type, ...) write_result(w, code, type, sizeof((uint32_t[]){__VA_ARGS__}) / 4, (uint32_t[]){__VA_ARGS__})
#define TYPE(w, code, ...)      NEW(w, code, 0, __VA_ARGS__)

static uint32_t
constant(writer *w, uint32_t value)
{
    return NEW(w, CONSTANT, w->u32, value);
}

static void
declare(writer *w)
{
    w->void_ = w->next++;
    PUT(w, TYPE_VOID, w->void_);
    w->fn = TYPE(w, TYPE_FUNCTION, w->void_);
    w->u32 = TYPE(w, TYPE_INT, 32, 0);
    w->u64 = TYPE(w, TYPE_INT, 64, 0);
    w->bool_ = w->next++;
    PUT(w, TYPE_BOOL, w->bool_);
    PUT(w, TYPE_STRUCT, w->push, w->u64, w->u64, w->u32, w->u32);
    w->to_push = TYPE(w, TYPE_POINTER, 9, w->push);
    w->to_push64 = TYPE(w, TYPE_POINTER, 9, w->u64);
    w->to_push32 = TYPE(w, TYPE_POINTER, 9, w->u32);
    w->to_u32 = TYPE(w, TYPE_POINTER, 5349, w->u32);
    w->to_u64 = TYPE(w, TYPE_POINTER, 5349, w->u64);
    w->v3 = TYPE(w, TYPE_VECTOR, w->u32, 3);
    w->to_v3 = TYPE(w, TYPE_POINTER, 1, w->v3);
    PUT(w, VARIABLE, w->to_push, w->var, 9);
    PUT(w, VARIABLE, w->to_v3, w->group, 1);
    PUT(w, VARIABLE, w->to_v3, w->local, 1);
    w->zero = constant(w, 0);
    w->one = constant(w, 1);
}

/* constants stand before functions: those that entries want are made first, by value */
typedef struct number {
    uint64_t value;
    uint32_t id;
    bool wide;
} number;
typedef struct constants {
    vec(number) list;
} constants;

static uint32_t
find(writer *w, constants *c, uint64_t value, bool wide, bool missing)
{
    for (size_t i = 0; i < c->list.n; i++)
        if (c->list.at[i].value == value && c->list.at[i].wide == wide)
            return c->list.at[i].id;
    assert(missing && "made before");
    uint32_t id = wide ? NEW(w, CONSTANT, w->u64, (uint32_t)value, (uint32_t)(value >> 32)) : constant(w, (uint32_t)value);
    vec_push(&c->list, ((number){value, id, wide}));
    return id;
}

typedef struct maker {
    writer *w;
    constants *c;
    uint32_t launch, record; /* addresses */
} maker;

#define W (m->w)
static uint32_t
wide(maker *m, uint64_t value)
{
    return find(W, m->c, value, true, false);
}
static uint32_t
narrow(maker *m, uint32_t value)
{
    return find(W, m->c, value, false, false);
}
static uint32_t
plus(maker *m, uint32_t address, uint64_t offset)
{
    return NEW(W, ADD, W->u64, address, wide(m, offset));
}
static uint32_t
load64(maker *m, uint32_t address)
{
    uint32_t to = NEW(W, TO_POINTER, W->to_u64, address);
    return NEW(W, LOAD, W->u64, to, ALIGNED, 8);
}
static uint32_t
load32(maker *m, uint32_t address)
{
    uint32_t to = NEW(W, TO_POINTER, W->to_u32, address);
    return NEW(W, LOAD, W->u32, to, VOLATILE_ALIGNED, 4);
}
static void
store32(maker *m, uint32_t address, uint32_t value)
{
    uint32_t to = NEW(W, TO_POINTER, W->to_u32, address);
    PUT(W, STORE, to, value, VOLATILE_ALIGNED, 4);
}
static uint32_t
cell(maker *m, uint32_t index)
{
    return load32(m, plus(m, m->record, index * 4));
}
static uint32_t
pushed(maker *m, uint32_t member)
{
    uint32_t at = NEW(W, ACCESS_CHAIN, W->to_push64, W->var, member);
    return NEW(W, LOAD, W->u64, at);
}
static uint32_t
pushed32(maker *m, uint32_t member)
{
    uint32_t at = NEW(W, ACCESS_CHAIN, W->to_push32, W->var, narrow(m, member));
    return NEW(W, LOAD, W->u32, at);
}
static uint32_t
input(maker *m, uint32_t variable)
{
    uint32_t all = NEW(W, LOAD, W->v3, variable);
    return NEW(W, COMPOSITE_EXTRACT, W->u32, all, 0);
}

static void
mix(maker *m, const hand_entry *e)
{
    uint32_t group = input(m, W->group), local = input(m, W->local);
    uint32_t first = NEW(W, MUL, W->u32, group, narrow(m, RT_WARP)), index = NEW(W, ADD, W->u32, first, local);
    uint32_t index64 = NEW(W, CONVERT_U, W->u64, index), offset = NEW(W, MUL, W->u64, index64, wide(m, 4));
    uint32_t plane = load64(m, plus(m, pushed(m, W->one), offsetof(rt_arg, plane)));
    uint32_t at = NEW(W, ADD, W->u64, plane, offset), old = load32(m, at);
    uint32_t thrice = NEW(W, MUL, W->u32, old, narrow(m, 3)), more = NEW(W, ADD, W->u32, thrice, cell(m, e->b));
    store32(m, at, NEW(W, ADD, W->u32, more, narrow(m, e->c)));
}

static void
print(maker *m, const hand_entry *e)
{
    uint32_t prints = load64(m, plus(m, m->launch, offsetof(rt_vulkan_launch, prints))), used = load32(m, prints);
    uint32_t program = load32(m, plus(m, m->launch, offsetof(rt_vulkan_launch, program)));
    uint32_t used64 = NEW(W, CONVERT_U, W->u64, used), offset = NEW(W, MUL, W->u64, used64, wide(m, 8));
    uint32_t base = plus(m, prints, offsetof(rt_gpu_prints, cells)), at = NEW(W, ADD, W->u64, base, offset);
    store32(m, at, narrow(m, e->a + 1));
    uint32_t high = NEW(W, MUL, W->u32, program, narrow(m, 1 << 16));
    store32(m, plus(m, at, 4), NEW(W, ADD, W->u32, high, W->one));
    store32(m, plus(m, at, 8), cell(m, e->b));
    store32(m, plus(m, at, 12), W->zero);
    store32(m, prints, NEW(W, ADD, W->u32, used, narrow(m, 2)));
}

static void
fail(maker *m, uint32_t fault, uint32_t place, uint32_t needed)
{
    store32(m, plus(m, m->launch, offsetof(rt_vulkan_launch, place)), narrow(m, place));
    store32(m, plus(m, m->launch, offsetof(rt_vulkan_launch, needed)), narrow(m, needed));
    store32(m, plus(m, m->launch, offsetof(rt_vulkan_launch, fault)), narrow(m, fault));
}

static void
wait(maker *m, const hand_entry *e)
{
    uint32_t head = W->next++, test = W->next++, next = W->next++, end = W->next++;
    PUT(W, BRANCH, head);
    PUT(W, LABEL, head);
    PUT(W, LOOP_MERGE, end, next, 0);
    PUT(W, BRANCH, test);
    PUT(W, LABEL, test);
    /* one load an iteration, of what lies in memory: the scope is the device */
    uint32_t word = NEW(W, TO_POINTER, W->to_u32, plus(m, m->launch, offsetof(rt_vulkan_launch, stop)));
    uint32_t stop = NEW(W, ATOMIC_LOAD, W->u32, word, W->one, W->zero);
    uint32_t on = NEW(W, EQUAL, W->bool_, stop, W->zero);
    PUT(W, BRANCH_IF, on, next, end);
    PUT(W, LABEL, next);
    PUT(W, BRANCH, head);
    PUT(W, LABEL, end);
    fail(m, RT_FAULT_CANCELLED, e->a, e->c);
}

static void
act(maker *m, const hand_entry *e)
{
    uint32_t to = e->code <= HAND_ODD ? plus(m, m->record, e->a * 4) : 0, holds;
    switch (e->code) {
    case HAND_SET:
        store32(m, to, narrow(m, e->c));
        break;
    case HAND_ADD:
        store32(m, to, NEW(W, ADD, W->u32, cell(m, e->a), narrow(m, e->c)));
        break;
    case HAND_REACH:
        holds = NEW(W, NOT_LESS, W->bool_, cell(m, e->b), cell(m, e->c));
        store32(m, to, NEW(W, SELECT, W->u32, holds, W->one, W->zero));
        break;
    case HAND_ODD:
        store32(m, to, NEW(W, BIT_AND, W->u32, cell(m, e->b), W->one));
        break;
    case HAND_MIX:
        mix(m, e);
        break;
    case HAND_FAIL:
        fail(m, RT_FAULT_ASSERT, e->a, e->c);
        break;
    case HAND_PRINT:
        print(m, e);
        break;
    case HAND_WAIT:
        wait(m, e);
        break;
    }
}

/* the condition that the next step asks for, as segments do (rt_vulkan_ask) */
static void
compare(maker *m)
{
    uint32_t asked = W->next++, differs = W->next++, same = W->next++, end = W->next++, number = pushed32(m, 3);
    uint32_t asks = NEW(W, NOT_EQUAL, W->bool_, number, W->zero);
    PUT(W, SELECTION_MERGE, end, 0);
    PUT(W, BRANCH_IF, asks, asked, end);
    PUT(W, LABEL, asked);
    uint32_t place = NEW(W, CONVERT_U, W->u64, pushed32(m, 2)), is = load32(m, NEW(W, ADD, W->u64, m->record, place));
    uint32_t holds = NEW(W, SELECT, W->u32, NEW(W, NOT_EQUAL, W->bool_, is, W->zero), W->one, W->zero);
    uint32_t missed = NEW(W, NOT_EQUAL, W->bool_, holds, NEW(W, BIT_AND, W->u32, number, W->one));
    PUT(W, SELECTION_MERGE, same, 0);
    PUT(W, BRANCH_IF, missed, differs, same);
    PUT(W, LABEL, differs);
    uint32_t counts = load64(m, plus(m, m->launch, offsetof(rt_vulkan_launch, counts)));
    store32(m, plus(m, counts, offsetof(rt_vulkan_counts, run)), W->zero);
    store32(m, plus(m, counts, offsetof(rt_vulkan_counts, task)), W->zero);
    store32(m, plus(m, m->launch, offsetof(rt_vulkan_launch, missed)), NEW(W, SHIFT_RIGHT, W->u32, number, W->one));
    PUT(W, BRANCH, same);
    PUT(W, LABEL, same);
    PUT(W, BRANCH, end);
    PUT(W, LABEL, end);
}

/* Entries return at once where the launch has failed. */
static void
function(maker *m, const hand_entry *e, uint32_t id)
{
    uint32_t body = W->next++, end = W->next++;
    PUT(W, FUNCTION, W->void_, id, 0, W->fn);
    PUT(W, LABEL, W->next++);
    m->launch = pushed(m, W->zero);
    uint32_t fault = load32(m, plus(m, m->launch, offsetof(rt_vulkan_launch, fault)));
    uint32_t runs = NEW(W, EQUAL, W->bool_, fault, W->zero);
    if (e->code != HAND_MIX) {
        uint32_t local = input(m, W->local), first = NEW(W, EQUAL, W->bool_, local, W->zero);
        runs = NEW(W, LOGICAL_AND, W->bool_, runs, first);
    }
    PUT(W, SELECTION_MERGE, end, 0);
    PUT(W, BRANCH_IF, runs, body, end);
    PUT(W, LABEL, body);
    m->record = load64(m, plus(m, m->launch, offsetof(rt_vulkan_launch, record)));
    act(m, e);
    if (e->code <= HAND_ODD)
        compare(m);
    PUT(W, BRANCH, end);
    PUT(W, LABEL, end);
    put(W, RETURN, 0, NULL);
    put(W, FUNCTION_END, 0, NULL);
}

static void
want_constants(writer *w, constants *c, const hand_entry *e)
{
    const uint32_t small[] = {e->a, e->a + 1, e->c, 2, 3, RT_WARP, 1 << 16, RT_FAULT_ASSERT, RT_FAULT_CANCELLED};
    const uint64_t large[] = {4, 8, 12, e->a * 4, e->b * 4, e->c * 4, offsetof(rt_arg, plane), offsetof(rt_gpu_prints, cells),
                              offsetof(rt_vulkan_launch, fault), offsetof(rt_vulkan_launch, place), offsetof(rt_vulkan_launch, needed),
                              offsetof(rt_vulkan_launch, stop), offsetof(rt_vulkan_launch, prints), offsetof(rt_vulkan_launch, program),
                              offsetof(rt_vulkan_launch, record),
                              offsetof(rt_vulkan_launch, counts), offsetof(rt_vulkan_launch, missed), offsetof(rt_vulkan_counts, run),
                              offsetof(rt_vulkan_counts, task)};
    for (size_t i = 0; i < countof(small); i++)
        find(w, c, small[i], false, true);
    for (size_t i = 0; i < countof(large); i++)
        find(w, c, large[i], true, true);
}

void
hand_make(const hand_entry *entries, uint32_t n, arena *in, spirv_code *code)
{
    writer w = {.words.in = in, .next = 1};
    constants c = {.list.in = in};
    const uint32_t head[] = {0x07230203, 0x00010500, 0, 0, 0};
    for (size_t i = 0; i < countof(head); i++)
        vec_push(&w.words, head[i]);
    const uint32_t capabilities[] = {1, 11, 5347};
    for (size_t i = 0; i < countof(capabilities); i++)
        PUT(&w, CAPABILITY, capabilities[i]);
    PUT(&w, MEMORY_MODEL, 5348, 1);
    w.var = w.next++, w.group = w.next++, w.local = w.next++, w.push = w.next++;
    uint32_t first = w.next;
    w.next += n;
    for (uint32_t i = 0; i < n; i++) {
        char name[12] = "";
        uint32_t words[3];
        snprintf(name, sizeof name, "e%u", i);
        memcpy(words, name, sizeof words);
        uint32_t size = (uint32_t)strlen(name) / 4 + 1, operands[8] = {5, first + i};
        memcpy(operands + 2, words, size * 4);
        memcpy(operands + 2 + size, (uint32_t[]){w.var, w.group, w.local}, 12);
        put(&w, ENTRY_POINT, 5 + size, operands);
    }
    for (uint32_t i = 0; i < n; i++)
        PUT(&w, EXECUTION_MODE, first + i, 17, RT_WARP, 1, 1);
    PUT(&w, DECORATE, w.push, 2);
    PUT(&w, MEMBER_DECORATE, w.push, 0, 35, 0);
    PUT(&w, MEMBER_DECORATE, w.push, 1, 35, 8);
    PUT(&w, MEMBER_DECORATE, w.push, 2, 35, 16);
    PUT(&w, MEMBER_DECORATE, w.push, 3, 35, 20);
    PUT(&w, DECORATE, w.group, 11, 26);
    PUT(&w, DECORATE, w.local, 11, 27);
    declare(&w);
    for (uint32_t i = 0; i < n; i++)
        want_constants(&w, &c, &entries[i]);
    maker m = {.w = &w, .c = &c};
    for (uint32_t i = 0; i < n; i++)
        function(&m, &entries[i], first + i);
    w.words.at[3] = w.next;
    code->words = w.words.at;
    code->nwords = (uint32_t)w.words.n;
    code->entries = n;
}

void
hand_write(const spirv_code *code, str *bytes)
{
    str inner = {.in = mem_scratch()};
    rt_needs needs = {.unknown_loop = true, .unknown_temp = code->info.has_tape};
    spirv_code_write(&inner, code);
    rt_needs_write(&needs, bytes);
    bytes_put(bytes, str_view(&inner));
}

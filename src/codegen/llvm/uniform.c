/* Which loops LLVM's vectoriser leaves alone. SPDX-License-Identifier: Apache-2.0
 *
 * In the tasks of groups of threads vectors are those of lanes, and scalars beside them control the group. But a loop of scalar floats
 * alone is one that a thread runs for itself (lanes/lanes_along.c), and shall become vectors of iterations.
 *
 * LLVM's loop vectoriser asks of values whether they are the same in all lanes, and asks that of their operands in
 * turn, without keeping what it has found out: of `v1 = v0 * v0; v2 = v1 * v1; ...` it asks 2^n times (LLVM 22's
 * isUniformAcrossVFsAndUFs). That far it goes only with values that are the same in all iterations, and most of these
 * stand before the loop by then. Those that remain come from loads which the loop's stores might change, since whether
 * they lie apart is found out as the loop begins. One math function of such a load is enough. Here it is counted how often
 * it would ask; a loop with a value for which that is too often is marked to be left alone. */
#include "codegen/llvm/gen.h"

#include <llvm-c/DebugInfo.h>

#include <stdlib.h>

enum { MOST_ASKED = 256, VARYING = -1 };

typedef struct block {
    LLVMBasicBlockRef at;
    uint32_t order;    /* before those that are only reached through it */
    uint32_t in;       /* number + 1 of the head of the loop that was looked at last and holds it */
    uint32_t entering; /* number + 1 of the last edge to it */
    uint32_t next;     /* of its successors, while they are visited */
    bool seen, open, head;
} block;

typedef struct edge {
    uint32_t from, before; /* before: number + 1 of another edge to the same block */
    bool back;
} edge;

typedef struct flow {
    block *blocks;
    vec(edge) edges;
    vec(uint32_t) todo;
    vec(block *) body;
    map numbers; /* block -> number + 1 */
    map asked;   /* instruction of the loop at hand -> how often would be asked of it, + 2 */
} flow;

/* -- blocks ------------------------------------------------------------------------------------------------------- */
static void
enter_block(flow *f, uint32_t number)
{
    f->blocks[number].seen = f->blocks[number].open = true;
    vec_push(&f->todo, number);
}

static void
follow_edge(flow *f, uint32_t from, LLVMBasicBlockRef successor)
{
    uint32_t to = (uint32_t)(uintptr_t)map_get(&f->numbers, map_ptr(successor)) - 1;
    block *b = &f->blocks[to];
    vec_push(&f->edges, ((edge){from, b->entering, b->open}));
    b->entering = (uint32_t)f->edges.n;
    b->head |= b->open;
    if (!b->seen)
        enter_block(f, to);
}

static void
visit(flow *f, uint32_t count)
{
    uint32_t order = count;
    enter_block(f, 0);
    while (f->todo.n) {
        uint32_t number = vec_last(&f->todo);
        block *b = &f->blocks[number];
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b->at);
        if (b->next < LLVMGetNumSuccessors(end)) {
            follow_edge(f, number, LLVMGetSuccessor(end, b->next++));
        } else {
            b->open = false;
            b->order = --order;
            (void)vec_pop(&f->todo);
        }
    }
}

/* The blocks of a loop; false: it holds another one. */
static bool
gather_loop(flow *f, uint32_t head)
{
    vec_clear(&f->todo);
    vec_clear(&f->body);
    f->blocks[head].in = head + 1;
    vec_push(&f->body, &f->blocks[head]);
    for (uint32_t at = head;; at = vec_pop(&f->todo)) {
        for (uint32_t e = f->blocks[at].entering; e; e = f->edges.at[e - 1].before) {
            uint32_t from = f->edges.at[e - 1].from;
            if ((at == head && !f->edges.at[e - 1].back) || f->blocks[from].in == head + 1)
                continue;
            if (f->blocks[from].head)
                return false;
            f->blocks[from].in = head + 1;
            vec_push(&f->body, &f->blocks[from]);
            vec_push(&f->todo, from);
        }
        if (!f->todo.n)
            return true;
    }
}

static int
by_order(const void *a, const void *b)
{
    const block *x = *(block *const *)a, *y = *(block *const *)b;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* -- values ------------------------------------------------------------------------------------------------------- */
static int
times_asked(flow *f, LLVMValueRef i)
{
    int times = 1;
    if (LLVMIsAPHINode(i))
        return VARYING;
    for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(i); k++) {
        int known = (int)(uintptr_t)map_get(&f->asked, map_ptr(LLVMGetOperand(i, k)));
        if (known && known - 2 == VARYING)
            return VARYING;
        times += known ? known - 2 : 0;
    }
    return times < MOST_ASKED ? times : MOST_ASKED;
}

static bool
asks_too_often(flow *f)
{
    block **body = f->body.at;
    bool too_often = false;
    qsort(body, f->body.n, sizeof(block *), by_order);
    f->asked = (map){.in = f->numbers.in};
    for (size_t k = 0; k < f->body.n && !too_often; k++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(body[k]->at); i && !too_often; i = LLVMGetNextInstruction(i)) {
            int times = times_asked(f, i);
            map_set(&f->asked, map_ptr(i), (void *)(uintptr_t)(times + 2));
            too_often = times == MOST_ASKED;
        }
    return too_often;
}

/* -- loops of groups ---------------------------------------------------------------------------------------------- */
static const char groups[] = "rg-groups";

static bool
is_float_type(LLVMTypeRef type)
{
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    return kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind || kind == LLVMHalfTypeKind;
}

/* whether there are floats, and no vectors */
static bool
is_of_scalar_floats(const flow *f)
{
    bool floats = false;
    for (size_t k = 0; k < f->body.n; k++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(f->body.at[k]->at); i; i = LLVMGetNextInstruction(i))
            for (int n = -1; n < LLVMGetNumOperands(i); n++) {
                LLVMTypeRef type = LLVMTypeOf(n < 0 ? i : LLVMGetOperand(i, (unsigned)n));
                if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
                    return false;
                floats |= is_float_type(type);
            }
    return floats;
}

static void
look_at_loop(flow *f, uint32_t head, bool of_group, LLVMContextRef c)
{
    if (!gather_loop(f, head) || (!asks_too_often(f) && !(of_group && !is_of_scalar_floats(f))))
        return;
    for (uint32_t e = f->blocks[head].entering; e; e = f->edges.at[e - 1].before)
        if (f->edges.at[e - 1].back)
            gen_mark_loop(LLVMGetBasicBlockTerminator(f->blocks[f->edges.at[e - 1].from].at), "llvm.loop.vectorize.enable",
                          LLVMConstInt(LLVMInt1TypeInContext(c), 0, false));
}

static void
look_at_function(arena *a, LLVMValueRef fn, LLVMContextRef c)
{
    flow all = {.edges.in = a, .todo.in = a, .body.in = a, .numbers.in = a}, *f = &all;
    uint32_t count = 0;
    f->blocks = arena_new_n(a, block, LLVMCountBasicBlocks(fn));
    for (LLVMBasicBlockRef at = LLVMGetFirstBasicBlock(fn); at; at = LLVMGetNextBasicBlock(at)) {
        f->blocks[count++].at = at;
        map_set(&f->numbers, map_ptr(at), (void *)(uintptr_t)count);
    }
    if (count)
        visit(f, count);
    bool of_group = LLVMGetStringAttributeAtIndex(fn, LLVMAttributeFunctionIndex, groups, sizeof groups - 1);
    for (uint32_t k = 0; k < count; k++)
        if (f->blocks[k].head)
            look_at_loop(f, k, of_group, c);
}

/* moves an attribute of functions: while loops become vectors, those of groups have another one */
static void
mark_groups(LLVMModuleRef module, bool by_name)
{
    LLVMContextRef c = LLVMGetModuleContext(module);
    unsigned kind = LLVMGetEnumAttributeKindForName("noimplicitfloat", 15), n = sizeof groups - 1;
    LLVMAttributeIndex at = LLVMAttributeFunctionIndex;
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn)) {
        bool named = LLVMGetStringAttributeAtIndex(fn, at, groups, n);
        if (by_name && LLVMGetEnumAttributeAtIndex(fn, at, kind)) {
            LLVMRemoveEnumAttributeAtIndex(fn, at, kind);
            LLVMAddAttributeAtIndex(fn, at, LLVMCreateStringAttribute(c, groups, n, "", 0));
        } else if (!by_name && named) {
            LLVMRemoveStringAttributeAtIndex(fn, at, groups, n);
            LLVMAddAttributeAtIndex(fn, at, LLVMCreateEnumAttribute(c, kind, 0));
        }
    }
}

void
machine_spare_vectorizer(LLVMModuleRef module)
{
    mark_groups(module, true);
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn)) {
        arena_mark mark = arena_here(mem_scratch());
        look_at_function(mem_scratch(), fn, LLVMGetModuleContext(module));
        arena_release(mem_scratch(), mark);
    }
}

void
machine_end_vectorizer(LLVMModuleRef module)
{
    mark_groups(module, false);
}

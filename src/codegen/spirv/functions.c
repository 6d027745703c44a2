/* Functions of a module: the math library's and exact arithmetic, from IR, and those written by hand. SPDX-License-Identifier: Apache-2.0
 *
 * Each is written once, when it is first called; they call no barrier unless all lanes call them together. What asks whether its fast
 * way was good enough is written where it is called, within a bet (bet.c). */
#include "codegen/spirv/gen.h"

static uint64_t
key_of_function(const char *name)
{
    return hash_bytes(SPV_FUNCTION, name, strlen(name));
}

bool
sv_function_open(gen *g, sv_function *f, const char *name, spv_id result, uint32_t n, const spv_id *types, spv_id *values)
{
    void *made = map_get(&g->functions, key_of_function(name));
    *f = (sv_function){.outside = g->s.fn, .at_top = g->s.at_top, .id = (spv_id)(uintptr_t)made};
    if (made)
        return false;
    spv_function *fn = arena_one(g->in, spv_function);
    f->id = spv_function_begin(&g->s, fn, result, n, types, values);
    f->made_at = fn;
    g->s.at_top = false;
    map_set(&g->functions, key_of_function(name), (void *)(uintptr_t)f->id);
    spv_name(&g->s, f->id, name);
    return true;
}

void
sv_function_close(gen *g, sv_function *f)
{
    spv_function_end(&g->s, f->made_at);
    g->s.fn = f->outside;
    g->s.at_top = f->at_top;
}

spv_id
sv_call_function(gen *g, spv_id fn, spv_id result, uint32_t n, const spv_id *args)
{
    uint32_t words[12] = {fn};
    assert(n < countof(words));
    for (uint32_t i = 0; i < n; i++)
        words[1 + i] = args[i];
    return spv_op(&g->s, SPV_CALL, result, n + 1, words);
}

/* -- of the library -------------------------------------------------------------------------------------------------- */

static spv_id
result_type(gen *g, const ir_fn *fn)
{
    const ir_op *yield = ir_terminator(fn->body);
    if (yield->nargs == 1)
        return sv_type(g, yield->args[0]->type);
    spv_id *types = arena_new_n(g->in, spv_id, yield->nargs + 1);
    for (uint32_t i = 0; i < yield->nargs; i++)
        types[i] = sv_type(g, yield->args[i]->type);
    return spv_known(&g->s, SPV_STRUCT, 0, yield->nargs, types);
}

/* what belongs to the function whose IR is generated */
typedef struct aside {
    const ir_fn *ir;
    spv_id *values;
    bool *in_memory;
    sv_late *late;
} aside;

static aside
turn_to_function(gen *g, const ir_fn *fn)
{
    aside outside = {g->ir, g->values, g->in_memory, g->late};
    g->ir = fn;
    g->late = NULL;
    g->values = arena_new_n(g->in, spv_id, fn->next_id + 1);
    g->in_memory = arena_new_n(g->in, bool, fn->next_id + 1);
    return outside;
}

static void
turn_from_function(gen *g, const aside *outside)
{
    g->ir = outside->ir;
    g->values = outside->values;
    g->in_memory = outside->in_memory;
    g->late = outside->late;
}

/* its results, as one value */
static spv_id
write_in_place(gen *g, const ir_fn *fn, const spv_id *args)
{
    const ir_op *yield = ir_terminator(fn->body);
    for (uint32_t i = 0; i < fn->body->nparams; i++)
        sv_set(g, fn->body->params[i], args[i]);
    sv_region(g, fn->body);
    spv_id *results = arena_new_n(g->in, spv_id, yield->nargs + 1);
    for (uint32_t i = 0; i < yield->nargs && !g->failed; i++)
        results[i] = sv_get(g, yield->args[i]);
    return yield->nargs == 1 ? results[0] : spv_op(&g->s, SPV_CONSTRUCT, result_type(g, fn), yield->nargs, results);
}

static void
write_body(gen *g, const ir_fn *fn, spv_id *params)
{
    aside outside = turn_to_function(g, fn);
    struct sv_bet *bet = g->bet;
    g->bet = NULL;
    emit_do(g, SPV_RETURN_VALUE, write_in_place(g, fn, params));
    turn_from_function(g, &outside);
    g->bet = bet;
}

static spv_id
function_from_ir(gen *g, const ir_fn *fn)
{
    uint32_t n = fn->body->nparams;
    spv_id *types = arena_new_n(g->in, spv_id, n + 1), *params = arena_new_n(g->in, spv_id, n + 1);
    sv_function f;
    for (uint32_t i = 0; i < n; i++)
        types[i] = sv_type(g, fn->body->params[i]->type);
    if (sv_function_open(g, &f, fn->name, result_type(g, fn), n, types, params)) {
        write_body(g, fn, params);
        sv_function_close(g, &f);
    }
    return f.id;
}

spv_id
sv_library(gen *g, const char *name, uint32_t n, const spv_id *args)
{
    const ir_fn *fn = math_find(&g->library, name, 0, g->in);
    if (!fn) {
        sv_refuse(g, NULL, "this build has no IR of `%s`: it was made without the C front end", name);
        return args[0];
    }
    if (!g->bet || !sv_function_asks(g, fn))
        return sv_call_function(g, function_from_ir(g, fn), result_type(g, fn), n, args);
    aside outside = turn_to_function(g, fn);
    spv_id result = write_in_place(g, fn, args);
    turn_from_function(g, &outside);
    return result;
}

bool
sv_library_asks(gen *g, const char *name)
{
    const ir_fn *fn = math_find(&g->library, name, 0, g->in);
    return fn && sv_function_asks(g, fn);
}

/* a slow path of the library's */
void
sv_call(gen *g, const ir_op *op)
{
    const ir_fn *fn = op->attr.fn;
    spv_id *args = arena_new_n(g->in, spv_id, op->nargs + 1);
    if (g->ir == g->kernel) {
        sv_refuse(g, op, "a call of `%s` is left", fn->name);
        return;
    }
    for (uint32_t i = 0; i < op->nargs; i++)
        args[i] = sv_get(g, op->args[i]);
    spv_id all = sv_call_function(g, function_from_ir(g, fn), result_type(g, fn), op->nargs, args);
    for (uint32_t i = 0; i < op->nresults; i++)
        sv_set(g, op->results[i], op->nresults == 1 ? all : emit(g, SPV_EXTRACT, sv_type(g, op->results[i]->type), all, i));
}

/* Math functions in compiled code. SPDX-License-Identifier: Apache-2.0
 *
 * Our own come as IR and are generated in place, for scalars and for lanes; their slow paths become functions of the
 * module, which nothing inlines. Where a kernel has many of them each becomes a function, and is called. Without IR of
 * them (a build without the front end) the host's are called: the same bits.
 * libm's have names of our own until code is made, so that no pass computes one call at compile time, with another
 * rounding, and leaves its copy in the reverse sweep alone. */
#include "codegen/llvm/nvidia.h"

enum { NAME_ROOM = 64 };

static LLVMTypeRef
float_type(gen *g, bool is_float)
{
    return is_float ? g->f32 : g->f64;
}

LLVMValueRef
gen_libm(gen *g, const char *name, bool is_float, unsigned n, LLVMValueRef *args)
{
    char room[NAME_ROOM];
    snprintf(room, NAME_ROOM, "%s%s%s", g->libm_names ? "" : "rg_", name, is_float ? "f" : "");
    return gen_pure_call(g, room, float_type(g, is_float), n, args);
}

/* -- generating another function's IR ---------------------------------------------------------------- */

/* what belongs to the function whose IR is generated */
typedef struct aside {
    const ir_fn *ir;
    const ir_value **twins;
    uint32_t *uses;
    scope *s, *spare;
    uint32_t beside;
} aside;

static aside
turn_to(gen *g, const ir_fn *fn)
{
    aside a = {g->ir, g->twins, g->uses, g->s, g->spare, g->beside};
    g->ir = fn;
    g->twins = NULL;
    g->uses = NULL;
    g->spare = NULL; /* their tables have another length */
    g->beside = 0;
    return a;
}

static void
turn_back(gen *g, const aside *a)
{
    g->ir = a->ir;
    g->twins = a->twins;
    g->uses = a->uses;
    g->s = a->s;
    g->spare = a->spare;
    g->beside = a->beside;
}

static void
generate_body(gen *g, const ir_fn *fn, LLVMValueRef *args, LLVMValueRef *results)
{
    const ir_op *yield = ir_terminator(fn->body);
    for (uint32_t i = 0; i < fn->body->nparams; i++)
        gen_set(g, fn->body->params[i], args[i]);
    gen_region(g, fn->body);
    for (uint32_t i = 0; i < yield->nargs; i++)
        results[i] = gen_get(g, yield->args[i]);
}

static void
generate_here(gen *g, const ir_fn *fn, LLVMValueRef *args, LLVMValueRef *results)
{
    aside a = turn_to(g, fn);
    scope inner = {.outer = a.s, .region = fn->body, .task = a.s->task, .fn = a.s->fn, .top = a.s->top};
    inner.values = arena_new_n(g->scratch, LLVMValueRef, fn->next_id);
    inner.wide = arena_new_n(g->scratch, LLVMValueRef, fn->next_id);
    g->s = &inner;
    generate_body(g, fn, args, results);
    turn_back(g, &a);
}

enum { RESULTS_MAX = 8, ARGS_MAX = 8, LONG_SLOW_PATH = 40 /* ops */, DEEP = 2 /* ifs within ifs */ };

static LLVMTypeRef
function_type(gen *g, const ir_fn *fn)
{
    LLVMTypeRef params[ARGS_MAX], results[RESULTS_MAX];
    const ir_op *yield = ir_terminator(fn->body);
    assert(fn->body->nparams <= ARGS_MAX && yield->nargs <= RESULTS_MAX);
    for (uint32_t i = 0; i < fn->body->nparams; i++)
        params[i] = gen_value_type(g, fn->body->params[i]->type);
    for (uint32_t i = 0; i < yield->nargs; i++)
        results[i] = gen_value_type(g, yield->args[i]->type);
    LLVMTypeRef result = yield->nargs == 1 ? results[0] : LLVMStructTypeInContext(g->context, results, yield->nargs, false);
    return LLVMFunctionType(result, params, fn->body->nparams, false);
}

static uint32_t
count_ops(const ir_region *r)
{
    uint32_t n = 0;
    ir_for_ops (op, r) {
        n += op->code != RG_OP_CONST;
        for (uint32_t i = 0; i < op->nregions; i++)
            n += count_ops(op->regions[i]);
    }
    return n;
}

static void call_function(gen *g, const ir_fn *fn, LLVMValueRef *args, LLVMValueRef *results);

/* The function of which fn, in lanes, is not worth its time to compile: long, and seldom called. NULL: it is. */
static const ir_fn *
of_one_lane(const ir_fn *fn)
{
    const char *end = strstr(fn->name, ".x");
    const ir_fn *one = end ? ir_fn_find(fn->module, (rg_str){fn->name, (size_t)(end - fn->name)}) : NULL;
    return one && count_ops(one->body) > LONG_SLOW_PATH ? one : NULL;
}

static LLVMValueRef
place_of_lane(gen *g, LLVMTypeRef element, LLVMValueRef place, LLVMValueRef lane)
{
    return LLVMBuildInBoundsGEP2(g->b, element, place, &lane, 1, "");
}

/* lane after lane, through memory */
static void
generate_lanes(gen *g, const ir_fn *one, LLVMValueRef *args, uint32_t lanes, LLVMValueRef *results)
{
    const ir_op *yield = ir_terminator(one->body);
    LLVMValueRef from[ARGS_MAX], to[RESULTS_MAX], x[ARGS_MAX], r[RESULTS_MAX];
    LLVMTypeRef type[RESULTS_MAX];
    for (uint32_t i = 0; i < one->body->nparams; i++) {
        from[i] = gen_alloca(g, LLVMTypeOf(args[i]), NULL, "");
        LLVMBuildStore(g->b, args[i], from[i]);
    }
    for (uint32_t i = 0; i < yield->nargs; i++) {
        type[i] = gen_value_type(g, yield->args[i]->type);
        to[i] = gen_alloca(g, LLVMVectorType(type[i], lanes), NULL, "");
    }
    counted c = gen_counted_begin(g, NULL, gen_i64(g, 0), gen_i64(g, lanes), 0, NULL);
    for (uint32_t i = 0; i < one->body->nparams; i++) {
        LLVMTypeRef element = gen_value_type(g, one->body->params[i]->type);
        x[i] = LLVMBuildLoad2(g->b, element, place_of_lane(g, element, from[i], c.at), "");
    }
    call_function(g, one, x, r);
    for (uint32_t i = 0; i < yield->nargs; i++)
        LLVMBuildStore(g->b, r[i], place_of_lane(g, type[i], to[i], c.at));
    gen_counted_end(g, &c, NULL);
    for (uint32_t i = 0; i < yield->nargs; i++)
        results[i] = LLVMBuildLoad2(g->b, LLVMVectorType(type[i], lanes), to[i], "");
}

static LLVMValueRef
function_of(gen *g, const ir_fn *fn, LLVMTypeRef type)
{
    LLVMValueRef made = LLVMGetNamedFunction(g->module, fn->name);
    if (made)
        return made;
    uint32_t n = ir_terminator(fn->body)->nargs, lanes = ir_terminator(fn->body)->args[0]->type.lanes;
    const ir_fn *one = of_one_lane(fn);
    made = LLVMAddFunction(g->module, fn->name, type);
    gen_mark_math(g, made, lanes);
    LLVMValueRef args[ARGS_MAX], results[RESULTS_MAX];
    LLVMBasicBlockRef outside = gen_here(g);
    aside a = turn_to(g, fn);
    gen_scope_open(g, fn->body, made, false);
    LLVMGetParams(made, args);
    if (one)
        generate_lanes(g, one, args, lanes, results);
    else
        generate_body(g, fn, args, results);
    if (n == 1)
        LLVMBuildRet(g->b, results[0]);
    else
        LLVMBuildAggregateRet(g->b, results, n);
    gen_scope_close(g);
    turn_back(g, &a);
    gen_at(g, outside);
    return made;
}

static void
call_function(gen *g, const ir_fn *fn, LLVMValueRef *args, LLVMValueRef *results)
{
    LLVMTypeRef type = function_type(g, fn);
    LLVMValueRef call = LLVMBuildCall2(g->b, type, function_of(g, fn, type), args, fn->body->nparams, "");
    uint32_t n = ir_terminator(fn->body)->nargs;
    for (uint32_t i = 0; i < n; i++)
        results[i] = n == 1 ? call : LLVMBuildExtractValue(g->b, call, i, "");
}

void
gen_call(gen *g, const ir_op *op)
{
    LLVMValueRef args[ARGS_MAX], results[RESULTS_MAX];
    for (uint32_t i = 0; i < op->nargs; i++)
        args[i] = gen_get_in_lanes(g, op->args[i], op->results[0]->type.lanes);
    call_function(g, op->attr.fn, args, results);
    for (uint32_t i = 0; i < op->nresults; i++)
        gen_set(g, op->results[i], results[i]);
}

/* -- our own ------------------------------------------------------------------------------------------- */

/* false: there is no IR of it */
static bool
own_function(gen *g, const char *name, bool is_float, LLVMValueRef *args, LLVMValueRef *results)
{
    char room[NAME_ROOM];
    snprintf(room, NAME_ROOM, "rgm_%s%s", name, is_float ? "f" : "");
    const ir_fn *fn = math_find(g->math, room, gen_width(args[0]), g->scratch);
    if (!fn)
        return false;
    uint32_t ops = count_ops(fn->body);
    LLVMValueRef bet = g->bet;
    if (!gen_bets_on(g, name, is_float))
        g->bet = NULL;
    /* what few threads run, or one by one; what stands deep in branches, like the iterations of a block's part */
    bool aside = g->target->warp ? g->aside >= DEEP || g->bet_is_lost : g->has_lanes && !gen_width(args[0]);
    if (g->bet) {
        generate_here(g, fn, args, results);
    } else if (ops <= g->inline_room && !aside) {
        g->inline_room -= ops;
        generate_here(g, fn, args, results);
    } else {
        call_function(g, fn, args, results);
    }
    g->bet = bet;
    return true;
}

LLVMValueRef
gen_math(gen *g, const char *name, bool is_float, unsigned n, LLVMValueRef *args)
{
    char room[NAME_ROOM];
    LLVMValueRef result;
    if (gen_is_fast(g, LLVMTypeOf(args[0])) && (result = gen_fast_math(g, name, args)))
        return result;
    if (g->native_math)
        return gen_native(g, name, is_float, n, args);
    if (own_function(g, name, is_float, args, &result))
        return result;
    snprintf(room, NAME_ROOM, "rgm_%s%s", name, is_float ? "f" : "");
    return gen_pure_call(g, room, float_type(g, is_float), n, args);
}

/* -- sine and cosine ------------------------------------------------------------------------------------- */

/* where a function leaves one of its two results; read again at once */
static LLVMValueRef
place_for_result(gen *g, unsigned which, LLVMTypeRef type)
{
    LLVMValueRef *place = &g->s->places[which][type == g->f64];
    if (!*place)
        *place = gen_alloca(g, type, NULL, "place");
    return *place;
}

static void
call_sincos(gen *g, bool is_float, LLVMValueRef x, LLVMValueRef results[2])
{
    char room[NAME_ROOM];
    LLVMTypeRef type = float_type(g, is_float);
    LLVMValueRef args[3] = {x, place_for_result(g, 0, type), place_for_result(g, 1, type)};
    const char *f = is_float ? "f" : "";
    if (g->native_math && gen_for_nvidia(g))
        snprintf(room, NAME_ROOM, "__nv_sincos%s", f);
    else if (g->native_math)
        snprintf(room, NAME_ROOM, "%ssincos%s", g->libm_names ? "" : "rg_", f);
    else
        snprintf(room, NAME_ROOM, "rgm_sincos%s_places", f);
    gen_placing_call(g, room, 3, args);
    for (unsigned i = 0; i < 2; i++)
        results[i] = LLVMBuildLoad2(g->b, type, args[1 + i], "");
}

void
gen_sincos(gen *g, bool is_float, LLVMValueRef x, LLVMValueRef results[2])
{
    if (gen_is_fast(g, LLVMTypeOf(x))) {
        results[0] = gen_fast_math(g, "sin", &x);
        results[1] = gen_fast_math(g, "cos", &x);
        return;
    }
    if (!g->native_math && own_function(g, "sincos", is_float, &x, results))
        return;
    if (!gen_width(x)) {
        call_sincos(g, is_float, x, results);
        return;
    }
    results[0] = gen_math(g, "sin", is_float, 1, &x);
    results[1] = gen_math(g, "cos", is_float, 1, &x);
}

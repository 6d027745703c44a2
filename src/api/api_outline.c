/* What launches ask of a kernel's IR: names and types of parameters, the shape region, and how many threads its tasks have.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An outline is the kernel without all else: its body has an empty parallel loop for each task, written as one or not, and what
 * their bounds are made of. A bound that does not follow from the arguments is one that is never small. */
#include "api/api.h"

#include "diff/ad.h"

typedef struct outline {
    const ir_fn *of;
    ir_fn *fn;
    ir_value **map; /* by id in `of` */
} outline;

static ir_value *
outline_value(outline *o, const ir_value *v)
{
    if (o->map[v->id])
        return o->map[v->id];
    for (uint32_t i = 0; i < v->def->nargs; i++)
        (void)outline_value(o, v->def->args[i]);
    ir_op_clone(o->fn, v->def, o->map, o->fn->body);
    return o->map[v->id];
}

static ir_value *
outline_const(outline *o, ir_type type, uint64_t bits)
{
    ir_op *op = ir_op_new(o->fn, RG_OP_CONST, 0, 0, (ir_loc){0});
    op->attr.bits = bits;
    ir_append(o->fn->body, op);
    return ir_op_result(op, o->fn, type, NULL);
}

static void
outline_end(outline *o, ir_region *r)
{
    ir_append(r, ir_op_new(o->fn, RG_OP_YIELD, 0, 0, (ir_loc){0}));
}

/* a task of so many indices, from the first `rank` bounds to the others */
static void
outline_threads(outline *o, uint32_t rank, ir_value *const *from, ir_value *const *to)
{
    ir_op *task = ir_op_new(o->fn, RG_OP_PARALLEL, 2 * rank, 1, (ir_loc){0});
    task->attr.rank = rank;
    for (uint32_t i = 0; i < 2 * rank; i++) {
        const ir_value *lo = from[i % rank], *hi = to[i % rank];
        bool known = api_follows_from_args(o->of, lo) && api_follows_from_args(o->of, hi);
        ir_op_arg(task, o->fn, known ? outline_value(o, i < rank ? lo : hi) : outline_const(o, lo->type, i < rank ? 0 : API_FEW_THREADS));
    }
    for (uint32_t i = 0; i < rank; i++)
        ir_region_param(task->regions[0], from[i]->type, NULL);
    outline_end(o, task->regions[0]);
    ir_append(o->fn->body, task);
}

static bool
stands_in_task(const ir_op *op)
{
    while (op && op->code != RG_OP_PARALLEL)
        op = op->parent->op;
    return op;
}

/* Serial loops that will be tasks count, too: each iteration is at most one thread. */
static bool
outline_task(ir_op *op, void *user)
{
    outline *o = user;
    bool down = op->attr.step < 0;
    if (op->code == RG_OP_PARALLEL)
        outline_threads(o, op->attr.rank, op->args, op->args + op->attr.rank);
    else if (op->code == RG_OP_FOR && !stands_in_task(op) && ad_is_independent(op, mem_scratch()))
        outline_threads(o, 1, &op->args[down], &op->args[!down]);
    return true;
}

ir_module *
api_outline(const ir_fn *fn)
{
    ir_module *m = ir_module_new();
    mem_owner owns;
    mem_own(&owns, ir_module_release, m);
    outline o = {.of = fn, .fn = ir_fn_clone(m, fn, fn->name), .map = arena_new_n(m->arena, ir_value *, fn->next_id)};
    o.fn->body->first = o.fn->body->last = NULL;
    for (uint32_t i = 0; i < fn->body->nparams; i++)
        o.map[fn->body->params[i]->id] = o.fn->body->params[i];
    ir_walk(fn->body, outline_task, &o);
    outline_end(&o, o.fn->body);
    ir_renumber(o.fn);
    mem_disown(&owns);
    return m;
}

/* -- as bytes ---------------------------------------------------------------------------------------- */

enum { READ = 1, WRITTEN = 2, RESULT = 4 };

void
api_outline_write(str *out, const rg_kernel *k)
{
    str text = {.in = mem_scratch()};
    bytes_put(out, (rg_str){(const char *)k->digest, sizeof k->digest});
    bytes_put(out, k->file ? rg_str_of(k->file) : (rg_str){NULL, 0});
    bytes_put_u32(out, k->nparams);
    for (uint32_t i = 0; i < k->nparams; i++)
        bytes_put_u32(out, (k->params[i].read ? READ : 0) | (k->params[i].written ? WRITTEN : 0) | (k->params[i].result ? RESULT : 0));
    ir_print_plain(&text, k->outline);
    bytes_put(out, str_view(&text));
}

/* An outline that was read, unless it is none, or damaged. */
static ir_module *
read_outline(rg_str text, uint32_t nparams)
{
    diag_list diags = {.text.in = mem_scratch()};
    ir_module *m = text.ptr ? ir_parse(text, "outline", &diags) : NULL;
    mem_owner owns;
    mem_own(&owns, ir_module_release, m);
    bool good = m && m->first && m->first->kernel && !m->first->next && m->first->body->nparams == nparams &&
                ir_verify(m, IR_STAGE_SOURCE, NULL, &diags) && ir_terminator(m->first->body)->nargs == 0;
    mem_disown(&owns);
    if (good)
        return m;
    ir_module_free(m);
    return NULL;
}

ir_module *
api_outline_read(rg_str bytes, uint8_t digest[DIGEST_BYTES], rg_str *file, uint32_t *results)
{
    bytes_reader r = bytes_of(bytes);
    rg_str hash = bytes_str(&r);
    *file = bytes_str(&r);
    uint32_t n = bytes_count(&r, sizeof(uint32_t));
    uint32_t *flags = arena_new_n(mem_scratch(), uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        flags[i] = bytes_u32(&r);
    rg_str text = bytes_str(&r);
    ir_module *m = bytes_done(&r) && hash.len == DIGEST_BYTES ? read_outline(text, n) : NULL;
    *results = 0;
    if (!m)
        return NULL;
    memcpy(digest, hash.ptr, DIGEST_BYTES);
    for (uint32_t i = 0; i < n; i++) {
        m->first->params[i].read = flags[i] & READ;
        m->first->params[i].written = flags[i] & WRITTEN;
        *results += (flags[i] & RESULT) != 0;
    }
    return m;
}

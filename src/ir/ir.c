/* Modules, functions, regions, ops, values: making and linking them, and walking.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/ir.h"

ir_module *
ir_module_new(void)
{
    arena *a = arena_new();
    ir_module *m = arena_one(a, ir_module); /* all in the arena's first block: cannot fail */
    m->arena = m->files.in = m->inlines.in = m->inline_numbers.in = a;
    m->target = target_cpu(64);
    m->files.at = arena_one(a, ir_file);
    m->inlines.at = arena_one(a, ir_inline);
    m->files.n = m->files.cap = m->inlines.n = m->inlines.cap = 1;
    return m;
}

void
ir_module_free(ir_module *m)
{
    if (m)
        arena_free(m->arena);
}

void
ir_know_text(ir_module *m, const char *path, rg_str text)
{
    for (size_t i = 1; i < m->files.n; i++) {
        ir_file *file = &m->files.at[i];
        if (!file->text && text.ptr && strcmp(file->path, path) == 0) {
            file->text = arena_str(m->arena, text);
            file->len = text.len;
        }
    }
}

uint32_t
ir_inline_number(ir_module *m, const char *callee, ir_loc at)
{
    uint64_t hash = hash_bytes(hash_bytes(0, callee, strlen(callee)), &at, sizeof at);
    for (void *known; (known = map_get(&m->inline_numbers, hash)); hash++) {
        const ir_inline *c = &m->inlines.at[(uintptr_t)known];
        if (strcmp(c->callee, callee) == 0 && memcmp(&c->at, &at, sizeof at) == 0)
            return (uint32_t)(uintptr_t)known;
    }
    uint32_t number = (uint32_t)m->inlines.n;
    vec_push(&m->inlines, ((ir_inline){arena_str(m->arena, rg_str_of(callee)), at}));
    map_set(&m->inline_numbers, hash, (void *)(uintptr_t)number);
    return number;
}

void
ir_module_release(void *m)
{
    ir_module_free(m);
}

ir_fn *
ir_fn_new(ir_module *m, const char *name, bool kernel)
{
    ir_fn *fn = arena_one(m->arena, ir_fn);
    fn->module = m;
    fn->name = arena_str(m->arena, rg_str_of(name));
    fn->kernel = kernel;
    fn->body = ir_region_new(fn, NULL);
    if (m->last)
        m->last->next = fn;
    else
        m->first = fn;
    m->last = fn;
    return fn;
}

ir_fn *
ir_fn_find(ir_module *m, rg_str name)
{
    for (ir_fn *fn = m->first; fn; fn = fn->next)
        if (str_eq(name, rg_str_of(fn->name)))
            return fn;
    return NULL;
}

ir_region *
ir_region_new(ir_fn *fn, ir_op *op)
{
    ir_region *r = arena_one(fn->module->arena, ir_region);
    r->fn = fn;
    r->op = op;
    return r;
}

static ir_value *
new_value(ir_fn *fn, ir_type type, const char *name)
{
    ir_value *v = arena_one(fn->module->arena, ir_value);
    v->type = type;
    v->id = fn->next_id++;
    v->name = name ? arena_str(fn->module->arena, rg_str_of(name)) : NULL;
    return v;
}

/* room for one more in an array of pointers that lives in the arena */
static void *
grown(ir_fn *fn, void *at, uint32_t n, uint32_t *cap)
{
    if (n < *cap)
        return at;
    *cap = n < 2 ? 4 : n * 2;
    void **wider = arena_new_n(fn->module->arena, void *, *cap);
    if (n)
        memcpy(wider, at, n * sizeof(void *));
    return wider;
}

ir_value *
ir_region_param(ir_region *r, ir_type type, const char *name)
{
    ir_fn *fn = r->fn;
    bool body = r == fn->body;
    uint32_t n = r->nparams;
    if (n == r->params_cap) {
        r->params = grown(fn, r->params, n, &r->params_cap);
        if (body) { /* params of the function keep in step */
            ir_param *wider = arena_new_n(fn->module->arena, ir_param, r->params_cap);
            if (n)
                memcpy(wider, fn->params, n * sizeof(ir_param));
            fn->params = wider;
        }
    }
    ir_value *v = new_value(fn, type, name);
    v->region = r;
    v->index = n;
    r->params[r->nparams++] = v;
    if (body)
        fn->params[n].name = v->name;
    return v;
}

ir_op *
ir_op_new(ir_fn *fn, rg_op code, uint32_t nargs, uint32_t nregions, ir_loc loc)
{
    ir_op *op = arena_one(fn->module->arena, ir_op);
    op->code = (uint16_t)code;
    op->loc = loc;
    if (nargs) {
        op->args = arena_new_n(fn->module->arena, ir_value *, nargs);
        op->args_cap = nargs;
    }
    if (nregions) {
        op->regions = arena_new_n(fn->module->arena, ir_region *, nregions);
        op->nregions = nregions;
        for (uint32_t i = 0; i < nregions; i++)
            op->regions[i] = ir_region_new(fn, op);
    }
    return op;
}

ir_value *
ir_op_result(ir_op *op, ir_fn *fn, ir_type type, const char *name)
{
    op->results = grown(fn, op->results, op->nresults, &op->results_cap);
    ir_value *v = new_value(fn, type, name);
    v->def = op;
    v->region = op->parent;
    v->index = op->nresults;
    op->results[op->nresults++] = v;
    return v;
}

void
ir_op_arg(ir_op *op, ir_fn *fn, ir_value *v)
{
    op->args = grown(fn, op->args, op->nargs, &op->args_cap);
    op->args[op->nargs++] = v;
}

/* an op enters a region: so do its results */
static void
adopt(ir_region *r, ir_op *op)
{
    if (op->parent != r)
        ir_forget_places(op);
    op->parent = r;
    for (uint32_t i = 0; i < op->nresults; i++)
        op->results[i]->region = r;
}

void
ir_append(ir_region *r, ir_op *op)
{
    op->prev = r->last;
    op->next = NULL;
    if (r->last)
        r->last->next = op;
    else
        r->first = op;
    r->last = op;
    adopt(r, op);
}

void
ir_insert_before(ir_op *at, ir_op *op)
{
    ir_region *r = at->parent;
    op->prev = at->prev;
    op->next = at;
    if (at->prev)
        at->prev->next = op;
    else
        r->first = op;
    at->prev = op;
    adopt(r, op);
}

void
ir_insert_first(ir_region *r, ir_op *op)
{
    if (r->first)
        ir_insert_before(r->first, op);
    else
        ir_append(r, op);
}

void
ir_remove(ir_op *op)
{
    ir_region *r = op->parent;
    if (op->prev)
        op->prev->next = op->next;
    else
        r->first = op->next;
    if (op->next)
        op->next->prev = op->prev;
    else
        r->last = op->prev;
    op->prev = op->next = NULL;
    op->parent = NULL;
    ir_forget_places(op);
}

ir_op *
ir_terminator(const ir_region *r)
{
    return r->last && ir_ops[r->last->code].flags & IR_END ? r->last : NULL;
}

bool
ir_walk(ir_region *r, ir_visit *each, void *user)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        if (!each(op, user))
            return false;
        for (uint32_t i = 0; op->parent && i < op->nregions; i++)
            if (!ir_walk(op->regions[i], each, user))
                return false;
    }
    return true;
}

bool
ir_is_arithmetic(const ir_op *op)
{
    return ir_ops[op->code].form != IR_OTHER || op->code == RG_OP_CONST || op->code == RG_OP_SPLAT;
}

bool
ir_is_const(const ir_value *v, uint64_t *bits)
{
    if (!v->def || v->def->code != RG_OP_CONST)
        return false;
    if (bits)
        *bits = v->def->attr.bits;
    return true;
}

bool
ir_is_declaration(const ir_op *op)
{
    return op->code == RG_OP_CONST || op->code == RG_OP_TABLE || op->code == RG_OP_SLOT;
}

bool
ir_divides(const ir_op *op)
{
    return op->code == RG_OP_DIV || op->code == RG_OP_REM || op->code == RG_OP_FLOORDIV || op->code == RG_OP_FLOORMOD;
}

/* Those of floats have slow ways, with branches. */
static bool
divides_floats(const ir_op *op)
{
    return ir_divides(op) && ir_is_float(ir_dtype(op->results[0]));
}

bool
ir_is_formula(const ir_op *op)
{
    switch ((int)ir_ops[op->code].form) {
    case IR_UNARY_N:
    case IR_UNARY_I:
    case IR_BINARY_N:
    case IR_BINARY_I:
    case IR_COMPARE:
    case IR_SELECT:
    case IR_CAST:
        return !ir_lanes_of(op) && !(ir_ops[op->code].flags & IR_FUNCTION) && !divides_floats(op);
    default:
        return !ir_lanes_of(op) && (op->code == RG_OP_PICK || op->code == RG_OP_EXTENT);
    }
}

bool
ir_is_no_step(const ir_op *op)
{
    return ir_is_declaration(op) || ir_is_formula(op);
}

unsigned
ir_lanes_of(const ir_op *op)
{
    unsigned lanes = 0;
    for (uint32_t i = 0; i < op->nargs + op->nresults; i++) {
        const ir_value *v = i < op->nargs ? op->args[i] : op->results[i - op->nargs];
        lanes = v->type.lanes > lanes ? v->type.lanes : lanes;
    }
    return lanes;
}

bool
ir_same_value(const ir_value *x, const ir_value *y)
{
    uint64_t a, b;
    return x == y || (ir_type_eq(x->type, y->type) && ir_is_const(x, &a) && ir_is_const(y, &b) && a == b);
}

bool
ir_stands_before(const ir_op *op, const ir_op *other)
{
    for (const ir_op *at = other->prev; at; at = at->prev)
        if (at == op)
            return true;
    return false;
}

bool
ir_known_axis(const ir_op *parallel, uint32_t axis, uint64_t *count)
{
    uint64_t lo, hi;
    if (!ir_is_const(parallel->args[axis], &lo) || !ir_is_const(parallel->args[parallel->attr.rank + axis], &hi))
        return false;
    *count = (int64_t)hi > (int64_t)lo ? hi - lo : 0;
    return true;
}

bool
ir_is_single(const ir_op *parallel)
{
    uint64_t count;
    bool single = true;
    for (uint32_t k = 0; k < parallel->attr.rank; k++) {
        bool known = ir_known_axis(parallel, k, &count);
        if (known && !count)
            return true;
        single &= known && count == 1;
    }
    return single;
}

/* After lower_tape a parallel that records has no trace. */
uint32_t
ir_value_results(const ir_op *op)
{
    uint32_t n = op->nresults;
    bool traced = op->records && n && op->results[n - 1]->type.kind == IR_TRACE;
    return traced ? n - 1 : n;
}

uint32_t
ir_first_init(const ir_op *op)
{
    switch (op->code) {
    case RG_OP_FOR:
    case RG_OP_UNWIND:
        return 2;
    case RG_OP_PARALLEL: {
        uint32_t n = 2 * op->attr.rank;
        bool traced =
            op->rewinds && op->nargs > n && op->args[n] && op->args[n]->type.kind == IR_TRACE;
        return traced ? n + 1 : n;
    }
    default:
        return 0;
    }
}

diag_place
ir_place(const ir_module *m, ir_loc loc)
{
    diag_place at = {.line = loc.line, .col = loc.col, .end_col = loc.end_col};
    if (loc.file && loc.file < m->files.n) {
        at.path = m->files.at[loc.file].path;
        at.source = m->files.at[loc.file].text;
        at.source_len = m->files.at[loc.file].len;
    }
    return at;
}

const ir_value *
ir_declared_extent(const ir_value *buffer, uint32_t axis)
{
    if (buffer->def)
        return buffer->def->code == RG_OP_TEMP ? buffer->def->args[axis] : NULL;
    const ir_fn *fn = buffer->region->fn;
    uint32_t at = axis;
    for (uint32_t i = 0; i < buffer->index; i++)
        if (fn->body->params[i]->type.kind == IR_BUFFER)
            at += fn->body->params[i]->type.rank;
    return fn->shape && !buffer->region->op ? ir_terminator(fn->shape)->args[at] : NULL;
}

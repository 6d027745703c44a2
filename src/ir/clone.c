/* Deep copies, within a module or into another one. SPDX-License-Identifier: Apache-2.0 */
#include "ir/ir.h"

/* -- places: file and inline numbers belong to a module ------------------------------------------
 */

static uint32_t
import_file(ir_module *to, const ir_module *from, uint32_t file)
{
    if (file == 0 || file >= from->files.n)
        return 0;
    ir_file f = from->files.at[file];
    for (uint32_t i = 1; i < to->files.n; i++)
        if (strcmp(to->files.at[i].path, f.path) == 0)
            return i;
    ir_file copy = {.path = arena_str(to->arena, rg_str_of(f.path)), .len = f.len};
    if (f.text)
        copy.text = arena_str(to->arena, (rg_str){f.text, f.len});
    vec_push(&to->files, copy);
    return (uint32_t)to->files.n - 1;
}

static ir_loc import_loc(ir_module *to, const ir_module *from, ir_loc loc);

static uint32_t
import_inline(ir_module *to, const ir_module *from, uint32_t inlined)
{
    if (inlined == 0 || inlined >= from->inlines.n)
        return 0;
    const char *callee = from->inlines.at[inlined].callee;
    ir_loc at = from->inlines.at[inlined].at;
    if (at.inlined >= inlined) /* chains lead outwards, to smaller numbers */
        at.inlined = 0;
    at = import_loc(to, from, at);
    return ir_inline_number(to, callee, at);
}

static ir_loc
import_loc(ir_module *to, const ir_module *from, ir_loc loc)
{
    if (to == from)
        return loc;
    loc.file = import_file(to, from, loc.file);
    loc.inlined = import_inline(to, from, loc.inlined);
    return loc;
}

/* -- ops ------------------------------------------------------------------------------------------
 */

static const void *
copied_in_arena(arena *a, const void *data, size_t n)
{
    return memcpy(arena_alloc(a, n ? n : 1), data, n);
}

static ir_fn *
imported(ir_module *to, ir_fn *fn)
{
    ir_fn *own = fn ? ir_fn_find(to, rg_str_of(fn->name)) : NULL;
    return own ? own : fn;
}

/* what an op points to besides values lives in its module's arena */
static void
import_attributes(ir_op *copy, const ir_op *op, ir_module *to)
{
    if (op->reduce)
        copy->reduce = copied_in_arena(to->arena, op->reduce, ir_value_results(op));
    switch ((ir_attr)ir_ops[op->code].attr) {
    case IR_ATTR_FN:
        copy->attr.fn = imported(to, op->attr.fn);
        break;
    case IR_ATTR_TEXT:
        copy->attr.text = arena_str(to->arena, rg_str_of(op->attr.text));
        break;
    case IR_ATTR_DATA:
        copy->attr.data =
            copied_in_arena(to->arena, op->attr.data,
                            (size_t)op->results[0]->type.length * ir_bytes(op->results[0]->type.dtype));
        break;
    case IR_ATTR_NONE:
    case IR_ATTR_LITERAL:
    case IR_ATTR_AXIS:
    case IR_ATTR_STEP:
    case IR_ATTR_RANK:
        break;
    }
}

static void
clone_region(ir_fn *to, const ir_region *r, ir_value **map, ir_region *into)
{
    for (uint32_t i = 0; i < r->nparams; i++) {
        const ir_value *p = r->params[i];
        map[p->id] = ir_region_param(into, p->type, p->name);
    }
    ir_for_ops(op, r) ir_op_clone(to, op, map, into);
}

ir_op *
ir_op_like(ir_fn *to, const ir_op *op)
{
    ir_op *copy = ir_op_new(to, op->code, op->nargs, op->nregions, op->loc);
    copy->flags = op->flags;
    copy->attr = op->attr;
    copy->reduce = op->reduce;
    return copy;
}

ir_op *
ir_op_clone(ir_fn *to, const ir_op *op, ir_value **map, ir_region *into)
{
    ir_op *copy = ir_op_like(to, op);
    const ir_module *from = op->parent ? op->parent->fn->module : NULL;
    if (from && from != to->module) {
        copy->loc = import_loc(to->module, from, op->loc);
        import_attributes(copy, op, to->module);
    }
    for (uint32_t i = 0; i < op->nargs; i++) {
        ir_value *v = op->args[i];
        ir_op_arg(copy, to, map[v->id] ? map[v->id] : v);
    }
    ir_append(into, copy);
    for (uint32_t i = 0; i < op->nregions; i++)
        clone_region(to, op->regions[i], map, copy->regions[i]);
    for (uint32_t i = 0; i < op->nresults; i++) {
        const ir_value *v = op->results[i];
        map[v->id] = ir_op_result(copy, to, v->type, v->name);
    }
    return copy;
}

ir_fn *
ir_fn_clone(ir_module *to, const ir_fn *fn, const char *name)
{
    ir_value **map = arena_new_n(to->arena, ir_value *, fn->next_id);
    ir_fn *copy = ir_fn_new(to, name, fn->kernel);
    copy->loc = import_loc(to, fn->module, fn->loc);
    copy->vjp = imported(to, fn->vjp);
    copy->jvp = imported(to, fn->jvp);
    clone_region(copy, fn->body, map, copy->body);
    for (uint32_t i = 0; i < fn->body->nparams; i++) {
        const char *own_name = copy->params[i].name;
        copy->params[i] = fn->params[i];
        copy->params[i].name = own_name;
        copy->params[i].loc = import_loc(to, fn->module, fn->params[i].loc);
    }
    if (fn->shape) {
        copy->shape = ir_region_new(copy, NULL);
        clone_region(copy, fn->shape, map, copy->shape);
    }
    return copy;
}

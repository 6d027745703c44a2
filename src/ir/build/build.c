/* The builder: its life, source places and errors. SPDX-License-Identifier: Apache-2.0 */
#include "ir/build/build_impl.h"

void
build_start(rg_builder *b)
{
    arena *a = b->arena;
    b->frames.in = b->labels.in = b->inline_stack.in = b->tables.in = b->forward.in = b->rmws.in = b->extents.in = a;
    b->results.in = b->merged.in = b->yields[0].in = b->yields[1].in = b->loop_vars.in = a;
    b->exit_values.in = b->carried_values.in = a;
    for (int d = 0; d < RG_DTYPE_COUNT; d++)
        b->body_constants.by_dtype[d].in = b->shape_constants.by_dtype[d].in = a;
    vec_push(&b->labels, (uint64_t)0);
}

rg_builder *
ir_builder_on(ir_module *m, diag_list *diags, arena *in)
{
    rg_builder *b = arena_one(in, rg_builder);
    b->arena = b->fns.in = b->own_diags.text.in = in;
    b->module = m;
    b->diags = diags ? diags : &b->own_diags;
    build_start(b);
    vec_push(&b->fns, (ir_fn *)NULL);
    return b;
}

rg_builder *
ir_builder_new(void)
{
    arena *in = arena_new();
    mem_owner owns;
    mem_own(&owns, mem_release_arena, in);
    rg_builder *b = ir_builder_on(NULL, NULL, in);
    b->module = ir_module_new();
    mem_disown(&owns);
    return b;
}

void
ir_builder_attach(rg_builder *b, void *object, void (*release)(void *object))
{
    b->attached = object;
    b->release_attached = release;
}

void *
ir_builder_attached(const rg_builder *b)
{
    return b->attached;
}

void
rg_builder_destroy(rg_builder *b)
{
    if (!b)
        return;
    if (b->release_attached)
        b->release_attached(b->attached);
    ir_module_free(b->module);
    arena_free(b->arena);
}

/* -- failed allocations ------------------------------------------------------------------------ */

static void
lose_builder(void *guard, size_t bytes)
{
    build_guard *g = guard;
    g->builder->lost = true;
    longjmp(g->jump, 1);
}

bool
build_guard_enter(build_guard *g, rg_builder *b)
{
    g->builder = b;
    g->on = !b->lost && !mem_is_guarded();
    if (g->on)
        mem_set_handler(lose_builder, g);
    return !b->lost;
}

void
build_guard_leave(build_guard *g)
{
    if (g->on)
        mem_set_handler(NULL, NULL);
}

bool
ir_builder_is_lost(const rg_builder *b)
{
    return b->lost;
}

/* -- the module --------------------------------------------------------------------------------- */

ir_module *
ir_builder_take(rg_builder *b, diag_list *diags)
{
    if (b->n_open)
        build_report(b, ERROR_NESTING, "function `%s` is still open", b->fn->name);
    if (b->own_diags.errors) {
        diag_join(diags, &b->own_diags);
        return NULL;
    }
    if (!ir_verify(b->module, IR_STAGE_SOURCE, "building", diags))
        return NULL;
    ir_module *spent = ir_module_new(); /* whatever is still called finds a module */
    ir_module *m = b->module;
    b->module = spent;
    return m;
}

/* -- places ------------------------------------------------------------------------------------ */

const char *
build_text(rg_builder *b, rg_str s)
{
    return s.len ? arena_str(b->module->arena, s) : NULL;
}

uint32_t
rg_build_file(rg_builder *b, rg_str path, rg_str text)
{
    BUILD_GUARDED(b, 0);
    ir_file file = {arena_str(b->module->arena, path), build_text(b, text), text.len};
    vec_push(&b->module->files, file);
    return (uint32_t)b->module->files.n - 1;
}

void
rg_build_at(rg_builder *b, rg_place place)
{
    b->loc = (ir_loc){place.file, place.line, place.col, place.end_col, b->loc.inlined};
}

void
ir_build_loc(rg_builder *b, ir_loc loc)
{
    b->loc = loc;
}

void
rg_build_inline_push(rg_builder *b, rg_str callee)
{
    BUILD_GUARDED(b, );
    vec_push(&b->inline_stack, b->loc);
    vec_push(&b->module->inlines, ((ir_inline){arena_str(b->module->arena, callee), b->loc}));
    b->loc.inlined = (uint32_t)b->module->inlines.n - 1;
}

void
rg_build_inline_pop(rg_builder *b)
{
    if (b->inline_stack.n)
        b->loc = vec_pop(&b->inline_stack);
    else
        build_report(b, ERROR_NESTING, "inline_pop without inline_push");
}

/* -- errors ------------------------------------------------------------------------------------ */

static void
report_at(rg_builder *b, unsigned number, ir_loc loc, const char *format, va_list args)
{
    diag_addv(b->diags, DIAG_ERROR, number, ir_place(b->module, loc), format, args);
}

void
build_report(rg_builder *b, unsigned number, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report_at(b, number, b->loc, format, args);
    va_end(args);
}

void
build_report_at(rg_builder *b, unsigned number, ir_loc loc, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report_at(b, number, loc, format, args);
    va_end(args);
}

void
rg_build_error(rg_builder *b, unsigned number, rg_place place, const char *format, ...)
{
    BUILD_GUARDED(b, );
    ir_loc loc = {place.file, place.line, place.col, place.end_col, 0};
    va_list args;
    va_start(args, format);
    report_at(b, number, loc, format, args);
    va_end(args);
}

unsigned
rg_build_error_count(const rg_builder *b)
{
    return b->diags->errors + b->lost;
}

void
build_type_name(ir_type t, char *out, size_t size)
{
    const char *element = ir_dtype_name((rg_dtype)t.dtype);
    switch ((ir_kind)t.kind) {
    case IR_SCALAR:
        snprintf(out, size, "%s", element);
        break;
    case IR_ARRAY:
    case IR_SLOT:
        snprintf(out, size, "%s[%u]", element, t.length);
        break;
    case IR_BUFFER:
        snprintf(out, size, "buf<%s,%u>", element, t.rank);
        break;
    case IR_TRACE:
        snprintf(out, size, "trace");
        break;
    case IR_CURSOR:
        snprintf(out, size, "cursor");
        break;
    }
}

/* The builder: its life, source places and errors. SPDX-License-Identifier: Apache-2.0 */
#include "ir/build/build_impl.h"

void
ir_builder_release(void *b)
{
    rg_builder_destroy(b);
}

static rg_builder *
new_builder(void)
{
    rg_builder *b = mem_zalloc(sizeof *b);
    mem_owner owns;
    mem_own(&owns, ir_builder_release, b);
    b->diags = &b->own_diags;
    b->arena = arena_new();
    vec_push(&b->labels, (uint64_t)0);
    vec_push(&b->fns, (ir_fn *)NULL);
    mem_disown(&owns);
    return b;
}

rg_builder *
ir_builder_new(void)
{
    rg_builder *b = new_builder();
    mem_owner owns;
    mem_own(&owns, ir_builder_release, b);
    b->owns_module = true;
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

rg_builder *
ir_builder_on(ir_module *m, diag_list *diags)
{
    rg_builder *b = new_builder();
    b->module = m;
    b->diags = diags;
    return b;
}

static void
free_frame(frame *f)
{
    for (int i = 0; i < 2; i++) {
        vec_free(&f->arms[i].vars);
        vec_free(&f->arms[i].leaves);
    }
    vec_free(&f->bindings);
    vec_free(&f->leaves);
    vec_free(&f->echoes);
    vec_free(&f->params);
    vec_free(&f->log);
    vec_free(&f->exits);
    vec_free(&f->reductions);
}

void
build_free_function(rg_builder *b)
{
    for (size_t i = 0; i < b->frames.n; i++)
        free_frame(b->frames.at[i]);
    vec_free(&b->frames);
    vec_free(&b->labels);
    vec_free(&b->inline_stack);
    build_constants_forget(&b->body_constants);
    build_constants_forget(&b->shape_constants);
    map_free(&b->tables);
    vec_free(&b->forward);
    vec_free(&b->rmws);
    vec_free(&b->extents);
    vec_free(&b->results);
    vec_free(&b->merged);
    vec_free(&b->yields[0]);
    vec_free(&b->yields[1]);
    vec_free(&b->loop_vars);
    vec_free(&b->exit_values);
    vec_free(&b->carried_values);
}

void
rg_builder_destroy(rg_builder *b)
{
    if (!b)
        return;
    if (b->release_attached)
        b->release_attached(b->attached);
    build_free_function(b);
    for (rg_builder *resting = b->resting, *next; resting; resting = next) {
        next = resting->resting;
        build_free_function(resting);
        mem_free(resting);
    }
    vec_free(&b->fns);
    diag_free(&b->own_diags);
    if (b->owns_module)
        ir_module_free(b->module);
    if (b->arena)
        arena_free(b->arena);
    mem_free(b);
}

ir_module *
ir_builder_take(rg_builder *b, diag_list *diags)
{
    if (b->n_open)
        build_report(b, ERROR_NESTING, "function `%s` is still open", b->fn->name);
    if (b->own_diags.errors) {
        str_add(&diags->text, str_view(&b->own_diags.text));
        diags->errors += b->own_diags.errors;
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
    ir_loc loc = {place.file, place.line, place.col, place.end_col, 0};
    va_list args;
    va_start(args, format);
    report_at(b, number, loc, format, args);
    va_end(args);
}

unsigned
rg_build_error_count(const rg_builder *b)
{
    return b->diags->errors;
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

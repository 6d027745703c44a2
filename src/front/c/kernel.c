/* Kernels: bodies, results, and the entry points of the front end. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/census.h"
#include "analysis/races.h"
#include "ir/ir.h"

enum { MOST_ATTEMPTS = 8 /* to make a kernel, each with what the one before learned */ };

static void
kernel_body(gen *g, decl *fn)
{
    frame f = {.fn = fn};
    g->frame = &f;
    fn->active = true;
    fc_open_parameters(g, fn);
    g->hoisted = g->sized = (map){.in = g->arena};
    g->in_threads.n = 0;
    f.path = fc_call_path(g, NULL, fn, NULL);
    fc_hoist(g, fn, false);
    if (fn->type->kind == TYPE_SCALAR)
        f.result = fc_object_local(g, "return", fn->type);
    bool jumps = fc_function_jumps(fn);
    if (jumps)
        f.exit = rg_build_block(g->b);
    fc_stmt(g, fn->body);
    if (jumps)
        rg_build_end(g->b);
    if (f.result) {
        rg_value v = rg_build_get(g->b, f.result->leaves[0].var);
        rg_build_kernel_result(g->b, 1, &v);
    }
    fn->active = false;
    g->frame = NULL;
}

static void
whole_kernel(gen *g, decl *fn)
{
    g->told = (map){.in = g->arena};
    g->recursions = 0;
    rg_build_at(g->b, fn->place);
    rg_build_kernel_begin(g->b, rg_str_of(fn->name));
    if (fn->variadic)
        fc_fail(g, ERR_VARARGS, fn->place, fn->name);
    if (fn->type->kind != TYPE_VOID && fn->type->kind != TYPE_SCALAR && fn->type->kind != TYPE_POINTER) {
        fc_fail(g, ERR_RESULT_TYPE, fn->place, fn->type->name);
        fn = NULL;
    }
    g->census = fn ? fc_census(g->arena, fn->body) : NULL;
    if (fn && fc_declare_parameters(g, fn))
        kernel_body(g, fn);
    rg_build_kernel_end(g->b);
}

/* -- entry points
 * ---------------------------------------------------------------------------------- */
static void
generate_kernel(gen *g, ir_module *m, decl *fn, diag_list *diags)
{
    if (!fc_unit_is_sound(g->unit, fn))
        return;
    if (fc_unit_overloads(g->unit, fn->name)) {
        fc_fail(g, ERR_OVERLOADED, fn->place, fn->name);
        return;
    }
    fc_link(g->project, fn);
    whole_kernel(g, fn);
    ir_fn *made = ir_fn_find(m, rg_str_of(fn->name));
    if (made)
        ir_check_races(made, diags);
}

/* If the name is there, clang's errors may be why it is not that of a function. */
static void
no_kernel(gen *g, const front_c_source *source, diag_list *diags)
{
    if (fc_unit_mentions(g->unit, source->kernel))
        fc_unit_report_all(g->unit);
    else if (source->unknown)
        *source->unknown = true;
    diag_add(diags, DIAG_ERROR, ERR_NO_KERNEL, (diag_place){.path = source->path},
             "there is no function `%s` to compile as a kernel\na kernel is a function with a body, in this file or in "
             "an included one",
             source->kernel);
}

static bool
is_main(const decl *fn)
{
    return strcmp(fn->name, "main") == 0;
}

static void
generate(gen *g, const front_c_source *source, ir_module *m, diag_list *diags)
{
    if (source->kernel) {
        decl *fn = fc_unit_find(g->unit, source->kernel);
        if (fn)
            generate_kernel(g, m, fn, diags);
        else
            no_kernel(g, source, diags);
        return;
    }
    decl **functions;
    uint32_t n = fc_unit_kernels(g->unit, &functions);
    for (uint32_t i = 0; i < n; i++)
        if (!is_main(functions[i]))
            generate_kernel(g, m, functions[i], diags);
}

/* All that a compilation holds; released at once when memory runs out. */
typedef struct session {
    ir_module *module;
    arena *arena;
    rg_builder *builder;
    unit *unit;
    project *project;
} session;

static void
session_release(void *object)
{
    session *s = object;
    fc_project_close(s->project);
    fc_unit_close(s->unit);
    arena_free(s->arena);
    ir_module_free(s->module);
}

static bool
session_parse(session *s, const front_c_source *source, diag_list *diags)
{
    s->module = ir_module_new();
    s->arena = arena_new();
    s->builder = ir_builder_on(s->module, diags, s->arena);
    s->unit = fc_unit_new(s->arena, s->builder, diags);
    front_c_source *named = arena_one(s->arena, front_c_source);
    *named = *source;
    if (!named->path || !named->path[0])
        named->path = "kernel.c";
    s->project = fc_project_new(s->arena, s->builder, diags, named, s->unit);
    return s->project && fc_unit_parse(s->unit, named);
}

/* NULL: after errors, or if there is more to learn */
static ir_module *
attempt(const front_c_source *source, bool library, lessons *lessons, diag_list *diags)
{
    session s = {0};
    mem_owner owns;
    mem_own(&owns, session_release, &s);
    if (session_parse(&s, source, diags)) {
        gen g = {.unit = s.unit, .project = s.project, .module = s.module, .arena = s.arena, .b = s.builder};
        g.reported.in = g.told.in = g.hoisted.in = g.sized.in = g.buffers.in = s.arena;
        g.lessons = lessons;
        if (library)
            fc_library(&g);
        else
            generate(&g, source, s.module, diags);
        if (diags->errors)
            fc_project_note_missing(s.project);
        else if (source->seen && !lessons->more)
            fc_project_look(s.project, source->seen);
    }
    mem_disown(&owns);
    ir_module *m = s.module;
    if (!diags->errors && !lessons->more)
        s.module = NULL;
    else
        m = NULL;
    session_release(&s);
    return m;
}

/* What the attempt before said is dropped with it: it did not know what it has learned. */
static ir_module *
compile(const front_c_source *source, bool library, diag_list *diags)
{
    lessons lessons = {.at.in = mem_scratch()};
    diag_list said = {0};
    ir_module *m = NULL;
    for (unsigned i = 0; i == 0 || lessons.more; i++) {
        said = (diag_list){.text.in = mem_scratch(), .limit = diags->limit};
        lessons.more = false;
        lessons.last = i == MOST_ATTEMPTS - 1;
        m = attempt(source, library, &lessons, &said);
    }
    diag_join(diags, &said);
    return m;
}

ir_module *
front_c_compile(const front_c_source *source, diag_list *diags)
{
    return compile(source, false, diags);
}

ir_module *
front_c_library(const front_c_source *source, diag_list *diags)
{
    return compile(source, true, diags);
}

bool
front_c_list(const front_c_source *source, front_c_names *names, diag_list *diags)
{
    session s = {0};
    mem_owner owns;
    *names = (front_c_names){0};
    mem_own(&owns, session_release, &s);
    bool ok = session_parse(&s, source, diags);
    if (ok) {
        decl **functions;
        const char **statics;
        uint32_t n = fc_unit_kernels(s.unit, &functions), others = fc_unit_statics(s.unit, &statics);
        names->names = arena_new_n(mem_scratch(), const char *, n + others);
        for (uint32_t i = 0; i < n; i++)
            if (!is_main(functions[i]))
                names->names[names->count++] = arena_str(mem_scratch(), rg_str_of(functions[i]->name));
        for (; names->statics < others; names->statics++)
            names->names[names->count + names->statics] = arena_str(mem_scratch(), rg_str_of(statics[names->statics]));
        if (source->seen)
            fc_project_look(s.project, source->seen);
    }
    mem_disown(&owns);
    session_release(&s);
    return ok;
}

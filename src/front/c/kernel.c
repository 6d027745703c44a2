/* Kernels: parameters, extents, results, and the entry points of the front end.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/c/gen.h"

#include "ir/ir.h"

/* -- parameters ------------------------------------------------------------------------------------ */
static void
scalar_parameter(gen *g, decl *d)
{
    object *o = fc_object_new(g, OBJECT_VALUE, d->name, d->type, 0, NULL);
    o->constant = true;
    for (uint32_t i = 0; i < o->nleaves; i++) {
        leaf *l = &o->leaves[i];
        if (l->rank == 0) {
            l->value = rg_build_param_scalar(g->b, rg_str_of(l->name), l->dtype, d->place);
            continue;
        }
        /* an array in a struct by value: one scalar for each element */
        uint32_t count = 1;
        for (uint32_t k = 0; k < l->rank; k++)
            count *= (uint32_t)l->dim[k];
        l->var = NULL;
        rg_value *elements = arena_new_n(g->arena, rg_value, count + 1);
        for (uint32_t e = 0; e < count; e++) {
            str name = {0};
            str_addf(&name, "%s.%u", l->name, e);
            elements[e] = rg_build_param_scalar(g->b, rg_str_of(arena_str(g->arena, str_view(&name))),
                                                l->dtype, d->place);
            str_free(&name);
        }
        l->value = (rg_value)(void *)elements; /* gathered once the body begins */
    }
    d->object = o;
}

static bool
is_deep_constant(const ctype *t)
{
    while (t->kind == TYPE_ARRAY && !t->constant)
        t = t->elem;
    return t->constant;
}

static void
array_parameter(gen *g, decl *d, uint32_t number)
{
    ctype *elem = d->type->elem;
    int64_t outer[1] = {-1};
    object *o = fc_object_new(g, OBJECT_BUFFER, d->name, elem, 1, outer);
    o->constant = is_deep_constant(elem);
    bool open = !d->nextents || !d->extents[0];
    const ctype *t = elem;
    while (t->kind == TYPE_ARRAY)
        t = t->elem;
    for (uint32_t i = 0; i < o->nleaves; i++) {
        leaf *l = &o->leaves[i];
        rg_build_buffer b = {.name = rg_str_of(l->name), .dtype = l->dtype, .rank = l->rank};
        b.flat = open && l->rank == 1 && t->kind != TYPE_STRUCT;
        b.constant = o->constant;
        b.place = d->place;
        if (t->kind == TYPE_STRUCT) {
            b.record = number + 1;
            b.field_offset = l->offset;
            b.record_size = t->rec->size;
        }
        l->value = rg_build_param_buffer(g->b, &b);
    }
    place first = {.object = o, .type = elem, .n = 1};
    d->object = NULL;
    pointer_var *v = arena_one(g->arena, pointer_var);
    *v = (pointer_var){.name = d->name, .fixed = true, .shared = true, .at = first};
    d->pointer = v;
}

static bool
declare_parameters(gen *g, decl *fn)
{
    bool ok = true;
    for (uint32_t i = 0; i < fn->nparams; i++) {
        decl *d = fn->params[i];
        front_error error;
        bool is_pointer = d->type->kind == TYPE_POINTER;
        const ctype *t = is_pointer ? d->type->elem : d->type;
        if (fc_type_problem(t, &error)) {
            bool plain = error == ERR_TYPE || error == ERR_POINTER_POINTER;
            if (plain)
                fc_fail(g, ERR_PARAM_TYPE, d->place, d->name, d->type->name);
            else
                fc_fail(g, error, d->place, fc_type_problem(t, &error));
            ok = false;
        } else if (is_pointer) {
            array_parameter(g, d, i);
        } else {
            scalar_parameter(g, d);
        }
    }
    return ok;
}

/* -- extents --------------------------------------------------------------------------------------- */
static void
extent_is(gen *g, const object *o, uint32_t axis, rg_value extent)
{
    for (uint32_t i = 0; i < o->nleaves; i++)
        rg_build_extent_is(g->b, o->leaves[i].value, axis, extent);
}

static void
array_extents(gen *g, const decl *d)
{
    const object *o = d->pointer->at.object;
    for (uint32_t axis = 0; axis < d->nextents; axis++) {
        const node *e = d->extents[axis];
        if (!e)
            continue;
        if (!fc_expr_is_plain(e)) {
            fc_fail(g, ERR_EXTENT, e->place, d->name);
            continue;
        }
        rg_value v = fc_scalar(g, e);
        extent_is(g, o, axis, fc_convert(g, RG_I64, v));
    }
    for (uint32_t i = 0; i < o->nleaves; i++) {
        const leaf *l = &o->leaves[i];
        for (uint32_t axis = 1; axis < l->rank; axis++) {
            bool written = axis < d->nextents && d->extents[axis];
            if (!written && l->dim[axis] >= 0)
                rg_build_extent_is(g->b, l->value, axis, fc_int_value(g, RG_I64, l->dim[axis]));
        }
    }
}

/* -- the body -------------------------------------------------------------------------------------- */
static void
gather_elements(gen *g, leaf *l)
{
    uint32_t count = 1;
    for (uint32_t k = 0; k < l->rank; k++)
        count *= (uint32_t)l->dim[k];
    rg_value *elements = (rg_value *)(void *)l->value;
    rg_value array = rg_build_array(g->b, l->dtype, count);
    for (uint32_t e = 0; e < count; e++)
        array = rg_build_insert(g->b, array, fc_int_value(g, RG_I64, e), elements[e]);
    l->value = array;
}

/* Parameters that the body changes become variables. */
static void
open_parameters(gen *g, decl *fn)
{
    for (uint32_t i = 0; i < fn->nparams; i++) {
        decl *d = fn->params[i];
        if (d->type->kind == TYPE_POINTER) {
            place at = d->pointer->at;
            if (d->written)
                fc_pointer_declare(g, d, NULL, &at);
            continue;
        }
        bool arrays = false;
        for (uint32_t k = 0; k < d->object->nleaves; k++) {
            if (d->object->leaves[k].rank) {
                gather_elements(g, &d->object->leaves[k]);
                arrays = true;
            }
        }
        if (d->written || d->address_taken) {
            place from = fc_place_of(d->object);
            value v = fc_load(g, &from);
            object *o = fc_object_local(g, d->name, d->type);
            place to = fc_place_of(o);
            fc_store(g, &to, &v, fn->body);
            d->object = o;
        }
        (void)arrays;
    }
}

/* Tables and arrays shared by threads are made once, where every region of the kernel sees them. */
typedef struct hoisting {
    gen *g;
    decl *fn;
    map *seen;
} hoisting;

static void hoist(gen *g, decl *fn, map *seen);

static bool
is_constant_table(gen *g, const decl *d)
{
    const ctype *t = d->type;
    return t->kind == TYPE_ARRAY && d->init && is_deep_constant(t) && t->length >= 0 &&
           fc_constant_initialiser(g, t, d->init);
}

static bool
hoist_node(const node *n, void *user)
{
    hoisting *h = user;
    front_error error;
    if (n->kind == E_CALL && n->decl && n->decl->body)
        hoist(h->g, n->decl, h->seen);
    if (n->kind == E_REF && n->decl->kind == DECL_VAR && n->decl->lasting &&
        n->decl->type->kind != TYPE_POINTER && !map_get(h->seen, map_ptr(n->decl))) {
        map_set(h->seen, map_ptr(n->decl), n->decl);
        n->decl->object = fc_constant_object(h->g, n->decl);
    }
    for (uint32_t i = 0; n->kind == S_DECL && i < n->count; i++) {
        decl *d = n->list[i]->decl;
        if (!d->lasting && d->type->kind == TYPE_ARRAY && !fc_type_problem(d->type, &error) &&
            is_constant_table(h->g, d)) {
            d->lasting = true;
            map_set(h->seen, map_ptr(d), d);
            d->object = fc_constant_object(h->g, d);
        }
    }
    return true;
}

static void
hoist(gen *g, decl *fn, map *seen)
{
    if (map_get(seen, map_ptr(fn)))
        return;
    map_set(seen, map_ptr(fn), fn);
    hoisting h = {g, fn, seen};
    fc_node_walk(fn->body, hoist_node, &h);
}

static void
kernel_body(gen *g, decl *fn)
{
    frame f = {.fn = fn};
    map seen = {0};
    g->frame = &f;
    fn->active = true;
    open_parameters(g, fn);
    hoist(g, fn, &seen);
    map_free(&seen);
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

void
fc_kernel(gen *g, decl *fn)
{
    rg_build_at(g->b, fn->place);
    rg_build_kernel_begin(g->b, rg_str_of(fn->name));
    if (fn->variadic)
        fc_fail(g, ERR_VARARGS, fn->place, fn->name);
    if (fn->type->kind != TYPE_VOID && fn->type->kind != TYPE_SCALAR) {
        fc_fail(g, ERR_RESULT_TYPE, fn->place, fn->type->name);
        fn = NULL;
    }
    if (fn && declare_parameters(g, fn)) {
        rg_build_shape_begin(g->b);
        for (uint32_t i = 0; i < fn->nparams; i++) {
            if (fn->params[i]->type->kind == TYPE_POINTER)
                array_extents(g, fn->params[i]);
        }
        rg_build_shape_end(g->b);
        kernel_body(g, fn);
    }
    rg_build_kernel_end(g->b);
}

/* -- entry points ---------------------------------------------------------------------------------- */
static bool
is_wanted(const front_c_source *source, const decl *fn)
{
    if (source->kernel)
        return strcmp(fn->name, source->kernel) == 0;
    return strcmp(fn->name, "main") != 0;
}

static void
generate(gen *g, const front_c_source *source, ir_module *m, diag_list *diags)
{
    decl **functions;
    uint32_t n = fc_unit_kernels(g->unit, &functions);
    bool found = false;
    for (uint32_t i = 0; i < n; i++) {
        if (!is_wanted(source, functions[i]))
            continue;
        found = true;
        fc_unit_import_body(g->unit, functions[i]);
        fc_kernel(g, functions[i]);
        ir_fn *fn = ir_fn_find(m, rg_str_of(functions[i]->name));
        if (fn)
            fc_check_races(g, fn);
    }
    if (!found && source->kernel)
        diag_add(diags, DIAG_ERROR, ERR_NO_KERNEL, (diag_place){.path = source->path},
                 "there is no function `%s` to compile as a kernel\na kernel is a function defined in "
                 "the main file with external linkage (not static)", source->kernel);
}

ir_module *
front_c_compile(const front_c_source *source, diag_list *diags)
{
    ir_module *m = ir_module_new();
    arena *a = arena_new();
    unsigned before = diags->errors;
    rg_builder *b = ir_builder_on(m, diags);
    gen g = {.module = m, .arena = a, .b = b};
    g.unit = fc_unit_parse(source, a, b, diags);
    if (g.unit)
        generate(&g, source, m, diags);
    fc_unit_close(g.unit);
    map_free(&g.reported);
    rg_builder_destroy(b);
    arena_free(a);
    if (diags->errors > before) {
        ir_module_free(m);
        return NULL;
    }
    return m;
}

static void
collect_names(unit *u, const front_c_source *source, front_c_names *names)
{
    decl **functions;
    uint32_t n = fc_unit_kernels(u, &functions);
    names->names = mem_zalloc((n + 1) * sizeof(*names->names));
    for (uint32_t i = 0; i < n; i++) {
        size_t size = strlen(functions[i]->name) + 1;
        if (!is_wanted(source, functions[i]))
            continue;
        names->names[names->count] = mem_alloc(size);
        memcpy(names->names[names->count++], functions[i]->name, size);
    }
}

bool
front_c_list(const front_c_source *source, front_c_names *names, diag_list *diags)
{
    ir_module *m = ir_module_new();
    arena *a = arena_new();
    rg_builder *b = ir_builder_on(m, diags);
    front_c_source all = *source;
    unit *u = fc_unit_parse(source, a, b, diags);
    *names = (front_c_names){0};
    all.kernel = NULL;
    if (u)
        collect_names(u, &all, names);
    fc_unit_close(u);
    rg_builder_destroy(b);
    arena_free(a);
    ir_module_free(m);
    return u != NULL;
}

void
front_c_names_free(front_c_names *names)
{
    for (uint32_t i = 0; i < names->count; i++)
        mem_free(names->names[i]);
    mem_free(names->names);
    *names = (front_c_names){0};
}

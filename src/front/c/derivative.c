/* rg_grad, rg_vjp and rg_jvp in kernel code: calls of a function's derivative. SPDX-License-Identifier: Apache-2.0
 *
 * kernel.h turns rg_grad(f, (x, y), (&gx, &gy)) into a call of __rg_grad whose first argument holds the call
 * f(x, y), which is not made: it says what is differentiated, and where. */
#include "front/c/instance.h"

typedef enum form { FORM_GRAD, FORM_VJP, FORM_JVP } form;

static const char *const form_names[] = {"rg_grad", "rg_vjp", "rg_jvp"};

/* What stands for the derivative of one argument. */
typedef struct entry {
    const node *node;
    bool none;        /* 0 */
    bool array;       /* a pointer */
    value given;      /* evaluated */
    int64_t count;    /* elements that it has room for; -1: not known, 0: one object */
} entry;

typedef struct derivative {
    form form;
    const node *node, *call;
    decl *fn;
    uint32_t n;
    argument *args;
    entry *entries;
    rg_value seed;
} derivative;

/* -- what was written ------------------------------------------------------------------------------- */
static const node *
without_casts(const node *n)
{
    while (n->kind == E_CAST)
        n = n->kid[0];
    return n;
}

static bool
is_nothing(const node *n)
{
    n = without_casts(n);
    return n->kind == E_INT && n->bits == 0;
}

/* (void)f(x, y), 0 */
static const node *
find_call(const node *n)
{
    n = without_casts(n);
    if (n->kind != E_COMMA)
        return NULL;
    n = without_casts(n->kid[0]);
    return n->kind == E_CALL && n->decl ? n : NULL;
}

static bool
returns_float(const decl *fn)
{
    return fn->type->kind == TYPE_SCALAR && fc_is_float_dtype(fn->type->dtype);
}

static bool
check_function(gen *g, const derivative *d)
{
    if (!fc_can_stay(g, d->fn, d->call->place))
        return false;
    const char *reason = NULL;
    if (d->fn->type->kind != TYPE_VOID && !returns_float(d->fn))
        reason = "it returns something else than a float";
    else if (d->form == FORM_GRAD && !returns_float(d->fn))
        reason = "it returns nothing: rg_vjp takes the adjoints of what it writes";
    if (reason)
        fc_fail(g, ERR_DERIVE_FUNCTION, d->call->place, d->fn->name, reason);
    return !reason;
}

static bool
entry_error(gen *g, const derivative *d, uint32_t i, const char *what)
{
    fc_fail(g, ERR_DERIVE_ENTRY, d->entries[i].node->place, d->fn->params[i]->name, what);
    return false;
}

static bool
has_floats(const ctype *t)
{
    while (t->kind == TYPE_ARRAY || t->kind == TYPE_POINTER)
        t = t->elem;
    if (t->kind != TYPE_STRUCT)
        return t->kind == TYPE_SCALAR && fc_is_float_dtype(t->dtype);
    for (uint32_t i = 0; i < t->rec->nfields; i++)
        if (t->rec->fields[i].type->kind != TYPE_POINTER && has_floats(t->rec->fields[i].type))
            return true;
    return false;
}

/* the entry as a pointer: where it leads, and how many elements are there */
static bool
pointer_entry(gen *g, const derivative *d, uint32_t i)
{
    entry *e = &d->entries[i];
    const ctype *param = d->fn->params[i]->type, *to = param->kind == TYPE_POINTER ? param->elem : param;
    if (!e->node->type || e->node->type->kind != TYPE_POINTER)
        return entry_error(g, d, i, "this is no pointer");
    if (!fc_same_elements(e->node->type->elem, to))
        return entry_error(g, d, i, "it points to another type");
    e->given = fc_expr(g, e->node);
    if (!e->given.at.object)
        return false;
    e->given.at = fc_pointed(g, &e->given.at, e->node);
    const place *p = &e->given.at;
    const leaf *l = &p->object->leaves[p->leaf];
    uint64_t start = 0;
    if (p->refused)
        return false;
    e->array = true;
    if (p->n == 0 || p->fixed)
        return true;
    e->count = p->n <= l->rank ? l->dim[p->n - 1] : -1;
    if (e->count < 0 || (p->index[p->n - 1] && !rg_value_is_const(p->index[p->n - 1], &start)))
        e->count = -1;
    else
        e->count -= (int64_t)start;
    return true;
}

static bool
see_entry(gen *g, const derivative *d, uint32_t i)
{
    entry *e = &d->entries[i];
    const ctype *t = d->fn->params[i]->type;
    if (is_nothing(e->node)) {
        e->none = true;
        return true;
    }
    if (!has_floats(t))
        return entry_error(g, d, i, "an argument without floats has no derivative: give 0");
    if (d->form != FORM_JVP || t->kind == TYPE_POINTER)
        return pointer_entry(g, d, i);
    e->given = fc_expr(g, e->node);
    if (t->kind == TYPE_STRUCT &&
        (e->node->type->kind != TYPE_STRUCT || !fc_same_elements(e->node->type, t) || !e->given.leaves))
        return entry_error(g, d, i, "the tangent of a struct is a struct of its type");
    if (t->kind == TYPE_SCALAR && !e->given.scalar)
        return entry_error(g, d, i, "the tangent of a scalar is a scalar");
    return true;
}

static bool
see_all(gen *g, derivative *d)
{
    uint32_t first = d->form == FORM_VJP ? 2 : 1;
    d->n = d->fn->nparams;
    if (d->node->count < first || d->node->count - first != d->n) {
        fc_fail(g, ERR_DERIVE_COUNT, d->node->place, form_names[d->form],
                fc_format(g->arena, "%u derivatives for the %u arguments of `%s`",
                          d->node->count < first ? 0 : d->node->count - first, d->n, d->fn->name));
        return false;
    }
    d->args = arena_new_n(g->arena, argument, d->n + 1);
    d->entries = arena_new_n(g->arena, entry, d->n + 1);
    int64_t *rows = arena_new_n(g->arena, int64_t, d->n + 1);
    for (uint32_t i = 0; i < d->n; i++) {
        d->entries[i].node = d->node->list[first + i];
        if (!see_entry(g, d, i))
            return false;
        rows[i] = d->entries[i].array ? d->entries[i].count : PASS_BUFFER;
    }
    return fc_classify(g, d->fn, d->call, rows, d->args);
}

/* -- elements of an entry beside those of its argument ------------------------------------------------- */
/* elements of the argument's row, from its pointer on, that the entry stands for; 0: does not fit */
static int64_t
elements_of(gen *g, const derivative *d, uint32_t i)
{
    const argument *a = &d->args[i];
    const entry *e = &d->entries[i];
    if (a->single)
        return 1;
    if (a->start < 0)
        return e->count > 0 ? (e->count < a->count ? e->count : a->count) : a->count;
    int64_t have = a->count - a->start;
    if (e->count < 0 || e->count >= have)
        return have;
    entry_error(g, d, i, fc_format(g->arena, "there is room for %lld elements, the argument has %lld",
                                   (long long)e->count, (long long)have));
    return 0;
}

/* Whether the entry is just such a row, from its start: one load or store for all of it. */
static bool
is_whole(const argument *a, const entry *e)
{
    const place *p = &e->given.at;
    const leaf *l = &p->object->leaves[p->leaf];
    uint64_t bits = 0;
    if (a->single)
        return true;
    bool starts = !p->index[p->n - 1] || (rg_value_is_const(p->index[p->n - 1], &bits) && bits == 0);
    return starts && a->start == 0 && p->n <= l->rank && l->dim[p->n - 1] == a->count;
}

static place
whole_place(const argument *a, const entry *e)
{
    place p = e->given.at;
    if (!a->single && !e->given.at.fixed) {
        p.n--;
        p.type = a->whole;
    }
    return p;
}

typedef void each_fn(gen *g, const place *at, uint32_t leaf, rg_value index, void *user);

/* calls `each` for every scalar: its place in the entry, its number in the argument's leaf */
static void
for_elements(gen *g, const derivative *d, uint32_t i, uint32_t leaf_number, each_fn *each, void *user)
{
    const argument *a = &d->args[i];
    const place *p = &d->entries[i].given.at;
    const leaf *l = &p->object->leaves[p->leaf + leaf_number];
    int64_t n = elements_of(g, d, i);
    uint32_t below = a->single ? a->leaf[leaf_number].length : fc_elements_below(l, p->n);
    rg_value k = NULL, start = a->start >= 0 ? fc_int_value(g, RG_I64, a->start)
                                             : fc_convert(g, RG_I64, a->given.at.index[a->given.at.n - 1]);
    if (!a->single)
        rg_build_for(g->b, fc_int_value(g, RG_I64, 0), fc_int_value(g, RG_I64, n), 1, &k);
    if (!a->single && a->start < 0) /* the row may end before the entry does */
        rg_build_if(g->b, rg_build_2(g->b, RG_OP_LT, rg_build_2(g->b, RG_OP_ADD, k, start),
                                     fc_int_value(g, RG_I64, a->count)));
    for (uint32_t j = 0; j < below; j++) {
        place at = a->single ? *p : fc_place_move(g, p, k, d->node);
        at = fc_place_below(g, l, &at, j);
        rg_value index = fc_int_value(g, RG_I64, j);
        if (!a->single) {
            rg_value element = fc_index_add(g, start, k);
            element = rg_build_2(g->b, RG_OP_MUL, element ? element : fc_int_value(g, RG_I64, 0),
                                 fc_int_value(g, RG_I64, below));
            index = rg_build_2(g->b, RG_OP_ADD, element, index);
        }
        each(g, &at, leaf_number, index, user);
    }
    if (!a->single && a->start < 0)
        rg_build_end(g->b);
    if (!a->single)
        rg_build_end(g->b);
}

static void
gather_element(gen *g, const place *at, uint32_t leaf_number, rg_value index, void *user)
{
    rg_var array = user;
    rg_value v = fc_convert(g, rg_value_type(rg_build_get(g->b, array)).dtype, fc_load_leaf(g, at, leaf_number));
    rg_build_set(g->b, array, rg_build_insert(g->b, rg_build_get(g->b, array), index, v));
}

/* what stands in an entry, as a leaf of the argument's adjoint or tangent */
static rg_value
gather(gen *g, const derivative *d, uint32_t i, uint32_t leaf_number)
{
    const argument *a = &d->args[i];
    const entry *e = &d->entries[i];
    rg_type t = fc_adjoint_leaf(a->leaf[leaf_number]);
    if (e->none)
        return t.length ? rg_build_array(g->b, t.dtype, t.length) : fc_zero_value(g, t.dtype);
    if (!e->array)
        return fc_convert(g, t.dtype, a->whole->kind == TYPE_SCALAR ? e->given.scalar
                                                                    : e->given.leaves[leaf_number]);
    if (is_whole(a, e) && (!t.length || t.dtype == a->leaf[leaf_number].dtype)) {
        place p = whole_place(a, e);
        rg_value v = fc_load_leaf(g, &p, leaf_number);
        return t.length ? v : fc_convert(g, t.dtype, v);
    }
    rg_var array = rg_build_var(g->b, RG_STR("gathered"), t);
    rg_build_set(g->b, array, rg_build_array(g->b, t.dtype, t.length));
    for_elements(g, d, i, leaf_number, gather_element, array);
    return rg_build_get(g->b, array);
}

typedef struct scattering {
    rg_value from;
    bool add;
    rg_dtype dtype; /* of what is stored */
} scattering;

static void
scatter_scalar(gen *g, const place *at, uint32_t leaf_number, rg_value v, const scattering *s)
{
    v = fc_convert(g, s->dtype, v);
    if (s->add)
        v = rg_build_2(g->b, RG_OP_ADD, fc_load_leaf(g, at, leaf_number), v);
    fc_store_leaf(g, at, leaf_number, v);
}

static void
scatter_element(gen *g, const place *at, uint32_t leaf_number, rg_value index, void *user)
{
    const scattering *s = user;
    scatter_scalar(g, at, leaf_number, rg_build_extract(g->b, s->from, index), s);
}

/* puts a leaf of an adjoint or tangent into its entry, or adds it */
static void
scatter(gen *g, const derivative *d, uint32_t i, uint32_t leaf_number, rg_value v, bool add)
{
    const argument *a = &d->args[i];
    const entry *e = &d->entries[i];
    scattering s = {v, add, a->leaf[leaf_number].dtype};
    if (e->none || !e->array || !fc_may_write(g, &e->given.at, d->node))
        return;
    if (!a->leaf[leaf_number].length) {
        place p = whole_place(a, e);
        scatter_scalar(g, &p, leaf_number, v, &s);
    } else if (is_whole(a, e) && !add && rg_value_type(v).dtype == s.dtype) {
        place p = whole_place(a, e);
        fc_store_leaf(g, &p, leaf_number, v);
    } else {
        for_elements(g, d, i, leaf_number, scatter_element, &s);
    }
}

/* -- the calls ---------------------------------------------------------------------------------------------- */
static uint32_t
written_leaves(const derivative *d, bool floats_only)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->n; i++)
        for (uint32_t k = 0; d->args[i].array && !d->args[i].constant && k < d->args[i].nleaves; k++)
            n += !floats_only || fc_leaf_floats(&d->args[i], k);
    return n;
}

static uint32_t
float_leaves(const derivative *d)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->n; i++)
        for (uint32_t k = 0; k < d->args[i].nleaves; k++)
            n += fc_leaf_floats(&d->args[i], k);
    return n;
}

/* Results come float ones first; the function's own order is put back. */
static rg_value *
in_order(gen *g, const derivative *d, const rg_value *floats, const rg_value *others)
{
    rg_value *out = arena_new_n(g->arena, rg_value, written_leaves(d, false) + 2);
    uint32_t at = 0;
    if (fc_result_leaves(d->fn))
        out[at++] = *floats++;
    for (uint32_t i = 0; i < d->n; i++)
        for (uint32_t k = 0; d->args[i].array && !d->args[i].constant && k < d->args[i].nleaves; k++)
            out[at++] = fc_leaf_floats(&d->args[i], k) ? *floats++ : *others++;
    return out;
}

/* the seeds: of the result, then of the arrays that are written */
static void
add_seeds(gen *g, const derivative *d, rg_values *out)
{
    if (fc_result_leaves(d->fn))
        list_push(g->arena, out, fc_convert(g, ir_adjoint_dtype(d->fn->type->dtype), d->seed));
    for (uint32_t i = 0; i < d->n; i++)
        for (uint32_t k = 0; d->args[i].array && !d->args[i].constant && k < d->args[i].nleaves; k++) {
            if (!fc_leaf_floats(&d->args[i], k))
                continue;
            rg_type t = fc_adjoint_leaf(d->args[i].leaf[k]);
            rg_value zero = NULL;
            if (d->form == FORM_GRAD)
                zero = t.length ? rg_build_array(g->b, t.dtype, t.length) : fc_zero_value(g, t.dtype);
            list_push(g->arena, out, zero ? zero : gather(g, d, i, k));
        }
}

static rg_value
call_vjp(gen *g, derivative *d, rg_fn fn)
{
    rg_values given = {0};
    fc_pass(g, d->fn, d->args, &given);
    add_seeds(g, d, &given);
    uint32_t adjoints = float_leaves(d), value_leaf = fc_result_leaves(d->fn);
    uint32_t floats = value_leaf + written_leaves(d, true), all = value_leaf + written_leaves(d, false);
    rg_value *results = arena_new_n(g->arena, rg_value, adjoints + all + 1);
    fc_at_node(g, d->node);
    rg_build_call_vjp(g->b, fn, (uint32_t)given.n, given.at, adjoints + all, results);
    rg_value *values = in_order(g, d, results + adjoints, results + adjoints + floats);
    uint32_t at = value_leaf, next = 0;
    fc_write_back(g, d->fn, d->args, values, &at, d->node);
    for (uint32_t i = 0; i < d->n; i++)
        for (uint32_t k = 0; k < d->args[i].nleaves; k++) {
            bool add = d->form == FORM_VJP && d->args[i].constant;
            if (fc_leaf_floats(&d->args[i], k))
                scatter(g, d, i, k, results[next++], add);
        }
    return value_leaf ? values[0] : NULL;
}

static rg_value
call_jvp(gen *g, derivative *d, rg_fn fn)
{
    rg_values given = {0};
    fc_pass(g, d->fn, d->args, &given);
    for (uint32_t i = 0; i < d->n; i++)
        for (uint32_t k = 0; k < d->args[i].nleaves; k++)
            if (fc_leaf_floats(&d->args[i], k))
                list_push(g->arena, &given, gather(g, d, i, k));
    uint32_t value_leaf = fc_result_leaves(d->fn);
    uint32_t tangents = value_leaf + written_leaves(d, true), all = value_leaf + written_leaves(d, false);
    rg_value *results = arena_new_n(g->arena, rg_value, tangents + all + 1);
    fc_at_node(g, d->node);
    rg_build_call_jvp(g->b, fn, (uint32_t)given.n, given.at, tangents + all, results);
    uint32_t at = tangents + value_leaf, next = value_leaf;
    fc_write_back(g, d->fn, d->args, results, &at, d->node);
    for (uint32_t i = 0; i < d->n; i++)
        for (uint32_t k = 0; d->args[i].array && !d->args[i].constant && k < d->args[i].nleaves; k++)
            if (fc_leaf_floats(&d->args[i], k))
                scatter(g, d, i, k, results[next++], false);
    return value_leaf ? results[0] : NULL;
}

static rg_value
make(gen *g, derivative *d)
{
    d->call = find_call(d->node->list[0]);
    if (!d->call) {
        fc_fail(g, ERR_DERIVE_FORM, d->node->place, form_names[d->form]);
        return NULL;
    }
    d->fn = d->call->decl;
    if (!check_function(g, d) || !see_all(g, d))
        return NULL;
    for (uint32_t i = 0; i < d->n; i++)
        if (d->entries[i].array && !elements_of(g, d, i))
            return NULL;
    if (d->form == FORM_VJP && returns_float(d->fn))
        d->seed = fc_scalar(g, d->node->list[1]);
    else if (returns_float(d->fn))
        d->seed = rg_build_float(g->b, d->fn->type->dtype, 1.0);
    rg_fn fn = fc_instance(g, d->fn, d->args);
    fc_at_node(g, d->node);
    return d->form == FORM_JVP ? call_jvp(g, d, fn) : call_vjp(g, d, fn);
}

bool
fc_derivative_call(gen *g, const node *n, value *out)
{
    static const char *const names[] = {"__rg_grad", "__rg_vjp", "__rg_jvp"};
    derivative d = {.node = n};
    size_t k = 0;
    while (k < countof(names) && strcmp(n->decl->name, names[k]) != 0)
        k++;
    if (k == countof(names) || n->decl->body || !n->count)
        return false;
    d.form = (form)k;
    rg_value v = make(g, &d);
    *out = fc_scalar_value(n->type, v ? v : fc_zero_value(g, RG_F64));
    return true;
}

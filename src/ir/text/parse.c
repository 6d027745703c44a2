/* Text to IR: functions and modules; text.h shows the form. SPDX-License-Identifier: Apache-2.0 */
#include "ir/text/parse.h"

static void
parse_param(parser *p)
{
    parse_region_param(p, p->fn->body);
    if (p->lex.stopped)
        return;
    const ir_value *v = p->fn->body->params[p->fn->body->nparams - 1];
    ir_param *param = &p->fn->params[p->fn->body->nparams - 1];
    param->name = v->name;
    param->flat = parse_skip_word(p, "flat");
    param->constant = parse_skip_word(p, "const");
    if (parse_skip_word(p, "record")) {
        parse_want(p, "(");
        param->record = (uint32_t)parse_int(p, "a record's number", 1, UINT32_MAX);
        parse_want(p, ",");
        param->field_offset = (uint32_t)parse_int(p, "an offset", 0, UINT32_MAX);
        parse_want(p, ",");
        param->record_size = (uint32_t)parse_int(p, "a size", 0, UINT32_MAX);
        if (parse_skip(p, ","))
            param->inner_axes = (uint32_t)parse_int(p, "how many axes an array inside the record has", 0, v->type.rank);
        parse_want(p, ")");
    }
    param->loc = parse_loc(p);
}

static void
check_result_types(parser *p, const token *at, const ir_type *types, size_t n)
{
    const ir_op *end = ir_terminator(p->fn->body);
    bool same = end && end->nargs == n;
    for (size_t i = 0; same && i < n; i++)
        same = ir_type_eq(end->args[i]->type, types[i]);
    if (!same && !p->lex.stopped && p->lex.diags->errors == p->errors_before)
        lex_error(&p->lex, at, E_RESULTS, "these are not the types that the function's yield has");
}

static void
parse_own(parser *p, const char *word, ir_fn **place)
{
    if (!parse_skip_word(p, word))
        return;
    pending_own own = {place, p->lex.now};
    if (p->lex.now.kind != TOKEN_GLOBAL) {
        parse_expected(p, "a function's name (@name)");
        return;
    }
    vec_push(&p->own, own);
    lex_next(&p->lex);
}

static void
parse_bodies(parser *p)
{
    vec(ir_type) types = {.in = p->scratch};
    token arrow = p->lex.now;
    bool typed = parse_skip(p, "->");
    if (typed) {
        parse_want(p, "(");
        if (!parse_at(p, ")")) {
            do
                vec_push(&types, parse_type(p));
            while (parse_skip(p, ","));
        }
        parse_want(p, ")");
    }
    parse_own(p, "vjp", &p->fn->vjp);
    parse_own(p, "jvp", &p->fn->jvp);
    p->fn->loc = parse_loc(p);
    if (parse_skip_word(p, "shape")) {
        p->fn->shape = ir_region_new(p->fn, NULL);
        parse_region(p, p->fn->shape);
    }
    parse_region(p, p->fn->body);
    if (typed)
        check_result_types(p, &arrow, types.at, types.n);
}

static void
parse_fn(parser *p)
{
    bool kernel = parse_skip_word(p, "kernel");
    if (!kernel && !parse_skip_word(p, "func")) {
        parse_expected(p, "`kernel` or `func`");
        return;
    }
    token name = p->lex.now;
    if (name.kind != TOKEN_GLOBAL || name.text.len == 0) {
        parse_expected(p, "a function's name (@name)");
        return;
    }
    if (ir_fn_find(p->m, name.text))
        lex_error(&p->lex, &name, E_TWICE, "two functions have this name");
    p->fn = ir_fn_new(p->m, arena_str(p->scratch, name.text), kernel);
    map_free(&p->names);
    lex_next(&p->lex);
    parse_want(p, "(");
    if (!parse_at(p, ")")) {
        do
            parse_param(p);
        while (parse_skip(p, ","));
    }
    parse_want(p, ")");
    parse_bodies(p);
}

static ir_fn *
resolve(parser *p, const token *name)
{
    ir_fn *fn = ir_fn_find(p->m, name->text);
    if (!fn)
        lex_error(&p->lex, name, E_FUNCTION, "no function of this name is in the module");
    return fn;
}

/* calls may stand before what they call */
static void
resolve_calls(parser *p)
{
    for (size_t i = 0; i < p->calls.n; i++)
        p->calls.at[i].op->attr.fn = resolve(p, &p->calls.at[i].name);
    for (size_t i = 0; i < p->own.n; i++)
        *p->own.at[i].place = resolve(p, &p->own.at[i].name);
}

static void
release_parser(void *parser_)
{
    parser *p = parser_;
    arena_free(p->scratch);
    ir_module_free(p->m);
}

static ir_module *
parse_module(rg_str text, const char *path, bool exact, diag_list *diags)
{
    parser p = {0};
    mem_owner owns;
    mem_own(&owns, release_parser, &p);
    p.scratch = p.names.in = p.calls.in = p.own.in = p.args.in = p.bytes.in = arena_new();
    p.m = ir_module_new();
    p.errors_before = diags->errors;
    p.exact = exact;
    lex_start(&p.lex, text, path, p.scratch, diags);
    while (p.lex.now.kind != TOKEN_END)
        parse_fn(&p);
    resolve_calls(&p);
    ir_module *m = NULL;
    if (diags->errors == p.errors_before) {
        m = p.m;
        p.m = NULL;
        for (ir_fn *fn = m->first; fn; fn = fn->next)
            ir_fn_scan_params(fn);
    }
    mem_disown(&owns);
    release_parser(&p);
    return m;
}

ir_module *
ir_parse(rg_str text, const char *path, diag_list *diags)
{
    return parse_module(text, path, false, diags);
}

ir_module *
ir_parse_exact(rg_str text, const char *path, diag_list *diags)
{
    return parse_module(text, path, true, diags);
}

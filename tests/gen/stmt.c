/* Statements of generated programs. SPDX-License-Identifier: Apache-2.0
 *
 * Every loop ends: counted ones by small bounds, others by fuel that their own condition burns. */
#include "state.h"

gen_node *
add(gen *g, const char *head)
{
    gen_node *node = arena_one(g->program->arena, gen_node);
    node->count = 1;
    node->parts[0].head = head;
    if (g->into->last)
        g->into->last->next = node;
    else
        g->into->first = node;
    g->into->last = node;
    vec_push(&g->program->nodes, node);
    return node;
}

scope
open_part(gen *g, gen_node *node, const char *head)
{
    scope s = {g->into, g->names.n};
    if (head)
        node->parts[node->count++].head = head;
    g->into = &node->parts[node->count - 1];
    g->depth++;
    return s;
}

void
close_part(gen *g, scope s)
{
    g->into = s.into;
    g->names.n = s.names;
    g->depth--;
}

/* A statement with one block below it. */
gen_node *
compound(gen *g, const char *head, const char *tail, scope *s)
{
    gen_node *node = add(g, head);
    node->tail = tail;
    *s = open_part(g, node, NULL);
    return node;
}

static void
declare_float(gen *g)
{
    const char *type = float_type(g), *value = damped(g);
    const char *line = fmt(g, "%s v%u = %s;", type, g->serial, value);
    const char *text = declare(g, type, true, 0, false)->text;
    add(g, line)->simple = fmt(g, "%s %s = 0.5;", type, text);
}

static void
declare_int(gen *g)
{
    const char *type = int_type(g), *value = int_expr(g, 2);
    const char *line = fmt(g, "%s k%u = (%s)(%s);", type, g->serial, type, value);
    const char *text = declare(g, type, false, 0, false)->text;
    add(g, line)->simple = fmt(g, "%s %s = 1;", type, text);
}

static void
declare_array(gen *g)
{
    bool is_float = chance(g, 75);
    const char *type = is_float ? float_type(g) : int_type(g);
    unsigned length = 2 + below(g, 5);
    const char *first = is_float ? damped(g) : int_expr(g, 1);
    if (chance(g, 40)) {
        const char *line = fmt(g, "%s a%u[%u] = {%s, %s};", type, g->serial, length, first,
                               is_float ? damped(g) : int_expr(g, 1));
        declare(g, type, is_float, length, false);
        add(g, line);
        return;
    }
    const char *line = fmt(g, "%s a%u[%u];", type, g->serial, length);
    const char *text = declare(g, type, is_float, length, false)->text;
    add(g, line);
    add(g, fmt(g, "for (int j = 0; j < %u; j++) %s[j] = %s%s;", length, text, first,
               is_float ? " + 0.1 * j" : " + j"));
}

/* A local struct; its members are names like any other. */
static void
declare_struct(gen *g)
{
    const char *text = fmt(g, "s%u", g->serial++);
    if (chance(g, 60))
        add(g, fmt(g, "struct pair %s = {%s, %s};", text, damped(g), int_expr(g, 1)));
    else
        add(g, fmt(g, "struct pair %s = {.k = %u, .a = %s};", text, below(g, 9), float_leaf(g)));
    vec_push(&g->names, ((name){fmt(g, "%s.a", text), "double", 0, true, false}));
    vec_push(&g->names, ((name){fmt(g, "%s.k", text), "int", 0, false, false}));
    if (chance(g, 50))
        add(g, fmt(g, "{ struct pair t = %s; t.a *= 0.5; t.k++; %s = t; }", text, text));
}

/* A pointer into an array that is only read; it is used as an array. */
static void
declare_pointer(gen *g)
{
    if (g->in_helper || !g->in_thread)
        return;
    const char *text = fmt(g, "p%u", g->serial++);
    bool row = chance(g, 50);
    add(g, row ? fmt(g, "const double *%s = q[i];", text)
               : fmt(g, "const double *%s = &w[%s];", text, index_below(g, 3)));
    vec_push(&g->names, ((name){text, "double", 3, true, true}));
}

static void
assign_float(gen *g)
{
    name *v = pick(g, true, true, false);
    if (!v) {
        declare_float(g);
        return;
    }
    const char *line, *t = v->text;
    switch (below(g, 7)) {
    case 0:
        line = fmt(g, "%s = %s;", t, damped(g));
        break;
    case 1:
        line = fmt(g, "%s += 0.%u * %s;", t, 1 + below(g, 2), damped(g));
        line = fmt(g, "%s %s *= 0.75;", line, t);
        break;
    case 2:
        line = fmt(g, "%s *= 0.%u * %s;", t, 3 + below(g, 6), damped(g));
        break;
    case 3:
        line = fmt(g, "%s -= 0.%u * (%s - %s);", t, 1 + below(g, 5), t, damped(g));
        break;
    default:
        line = fmt(g, "%s = 0.%u * %s + 0.%u * %s;", t, 3 + below(g, 5), t, 1 + below(g, 3),
                   damped(g));
    }
    add(g, line)->simple = fmt(g, "%s = 0.5 * %s + 0.25;", t, t);
}

static void
declare_other(gen *g)
{
    switch (below(g, 6)) {
    case 0:
    case 1:
        declare_int(g);
        break;
    case 2:
        declare_struct(g);
        break;
    case 3:
        declare_pointer(g);
        break;
    default:
        declare_array(g);
    }
}

static void
assign_int(gen *g)
{
    name *k = pick(g, false, true, false);
    if (!k) {
        declare_int(g);
        return;
    }
    const char *line, *t = k->text;
    switch (below(g, 6)) {
    case 0:
        if (strcmp(k->type, "bool") == 0)
            line = fmt(g, "%s = !%s;", t, t);
        else
            line = fmt(g, "%s%s;", t, chance(g, 50) ? "++" : "--");
        break;
    case 1:
        line = fmt(g, "%s ^= (%s)(%s);", t, k->type, int_expr(g, 1));
        break;
    case 2:
        line = fmt(g, "%s = (%s)(%s * 5 + %u);", t, k->type, t, below(g, 9));
        break;
    case 3:
        line = fmt(g, "%s = %s;", t, condition(g, 1));
        break;
    default:
        line = fmt(g, "%s = (%s)(%s);", t, k->type, int_expr(g, 2));
    }
    add(g, line)->simple = fmt(g, "%s = 2;", t);
}

static void
assign_element(gen *g)
{
    bool is_float = chance(g, 75);
    name *a = pick(g, is_float, true, true);
    if (!a) {
        declare_array(g);
        return;
    }
    const char *at = fmt(g, "%s[%s]", a->text, index_below(g, a->length));
    if (!is_float)
        add(g, fmt(g, "%s = (%s)(%s);", at, a->type, int_expr(g, 1)));
    else if (chance(g, 40))
        add(g, fmt(g, "%s *= 0.8 * %s;", at, damped(g)));
    else
        add(g, fmt(g, "%s = 0.6 * %s;", at, damped(g)))->simple = fmt(g, "%s[0] = 0.5;", a->text);
}

void
store_own(gen *g)
{
    unsigned k = below(g, 3);
    if (!g->in_thread || !g->own[k]) {
        assign_float(g);
        return;
    }
    const char *y = fmt(g, g->backwards ? "%s[n - 1 - i]" : "%s[i]", g->own[k]);
    switch (below(g, 5)) {
    case 0:
        if (g->loops == 0) {
            add(g, fmt(g, "%s += 0.2 * %s;", y, damped(g)));
            break;
        }
        /* fall through */
    case 1:
        add(g, fmt(g, "%s = 0.5 * %s + 0.4 * %s;", y, y, damped(g)));
        break;
    case 2:
        add(g, "#pragma omp atomic");
        add(g, fmt(g, "acc[%s] += %s;", index_below(g, 3), damped(g)));
        break;
    case 3:
        add(g, fmt(g, "count[i] += (int)(%s) & 15;", int_expr(g, 1)));
        break;
    default:
        add(g, fmt(g, "%s = %s;", y, damped(g)));
    }
}

static void
call_with_result(gen *g)
{
    name *into = pick(g, true, true, false), *out = pick(g, true, true, false);
    const helper *h = g->helpers.n ? &g->helpers.at[below(g, (unsigned)g->helpers.n)] : NULL;
    if (!h || !h->out || !into || !out || g->in_helper || into == out || g->loops > 2 ||
        strcmp(out->type, "double") != 0) {
        assign_float(g);
        return;
    }
    add(g, fmt(g, "%s = 0.8 * %s(%s, %s, (int)(%s), &%s);", into->text, h->text, damped(g),
               float_leaf(g), int_expr(g, 1), out->text));
}

static void
if_statement(gen *g)
{
    scope s;
    gen_node *node = compound(g, fmt(g, "if (%s) {", condition(g, 2)), "}", &s);
    block(g, 1 + below(g, 3));
    close_part(g, s);
    while (node->count < 4 && chance(g, 35)) {
        s = open_part(g, node, fmt(g, "} else if (%s) {", condition(g, 1)));
        block(g, 1 + below(g, 2));
        close_part(g, s);
    }
    if (chance(g, 45)) {
        s = open_part(g, node, "} else {");
        block(g, 1 + below(g, 3));
        close_part(g, s);
    }
}

static void
loop_body(gen *g, unsigned count)
{
    bool in_switch = g->in_switch;
    g->in_switch = false;
    g->loops++;
    block(g, count);
    g->loops--;
    g->in_switch = in_switch;
}

static const char *
trip_count(gen *g)
{
    unsigned around = g->loops + g->extra, limit = around == 0 ? 8 : around == 1 ? 5 : 3;
    switch (below(g, 4)) {
    case 0:
        return fmt(g, "%u", below(g, limit));
    case 1:
        if (g->in_thread)
            return fmt(g, "m[i] %% %u", limit);
        /* fall through */
    default:
        return fmt(g, "(int)((unsigned)(%s) %% %uu)", int_expr(g, 1), limit);
    }
}

static void
for_statement(gen *g)
{
    static const char *const types[] = {"int", "int", "long", "int64_t", "short", "unsigned"};
    scope s;
    const char *type = types[below(g, countof(types))], *count = trip_count(g), *head;
    unsigned number = g->serial;
    bool changes = chance(g, 20);
    switch (changes ? 3 : below(g, 4)) {
    case 0:
        head = fmt(g, "for (int k%u = %s; k%u > 0; k%u--) {", number, count, number, number);
        break;
    case 1:
        head =
            fmt(g, "for (int k%u = 1; k%u < 2 * (%s); k%u += 2) {", number, number, count, number);
        break;
    case 2:
        head = fmt(g, "for (%s k%u = 0; k%u < (%s)(%s); k%u++) {", type, number, number, type,
                   count, number);
        break;
    default:
        head = fmt(g, "for (int k%u = 0, e%u = %s; k%u < e%u; k%u++) {", number, number, count,
                   number, number, number);
    }
    compound(g, head, "}", &s);
    declare(g, type, false, 0, true);
    if (changes) {
        add(g, fmt(g, "if (%s) e%u--;", condition(g, 1), number));
        if (chance(g, 50))
            add(g, fmt(g, "if (%s) k%u++;", condition(g, 0), number));
    }
    loop_body(g, 1 + below(g, 4));
    close_part(g, s);
}

static void
while_statement(gen *g)
{
    scope s;
    unsigned fuel = g->loops + g->extra == 0 ? 9 : 4, number = g->serial++;
    add(g, fmt(g, "int f%u = %u;", number, 1 + below(g, fuel)));
    if (chance(g, 60)) {
        compound(g, fmt(g, "while (f%u-- > 0 && (%s)) {", number, condition(g, 1)), "}", &s);
        loop_body(g, 1 + below(g, 4));
    } else {
        const char *tail = fmt(g, "} while (--f%u > 0 && (%s));", number, condition(g, 1));
        compound(g, "do {", tail, &s);
        loop_body(g, 1 + below(g, 4));
    }
    close_part(g, s);
}

static void
switch_statement(gen *g)
{
    unsigned cases = 2 + below(g, 3), other = below(g, 5);
    bool was = g->in_switch;
    gen_node *node = add(g, fmt(g, "switch ((unsigned)(%s) %% 5u) {", int_expr(g, 1)));
    node->tail = "}";
    g->in_switch = true;
    for (unsigned c = 0; c < cases; c++) {
        scope label = open_part(g, node, c == other ? "default:" : fmt(g, "case %u:", c)), s;
        compound(g, "{", chance(g, 70) ? "} break;" : "} /* fall through */", &s);
        block(g, 1 + below(g, 2));
        close_part(g, s);
        close_part(g, label);
    }
    g->in_switch = was;
}

static void
jump(gen *g)
{
    const char *c = condition(g, 1);
    unsigned kind = below(g, 3);
    if (kind == 0 && g->in_helper)
        add(g, fmt(g, "if (%s) return %s;", c, damped(g)));
    else if (kind == 1 && (g->loops > 0 || (g->in_thread && chance(g, 30))))
        add(g, fmt(g, "if (%s) continue;", c));
    else if (g->loops > 0 || g->in_switch)
        add(g, fmt(g, "if (%s) break;", c));
    else
        assign_int(g);
}

static void
statement(gen *g)
{
    g->budget--;
    if (g->lanes && chance(g, 22)) {
        lane_statement(g);
        return;
    }
    unsigned kind = below(g, 20);
    bool shallow = g->depth < 7 && g->budget > 0;
    if (kind < 5)
        assign_float(g);
    else if (kind < 7)
        assign_int(g);
    else if (kind == 7)
        declare_float(g);
    else if (kind == 8)
        declare_other(g);
    else if (kind < 11)
        assign_element(g);
    else if (kind == 11)
        store_own(g);
    else if (kind == 12)
        jump(g);
    else if (kind == 13)
        call_with_result(g);
    else if (!shallow)
        assign_float(g);
    else if (kind < 16)
        if_statement(g);
    else if (kind == 16 && g->loops + g->extra < 3)
        while_statement(g);
    else if (kind < 19 && g->loops + g->extra < 3)
        for_statement(g);
    else
        switch_statement(g);
}

void
block(gen *g, unsigned count)
{
    for (unsigned k = 0; k < count; k++)
        statement(g);
}

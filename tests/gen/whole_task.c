/* Parallel loops: what a task does with each array is dealt first, so that no two threads race.
 * SPDX-License-Identifier: Apache-2.0 */
#include "whole_state.h"

/* -- roles ----------------------------------------------------------------------------------------------------------
 */

static whole_role
vector_role(whole_gen *g, bool fixed, bool chosen)
{
    unsigned k = below(g, 100);
    if (fixed)
        return k < 88 ? READ : NONE;
    if (k < 38)
        return READ;
    if (k < 74)
        return chance(g, !g->contest ? 25 : chosen ? 30 : 90) ? STORED : OWN;
    if (g->contest && k >= 94)
        return MUL + below(g, 3);
    return k < 88 ? ADD : NONE;
}

static whole_role
shared_role(whole_gen *g, bool fixed, bool small)
{
    unsigned k = below(g, 100);
    if (fixed)
        return READ;
    if (g->contest && k < 35)
        return MUL + below(g, 3);
    if (k < 60)
        return k % 2 ? READ : ADD;
    return small && k < 88 ? EACH : NONE;
}

static void
deal(whole_gen *g)
{
    for (int c = 0; c < g->classes; c++) {
        bool fixed = false, any = false, chosen = false;
        whole_shape shape = VECTOR;
        whole_role role, each[SMALL_LENGTH];
        for (unsigned k = 0; k < g->array_count; k++)
            if (g->arrays[k].class == c) {
                fixed |= g->arrays[k].fixed;
                shape = g->arrays[k].shape;
                chosen |= any; /* by a pointer */
                any = true;
            }
        if (!any)
            continue;
        role = shape == VECTOR || shape == GRID ? vector_role(g, fixed, chosen) : shared_role(g, fixed, shape == SMALL);
        if ((role == OWN || role == STORED) && g->in_grid != (shape == GRID))
            role = READ; /* several threads for an i */
        for (unsigned k = 0; k < SMALL_LENGTH; k++)
            each[k] = chance(g, 40) ? READ : g->contest && chance(g, 70) ? MUL + below(g, 3) : ADD;
        for (unsigned k = 0; k < g->array_count; k++)
            if (g->arrays[k].class == c) {
                g->arrays[k].role = role;
                memcpy(g->arrays[k].each, each, sizeof each);
            }
    }
}

/* An element that threads update with an atomic of that role; *role receives it. NULL: none was found. */
static const char *
shared_element(whole_gen *g, whole_role *role)
{
    for (unsigned tries = 0; tries < 10; tries++) {
        const whole_array *a = &g->arrays[below(g, g->array_count)];
        unsigned k = below(g, SMALL_LENGTH);
        if (a->hidden)
            continue;
        *role = a->role == EACH ? a->each[k] : a->role;
        if (*role >= ADD && *role <= MIN)
            return element(g, a, a->role == EACH ? put(g, "%u", k) : index_expr(g, a));
    }
    return NULL;
}

static const char *
own_element(whole_gen *g, bool *readable)
{
    for (unsigned tries = 0; tries < 10; tries++) {
        const whole_array *a = &g->arrays[below(g, g->array_count)];
        if (a->hidden || (a->role != OWN && a->role != STORED))
            continue;
        if (a->name[0] != 'p' && g->contest && chance(g, 50))
            continue; /* through a pointer, where there is one */
        *readable = a->role == OWN;
        whole_name *c = g->in_grid ? NULL : pick_name(g, false, false);
        return element(g, a, a->shape != GRID ? g->own : g->in_grid ? "i][j" : put(g, "i][%s %% m", c ? c->text : "1"));
    }
    return NULL;
}

/* -- a thread's statements -------------------------------------------------------------------------------------------
 */

static void thread_block(whole_gen *g, unsigned count);

static void
new_variable(whole_gen *g)
{
    bool real = chance(g, 75);
    const char *e = real ? real_expr(g, 2 + below(g, 2)) : int_expr(g), *v = fresh(g, real ? "v" : "c");
    line(g, "%s %s = %s;", real ? real_type(g) : "int", v, e);
    declare(g, v, real, false, 0);
}

static void
assign(whole_gen *g)
{
    whole_name *v = pick_name(g, true, true);
    if (!v) {
        new_variable(g);
        return;
    }
    const char *e = real_expr(g, 2);
    switch (below(g, 4)) {
    case 0:
        line(g, "%s += 0.3 * %s;", v->text, e);
        break;
    case 1:
        line(g, "%s *= %s;", v->text, e);
        break;
    default:
        line(g, "%s = %s;", v->text, e);
    }
}

void
use(whole_gen *g, const char *value)
{
    whole_role role;
    bool readable;
    const char *own = own_element(g, &readable), *shared = own && chance(g, 60) ? NULL : shared_element(g, &role);
    if (shared && role == ADD) {
        line(g, "#pragma omp atomic");
        line(g, "%s += 0.3 * %s;", shared, value);
    } else if (own) {
        line(g, "%s = %s;", own, value);
    } else {
        for (unsigned k = 0; k < g->reductions; k++)
            if (g->reduced_real[k] && *g->reduce_by[k] == '+') {
                line(g, "%s += %s;", g->reduced[k], value);
                break;
            }
    }
}

static void
store_own(whole_gen *g)
{
    bool readable;
    const char *to = own_element(g, &readable);
    if (!to) {
        assign(g);
        return;
    }
    const char *e = real_expr(g, 2);
    if (readable && g->captures && chance(g, 30)) {
        const char *v = fresh(g, "v");
        g->captures--;
        line(g, "%s %s;", real_type(g), v);
        line(g, "#pragma omp atomic capture");
        if (chance(g, 50))
            line(g, "{ %s = %s; %s += %s; }", v, to, to, e);
        else
            line(g, "%s = %s += %s;", v, to, e);
        declare(g, v, true, false, 0);
        use(g, v);
        return;
    }
    line(g, "%s %s %s;", to, readable ? (const char *[]){"=", "+=", "*=", "-="}[below(g, 4)] : "=", e);
}

static void
update_shared(whole_gen *g)
{
    whole_role role;
    const char *to = shared_element(g, &role);
    if (!to) {
        store_own(g);
        return;
    }
    const char *e = real_expr(g, 2);
    if (role == ADD) {
        line(g, "#pragma omp atomic");
        line(g, "%s %s %s * %s;", to, chance(g, 70) ? "+=" : "-=", chance(g, 50) ? "0.1" : "0.3", e);
    } else if (role == MUL) {
        line(g, "#pragma omp atomic");
        line(g, "%s *= 0.9 + 0.2 * %s(%s);", to, math(g, "sin"), e);
    } else {
        const char *v = fresh(g, "v"), *larger = role == MAX ? ">" : "<", *smaller = role == MAX ? "<" : ">";
        line(g, "%s %s = %s;", real_type(g), v, e);
        line(g, "#pragma omp atomic compare");
        if (chance(g, 60))
            line(g, "if (%s %s %s) %s = %s;", v, larger, to, to, v);
        else
            line(g, "if (%s %s %s) { %s = %s; }", to, smaller, v, to, v);
        declare(g, v, true, false, 0);
    }
}

static void
update_reduction(whole_gen *g)
{
    if (!g->reductions) {
        update_shared(g);
        return;
    }
    unsigned k = below(g, g->reductions);
    const char *s = g->reduced[k], *by = g->reduce_by[k];
    if (!g->reduced_real[k]) {
        if (chance(g, 80))
            line(g, "if (%s) %s++;", condition(g), s);
        else
            line(g, "%s += 1;", s);
        return;
    }
    const char *e = real_expr(g, 2 + below(g, 2));
    if (*by == '+' || *by == '-')
        line(g, "%s %s= %s * %s;", s, by, number(g), e);
    else if (*by == '*')
        line(g, "%s *= 0.9 + 0.2 * %s(%s);", s, math(g, "sin"), e);
    else if (chance(g, 60))
        line(g, "%s = %s(%s, %s);", s, math(g, *by == 'm' && by[1] == 'i' ? "fmin" : "fmax"), s, e);
    else {
        const char *v = fresh(g, "v");
        line(g, "%s %s = %s;", real_type(g), v, e);
        line(g, "if (%s %s %s) %s = %s;", v, by[1] == 'i' ? "<" : ">", s, s, v);
        declare(g, v, true, false, 0);
    }
}

static void
local_array(whole_gen *g)
{
    whole_name *known = pick_local_array(g), *c = pick_name(g, false, false);
    if (known && chance(g, 60)) {
        line(g, "%s[%s %% %u] = %s;", known->text, c ? c->text : "1", known->length, real_expr(g, 2));
        return;
    }
    unsigned length = 2 + below(g, 2);
    const char *a = fresh(g, "a");
    if (length == 2)
        line(g, "%s %s[2] = {%s, %s};", real_type(g), a, real_expr(g, 1), real_expr(g, 1));
    else
        line(g, "%s %s[3] = {%s, %s};", real_type(g), a, real_expr(g, 1), number(g));
    declare(g, a, true, false, length);
}

static void
inner_loop(whole_gen *g)
{
    unsigned names = g->name_count;
    const char *t = fresh(g, "t");
    whole_name *v = pick_name(g, true, true);
    if (v && chance(g, 35)) { /* until a value is reached, or it has taken too long */
        line(g, "int %s = 0;", t);
        declare(g, t, false, true, 0);
        bool once = chance(g, 30);
        open_block(g, "%s",
                   once ? "do"
                        : put(g, "while (%s %s %s && %s < 4)", v->text, chance(g, 50) ? "<" : ">", number(g), t));
        line(g, "%s++;", t);
        g->loops++;
        if (chance(g, 70))
            line(g, "%s = %s + 0.4 * %s;", v->text, v->text, real_expr(g, 1));
        thread_block(g, 1 + below(g, 2));
        g->loops--;
        if (once) {
            g->indent--;
            line(g, "} while (%s < 1.2 && %s < 3);", v->text, t);
        } else {
            close_block(g);
        }
    } else {
        open_block(g, "for (int %s = 0; %s < %s; %s++)", t, t, trips(g), t);
        declare(g, t, false, true, 0);
        g->loops++;
        if (v && chance(g, 50)) /* a state in time: what most tapes hold */
            line(g, "%s = %s(%s + %s) * %s;", v->text, math(g, chance(g, 50) ? "sin" : "cos"), v->text,
                 chance(g, 50) ? number(g) : real_expr(g, 1), chance(g, 50) ? "p" : number(g));
        thread_block(g, below(g, 3));
        if (chance(g, 35))
            line(g, "if (%s) %s;", condition(g), chance(g, 70) ? "break" : "continue");
        if (chance(g, 40))
            thread_block(g, 1);
        g->loops--;
        close_block(g);
    }
    g->name_count = names;
}

static void
thread_if(whole_gen *g)
{
    open_block(g, "if (%s)", condition(g));
    thread_block(g, 1 + below(g, 2));
    if (!g->loops && chance(g, 8))
        line(g, "continue;");
    if (chance(g, 40)) {
        g->indent--;
        line(g, "} else {");
        g->indent++;
        thread_block(g, 1 + below(g, 2));
    }
    close_block(g);
}

static void
thread_switch(whole_gen *g)
{
    whole_name *c = pick_name(g, false, false);
    unsigned loops = g->loops;
    open_block(g, "switch (%s %% 3)", c ? c->text : "2");
    g->loops = 1; /* no continue: cases are few */
    for (unsigned k = 0; k < 2; k++) {
        open_block(g, "case %u:", k);
        thread_block(g, 1);
        close_block(g);
        if (chance(g, 70))
            line(g, "break;");
    }
    open_block(g, "default:");
    thread_block(g, 1);
    close_block(g);
    g->loops = loops;
    close_block(g);
}

static void
thread_statement(whole_gen *g)
{
    unsigned kind = below(g, 100);
    if (kind < 18)
        new_variable(g);
    else if (kind < 28)
        assign(g);
    else if (kind < 48)
        store_own(g);
    else if (kind < 62)
        update_shared(g);
    else if (kind < 74)
        update_reduction(g);
    else if (kind < 79)
        local_array(g);
    else if (g->depth < 3 && kind < 86)
        inner_loop(g);
    else if (g->depth < 3 && kind < 91)
        thread_if(g);
    else if (g->depth < 3 && kind < 92)
        thread_switch(g);
    else if (g->in_grid || !derivative_statement(g))
        update_shared(g);
}

static void
thread_block(whole_gen *g, unsigned count)
{
    unsigned names = g->name_count;
    g->depth++;
    for (; count > 0 && g->budget > 0; count--, g->budget--) {
        statement_begin(g);
        thread_statement(g);
        statement_end(g);
    }
    g->depth--;
    if (g->depth > 0)
        g->name_count = names;
}

/* -- loops -----------------------------------------------------------------------------------------------------------
 */

static void
add_reduction(whole_gen *g, str *clauses)
{
    static const char *const by[] = {"+", "+", "+", "-", "*", "min", "max"};
    bool real = chance(g, 80);
    whole_name *s = pick_name(g, real, true);
    const char *name = s ? s->text : NULL;
    if (!s || chance(g, 60)) {
        name = fresh(g, real ? "s" : "c");
        if (real)
            line(g, "%s %s = %s;", real_type(g), name,
                 chance(g, 40)   ? "0.0"
                 : chance(g, 50) ? number(g)
                                 : real_expr(g, 1));
        else
            line(g, "int %s = 0;", name);
        declare(g, name, real, false, 0);
    }
    unsigned k = g->reductions++;
    g->reduced[k] = name;
    g->reduce_by[k] = real ? by[below(g, countof(by))] : "+";
    g->reduced_real[k] = real;
    for (unsigned j = 0; j < g->name_count; j++)
        if (g->names[j].text == name)
            g->names[j].busy = true;
    str_addf(clauses, " reduction(%s : %s)", g->reduce_by[k], name);
}

static const char *
loop_head(whole_gen *g)
{
    static const char *const heads[] = {
        "for (int i = 1; i < n - 1; i++)",  "for (int i = 0; i < n / 2; i++)",  "for (int i = 2; i < n - 1; i++)",
        "for (int i = 0; i <= n - 1; i++)", "for (int i = n - 1; i >= 0; i--)", "for (int i = 0; i < n; i += 2)",
    };
    return chance(g, 60) ? "for (int i = 0; i < n; i++)" : heads[below(g, countof(heads))];
}

void
task(whole_gen *g)
{
    static const char *const owns[] = {"i", "i", "i", "i", "n - 1 - i", "perm[i]"};
    unsigned names, depth = g->depth, loops = g->loops;
    str clauses = {0};
    g->tasks -= g->tasks > 0;
    statement_begin(g);
    g->reductions = 0;
    if (chance(g, 60))
        for (unsigned k = 1 + below(g, 2); k > 0; k--)
            add_reduction(g, &clauses);
    names = g->name_count;
    g->contest = chance(g, 22);
    g->in_grid = g->has_grid && chance(g, 15);
    g->own = owns[below(g, countof(owns))];
    g->in_thread = true;
    g->depth = g->loops = 0;
    g->budget = 3 + below(g, 9);
    deal(g);
    if (g->in_grid)
        line(g, "#pragma omp parallel for collapse(2)%s", clauses.ptr ? clauses.ptr : "");
    else
        line(g, "#pragma omp parallel for%s%s", clauses.ptr ? clauses.ptr : "",
             chance(g, 10) ? " schedule(dynamic)" : "");
    open_block(g, "%s", loop_head(g));
    declare(g, "i", false, true, 0);
    if (g->in_grid) {
        open_block(g, "for (int j = 0; j < m; j++)");
        declare(g, "j", false, true, 0);
    }
    unsigned count = 2 + below(g, 5), reductions = g->reductions;
    thread_block(g, count);
    g->depth = 1;
    g->budget = 2;
    for (unsigned k = 0; k < reductions; k++) {
        statement_begin(g);
        update_reduction(g);
        statement_end(g);
    }
    if (chance(g, 60)) {
        statement_begin(g);
        store_own(g);
        statement_end(g);
    }
    if (g->in_grid)
        close_block(g);
    close_block(g);
    g->in_thread = g->in_grid = false;
    g->depth = depth;
    g->loops = loops;
    g->name_count = names;
    for (unsigned k = 0; k < g->name_count; k++)
        g->names[k].busy = false;
    g->reductions = 0;
    statement_end(g);
    str_free(&clauses);
}

/* A term of a loss: what a state in time comes to, summed over threads. */
void
sum_task(whole_gen *g)
{
    static const char *const counts[] = {"m", "steps", "cnt[i]", "3"};
    const char *s = fresh(g, "s"), *from = NULL;
    for (unsigned tries = 0; tries < 12 && !from; tries++) {
        const whole_array *a = &g->arrays[below(g, g->array_count)];
        if (!a->hidden && a->shape == VECTOR)
            from = element(g, a, chance(g, 70) ? "i" : "n - 1 - i");
    }
    statement_begin(g);
    g->tasks -= g->tasks > 0;
    line(g, "%s %s = 0.0;", real_type(g), s);
    line(g, "#pragma omp parallel for reduction(+ : %s)", s);
    open_block(g, "for (int i = 0; i < n; i++)");
    line(g, "%s v = %s;", real_type(g), from ? from : number(g));
    line(g, "for (int t = 0; t < %s; t++)", counts[below(g, countof(counts))]);
    line(g, "    v = %s(v) * %s;", math(g, chance(g, 50) ? "sin" : "cos"), chance(g, 70) ? "p" : number(g));
    line(g, "%s += %s;", s, chance(g, 70) ? "v" : "v * v");
    close_block(g);
    declare(g, s, true, false, 0);
    statement_end(g);
}

/* Threads take slots in any order; what is made of them afterwards does not depend on it. */
void
compaction(whole_gen *g)
{
    const char *s = fresh(g, "s"), *c = fresh(g, "c");
    statement_begin(g);
    g->has_list = true;
    g->tasks -= g->tasks > 0;
    line(g, "#pragma omp parallel for");
    open_block(g, "for (int i = 0; i < n; i++)");
    open_block(g, "if (%s %s %s)", "x[i]", chance(g, 50) ? "<" : ">", chance(g, 50) ? "-0.1" : "0.2");
    line(g, "int k;");
    line(g, "#pragma omp atomic capture");
    line(g, "%s", chance(g, 60) ? "k = count[0]++;" : "{ k = count[0]; count[0] += 1; }");
    line(g, "list[k] = i;");
    close_block(g);
    if (chance(g, 35)) { /* an update whose winner a derivative looks for */
        bool larger = chance(g, 50);
        line(g, "%s v = %s(%s * x[i]);", real_type(g), math(g, "sin"), number(g));
        line(g, "#pragma omp atomic compare");
        line(g, "if (v %s acc[1]) acc[1] = v;", larger ? ">" : "<");
    }
    close_block(g);
    line(g, "%s %s = 0.0;", real_type(g), s);
    line(g, "int %s = count[0];", c);
    line(g, "#pragma omp parallel for reduction(+ : %s)", s);
    open_block(g, "for (int i = 0; i < %s; i++)", c);
    line(g, "%s += %s(x[list[i]]) * %s;", s, math(g, chance(g, 50) ? "sin" : "tanh"),
         chance(g, 50) ? number(g) : "x[list[i]]");
    if (chance(g, 40)) {
        line(g, "#pragma omp atomic");
        line(g, "acc[%u] += 0.2 * x[list[i]];", below(g, 4));
    }
    close_block(g);
    declare(g, s, true, false, 0);
    declare(g, c, false, false, 0);
    statement_end(g);
}

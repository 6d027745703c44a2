/* The functions that a program calls: helpers, and those whose derivatives it takes. SPDX-License-Identifier:
 * Apache-2.0
 *
 * The oracle's are templates, so that they can be called with dual numbers of dual numbers. */
#include "whole_state.h"

const whole_function *
pick_function(whole_gen *g, whole_signature s)
{
    unsigned found = 0;
    for (unsigned k = 0; k < g->function_count; k++)
        found += g->functions[k].signature == s;
    if (!found)
        return NULL;
    found = below(g, found);
    for (unsigned k = 0;; k++)
        if (g->functions[k].signature == s && found-- == 0)
            return &g->functions[k];
}

/* -- definitions ----------------------------------------------------------------------------------------------------
 */

static void
function_statements(whole_gen *g)
{
    for (unsigned k = below(g, 4); k > 0; k--) {
        statement_begin(g);
        switch (below(g, 4)) {
        case 0: {
            const char *v = fresh(g, "v"), *e = real_expr(g, 2);
            line(g, "%s %s = %s;", real_type(g), v, e);
            declare(g, v, true, false, 0);
            break;
        }
        case 1: {
            whole_name *v = pick_name(g, true, true);
            const char *t = fresh(g, "t");
            open_block(g, "for (int %s = 0; %s < %u; %s++)", t, t, 1 + below(g, 3), t);
            line(g, "%s = %s;", v->text, real_expr(g, 2));
            if (chance(g, 40))
                line(g, "if (%s) break;", condition(g));
            close_block(g);
            break;
        }
        case 2:
            line(g, "if (%s)", condition(g));
            line(g, "    return %s;", real_expr(g, 1));
            break;
        default:
            line(g, "%s = %s;", pick_name(g, true, true)->text, real_expr(g, 2));
        }
        statement_end(g);
    }
}

static void
begin_function(whole_gen *g, whole_signature s, const char *result, const char *name, const char *parameters)
{
    /* data may stay plain numbers where the rest is dual */
    line(g, "%sstatic %s", either(g, "", s == DATA ? "template <class T, class D> " : "template <class T> "), result);
    line(g, "%s(%s)", name, parameters);
    line(g, "{");
    g->indent++;
}

static void
end_function(whole_gen *g, const char *name, whole_signature s)
{
    g->indent--;
    line(g, "}");
    line(g, "%s", "");
    g->functions[g->function_count++] = (whole_function){name, s};
    g->name_count = 0;
}

static void
make_function(whole_gen *g, whole_signature s)
{
    static const char *const prefix[] = {"slope", "norm", "look", "map", "mix"};
    const char *name = fresh(g, prefix[s]), *T = real_type(g);
    declare(g, "a", true, s == MAP, 0);
    switch (s) {
    case ROW:
        begin_function(g, s, T, name, put(g, "%s a, const %s *p, int k", T, T));
        declare(g, put(g, "p[%u]", below(g, 2)), true, true, 0);
        declare(g, "p[k % 2]", true, true, 0);
        break;
    case DATA:
        begin_function(g, s, T, name, put(g, "%s a, const %s *data, int k", T, either(g, g->stored, "D")));
        line(g, "%s b = data[k];", T);
        declare(g, "b", true, false, 0);
        break;
    case MAP:
        begin_function(g, s, "void", name, put(g, "%s a, const %s *from, %s *to", T, T, T));
        line(g, "%s b = from[%u];", T, below(g, 2));
        declare(g, "b", true, false, 0);
        declare(g, "from[1]", true, true, 0);
        declare(g, "to[0]", true, chance(g, 30), 0);
        break;
    default:
        begin_function(g, s, T, name, put(g, "%s a, %s b", T, T));
        declare(g, "b", true, false, 0);
    }
    const whole_function *inner = pick_function(g, SCALARS);
    if (s == SCALARS && inner && chance(g, 30)) { /* a derivative in what is differentiated */
        line(g, "%s c = %s%s%sa, b%s1, 0%s;", T, either(g, "rg_jvp(", "jvp_scalars<T>([](auto x, auto y) { return "),
             inner->text, either(g, ", (", "<decltype(x)>(x, y); }, "), either(g, "), (", ", "), either(g, "))", ")"));
        declare(g, "c", true, true, 0);
    }
    if (s == MAP) {
        if (chance(g, 85))
            line(g, "to[1] = %s;", real_expr(g, 2));
        if (chance(g, 70))
            line(g, "to[0] %s %s;", (const char *[]){"=", "+=", "*="}[below(g, 3)], real_expr(g, 2));
        if (chance(g, 30))
            line(g, "to[%u] = %s;", below(g, 2), real_expr(g, 2));
    } else {
        function_statements(g);
        line(g, "return %s;", real_expr(g, 2));
    }
    end_function(g, name, s);
}

/* A helper that brings its derivative, which is the right one. */
static void
make_custom(whole_gen *g)
{
    const char *name = fresh(g, "own"), *T = g->real, *f = strcmp(T, "float") == 0 ? "f" : "";
    begin_function(g, HELPER, real_type(g), name, put(g, "%s a, %s b", real_type(g), real_type(g)));
    line(g, "return b * %s(a);", math(g, "sin"));
    end_function(g, name, HELPER);
    const char *vjp = put(g,
                          "static void\n%s_vjp(%s a, %s b, %s value, %s seed, %s *ga, %s *gb)\n{\n    *ga = seed * b * "
                          "cos%s(a);\n    *gb = seed * sin%s(a);\n"
                          "}\nRG_CUSTOM_VJP(%s, %s_vjp);\n",
                          name, T, T, T, T, T, T, f, f, name, name);
    line(g, "%s", either(g, vjp, ""));
}

void
make_functions(whole_gen *g)
{
    g->in_function = true;
    if (chance(g, 7))
        make_custom(g);
    for (unsigned k = below(g, 3); k > 0; k--)
        make_function(g, HELPER);
    if (chance(g, 45))
        for (unsigned k = 1 + below(g, 3); k > 0; k--)
            make_function(g, below(g, 4));
    g->in_function = false;
}

/* -- calls ----------------------------------------------------------------------------------------------------------
 */

const char *
call_helper(whole_gen *g, unsigned depth)
{
    const whole_function *f = pick_function(g, HELPER);
    if (!f)
        return NULL;
    const char *a = real_expr(g, depth), *b = real_expr(g, depth);
    return put(g, "%s%s(%s, %s)", f->text, either(g, "", g->in_function ? "<T>" : "<real>"), a, b);
}

/* rg_NAME(f, (   and, for the oracle,   NAME_kind<real>(f, */
static const char *
begin_call(whole_gen *g, const char *name, const char *kind, const whole_function *f, const char *length,
           const char *lambda)
{
    return either(g, put(g, "rg_%s(%s, (", name, f->text),
                  put(g, "%s_%s<%sreal>(%s, ", name, kind, length, put(g, lambda, f->text)));
}

static const char *
place(whole_gen *g, const char *name, bool wanted)
{
    return wanted ? put(g, "&%s", name) : either(g, "0", "nullptr");
}

/* Declares a float of the thread that starts with an expression, or with zero. */
static const char *
new_real(whole_gen *g, const char *start)
{
    const char *v = fresh(g, "g");
    line(g, "%s %s = %s;", real_type(g), v, start);
    return v;
}

/* Two floats in a row: a local array. */
static const char *
new_pair(whole_gen *g, bool zero)
{
    const char *v = fresh(g, "r");
    if (zero)
        line(g, "%s %s[2] = {0.0, 0.0};", real_type(g), v);
    else
        line(g, "%s %s[2] = {%s, %s};", real_type(g), v, real_expr(g, 1), real_expr(g, 1));
    return v;
}

static void
on_scalars(whole_gen *g, const whole_function *f)
{
    const char *lambda = "[](auto a, auto b) { return %s<decltype(a)>(a, b); }";
    const char *between = either(g, "), (", ", "), *end = either(g, "))", ")");
    const char *a = real_expr(g, 1), *b = real_expr(g, 1), *v, *ga, *gb;
    bool both = chance(g, 50);
    switch (below(g, 3)) {
    case 0:
        ga = new_real(g, "0.0"), gb = new_real(g, "0.0"), v = fresh(g, "v");
        line(g, "%s %s = %s%s, %s%s%s, %s%s;", real_type(g), v, begin_call(g, "grad", "scalars", f, "", lambda), a, b,
             between, place(g, ga, true), place(g, gb, both), end);
        break;
    case 1:
        ga = new_real(g, real_expr(g, 1)), gb = new_real(g, "0.0"), v = fresh(g, "v");
        line(g, "%s %s = %s%s, %s%s%s%s%s, %s%s;", real_type(g), v, begin_call(g, "vjp", "scalars", f, "", lambda), a,
             b, either(g, "), ", ", "), number(g), either(g, ", (", ", "), place(g, ga, true), place(g, gb, both), end);
        break;
    default:
        v = fresh(g, "v"), ga = gb = NULL;
        line(g, "%s %s = %s%s, %s%s%s, %s%s;", real_type(g), v, begin_call(g, "jvp", "scalars", f, "", lambda), a, b,
             between, number(g), both ? real_expr(g, 1) : "0", end);
    }
    declare(g, v, true, false, 0);
    if (ga)
        declare(g, ga, true, false, 0);
    if (gb)
        declare(g, gb, true, false, 0);
}

static void
on_row(whole_gen *g, const whole_function *f)
{
    const char *lambda = "[](auto a, auto p, int k) { return %s<decltype(a)>(a, p, k); }";
    const char *p = new_pair(g, false), *gp = new_pair(g, chance(g, 70)), *ga = new_real(g, "0.0"), *v = fresh(g, "v");
    const char *a = real_expr(g, 1), *k = put(g, "%u", below(g, 2)), *end = either(g, "))", ")");
    switch (below(g, 3)) {
    case 0:
        line(g, "%s %s = %s%s, %s, %s%s%s, %s%s%s;", real_type(g), v, begin_call(g, "grad", "row", f, "2, ", lambda), a,
             p, k, either(g, "), (", ", "), place(g, ga, chance(g, 70)), gp, either(g, ", 0", ""), end);
        break;
    case 1:
        line(g, "%s %s = %s%s, %s, %s%s%s%s%s, %s%s%s;", real_type(g), v, begin_call(g, "vjp", "row", f, "2, ", lambda),
             a, p, k, either(g, "), ", ", "), number(g), either(g, ", (", ", "), place(g, ga, chance(g, 70)), gp,
             either(g, ", 0", ""), end);
        break;
    default:
        line(g, "%s %s = %s%s, %s, %s%s%s, %s%s%s;", real_type(g), v, begin_call(g, "jvp", "row", f, "2, ", lambda), a,
             p, k, either(g, "), (", ", "), number(g), gp, either(g, ", 0", ""), end);
    }
    declare(g, v, true, false, 0);
    declare(g, ga, true, false, 0);
    declare(g, gp, true, false, 2);
}

/* An array of the kernel, direct or through a pointer that was chosen. */
static bool
on_data(whole_gen *g, const whole_function *f)
{
    const char *lambda = "[](auto a, auto p, int k) { return %s<decltype(a)>(a, p, k); }";
    const whole_array *from = NULL;
    for (unsigned tries = 0; tries < 12 && !from; tries++) {
        const whole_array *a =
            &g->arrays[g->array_count - 1 - below(g, tries < 4 ? 3 : g->array_count)]; /* pointers are last */
        if (a->shape == VECTOR && a->plain && !a->hidden && a->role == READ &&
            (a->fixed || a->name[0] == 'p' || chance(g, 40)))
            from = a;
    }
    if (!from)
        return false;
    /* one that the kernel writes may be read for what has no derivative */
    bool flat = !from->fixed && from->name[0] != 'p' && chance(g, 70);
    const char *ga = new_real(g, "0.0"), *v = fresh(g, "v"), *a = flat ? number(g) : real_expr(g, 1),
               *k = index_expr(g, from);
    if (chance(g, 70))
        line(g, "%s %s = %s%s, %s, %s%s%s%s%s;", real_type(g), v, begin_call(g, "grad", "data", f, "", lambda), a,
             from->name, k, either(g, "), (", ", "), place(g, ga, true), either(g, ", 0, 0", ""), either(g, "))", ")"));
    else
        line(g, "%s %s = %s%s, %s, %s%s%s%s%s;", real_type(g), v, begin_call(g, "jvp", "data", f, "", lambda), a,
             from->name, k, either(g, "), (", ", "), number(g), either(g, ", 0, 0", ""), either(g, "))", ")"));
    if (flat) {
        const char *steps = fresh(g, "v");
        line(g, "%s %s = 0.1 * %s(5.0 * (%s + %s));", real_type(g), steps, math(g, "floor"), v, ga);
        declare(g, steps, true, false, 0);
        use(g, put(g, "%s * %s", steps, real_expr(g, 1)));
        return true;
    }
    declare(g, v, true, false, 0);
    declare(g, ga, true, false, 0);
    use(g, put(g, "(%s + %s)", v, ga));
    return true;
}

static void
on_map(whole_gen *g, const whole_function *f)
{
    const char *lambda = "[](auto a, auto from, auto to) { %s<decltype(a)>(a, from, to); }";
    const char *from = new_pair(g, false), *to = new_pair(g, false), *dfrom = new_pair(g, false),
               *dto = new_pair(g, false);
    const char *a = real_expr(g, 1);
    if (chance(g, 60)) {
        const char *ga = new_real(g, "0.0");
        line(g, "%s%s, %s, %s%s%s, %s, %s%s;", begin_call(g, "vjp", "map", f, "2, ", lambda), a, from, to,
             either(g, "), 0, (", ", "), place(g, ga, chance(g, 80)), dfrom, dto, either(g, "))", ")"));
        declare(g, ga, true, false, 0);
    } else {
        line(g, "%s%s, %s, %s%s%s, %s, %s%s;", begin_call(g, "jvp", "map", f, "2, ", lambda), a, from, to,
             either(g, "), (", ", "), number(g), dfrom, dto, either(g, "))", ")"));
    }
    declare(g, to, true, false, 2);
    declare(g, dfrom, true, false, 2);
    declare(g, dto, true, false, 2);
}

bool
derivative_statement(whole_gen *g)
{
    const whole_function *f = pick_function(g, below(g, 4));
    if (!f)
        return false;
    switch (f->signature) {
    case SCALARS:
        on_scalars(g, f);
        return true;
    case ROW:
        on_row(g, f);
        return true;
    case DATA:
        return on_data(g, f);
    default:
        on_map(g, f);
        return true;
    }
}

/* Expressions of generated programs. SPDX-License-Identifier: Apache-2.0 */
#include "state.h"

const char *
fmt(gen *g, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = arena_alloc(g->program->arena, (size_t)n + 1);
    va_start(args, format);
    vsnprintf(text, (size_t)n + 1, format, args);
    va_end(args);
    return text;
}

unsigned
below(gen *g, unsigned n)
{
    return (unsigned)((gen_next(&g->random) >> 32) * n >> 32);
}

bool
chance(gen *g, unsigned percent)
{
    return below(g, 100) < percent;
}

const char *
float_type(gen *g)
{
    if (g->f64_only || chance(g, 70))
        return "double";
    g->program->mixed = true;
    return "float";
}

const char *
int_type(gen *g)
{
    static const char *const types[] = {"int",     "int",      "unsigned", "int64_t", "uint64_t",
                                        "int16_t", "uint16_t", "int8_t",   "uint8_t", "bool"};
    return types[below(g, countof(types))];
}

const name *
declare(gen *g, const char *type, bool is_float, unsigned length, bool fixed)
{
    const char *prefix = length ? "a" : is_float ? "v" : "k";
    name n = {fmt(g, "%s%u", prefix, g->serial++), type, length, is_float, fixed};
    vec_push(&g->names, n);
    return &vec_last(&g->names);
}

name *
pick(gen *g, bool is_float, bool assignable, bool array)
{
    unsigned found = 0;
    name *chosen = NULL;
    for (size_t i = 0; i < g->names.n; i++) {
        name *n = &g->names.at[i];
        if (n->is_float != is_float || (n->length > 0) != array || (assignable && n->fixed))
            continue;
        if (below(g, ++found) == 0)
            chosen = n;
    }
    return chosen;
}

const char *
index_below(gen *g, unsigned length)
{
    if (chance(g, 25))
        return fmt(g, "%u", below(g, length));
    return fmt(g, "(unsigned)(%s) %% %uu", int_expr(g, 1), length);
}

static const char *
literal(gen *g)
{
    return fmt(g, "%s0.%03u", chance(g, 30) ? "-" : "", 50 + below(g, 900));
}

/* An element of some array, written by nobody else. */
static const char *
load(gen *g)
{
    if (g->lanes && g->in_thread && chance(g, 35))
        return lane_load(g);
    switch (below(g, 5)) {
    case 0:
        return fmt(g, "w[%s]", index_below(g, 5));
    case 1:
        if (g->in_thread && g->own[0]) {
            unsigned k = below(g, 3);
            if (g->own[k])
                return fmt(g, g->backwards ? "%s[n - 1 - i]" : "%s[i]", g->own[k]);
        }
        break;
    case 2: {
        unsigned k = below(g, 3);
        if (g->in_thread && g->far[k])
            return fmt(g, "%s[(i + %u) %% n]", g->far[k], below(g, 4));
        break;
    }
    case 3:
        if (g->in_thread)
            return fmt(g, "q[i][%s]", index_below(g, 3));
        break;
    }
    return g->in_thread ? "x[i]" : fmt(g, "w[%u]", below(g, 5));
}

const char *
float_leaf(gen *g)
{
    name *n;
    switch (below(g, 9)) {
    case 0:
        return literal(g);
    case 1:
        if (!g->in_helper)
            return load(g);
        break;
    case 2:
        if ((n = pick(g, true, false, true)))
            return fmt(g, "%s[%s]", n->text, index_below(g, n->length));
        break;
    case 3:
        return fmt(g, "0.1 * (double)((%s) %% 7)", int_expr(g, 1));
    }
    n = pick(g, true, false, false);
    return n ? n->text : literal(g);
}

static const char *
call_helper(gen *g, unsigned depth)
{
    const helper *h = &g->helpers.at[below(g, (unsigned)g->helpers.n)];
    const char *a = float_expr(g, depth - 1), *b = float_leaf(g);
    if (h->out) /* called in statements of their own: the order of effects is then C's */
        return fmt(g, "sin(%s + %s)", a, b);
    return fmt(g, "%s(%s, %s, (int)(%s))", h->text, a, b, int_expr(g, 1));
}

/* f of the right width for the program: sin or, in mixed programs now and then, sinf */
static const char *
math(gen *g, const char *f)
{
    if (g->f64_only || chance(g, 75))
        return f;
    g->program->mixed = true;
    return fmt(g, "%sf", f);
}

static const char *
float_call(gen *g, unsigned depth)
{
    static const char *const plain[] = {"sin", "cos", "tanh", "atan", "fabs", "erf", "asinh"};
    const char *u = float_expr(g, depth - 1), *v = float_leaf(g);
    switch (below(g, 16)) {
    case 0:
        return fmt(g, "%s(-(%s) * (%s))", math(g, "exp"), v, v);
    case 1:
        return fmt(g, "%s(0.5 + 0.5 * (%s) * (%s))", math(g, "sqrt"), v, v);
    case 2:
        return fmt(g, "%s(1.5 + 0.5 * (%s) * (%s))", math(g, "log"), v, v);
    case 3:
        return fmt(g, "%s(%s, %s)", math(g, chance(g, 50) ? "fmin" : "fmax"), u, v);
    case 4:
        return fmt(g, "%s(%s, 1.5 + 0.5 * (%s) * (%s))", math(g, "atan2"), u, v, v);
    case 5:
        return fmt(g, "%s(1.2 + 0.1 * sin(%s), %s)", math(g, "pow"), u,
                   chance(g, 50)   ? v
                   : chance(g, 50) ? "1.5"
                                   : "3.0");
    case 6:
        return fmt(g, "0.5 * %s(%s, %s)", math(g, "hypot"), u, literal(g));
    case 7:
        return fmt(g, "%s(%s, %s)", math(g, "copysign"), u, v);
    case 8:
        return fmt(g, "%s(%s, 1.25)", math(g, chance(g, 50) ? "fmod" : "remainder"), u);
    case 9:
        return fmt(g, "0.25 * (double)(int)(4.0 * (%s)) * (%s)", u, v);
    case 10:
        return fmt(g, "%s(%s, 0.5, 0.5 * (%s))", math(g, "fma"), u, v);
    case 11:
        return fmt(g, "(%s) %s (%s) * 0.5", u, chance(g, 50) ? "-" : "+", v);
    case 12:
        return fmt(g, "0.3 * %s(2.0 * (%s)) + (%s)", math(g, chance(g, 50) ? "floor" : "rint"), u,
                   v);
    default:
        return fmt(g, "%s(%s)", math(g, plain[below(g, countof(plain))]), u);
    }
}

const char *
float_expr(gen *g, unsigned depth)
{
    if (depth == 0)
        return float_leaf(g);
    switch (below(g, 10)) {
    case 0:
        return float_leaf(g);
    case 1:
        return fmt(g, "0.5 * (%s) * (%s)", float_expr(g, depth - 1), float_leaf(g));
    case 2:
        return fmt(g, "0.5 * (%s %s %s)", float_expr(g, depth - 1), chance(g, 40) ? "-" : "+",
                   float_leaf(g));
    case 3:
        return fmt(g, "(%s) / (1.5 + (%s) * (%s))", float_expr(g, depth - 1), float_leaf(g),
                   float_leaf(g));
    case 4:
        return fmt(g, "((%s) ? %s : %s)", condition(g, depth - 1), float_expr(g, depth - 1),
                   float_leaf(g));
    case 5:
        if (g->helpers.n && !g->in_helper && g->loops < 3)
            return call_helper(g, depth);
        /* fall through */
    default:
        return float_call(g, depth);
    }
}

const char *
damped(gen *g)
{
    static const char *const outer[] = {"sin", "cos", "tanh"};
    if (chance(g, 12)) {
        name *n = pick(g, true, false, false);
        if (n)
            return n->text;
    }
    return fmt(g, "%s(%s)", math(g, outer[below(g, 3)]), float_expr(g, 1 + below(g, 3)));
}

const char *
int_expr(gen *g, unsigned depth)
{
    static const char *const ops[] = {"+", "-", "*", "&", "|", "^"};
    name *n = pick(g, false, false, false);
    if (g->lanes && g->in_thread && chance(g, 15))
        return lane_int(g);
    if (depth == 0 || !n)
        return n && chance(g, 85) ? n->text : fmt(g, "%u", below(g, 9));
    switch (below(g, 8)) {
    case 0:
        return fmt(g, "(%s) >> %u", int_expr(g, depth - 1), 1 + below(g, 3));
    case 1:
        return fmt(g, "(%s) %% %u", int_expr(g, depth - 1), 2 + below(g, 5));
    case 2: {
        name *f = pick(g, true, false, false);
        return f ? fmt(g, "(int)(3.0 * %s)", f->text) : n->text;
    }
    case 3: {
        name *a = pick(g, false, false, true);
        return a ? fmt(g, "%s[%s]", a->text, index_below(g, a->length)) : n->text;
    }
    case 4:
        return chance(g, 50) ? fmt(g, "(%s) / %u", int_expr(g, depth - 1), 2 + below(g, 4))
                             : fmt(g, "-(%s)", n->text);
    default:
        return fmt(g, "(%s) %s (%s)", n->text, ops[below(g, countof(ops))], int_expr(g, depth - 1));
    }
}

const char *
condition(gen *g, unsigned depth)
{
    static const char *const compare[] = {"<", ">", "<=", ">=", "==", "!="};
    if (depth > 0 && chance(g, 30))
        return fmt(g, "(%s) %s (%s)", condition(g, depth - 1), chance(g, 50) ? "&&" : "||",
                   condition(g, depth - 1));
    switch (below(g, 5)) {
    case 0:
        return fmt(g, "(%s) %% %u == %u", int_expr(g, 1), 2 + below(g, 3), below(g, 3));
    case 1:
        return fmt(g, "(%s) %s %u", int_expr(g, 1), compare[below(g, 6)], below(g, 5));
    case 2:
        return fmt(g, "!((%s) & %u)", int_expr(g, 0), 1 + below(g, 3));
    default:
        return fmt(g, "%s %s %s", float_leaf(g), compare[below(g, 4)],
                   chance(g, 50) ? literal(g) : float_leaf(g));
    }
}

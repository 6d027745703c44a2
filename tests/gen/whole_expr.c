/* Names in scope, and expressions of them. SPDX-License-Identifier: Apache-2.0 */
#include "whole_state.h"

const char *
real_type(whole_gen *g)
{
    return either(g, g->real, g->in_function ? "T" : "real");
}

const char *
stored_type(whole_gen *g)
{
    return either(g, g->stored, g->in_function ? "T" : "real");
}

/* A function of <math.h>: sin, or sinf of a kernel of float. */
const char *
math(whole_gen *g, const char *name)
{
    return strcmp(g->real, "float") == 0 ? put(g, "%s%s", name, either(g, "f", "")) : name;
}

void
declare(whole_gen *g, const char *text, bool real, bool fixed, unsigned length)
{
    if (g->name_count < WHOLE_NAMES)
        g->names[g->name_count++] =
            (whole_name){.text = text, .real = real, .fixed = fixed, .length = length, .thread = g->in_thread};
}

/* Threads only read what belongs to the kernel. */
static bool
suits(const whole_gen *g, const whole_name *n, bool real, bool assignable)
{
    return n->real == real && !n->length && !n->busy && !(assignable && (n->fixed || (g->in_thread && !n->thread)));
}

whole_name *
pick_name(whole_gen *g, bool real, bool assignable)
{
    unsigned found = 0, recent = 0;
    for (unsigned k = 0; k < g->name_count; k++)
        found += suits(g, &g->names[k], real, assignable);
    if (!found)
        return NULL;
    /* what was made last is used most */
    recent = chance(g, 40) ? found - 1 : below(g, found);
    for (unsigned k = 0;; k++)
        if (suits(g, &g->names[k], real, assignable) && recent-- == 0)
            return &g->names[k];
}

whole_name *
pick_local_array(whole_gen *g)
{
    unsigned found = 0;
    for (unsigned k = 0; k < g->name_count; k++)
        found += g->names[k].length && g->names[k].thread == g->in_thread;
    if (!found)
        return NULL;
    found = below(g, found);
    for (unsigned k = 0;; k++)
        if (g->names[k].length && g->names[k].thread == g->in_thread && found-- == 0)
            return &g->names[k];
}

const char *
number(whole_gen *g)
{
    if (chance(g, 20))
        return "0.5";
    return put(g, "0.%03u", 51 + below(g, 940));
}

/* -- elements -------------------------------------------------------------------------------------------------------
 */

const char *
element(whole_gen *g, const whole_array *a, const char *index)
{
    str text = {0};
    const char *slot = strstr(a->access, "%s");
    str_add(&text, (rg_str){a->access, (size_t)(slot - a->access)});
    str_addz(&text, index);
    str_addz(&text, slot + 2);
    const char *made = put(g, "%s", text.ptr);
    str_free(&text);
    return made;
}

static const char *
small_int(whole_gen *g)
{
    whole_name *n = pick_name(g, false, false);
    return n ? n->text : "1";
}

static const char *
vector_index(whole_gen *g)
{
    if (g->in_thread)
        switch (below(g, 11)) {
        case 0:
            return "idx[i]";
        case 1:
            return "perm[i]";
        case 2:
            return "n - 1 - i";
        case 3:
            return put(g, "(i + %u) %% n", 1 + below(g, 4));
        case 4:
            return "0";
        case 5:
            return "idx[idx[i]]";
        case 6:
            return put(g, "(%s + %u) %% n", small_int(g), below(g, 4));
        case 7:
            return "i > 0 ? i - 1 : 0";
        case 8:
            return "i < n - 1 ? i + 1 : n - 1";
        default:
            return "i";
        }
    switch (below(g, 4)) {
    case 0:
        return "0";
    case 1:
        return "n - 1";
    case 2:
        return put(g, "%u %% n", below(g, 9));
    default:
        return put(g, "(%s + %u) %% n", small_int(g), below(g, 4));
    }
}

const char *
index_expr(whole_gen *g, const whole_array *a)
{
    switch (a->shape) {
    case SMALL:
        if (chance(g, 50))
            return put(g, "%u", below(g, SMALL_LENGTH));
        return put(g, "(%s + %u) %% 4", g->in_thread && chance(g, 50) ? "i" : small_int(g), below(g, 4));
    case BINS:
        if (g->in_thread)
            return put(g, "%s %% nb", (const char *[]){"i", "idx[i]", "(i + 2)", "perm[i]"}[below(g, 4)]);
        return chance(g, 50) ? "nb - 1" : put(g, "%s %% nb", small_int(g));
    case GRID:
        return put(g, "%s][%s %% m", vector_index(g), g->in_grid ? "j" : small_int(g));
    default:
        return vector_index(g);
    }
}

/* The thread's own element. */
static const char *
own_index(whole_gen *g, const whole_array *a)
{
    if (a->shape != GRID)
        return g->own;
    return g->in_grid ? "i][j" : put(g, "i][%s %% m", small_int(g));
}

const char *
load(whole_gen *g)
{
    for (unsigned tries = 0; tries < 6; tries++) {
        const whole_array *a = &g->arrays[below(g, g->array_count)];
        if (a->hidden)
            continue;
        if (!g->in_thread || a->role == READ)
            return element(g, a, index_expr(g, a));
        if (a->role == OWN)
            return element(g, a, own_index(g, a));
        if (a->role == EACH)
            for (unsigned k = 0; k < SMALL_LENGTH; k++)
                if (a->each[k] == READ && chance(g, 60))
                    return element(g, a, put(g, "%u", k));
    }
    return NULL;
}

/* -- expressions ----------------------------------------------------------------------------------------------------
 */

static const char *
leaf(whole_gen *g)
{
    whole_name *n;
    const char *text;
    unsigned kind = below(g, 10);
    if (kind < 4 && !g->in_function && (text = load(g)))
        return text;
    if (kind == 4 && (n = pick_local_array(g)))
        return chance(g, 50) ? put(g, "%s[%u]", n->text, below(g, n->length))
                             : put(g, "%s[%s %% %u]", n->text, small_int(g), n->length);
    if (kind == 5 && (n = pick_name(g, false, false)))
        return put(g, "0.1 * (%s)%s", real_type(g), n->text);
    if (kind < 9 && (n = pick_name(g, true, false)))
        return n->text;
    return number(g);
}

static const char *
raw_expr(whole_gen *g, unsigned depth)
{
    if (depth == 0 || chance(g, 18))
        return leaf(g);
    const char *a = real_expr(g, depth - 1), *b, *c;
    switch (below(g, 30)) {
    case 0:
    case 1:
    case 2:
        b = real_expr(g, depth - 1);
        return put(g, "%s * %s + %s * %s", number(g), a, number(g), b);
    case 3:
    case 4:
    case 5:
        b = real_expr(g, depth - 1);
        return put(g, "%s * %s", a, b);
    case 6:
    case 7:
        return put(g, "%s(%s)", math(g, "sin"), a);
    case 8:
        return put(g, "%s(%s)", math(g, "cos"), a);
    case 9:
        return put(g, "%s(%s)", math(g, "tanh"), a);
    case 10:
        return put(g, "%s(0.3 * %s(%s))", math(g, "exp"), math(g, "sin"), a);
    case 11:
        b = leaf(g);
        return put(g, "%s(1.0 + %s * %s)", math(g, "sqrt"), b, b);
    case 12:
        return put(g, "%s(2.0 + %s(%s))", math(g, "log"), math(g, "sin"), a);
    case 13:
        b = real_expr(g, depth - 1);
        return put(g, "%s / (1.5 + %s(%s))", a, math(g, "cos"), b);
    case 14:
        b = real_expr(g, depth - 1);
        return put(g, "%s(%s, 2.0 + %s(%s))", math(g, "atan2"), a, math(g, "cos"), b);
    case 15:
        return put(g, "%s(1.5 + %s(%s), 1.813)", math(g, "pow"), math(g, "sin"), a);
    case 16:
    case 17:
        b = real_expr(g, depth - 1);
        return put(g, "%s(%s, %s)", math(g, chance(g, 50) ? "fmin" : "fmax"), a, b);
    case 18:
        return put(g, "%s(%s)", math(g, "fabs"), a);
    case 19:
    case 20:
        b = real_expr(g, depth - 1);
        c = condition(g);
        return put(g, "%s ? %s : %s", c, a, b);
    case 21:
        b = real_expr(g, depth - 1);
        return put(g, "%s(%s, %s, %s)", math(g, "fma"), a, number(g), b);
    case 22:
        return put(g, "%s(1.0, %s)", math(g, "hypot"), a);
    case 23:
        return put(g, "0.1 * %s(3.0 * %s)", math(g, "floor"), a);
    case 24:
        return put(g, "0.2 * (%s)(int)(1.5 + 1.4 * %s(%s))", real_type(g), math(g, "sin"), a);
    case 25:
        return put(g, "%s(%s)", math(g, (const char *[]){"atan", "erf", "asinh", "tanh"}[below(g, 4)]), a);
    default:
        b = call_helper(g, depth - 1);
        return b ? b : put(g, "%s - %s", a, number(g));
    }
}

const char *
real_expr(whole_gen *g, unsigned depth)
{
    if (depth == 0)
        return leaf(g);
    /* a VALUE region, see whole_text.c; math functions of literals alone are those of C++ */
    return put(g, "\5%s(%s)\6", either(g, "", g->in_function ? "(T)" : "(real)"), raw_expr(g, depth));
}

const char *
int_expr(whole_gen *g)
{
    switch (below(g, 7)) {
    case 0:
        return g->in_thread ? "cnt[i]" : "steps";
    case 1:
        return g->in_thread ? "idx[i]" : "2";
    case 2:
        return put(g, "(%s + %u) %% n", g->in_thread && chance(g, 60) ? "i" : small_int(g), 1 + below(g, 4));
    case 3:
        return put(g, "%s %% 4", small_int(g));
    case 4:
        return put(g, "(int)(1.5 + 1.4 * %s(%s))", math(g, "sin"), real_expr(g, 1));
    case 5:
        return put(g, "%s ? 1 : 2", condition(g));
    default:
        return put(g, "%u", below(g, 4));
    }
}

const char *
trips(whole_gen *g)
{
    switch (below(g, 6)) {
    case 0:
        return g->in_thread ? "cnt[i]" : "steps";
    case 1:
        return put(g, "%s %% 4", small_int(g));
    case 2:
        return put(g, "(int)(1.5 + 1.4 * %s(%s))", math(g, "sin"), real_expr(g, 1));
    case 3:
        return "steps";
    default:
        return put(g, "%u", 1 + below(g, 4));
    }
}

const char *
condition(whole_gen *g)
{
    const char *op = (const char *[]){"<", ">"}[below(g, 2)];
    switch (below(g, g->in_function ? 4 : 9)) {
    case 0:
    case 1:
    case 2:
        return put(g, "(%s %s %s)", real_expr(g, 1), op, number(g));
    case 3:
        return put(g, "(%s %s %s)", real_expr(g, 1), op, real_expr(g, 1));
    case 4:
        return put(g, "(%s %% 3 == %u)", small_int(g), below(g, 3));
    case 5:
        return put(g, "(%s > %s && %s < 0.9)", leaf(g), number(g), leaf(g));
    case 6:
        return "flag";
    case 7:
        return g->in_thread ? "(idx[i] > 2)" : "(steps > 2)";
    default:
        return put(g, "(%s || %s > 0.7)", g->in_thread ? "i % 2" : "flag", leaf(g));
    }
}

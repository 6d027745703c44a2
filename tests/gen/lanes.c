/* What threads that run side by side find hard. SPDX-License-Identifier: Apache-2.0
 *
 * Only in programs that are made for it (gen_options.lanes), whose kernel has more parameters: bins and tickets are
 * what all threads count in (bins with updates that commute, each ticket is taken at one place, so that its order is
 * the threads'), once[k] is stored by one thread, and grid has a thread for each element. Nothing reads bins and
 * once. Elements of narrow and
 * wide arrays (yf, flag, c64) belong to the thread that has x[i]'s. */
#include "state.h"

enum { TICKETS = 6, ONCE = 6 };

const char *
lane_parameters(gen *g)
{
    static const char all[] = ",\n          int bins[6], int tickets[6], double once[6], int n2, double grid[n][n2],\n"
                              "          const uint8_t b8[n], const int16_t b16[n], uint8_t flag[n], int64_t c64[n]";
    return g->f64_only ? all : fmt(g, "%s, const float xf[n], float yf[n]", all);
}

/* -- expressions ------------------------------------------------------------------------------- */

/* An element of a read-only array: next to the thread's own, from the end, strided, the same for all, at random; with
 * subscripts of many widths, and some that wrap around. */
const char *
lane_load(gen *g)
{
    if (!g->f64_only && chance(g, 40))
        return chance(g, 70) ? "xf[i]" : fmt(g, "xf[(i + %u) %% n]", below(g, 9));
    switch (below(g, 10)) {
    case 0:
        return "x[n - 1 - i]";
    case 1:
        return "x[i / 2]";
    case 2:
        return fmt(g, "x[(i * %uL) %% n]", 2 + below(g, 5));
    case 3:
        return fmt(g, "x[(uint8_t)(i + %u) %% n]", 246 + below(g, 10));
    case 4:
        return fmt(g, "x[((unsigned)i ^ %uu) %% n]", 1 + below(g, 7));
    case 5:
        return "x[(int64_t)i]";
    case 6:
        return fmt(g, "x[%u %% n]", below(g, 9));
    case 7:
        return fmt(g, "x[(uint64_t)(%s) %% n]", int_expr(g, 1));
    case 8:
        return fmt(g, "q[(i + %u) %% n][(unsigned)(%s) %% 3u]", below(g, 3), int_expr(g, 0));
    default:
        return fmt(g, "q[i][%u]", below(g, 3));
    }
}

const char *
lane_int(gen *g)
{
    switch (below(g, 8)) {
    case 5:
        return "b8[i]";
    case 6:
        return fmt(g, "b16[(i + %u) %% n]", below(g, 4));
    case 7:
        return "b8[n - 1 - i]";
    case 0:
        return "m[i]";
    case 1:
        return fmt(g, "m[(i + %u) %% n]", 1 + below(g, 9));
    case 2:
        return "(int)i";
    case 3:
        return "n";
    default:
        return "m[n - 1 - i]";
    }
}

/* The same for all threads. */
static const char *
uniform_condition(gen *g)
{
    switch (below(g, 4)) {
    case 0:
        return fmt(g, "n %% %u == 0", 2 + below(g, 2));
    case 1:
        return fmt(g, "c0 > 0.%u", below(g, 9));
    case 2:
        return fmt(g, "w[%u] < 0.%u", below(g, 5), below(g, 9));
    default:
        return "n2 > 3";
    }
}

static const char *
varying_int(gen *g)
{
    return g->in_thread && chance(g, 50) ? lane_int(g) : int_expr(g, 1);
}

/* -- statements -------------------------------------------------------------------------------- */

static void
statements(gen *g, unsigned count)
{
    bool in_switch = g->in_switch;
    g->in_switch = false;
    g->loops++;
    block(g, count);
    g->loops--;
    g->in_switch = in_switch;
}

static const char *
counter(gen *g, const char *count)
{
    unsigned number = g->serial;
    return fmt(g, "for (int k%u = 0; k%u < %s; k%u++) {", number, number, count, number);
}

/* Two loops, ragged, that threads leave at different times and places. */
static void
ragged_nest(gen *g)
{
    static const char *const leave[] = {"break", "continue"};
    scope outer, inner;
    compound(g, counter(g, fmt(g, "(%s) %% 5", varying_int(g))), "}", &outer);
    declare(g, "int", false, 0, true);
    statements(g, 1);
    g->loops++;
    compound(g, counter(g, fmt(g, "(%s) %% 4", varying_int(g))), "}", &inner);
    declare(g, "int", false, 0, true);
    if (chance(g, 70))
        add(g, fmt(g, "if (%s) %s;", condition(g, 1), leave[below(g, 2)]));
    statements(g, 1);
    if (chance(g, 50))
        add(g, fmt(g, "if (%s) %s;", condition(g, 1), leave[below(g, 2)]));
    close_part(g, inner);
    g->loops--;
    if (chance(g, 70))
        add(g, fmt(g, "if (%s) %s;", condition(g, 1), leave[below(g, 2)]));
    statements(g, 1);
    close_part(g, outer);
}

/* By numbers that vary; also by ones that are zero in threads that do not divide. */
static void
division(gen *g)
{
    static const char *const types[] = {"int", "unsigned", "int64_t", "uint64_t", "int16_t", "uint8_t"};
    const char *type = types[below(g, countof(types))], *op = chance(g, 50) ? "/" : "%";
    const char *by = varying_int(g), *what = int_expr(g, 1);
    unsigned number = g->serial;
    name *k = pick(g, false, true, false);
    if (!k)
        return;
    if (chance(g, 40))
        add(g, fmt(g, "%s = (%s)((%s)(%s) %s (%s)(1 + ((%s) & 3)));", k->text, k->type, type, what, op, type, by));
    else if (chance(g, 80))
        add(g, fmt(g, "{ %s d%u = (%s)((%s) %% 3); if (d%u != 0) %s = (%s)((%s)(%s) %s d%u); }", type, number, type,
                   by, number, k->text, k->type, type, what, op, number));
    else
        add(g, fmt(g, "%s = (%s)((%s)(%s) %s (%s)(%s));", k->text, k->type, type, what, op, type, by));
}

/* A local array, walked and written at places that vary. */
static void
walk_array(gen *g)
{
    unsigned length = chance(g, 70) ? 3 + below(g, 6) : 20 + below(g, 20);
    const char *type = float_type(g), *start = damped(g), *step = damped(g);
    const char *a = fmt(g, "a%u", g->serial);
    unsigned number = g->serial + 1;
    add(g, fmt(g, "%s %s[%u];", type, a, length));
    add(g, fmt(g, "for (int j = 0; j < %u; j++) %s[j] = %s + 0.05 * j;", length, a, start));
    declare(g, type, true, length, false);
    scope s;
    compound(g, counter(g, fmt(g, "(%s) %% 6", varying_int(g))), "}", &s);
    declare(g, "int", false, 0, true);
    add(g, fmt(g, "%s[(unsigned)((%s) + k%u) %% %uu] = 0.4 * %s[(unsigned)((%s) * k%u) %% %uu] + 0.3 * %s;", a,
               varying_int(g), number, length, a, varying_int(g), number, length, step));
    statements(g, 1);
    close_part(g, s);
}

static void
uniform_branch(gen *g)
{
    scope s;
    gen_node *node = compound(g, fmt(g, "if (%s) {", uniform_condition(g)), "}", &s);
    block(g, 1 + below(g, 2));
    close_part(g, s);
    if (chance(g, 60)) {
        s = open_part(g, node, "} else {");
        block(g, 1 + below(g, 2));
        close_part(g, s);
    }
}

static void
uniform_loop(gen *g)
{
    scope s;
    compound(g, counter(g, chance(g, 50) ? "n % 4" : "n2 % 3"), "}", &s);
    declare(g, "int", false, 0, true);
    statements(g, 1 + below(g, 2));
    close_part(g, s);
}

/* Many threads at one element. */
static void
shared_update(gen *g)
{
    const char *k = varying_int(g);
    add(g, "#pragma omp atomic");
    switch (below(g, 6)) {
    case 0:
        add(g, fmt(g, "acc[(unsigned)(%s) %% 2u] += %s;", k, damped(g)));
        break;
    case 1:
        add(g, fmt(g, "acc[2] -= 0.5 * %s;", damped(g)));
        break;
    case 2:
        add(g, fmt(g, "bins[(unsigned)(%s) %% 3u] += (%s) & 7;", k, int_expr(g, 1)));
        break;
    case 3:
        add(g, fmt(g, "bins[%u]++;", below(g, 3)));
        break;
    case 4:
        add(g, fmt(g, "bins[3] ^= (%s) & 255;", k));
        break;
    default:
        add(g, fmt(g, "bins[4] |= (%s) & 31;", k));
    }
}

/* Threads take numbers in their order. */
static void
capture(gen *g)
{
    unsigned number = g->serial, ticket = g->tickets++;
    add(g, fmt(g, "int k%u;", number));
    declare(g, "int", false, 0, false);
    add(g, "#pragma omp atomic capture");
    switch (below(g, 3)) {
    case 0:
        add(g, fmt(g, "k%u = tickets[%u]++;", number, ticket));
        break;
    case 1:
        add(g, fmt(g, "k%u = tickets[%u] += %u;", number, ticket, 1 + below(g, 3)));
        break;
    default:
        add(g, fmt(g, "{ k%u = tickets[%u]; tickets[%u] += (%s) & 3; }", number, ticket, ticket, lane_int(g)));
    }
}

static void
one_thread(gen *g)
{
    unsigned k = g->stored_once++;
    add(g, fmt(g, "if (i == %u %% n) once[%u] = %s;", below(g, 40), k, damped(g)));
}

/* Elements of other sizes; each belongs to one thread. */
static void
narrow_store(gen *g)
{
    const char *i = g->backwards ? "n - 1 - i" : "i", *k = int_expr(g, 1);
    switch (below(g, g->f64_only ? 3 : 6)) {
    case 0:
        add(g, fmt(g, "flag[%s] = %s;", i, condition(g, 1)));
        break;
    case 1:
        add(g, fmt(g, "c64[%s] = c64[%s] * 3 + (%s);", i, i, k));
        break;
    case 2:
        add(g, fmt(g, "if (flag[%s] & 1) c64[%s] ^= (%s) & 255;", i, i, k));
        break;
    default:
        add(g, fmt(g, "yf[%s] = 0.5f * yf[%s] + 0.4f * (float)(%s);", i, i, damped(g)));
    }
}

static void
assertion(gen *g)
{
    const char *k = varying_int(g);
    unsigned by = 2 + below(g, 3);
    if (g->in_helper || chance(g, 60))
        add(g, fmt(g, "if ((unsigned)(%s) %% %uu == 1) assert((unsigned)(%s) %% %uu != 0);", k, by, k, by));
    else
        add(g, "assert(n > 0);");
}

/* The derivative of a helper inside the kernel. */
static void
derivative(gen *g)
{
    const helper *h = g->helpers.n ? &g->helpers.at[below(g, (unsigned)g->helpers.n)] : NULL;
    name *into = pick(g, true, true, false);
    unsigned number = g->serial;
    if (!h || h->out || !into)
        return;
    g->serial++;
    add(g, fmt(g, "%s d%u = 0; double e%u = 0;", h->first, number, number));
    const char *call = fmt(g, "(%s, %s, %s)", damped(g), float_leaf(g), int_expr(g, 1));
    call = chance(g, 50) ? fmt(g, "rg_grad(%s, %s, (&d%u, &e%u, 0))", h->text, call, number, number)
                         : fmt(g, "rg_vjp(%s, %s, 0.7, (&d%u, &e%u, 0))", h->text, call, number, number);
    add(g, fmt(g, "%s = 0.3 * %s;", into->text, call));
    add(g, fmt(g, "%s += 0.2 * tanh(d%u + e%u);", into->text, number, number));
}

void
lane_statement(gen *g)
{
    bool deep = g->depth >= 7 || g->budget <= 0 || g->loops + g->extra > 0;
    unsigned kind = below(g, 15);
    if (kind < 2)
        division(g);
    else if (kind < 5 && !deep)
        kind < 4 ? ragged_nest(g) : walk_array(g);
    else if (kind == 5 && !deep && !g->in_helper)
        uniform_loop(g);
    else if (kind == 6 && !g->in_helper && g->depth < 7)
        uniform_branch(g);
    else if (kind < 9 && g->parallel)
        shared_update(g);
    else if (kind == 9 && g->parallel && g->ordered && g->loops == 0 && g->tickets < TICKETS && !g->planar)
        capture(g);
    else if (kind == 10 && g->parallel && g->stored_once < ONCE && g->loops == 0 && !g->planar)
        one_thread(g);
    else if (kind == 11)
        assertion(g);
    else if (kind > 12 && g->parallel && !g->planar)
        narrow_store(g);
    else if (kind == 12 && g->in_thread)
        derivative(g);
    else
        walk_array(g);
}

/* -- loops over threads ------------------------------------------------------------------------ */

const char *
lane_loop(gen *g)
{
    static const char *const types[] = {"int", "int", "unsigned", "long", "int64_t", "size_t", "uint64_t"};
    switch (below(g, 6)) {
    case 0:
        return "for (int i = n - 1; i >= 0; i--) {";
    case 1:
        return fmt(g, "for (int i = %u; i < n; i += %u) {", below(g, 3), 2 + below(g, 2));
    case 2:
        return fmt(g, "for (int i = %u; i < n - %u; i++) {", below(g, 4), below(g, 4));
    default:
        return fmt(g, "for (%s i = 0; i < n; i++) {", types[below(g, countof(types))]);
    }
}

/* A thread for each element of grid: groups end where rows do. */
void
lane_grid_task(gen *g)
{
    scope s;
    const char *text = chance(g, 70) ? "grid[i][jj]" : "grid[n - 1 - i][n2 - 1 - jj]";
    size_t names = g->names.n;
    memset(g->own, 0, sizeof g->own);
    g->far[0] = "y";
    g->far[1] = "z";
    g->far[2] = "u";
    add(g, "#pragma omp parallel for collapse(2)");
    compound(g, "for (int i = 0; i < n; i++)\n        for (int jj = 0; jj < n2; jj++) {", "}", &s);
    begin_threads(g);
    g->planar = true;
    vec_push(&g->names, ((name){"jj", "int", 0, false, true}));
    vec_push(&g->names, ((name){text, "double", 0, true, true}));
    thread_body(g, 8);
    add(g, fmt(g, "%s = 0.5 * %s + 0.3 * %s;", text, text, damped(g)));
    if (chance(g, 40))
        add(g, fmt(g, "%s += 0.2 * %s;", text, damped(g)));
    close_part(g, s);
    g->planar = false;
    g->names.n = names;
    end_threads(g);
}

/* Reductions of integers and of several values in one loop. */
void
lane_reduction_task(gen *g)
{
    static const char *const ops[] = {"+", "max", "min", "&", "|", "^"};
    scope s;
    unsigned kind = below(g, countof(ops)), number = g->serial++;
    const char *type = chance(g, 70) ? "int" : "int64_t";
    const char *k = fmt(g, "s%u", number), *f = fmt(g, "e%u", number);
    add(g, fmt(g, "%s %s = %u;", type, k, below(g, 99)));
    add(g, fmt(g, "double %s = -2.0, h%u = 0.0;", f, number));
    deal(g);
    add(g, fmt(g, "#pragma omp parallel for reduction(%s : %s) reduction(max : %s) reduction(+ : h%u)", ops[kind], k, f,
               number));
    compound(g, lane_loop(g), "}", &s);
    begin_threads(g);
    thread_body(g, 6);
    const char *value = int_expr(g, 1), *guard = condition(g, 1), *winner = damped(g), *part = damped(g);
    add(g, fmt(g, "%s t%u = (%s)(%s) & 63;", type, number, type, value));
    if (kind == 1 || kind == 2)
        add(g, fmt(g, "if (t%u %s %s) %s = t%u;", number, kind == 1 ? ">" : "<", k, k, number));
    else
        add(g, fmt(g, "if (%s) %s %s= t%u;", guard, k, ops[kind], number));
    add(g, fmt(g, "%s = fmax(%s, %s);", f, f, winner));
    if (chance(g, 50))
        add(g, fmt(g, "for (int j = 0; j < m[i] %% 4; j++) h%u += 0.2 * %s;", number, part));
    else
        add(g, fmt(g, "if (%s) h%u += %s;", guard, number, part));
    close_part(g, s);
    end_threads(g);
    add(g, fmt(g, "acc[1] += 0.5 * h%u; %s += 0.0;", number, f)); /* of -0 and 0 either one may be the largest */
    vec_push(&g->names, ((name){k, type, 0, false, true}));
    vec_push(&g->names, ((name){f, "double", 0, true, true}));
}

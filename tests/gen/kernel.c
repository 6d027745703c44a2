/* Whole programs: helpers and the kernel with its tasks. SPDX-License-Identifier: Apache-2.0
 *
 * The kernel always has the same parameters. What threads may do with them: x, m, w, q are only
 * read; y, z, u are stored at [i] by the thread that owns i, and read elsewhere only by tasks that
 * do not store them; acc collects float sums, loose takes what was computed from such sums: the
 * order of threads shows in the last bits of these two, so nothing reads them. */
#include "state.h"

static const char *const arrays[3] = {"y", "z", "u"};

static void
make_helper(gen *g)
{
    scope s;
    const char *type = float_type(g), *text = fmt(g, "h%u", g->serial++), *first;
    bool out = chance(g, 35);
    first = float_type(g);
    compound(g, fmt(g, "static %s\n%s(%s v0, double v1, int k0%s)\n{", type, text, first, out ? ", double *out" : ""),
             "}\n", &s);
    unsigned serial = g->serial;
    g->serial = 2;
    vec_push(&g->names, ((name){"v0", "double", 0, true, false}));
    vec_push(&g->names, ((name){"v1", "double", 0, true, false}));
    vec_push(&g->names, ((name){"k0", "int", 0, false, false}));
    g->in_helper = true;
    g->budget = 10;
    g->extra = 1; /* helpers are called in loops: theirs are kept short */
    block(g, 2 + below(g, 4));
    if (out) {
        add(g, fmt(g, "*out = %s;", damped(g)));
        if (chance(g, 30)) {
            add(g, fmt(g, "if (%s) return %s;", condition(g, 1), damped(g)));
            add(g, fmt(g, "*out = 0.5 * *out + 0.3 * %s;", damped(g)));
        }
    }
    add(g, fmt(g, "return %s;", damped(g)));
    g->extra = 0;
    g->in_helper = false;
    g->serial = serial;
    close_part(g, s);
    vec_push(&g->helpers, ((helper){text, first, out}));
}

/* Deals the arrays that tasks may store to: to this task or to its readers. */
void
deal(gen *g)
{
    for (unsigned k = 0; k < 3; k++) {
        bool own = chance(g, 60);
        g->own[k] = own ? arrays[k] : NULL;
        g->far[k] = own ? NULL : arrays[k];
    }
    g->backwards = g->lanes && chance(g, 20);
}

static const char *
thread_loop(gen *g)
{
    return g->lanes ? lane_loop(g) : "for (int i = 0; i < n; i++) {";
}

/* Inside a parallel loop what stands around it is only read. */
void
begin_threads(gen *g)
{
    g->in_thread = g->parallel = true;
    for (size_t k = 0; k < g->names.n; k++)
        g->names.at[k].outside = !g->names.at[k].fixed;
    for (size_t k = 0; k < g->names.n; k++)
        g->names.at[k].fixed = true;
}

void
end_threads(gen *g)
{
    g->in_thread = g->parallel = g->backwards = false;
    for (size_t k = 0; k < g->names.n; k++)
        if (g->names.at[k].outside)
            g->names.at[k].fixed = g->names.at[k].outside = false;
}

void
thread_body(gen *g, int budget)
{
    g->budget = budget;
    const char *type = float_type(g);
    add(g, fmt(g, "%s v%u = x[i];", type, g->serial));
    declare(g, type, true, 0, false);
    add(g, fmt(g, "int k%u = m[i];", g->serial));
    declare(g, "int", false, 0, false);
    block(g, 3 + below(g, 6));
    store_own(g);
}

static void
parallel_task(gen *g, int budget)
{
    scope s;
    deal(g);
    add(g, "#pragma omp parallel for");
    compound(g, thread_loop(g), "}", &s);
    begin_threads(g);
    thread_body(g, budget);
    close_part(g, s);
    end_threads(g);
}

/* A reduction; later tasks use exact ones (min, max, integers) like any value, sums in `loose`
 * only. */
static void
reduction_task(gen *g)
{
    static const char *const ops[] = {"+", "*", "min", "max", "+"};
    scope s;
    unsigned kind = below(g, 5), number = g->serial++;
    bool exact = kind >= 2;
    const char *type = kind == 4 ? "int" : "double";
    const char *text = fmt(g, "s%u", number);
    const char *start = kind == 1 ? "1.0" : kind == 2 ? "2.0" : kind == 3 ? "-2.0" : "0";
    add(g, fmt(g, "%s %s = %s;", type, text, start));
    deal(g);
    add(g, fmt(g, "#pragma omp parallel for reduction(%s : %s)", ops[kind], text));
    compound(g, thread_loop(g), "}", &s);
    begin_threads(g);
    thread_body(g, 8);
    switch (kind) {
    case 0:
        add(g, fmt(g, "%s += %s;", text, damped(g)));
        break;
    case 1:
        add(g, fmt(g, "%s *= 1.0 + %s * %s;", text, g->lanes ? "0.02" : "0.2", damped(g)));
        break;
    case 2:
        add(g, fmt(g, "%s = fmin(%s, %s);", text, text, damped(g)));
        break;
    case 3:
        add(g, fmt(g, "%s = fmax(%s, %s);", text, text, damped(g)));
        break;
    default:
        add(g, fmt(g, "%s += (int)((%s) & 3);", text, int_expr(g, 1)));
    }
    close_part(g, s);
    end_threads(g);
    if (exact) {
        if (g->lanes && kind != 4) /* of -0 and 0 either one may win */
            add(g, fmt(g, "%s += 0.0;", text));
        vec_push(&g->names, ((name){text, type, 0, kind != 4, true}));
        return;
    }
    add(g, fmt(g, "acc[0] += 0.5 * %s;", text));
    if (chance(g, 50)) {
        add(g, "#pragma omp parallel for");
        add(g, fmt(g, "for (int i = 0; i < n; i++) loose[i] = sin(%s / (1.0 + fabs(%s))) * x[i] + 0.5 * loose[i];",
                   text, text)); /* a large sum's or product's sine would be its rounding */
    }
}

/* One thread over an array: a recurrence, in place. */
static void
serial_task(gen *g)
{
    scope s;
    const char *y = arrays[below(g, 3)];
    unsigned number = g->serial++;
    add(g, fmt(g, "double v%u = w[%u];", number, below(g, 5)));
    vec_push(&g->names, ((name){fmt(g, "v%u", number), "double", 0, true, false}));
    compound(g, "for (int i = 1; i < n; i++) {", "}", &s);
    g->in_thread = true;
    memset(g->own, 0, sizeof g->own);
    memset(g->far, 0, sizeof g->far);
    g->budget = 5;
    add(g, fmt(g, "%s[i] = 0.4 * %s[i] + 0.4 * sin(%s[i - 1]) + 0.1 * v%u;", y, y, y, number));
    add(g, fmt(g, "v%u = 0.5 * v%u + 0.3 * %s[i];", number, number, y));
    block(g, 1 + below(g, 3));
    g->in_thread = false;
    close_part(g, s);
}

/* Two buffers that change places at each step. */
static void
swap_task(gen *g)
{
    scope s, t;
    unsigned first = below(g, 3), second = (first + 1 + below(g, 2)) % 3, number = g->serial++;
    const char *p = fmt(g, "p%u", number), *r = fmt(g, "r%u", number);
    add(g, fmt(g, "double *%s = %s, *%s = %s;", p, arrays[first], r, arrays[second]));
    compound(g, fmt(g, "for (int t%u = 0; t%u < %u; t%u++) {", number, number, below(g, 4), number),
             "}", &s);
    vec_push(&g->names, ((name){fmt(g, "t%u", number), "int", 0, false, true}));
    add(g, "#pragma omp parallel for");
    compound(g, "for (int i = 0; i < n; i++) {", "}", &t);
    memset(g->own, 0, sizeof g->own);
    memset(g->far, 0, sizeof g->far);
    g->own[0] = r;
    g->far[1] = p;
    begin_threads(g);
    thread_body(g, 5);
    add(g, fmt(g, "%s[i] = 0.4 * %s[i] + 0.3 * sin(%s[(i + 1) %% n]) + 0.2 * %s[i];", r, p, p, r));
    close_part(g, t);
    end_threads(g);
    add(g, fmt(g, "double *o%u = %s; %s = %s; %s = o%u;", number, p, p, r, r, number));
    close_part(g, s);
}

/* Winners of an atomic min or max. */
static void
extremum_task(gen *g)
{
    scope s;
    memset(g->own, 0, sizeof g->own);
    memcpy(g->far, arrays, sizeof g->far);
    add(g, "#pragma omp parallel for");
    compound(g, thread_loop(g), "}", &s);
    begin_threads(g);
    g->parallel = false;
    thread_body(g, 6);
    const char *at = index_below(g, 2), *c = chance(g, 50) ? "<" : ">";
    /* of -0 and 0 either one may win */
    add(g, fmt(g, "double e = %s%s; int at = %s;", damped(g), g->lanes ? " + 0.0" : "", at));
    add(g, "#pragma omp atomic compare");
    add(g, fmt(g, "if (e %s best[at]) { best[at] = e; }", c));
    close_part(g, s);
    end_threads(g);
}

static void
task(gen *g, unsigned nesting)
{
    scope s;
    if (g->lanes && chance(g, 30)) {
        chance(g, 50) ? lane_grid_task(g) : lane_reduction_task(g);
        return;
    }
    switch (below(g, nesting ? 5 : 9)) {
    case 0:
        reduction_task(g);
        break;
    case 1:
        serial_task(g);
        break;
    case 4:
        extremum_task(g);
        break;
    case 5:
        swap_task(g);
        break;
    case 6: {
        unsigned number = g->serial++;
        compound(
            g,
            fmt(g, "for (int t%u = 0; t%u < %u; t%u++) {", number, number, 1 + below(g, 3), number),
            "}", &s);
        vec_push(&g->names, ((name){fmt(g, "t%u", number), "int", 0, false, true}));
        task(g, 1);
        if (chance(g, 40))
            task(g, 1);
        close_part(g, s);
        break;
    }
    case 7: {
        gen_node *node = compound(g, fmt(g, "if (%s) {", condition(g, 1)), "}", &s);
        task(g, 1);
        close_part(g, s);
        if (chance(g, 50)) {
            s = open_part(g, node, "} else {");
            task(g, 1);
            close_part(g, s);
        }
        break;
    }
    default:
        parallel_task(g, 8);
    }
}

static void
make_kernel(gen *g, bool one_task)
{
    scope s;
    compound(g,
             fmt(g,
                 "void\n"
                 "generated(int n, double c0, float c1, const int m[n], const double x[n], const double w[5],\n"
                 "          const double q[n][3], double y[n], double z[n], double u[n], double acc[3],\n"
                 "          double loose[n], double best[2], int count[n]%s)\n{",
                 g->lanes ? lane_parameters(g) : ""),
             "}", &s);
    vec_push(&g->names, ((name){"c0", "double", 0, true, true}));
    if (!g->f64_only) {
        vec_push(&g->names, ((name){"c1", "float", 0, true, true}));
        g->program->mixed = true;
    }
    vec_push(&g->names, ((name){"n", "int", 0, false, true}));
    if (one_task || chance(g, 45))
        parallel_task(g, 24);
    else
        for (unsigned k = 2 + below(g, 2); k > 0; k--)
            task(g, 0);
    close_part(g, s);
}

void
gen_make(gen_program *p, uint64_t seed, const gen_options *options)
{
    gen_part top = {0};
    gen g = {.program = p, .random = seed * 0x2545f4914f6cdd1du + 1, .into = &top};
    *p = (gen_program){.arena = arena_new()};
    g.lanes = p->lanes = options && options->lanes;
    g.ordered = options && !options->unordered;
    g.f64_only = (options && options->f64_only) || chance(&g, 60);
    for (unsigned k = below(&g, 3); k > 0; k--)
        make_helper(&g);
    make_kernel(&g, options && options->one_task);
    p->first = top.first;
    p->last = top.last;
    vec_free(&g.names);
    vec_free(&g.helpers);
}

void
gen_free(gen_program *p)
{
    vec_free(&p->nodes);
    if (p->arena)
        arena_free(p->arena);
    *p = (gen_program){0};
}

static void print_list(const gen_node *node, unsigned depth, str *out);

static void
print_line(const char *text, unsigned depth, str *out)
{
    str_addf(out, "%*s%s\n", text[0] == '#' ? 0 : (int)(4 * depth), "", text);
}

static void
print_node(const gen_node *node, unsigned depth, str *out)
{
    if (node->off)
        return;
    if (node->open > 0) {
        print_list(node->parts[node->open - 1].first, depth, out);
        return;
    }
    if (node->open < 0) {
        print_line(node->simple, depth, out);
        return;
    }
    for (unsigned k = 0; k < node->count; k++) {
        print_line(node->parts[k].head, depth, out);
        print_list(node->parts[k].first, depth + 1, out);
    }
    if (node->tail)
        print_line(node->tail, depth, out);
}

static void
print_list(const gen_node *node, unsigned depth, str *out)
{
    for (; node; node = node->next)
        print_node(node, depth, out);
}

void
gen_print_program(const gen_program *p, str *out)
{
    if (p->lanes)
        str_addz(out, "#include <assert.h>\n#include <retrograd/kernel.h>\n#include <stddef.h>\n");
    str_addz(out, "#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n\n"
                  "struct pair {\n    double a;\n    int k;\n};\n\n");
    print_list(p->first, 0, out);
}

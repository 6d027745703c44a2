/* Random structured programs with jumps: what the builder makes of them, run by the interpreter,
 * must compute what a walk over the program computes. SPDX-License-Identifier: Apache-2.0
 *
 *     build_random [COUNT [FIRST_SEED [show]]] */
#include "ir/ir.h"
#include "rt/interp/interp.h"

enum { LENGTH = 4, PARAMS = 3, GLOBALS = 4, MAX_VARS = 400, FUEL = 9 };

/* -- programs ---------------------------------------------------------------------------------- */

typedef enum expr_kind { CONSTANT, PARAM, VAR, INDEX, EXTRACT, LESS, ARITHMETIC, CHOICE } expr_kind;
typedef struct expr {
    expr_kind kind;
    int number; /* value, parameter, variable, index or op */
    struct expr *x, *y, *z;
} expr;

typedef enum node_kind {
    SET,
    INSERT,
    COPY,
    DECLARE,
    IF,
    LOOP,
    FOR,
    BLOCK,
    PARALLEL,
    LEAVE,
    LEAVE_IF
} node_kind;
typedef struct node {
    node_kind kind;
    int var, from; /* variables; from: -1 none */
    int label, index;
    int step;
    int reduced[GLOBALS]; /* rg_rmw + 1 for each global variable; 0: not */
    bool has_else, first_test;
    expr *e, *lo, *hi;
    struct node *body, *other, *next;
} node;

typedef struct scope {
    int vars[MAX_VARS], n_vars; /* visible scalars */
    int arrays[MAX_VARS], n_arrays;
    int labels[64], n_labels;
    int indices[64], n_indices;
    int first_own; /* variables below this number are shared: only `reduced` may be set */
    const int *reduced;
    int depth;
} scope;

typedef struct program {
    arena *a;
    uint64_t seed;
    int n_vars, n_labels, n_indices, statements;
    bool is_array[MAX_VARS];
    node *first;
} program;

static const rg_op ops[] = {RG_OP_ADD, RG_OP_SUB, RG_OP_MUL, RG_OP_XOR, RG_OP_MIN};

static uint32_t
pick(program *p, uint32_t n)
{
    p->seed = p->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(p->seed >> 33) % n;
}

static expr *
new_expr(program *p, expr_kind kind, int number)
{
    expr *e = arena_one(p->a, expr);
    e->kind = kind;
    e->number = number;
    return e;
}

static expr *
make_expr(program *p, const scope *s, int depth)
{
    uint32_t choice = pick(p, depth > 0 ? 12 : 6);
    expr *e;
    switch (choice) {
    case 0:
        return new_expr(p, CONSTANT, (int)pick(p, 11) - 3);
    case 1:
        return new_expr(p, PARAM, (int)pick(p, PARAMS));
    case 2:
        if (s->n_indices)
            return new_expr(p, INDEX, s->indices[pick(p, (uint32_t)s->n_indices)]);
        break;
    case 6:
        e = new_expr(p, EXTRACT, s->arrays[pick(p, (uint32_t)s->n_arrays)]);
        e->x = make_expr(p, s, depth - 1);
        return e;
    case 7:
        e = new_expr(p, CHOICE, 0);
        e->x = make_expr(p, s, depth - 1);
        e->y = make_expr(p, s, depth - 1);
        e->z = make_expr(p, s, depth - 1);
        return e;
    case 8:
    case 9:
    case 10:
    case 11:
        e = new_expr(p, ARITHMETIC, (int)pick(p, countof(ops)));
        e->x = make_expr(p, s, depth - 1);
        e->y = make_expr(p, s, depth - 1);
        return e;
    default:
        break;
    }
    return new_expr(p, VAR, s->vars[pick(p, (uint32_t)s->n_vars)]);
}

static expr *
make_condition(program *p, const scope *s)
{
    expr *e = new_expr(p, LESS, 0);
    e->x = pick(p, 12) ? make_expr(p, s, 2) : new_expr(p, CONSTANT, (int)pick(p, 3));
    e->y = pick(p, 4) ? make_expr(p, s, 1) : new_expr(p, CONSTANT, 1);
    return e;
}

static node *make_list(program *p, scope s, int n);

static bool
may_set(const scope *s, int var)
{
    return var >= s->first_own || (s->reduced && var < GLOBALS && s->reduced[var]);
}

static node *
make_set(program *p, const scope *s, bool array)
{
    node *n = arena_one(p->a, node);
    const int *list = array ? s->arrays : s->vars;
    int count = array ? s->n_arrays : s->n_vars;
    int var = list[pick(p, (uint32_t)count)];
    if (!may_set(s, var))
        return NULL;
    n->var = var;
    n->from = array ? list[pick(p, (uint32_t)count)] : -1;
    n->kind = !array ? SET : pick(p, 3) ? INSERT : COPY;
    n->lo = make_expr(p, s, 1);
    n->e = make_expr(p, s, 3);
    return n;
}

static node *
make_declare(program *p, scope *s)
{
    if (p->n_vars == MAX_VARS)
        return NULL;
    node *n = arena_one(p->a, node);
    n->kind = DECLARE;
    n->var = p->n_vars++;
    p->is_array[n->var] = pick(p, 4) == 0;
    n->e = pick(p, 3) ? make_expr(p, s, 2) : NULL;
    if (p->is_array[n->var])
        s->arrays[s->n_arrays++] = n->var;
    else
        s->vars[s->n_vars++] = n->var;
    return n;
}

static node *
make_parallel(program *p, scope s)
{
    node *n = arena_one(p->a, node);
    static const rg_rmw reductions[] = {RG_RMW_ADD, RG_RMW_MIN, RG_RMW_MAX, RG_RMW_XOR};
    n->kind = PARALLEL;
    for (int i = 0; i < GLOBALS; i++)
        n->reduced[i] = pick(p, 2) ? (int)reductions[pick(p, 4)] + 1 : 0;
    n->index = p->n_indices++;
    n->lo = make_expr(p, &s, 1);
    n->hi = new_expr(p, ARITHMETIC, 0);
    n->hi->x = n->lo;
    n->hi->y = new_expr(p, CONSTANT, (int)pick(p, 4));
    s.indices[s.n_indices++] = n->index;
    s.n_labels = 0;
    s.first_own = p->n_vars;
    s.reduced = n->reduced;
    s.depth++;
    n->body = make_list(p, s, 2 + (int)pick(p, 6));
    return n;
}

static node *
make_construct(program *p, scope s)
{
    node *n = arena_one(p->a, node);
    uint32_t choice = pick(p, 10);
    bool top = s.first_own == 0;
    s.depth++;
    if (choice < 4) {
        n->kind = IF;
        n->e = make_condition(p, &s);
        n->has_else = pick(p, 2);
        n->body = make_list(p, s, 1 + (int)pick(p, 4));
        if (n->has_else)
            n->other = make_list(p, s, (int)pick(p, 4));
        return n;
    }
    if (choice == 4 && top)
        return make_parallel(p, s);
    n->label = p->n_labels++;
    s.labels[s.n_labels++] = n->label;
    if (choice < 6) {
        n->kind = BLOCK;
    } else if (choice < 8) {
        n->kind = LOOP;
        n->first_test = pick(p, 2);
        n->var = p->n_vars++; /* its fuel */
    } else {
        static const int steps[] = {1, 1, 2, -1, -2, 3};
        n->kind = FOR;
        n->lo = make_expr(p, &s, 1);
        n->hi = make_expr(p, &s, 1);
        n->step = steps[pick(p, countof(steps))];
        n->index = p->n_indices++;
        s.indices[s.n_indices++] = n->index;
    }
    n->body = make_list(p, s, 1 + (int)pick(p, 6));
    return n;
}

static node *
make_node(program *p, scope *s)
{
    uint32_t choice = pick(p, 20);
    if (choice < 7)
        return make_set(p, s, false);
    if (choice < 9)
        return make_set(p, s, true);
    if (choice < 11)
        return make_declare(p, s);
    if (choice < 14 && s->n_labels) {
        node *n = arena_one(p->a, node);
        n->kind = pick(p, 3) ? LEAVE_IF : LEAVE;
        n->label = s->labels[pick(p, (uint32_t)s->n_labels)];
        n->e = make_condition(p, s);
        return n;
    }
    if (s->depth < 6 && p->statements < 120 && p->n_vars < MAX_VARS - 8)
        return make_construct(p, *s);
    return make_set(p, s, false);
}

static node *
make_list(program *p, scope s, int n)
{
    node *first = NULL, **link = &first;
    for (int i = 0; i < n; i++) {
        p->statements++;
        node *made = make_node(p, &s);
        if (!made)
            continue;
        *link = made;
        link = &made->next;
    }
    return first;
}

static program
make_program(uint64_t seed)
{
    program p = {.a = arena_new(), .seed = seed * 0x9e3779b97f4a7c15u + 1};
    scope s = {.n_vars = GLOBALS, .n_arrays = 2};
    for (int i = 0; i < GLOBALS; i++)
        s.vars[i] = i;
    for (int i = 0; i < 2; i++) {
        s.arrays[i] = GLOBALS + i;
        p.is_array[GLOBALS + i] = true;
    }
    p.n_vars = GLOBALS + 2;
    p.n_labels = 1;
    node *all = arena_one(p.a, node);
    all->kind = BLOCK; /* leaving it is a return */
    s.labels[s.n_labels++] = 0;
    all->body = make_list(&p, s, 3 + (int)pick(&p, 12));
    p.first = all;
    return p;
}

/* -- what it computes: a walk ------------------------------------------------------------------ */

typedef struct state {
    int32_t params[PARAMS];
    int32_t vars[MAX_VARS][LENGTH];
    int32_t indices[MAX_VARS];
    long steps;
} state;

static int32_t
compute(rg_op op, int32_t x, int32_t y)
{
    uint64_t r = 0;
    ir_eval(op, RG_I32, RG_I32, (uint64_t)x, (uint64_t)y, 0, &r);
    return (int32_t)r;
}

static int32_t
value(const state *s, const expr *e)
{
    switch (e->kind) {
    case CONSTANT:
        return e->number;
    case PARAM:
        return s->params[e->number];
    case VAR:
        return s->vars[e->number][0];
    case INDEX:
        return s->indices[e->number];
    case EXTRACT:
        return s->vars[e->number][value(s, e->x) & (LENGTH - 1)];
    case LESS:
        return value(s, e->x) < value(s, e->y);
    case ARITHMETIC:
        return compute(ops[e->number], value(s, e->x), value(s, e->y));
    case CHOICE:
        return value(s, e->x) < 2 ? value(s, e->y) : value(s, e->z);
    }
    return 0;
}

static int walk(state *s, const node *n);

static int
walk_loop(state *s, const node *n)
{
    int32_t fuel = FUEL;
    for (;;) {
        s->steps++;
        if (n->first_test && --fuel < 0)
            return -1;
        int left = walk(s, n->body);
        if (left >= 0)
            return left == n->label ? -1 : left;
        if (!n->first_test && --fuel < 0)
            return -1;
    }
}

static int
walk_for(state *s, const node *n)
{
    int64_t lo = value(s, n->lo), hi = value(s, n->hi);
    for (int64_t i = lo; n->step > 0 ? i < hi : i > hi; i += n->step) {
        s->indices[n->index] = (int32_t)i;
        s->steps++;
        int left = walk(s, n->body);
        if (left >= 0)
            return left == n->label ? -1 : left;
        if (s->steps > 4000)
            return -1; /* too long: the caller gives the program up */
    }
    return -1;
}

static int32_t
reduce(int op, int32_t x, int32_t y)
{
    switch (op) {
    case RG_RMW_ADD:
        return (int32_t)((uint32_t)x + (uint32_t)y);
    case RG_RMW_MIN:
        return x < y ? x : y;
    case RG_RMW_MAX:
        return x > y ? x : y;
    default:
        return x ^ y;
    }
}

static void
walk_parallel(state *s, const node *n)
{
    int32_t lo = value(s, n->lo), hi = value(s, n->hi), total[GLOBALS];
    for (int k = 0; k < GLOBALS; k++)
        total[k] = s->vars[k][0];
    for (int32_t i = lo; i < hi && s->steps < 4000; i++) {
        s->steps++;
        s->indices[n->index] = i;
        for (int k = 0; k < GLOBALS; k++)
            if (n->reduced[k])
                s->vars[k][0] = n->reduced[k] - 1 == RG_RMW_MIN   ? INT32_MAX
                                : n->reduced[k] - 1 == RG_RMW_MAX ? INT32_MIN
                                                                  : 0;
        walk(s, n->body);
        for (int k = 0; k < GLOBALS; k++)
            if (n->reduced[k])
                total[k] = reduce(n->reduced[k] - 1, total[k], s->vars[k][0]);
    }
    for (int k = 0; k < GLOBALS; k++)
        s->vars[k][0] = total[k];
}

/* the label that was left, or -1 */
static int
walk(state *s, const node *first)
{
    for (const node *n = first; n; n = n->next) {
        int left = -1;
        s->steps++;
        switch (n->kind) {
        case SET:
            s->vars[n->var][0] = value(s, n->e);
            break;
        case INSERT:
            s->vars[n->var][value(s, n->lo) & (LENGTH - 1)] = value(s, n->e);
            break;
        case COPY:
            memcpy(s->vars[n->var], s->vars[n->from], sizeof s->vars[0]);
            break;
        case DECLARE: {
            int32_t start = n->e ? value(s, n->e) : 0;
            memset(s->vars[n->var], 0, sizeof s->vars[0]);
            s->vars[n->var][0] = start;
            break;
        }
        case IF:
            left = walk(s, value(s, n->e) ? n->body : n->other);
            break;
        case LOOP:
            left = walk_loop(s, n);
            break;
        case FOR:
            left = walk_for(s, n);
            break;
        case BLOCK:
            left = walk(s, n->body);
            left = left == n->label ? -1 : left;
            break;
        case PARALLEL:
            walk_parallel(s, n);
            break;
        case LEAVE:
            left = n->label;
            break;
        case LEAVE_IF:
            left = value(s, n->e) ? n->label : -1;
            break;
        }
        if (left >= 0)
            return left;
    }
    return -1;
}

/* -- the same through the builder -------------------------------------------------------------- */

typedef struct building {
    rg_builder *b;
    rg_value params[PARAMS], indices[MAX_VARS];
    rg_var vars[MAX_VARS];
    rg_label labels[MAX_VARS];
} building;

static rg_value
integer(building *g, int64_t v)
{
    return rg_build_int(g->b, RG_I32, v);
}

static rg_value
build_expr(building *g, const expr *e)
{
    switch (e->kind) {
    case CONSTANT:
        return integer(g, e->number);
    case PARAM:
        return g->params[e->number];
    case VAR:
        return rg_build_get(g->b, g->vars[e->number]);
    case INDEX:
        return g->indices[e->number];
    case EXTRACT: {
        rg_value at = rg_build_2(g->b, RG_OP_AND, build_expr(g, e->x), integer(g, LENGTH - 1));
        return rg_build_extract(g->b, rg_build_get(g->b, g->vars[e->number]), at);
    }
    case LESS:
    case ARITHMETIC: {
        rg_value x = build_expr(g, e->x), y = build_expr(g, e->y);
        return rg_build_2(g->b, e->kind == LESS ? RG_OP_LT : ops[e->number], x, y);
    }
    case CHOICE: {
        rg_value c = rg_build_2(g->b, RG_OP_LT, build_expr(g, e->x), integer(g, 2));
        rg_value y = build_expr(g, e->y), z = build_expr(g, e->z);
        return rg_build_3(g->b, RG_OP_SELECT, c, y, z);
    }
    }
    return NULL;
}

static void build_list(building *g, const program *p, const node *first);

static void
build_insert(building *g, const node *n)
{
    rg_value at = rg_build_2(g->b, RG_OP_AND, build_expr(g, n->lo), integer(g, LENGTH - 1));
    rg_value v = build_expr(g, n->e);
    rg_value array = rg_build_get(g->b, g->vars[n->var]);
    rg_build_set(g->b, g->vars[n->var], rg_build_insert(g->b, array, at, v));
}

static void
build_declare(building *g, const program *p, const node *n)
{
    bool array = p->is_array[n->var];
    char name[16];
    snprintf(name, sizeof name, "v%d", n->var);
    rg_value v = n->e ? build_expr(g, n->e) : NULL;
    rg_var var = rg_build_var(g->b, rg_str_of(name), (rg_type){RG_I32, array ? LENGTH : 0});
    g->vars[n->var] = var;
    if (v && array)
        v = rg_build_insert(g->b, rg_build_get(g->b, var), integer(g, 0), v);
    if (v)
        rg_build_set(g->b, var, v);
}

static void
build_fuel(building *g, const node *n)
{
    rg_var fuel = g->vars[n->var];
    rg_value left = rg_build_2(g->b, RG_OP_SUB, rg_build_get(g->b, fuel), integer(g, 1));
    rg_build_set(g->b, fuel, left);
    rg_build_leave_if(g->b, rg_build_2(g->b, RG_OP_LT, left, integer(g, 0)), g->labels[n->label]);
}

static void
build_loop(building *g, const program *p, const node *n)
{
    g->vars[n->var] = rg_build_var(g->b, RG_STR("fuel"), (rg_type){RG_I32, 0});
    rg_build_set(g->b, g->vars[n->var], integer(g, FUEL));
    g->labels[n->label] = rg_build_loop(g->b);
    if (n->first_test)
        build_fuel(g, n);
    build_list(g, p, n->body);
    if (!n->first_test)
        build_fuel(g, n);
    rg_build_end(g->b);
}

static void
build_parallel(building *g, const program *p, const node *n)
{
    rg_value lo = build_expr(g, n->lo), hi = build_expr(g, n->hi);
    rg_build_parallel(g->b, 1, &lo, &hi, &g->indices[n->index]);
    for (int i = 0; i < GLOBALS; i++)
        if (n->reduced[i])
            rg_build_reduce(g->b, g->vars[i], (rg_rmw)(n->reduced[i] - 1));
    build_list(g, p, n->body);
    rg_build_end(g->b);
}

static void
build_node(building *g, const program *p, const node *n)
{
    rg_builder *b = g->b;
    switch (n->kind) {
    case SET:
        rg_build_set(b, g->vars[n->var], build_expr(g, n->e));
        break;
    case INSERT:
        build_insert(g, n);
        break;
    case COPY:
        if (n->var != n->from)
            rg_build_set(b, g->vars[n->var], rg_build_copy(b, rg_build_get(b, g->vars[n->from])));
        break;
    case DECLARE:
        build_declare(g, p, n);
        break;
    case IF:
        rg_build_if(b, build_expr(g, n->e));
        build_list(g, p, n->body);
        if (n->has_else) {
            rg_build_else(b);
            build_list(g, p, n->other);
        }
        rg_build_end(b);
        break;
    case LOOP:
        build_loop(g, p, n);
        break;
    case FOR: {
        rg_value lo = build_expr(g, n->lo), hi = build_expr(g, n->hi);
        g->labels[n->label] = rg_build_for(b, lo, hi, n->step, &g->indices[n->index]);
        build_list(g, p, n->body);
        rg_build_end(b);
        break;
    }
    case BLOCK:
        g->labels[n->label] = rg_build_block(b);
        build_list(g, p, n->body);
        rg_build_end(b);
        break;
    case PARALLEL:
        build_parallel(g, p, n);
        break;
    case LEAVE:
        rg_build_leave(b, g->labels[n->label]);
        break;
    case LEAVE_IF:
        rg_build_leave_if(b, build_expr(g, n->e), g->labels[n->label]);
        break;
    }
}

static void
build_list(building *g, const program *p, const node *first)
{
    for (const node *n = first; n; n = n->next)
        build_node(g, p, n);
}

static ir_module *
build_program(const program *p, diag_list *diags)
{
    building g = {.b = ir_builder_new()};
    rg_builder *b = g.b;
    rg_build_kernel_begin(b, RG_STR("random"));
    for (int i = 0; i < PARAMS; i++) {
        char name[8];
        snprintf(name, sizeof name, "p%d", i);
        g.params[i] = rg_build_param_scalar(b, rg_str_of(name), RG_I32, (rg_place){0});
    }
    rg_build_buffer out = {.name = RG_STR("out"), .dtype = RG_I32, .rank = 1};
    rg_value buffer = rg_build_param_buffer(b, &out);
    for (int i = 0; i < GLOBALS + 2; i++) {
        char name[8];
        snprintf(name, sizeof name, "g%d", i);
        rg_type type = {RG_I32, i < GLOBALS ? 0 : LENGTH};
        g.vars[i] = rg_build_var(b, rg_str_of(name), type);
    }
    build_list(&g, p, p->first);
    int n = 0;
    for (int i = 0; i < GLOBALS + 2; i++)
        for (int k = 0; k < (i < GLOBALS ? 1 : LENGTH); k++) {
            rg_value v = rg_build_get(b, g.vars[i]), at = integer(&g, n++);
            if (i >= GLOBALS)
                v = rg_build_extract(b, v, integer(&g, k));
            rg_build_store(b, RG_PRIMAL, buffer, 1, &at, v);
        }
    rg_build_kernel_end(b);
    ir_module *m = ir_builder_take(b, diags);
    rg_builder_destroy(b);
    return m;
}

/* -- comparison -------------------------------------------------------------------------------- */

enum { OUT = GLOBALS + 2 * LENGTH };

static bool
agree(const program *p, const ir_module *m, const int32_t *params)
{
    static state s;
    memset(&s, 0, sizeof s);
    memcpy(s.params, params, sizeof s.params);
    walk(&s, p->first);
    if (s.steps > 4000)
        return true;
    int32_t expected[OUT], got[OUT] = {0};
    for (int i = 0; i < GLOBALS; i++)
        expected[i] = s.vars[i][0];
    memcpy(expected + GLOBALS, s.vars[GLOBALS], 2 * sizeof s.vars[0]);
    rt_arg args[PARAMS + 1] = {{0}};
    for (int i = 0; i < PARAMS; i++)
        args[i].bits = (uint32_t)params[i];
    args[PARAMS].plane[0] = got;
    args[PARAMS].extent[0] = OUT;
    args[PARAMS].stride[0] = 1;
    interp_report report = {0};
    rt_fault fault = interp_run(m->first, args, &(interp_options){.step_limit = 10000000}, &report);
    if (fault == RT_OK && !memcmp(expected, got, sizeof got))
        return true;
    printf("parameters %d %d %d: %s\n", params[0], params[1], params[2], report.message);
    for (int i = 0; i < OUT; i++)
        printf("  [%d] expected %d, got %d%s\n", i, expected[i], got[i],
               expected[i] == got[i] ? "" : "   <--");
    return false;
}

static bool
check(uint64_t seed, bool show)
{
    program p = make_program(seed);
    diag_list diags = {0};
    ir_module *m = build_program(&p, &diags);
    bool ok = m != NULL;
    if (!m)
        printf("seed %llu does not build:\n%s\n", (unsigned long long)seed, diags.text.ptr);
    for (int run = 0; ok && run < 4; run++) {
        int32_t params[PARAMS] = {run, 3 - run, run * run - 2};
        ok = agree(&p, m, params);
    }
    if (m && (!ok || show)) {
        str text = {0};
        ir_print_module(&text, m);
        printf("seed %llu\n%s\n", (unsigned long long)seed, text.ptr);
        str_free(&text);
    }
    ir_module_free(m);
    diag_free(&diags);
    arena_free(p.a);
    return ok;
}

int
main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 2000;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    int failed = 0;
    for (long i = 0; i < count && failed < 3; i++)
        failed += !check(first + (uint64_t)i, argc > 3);
    return failed ? 1 : 0;
}

/* Random kernels in IR text: structured, terminating, damped. SPDX-License-Identifier: Apache-2.0
 */
#include "irgen.h"

enum { POOL = 4096, F = 0, I = 1, B = 2, KINDS = 3, ARRAY = 4 };
static const char *const type_names[] = {"f64", "i64", "bool"};

/* Values in scope, by kind, as numbers: %v12. The current local array is linear: it can be
 * extracted from, and inserted into where `own` says that this region runs once for it. */
typedef struct gen {
    str *out;
    uint64_t state;
    unsigned next, depth, left; /* next name; nesting; statements that may still come */
    unsigned pool[KINDS][POOL], n[KINDS];
    unsigned element[POOL], elements; /* subscripts of own elements */
    unsigned counter;                 /* the innermost for's index, 0 to 7; 0: there is none */
    unsigned array; /* 0: none */
    bool own;
    bool threads;    /* inside a parallel loop */
    unsigned thread; /* its index */
} gen;

static unsigned
draw(gen *g, unsigned below)
{
    g->state = g->state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)((g->state >> 33) % below);
}

static void
indent(gen *g)
{
    for (unsigned k = 0; k <= g->depth; k++)
        str_addz(g->out, "  ");
}

static void
line(gen *g, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    indent(g);
    str_addv(g->out, format, args);
    str_addc(g->out, '\n');
    va_end(args);
}

static unsigned
add(gen *g, unsigned kind, unsigned name)
{
    if (g->n[kind] < POOL)
        g->pool[kind][g->n[kind]++] = name;
    return name;
}

/* a value in scope, recent ones more often */
static unsigned
any(gen *g, unsigned kind)
{
    unsigned n = g->n[kind];
    if (n > 6 && draw(g, 3))
        return g->pool[kind][n - 1 - draw(g, 6)];
    return g->pool[kind][draw(g, n)];
}

/* -- straight-line statements
 * ------------------------------------------------------------------------- */

static void
float_op(gen *g)
{
    static const char *const unary[] = {"sin", "cos", "tanh", "atan", "neg", "abs"};
    static const char *const binary[] = {"add", "sub", "mul", "min", "max"};
    unsigned v = g->next++, half = g->next++;
    if (draw(g, 2)) {
        line(g, "%%v%u: f64 = %s %%v%u", v, unary[draw(g, countof(unary))], any(g, F));
    } else if (draw(g, 6) == 0) {
        unsigned d = g->next++, e = g->next++;
        line(g, "%%v%u: f64 = cosh %%v%u", d, any(g, F));
        line(g, "%%v%u: f64 = div %%v%u, %%v%u", e, any(g, F), d);
        line(g, "%%v%u: f64 = tanh %%v%u", v, e);
    } else if (draw(g, 5) == 0) {
        line(g, "%%v%u: f64 = select %%v%u, %%v%u, %%v%u", v, any(g, B), any(g, F), any(g, F));
    } else if (draw(g, 3) == 0) { /* something to contract */
        unsigned product = g->next++;
        line(g, "%%v%u: f64 = mul %%v%u, %%v%u", product, any(g, F), any(g, F));
        line(g, "%%v%u: f64 = %s %%v%u, %%v%u", half, draw(g, 2) ? "add" : "sub", product,
             any(g, F));
        line(g, "%%v%u: f64 = tanh %%v%u", v, half);
        if (draw(g, 2))
            add(g, F, product);
    } else {
        line(g, "%%v%u: f64 = %s %%v%u, %%v%u", half, binary[draw(g, countof(binary))], any(g, F),
             any(g, F));
        line(g, "%%v%u: f64 = tanh %%v%u", v, half);
    }
    add(g, F, v);
}

static void
integer_op(gen *g)
{
    static const char *const binary[] = {"add", "sub", "mul", "and", "or",
                                         "xor", "min", "max", "div", "rem"};
    unsigned v = g->next++;
    line(g, "%%v%u: i64 = %s %%v%u, %%v%u", v, binary[draw(g, countof(binary))], any(g, I),
         any(g, I));
    add(g, I, v);
}

static void
bool_op(gen *g)
{
    static const char *const compare[] = {"lt", "le", "gt", "ge", "eq", "ne"};
    unsigned v = g->next++, kind = draw(g, 3);
    if (kind == B)
        line(g, "%%v%u: bool = %s %%v%u, %%v%u", v, draw(g, 2) ? "and" : "or", any(g, B),
             any(g, B));
    else
        line(g, "%%v%u: bool = %s %%v%u, %%v%u", v, compare[draw(g, countof(compare))],
             any(g, kind), any(g, kind));
    add(g, B, v);
}

/* a number below `limit`, a power of two */
static unsigned
small(gen *g, unsigned limit)
{
    unsigned mask = g->next++, v = g->next++;
    line(g, "%%v%u: i64 = const %u", mask, limit - 1);
    line(g, "%%v%u: i64 = and %%v%u, %%v%u", v, any(g, I), mask);
    return v;
}

/* one that was named before, more often than not; or one that the innermost for counts */
static unsigned
own_element(gen *g)
{
    if (g->elements && draw(g, 4))
        return g->element[g->elements - 1 - draw(g, g->elements < 3 ? g->elements : 3)];
    unsigned low = g->counter && draw(g, 2) ? g->counter : small(g, 8), v = low;
    if (g->threads) {
        unsigned eight = g->next++, row = g->next++;
        v = g->next++;
        line(g, "%%v%u: i64 = const 8", eight);
        line(g, "%%v%u: i64 = mul %%v%u, %%v%u", row, g->thread, eight);
        line(g, "%%v%u: i64 = add %%v%u, %%v%u", v, row, low);
    }
    if (g->elements < POOL)
        g->element[g->elements++] = v;
    return v;
}

static void
memory_op(gen *g)
{
    unsigned v = g->next++;
    switch (draw(g, 5)) {
    case 0: {
        unsigned at = small(g, 8);
        line(g, "%%v%u: f64 = load %%x[%%v%u]", v, at);
        add(g, F, v);
        break;
    }
    case 1: {
        unsigned at = small(g, 8);
        line(g, "%%v%u: i64 = load %%k[%%v%u]", v, at);
        add(g, I, v);
        break;
    }
    case 2: {
        unsigned at = own_element(g);
        line(g, "%%v%u: f64 = load %%y[%%v%u]", v, at);
        add(g, F, v);
        break;
    }
    case 3: {
        unsigned at = own_element(g);
        line(g, "store %%y[%%v%u], %%v%u", at, any(g, F));
        break;
    }
    case 4: {
        unsigned at = small(g, 4);
        line(g, "rmw.add.atomic %%sum[%%v%u], %%v%u", at, any(g, F));
        break;
    }
    }
}

static void
array_op(gen *g)
{
    unsigned at = small(g, ARRAY), v = g->next++;
    if (g->own && draw(g, 2)) {
        line(g, "%%v%u: f64[%d] = insert %%v%u[%%v%u], %%v%u", v, ARRAY, g->array, at, any(g, F));
        g->array = v;
    } else {
        line(g, "%%v%u: f64 = extract %%v%u[%%v%u]", v, g->array, at);
        add(g, F, v);
    }
}

/* -- regions
 * ------------------------------------------------------------------------------------------- */

static void statements(gen *g, unsigned n);

typedef struct scope {
    unsigned n[KINDS], array, elements, counter;
    bool own;
} scope;

static scope
enter(gen *g)
{
    scope s = {{g->n[0], g->n[1], g->n[2]}, g->array, g->elements, g->counter, g->own};
    g->depth++;
    return s;
}

static void
leave(gen *g, const scope *s)
{
    memcpy(g->n, s->n, sizeof g->n);
    g->array = s->array;
    g->elements = s->elements;
    g->counter = s->counter;
    g->own = s->own;
    g->depth--;
}

/* Kinds of the values that leave a construct; the array is one more if it is carried. */
typedef struct shape {
    unsigned n, kinds[4];
    bool array;
} shape;

static shape
draw_shape(gen *g)
{
    shape s = {.n = 1 + draw(g, 3)};
    for (unsigned k = 0; k < s.n; k++)
        s.kinds[k] = draw(g, 3) ? F : draw(g, KINDS);
    s.array = g->array && g->own && draw(g, 2);
    return s;
}

static void
add_values(gen *g, const shape *s)
{
    for (unsigned k = 0; k < s->n; k++)
        str_addf(g->out, "%s%%v%u", k ? ", " : "", any(g, s->kinds[k]));
    if (s->array)
        str_addf(g->out, ", %%v%u", g->array);
}

static void
yield(gen *g, const shape *s)
{
    indent(g);
    str_addz(g->out, "yield ");
    add_values(g, s);
    str_addc(g->out, '\n');
}

/* "%v1: f64, %v2: i64 = "; the names begin at the returned one */
static unsigned
results(gen *g, const shape *s)
{
    unsigned first = g->next;
    g->next += s->n + s->array;
    indent(g);
    for (unsigned k = 0; k < s->n; k++)
        str_addf(g->out, "%s%%v%u: %s", k ? ", " : "", first + k, type_names[s->kinds[k]]);
    if (s->array)
        str_addf(g->out, ", %%v%u: f64[%d]", first + s->n, ARRAY);
    str_addz(g->out, " = ");
    return first;
}

static void
take_results(gen *g, const shape *s, unsigned first)
{
    for (unsigned k = 0; k < s->n; k++)
        add(g, s->kinds[k], first + k);
    if (s->array)
        g->array = first + s->n;
}

/* "(%v3: f64 = %v1, ...)"; the parameters begin at the returned one */
static unsigned
carried(gen *g, const shape *s, unsigned counter_init)
{
    unsigned first = g->next;
    g->next += s->n + s->array + 1;
    str_addc(g->out, '(');
    if (counter_init)
        str_addf(g->out, "%%v%u: i64 = %%v%u, ", first + s->n + s->array, counter_init);
    for (unsigned k = 0; k < s->n; k++)
        str_addf(g->out, "%s%%v%u: %s = %%v%u", k ? ", " : "", first + k, type_names[s->kinds[k]],
                 any(g, s->kinds[k]));
    if (s->array)
        str_addf(g->out, ", %%v%u: f64[%d] = %%v%u", first + s->n, ARRAY, g->array);
    str_addz(g->out, ") {\n");
    return first;
}

static void
if_statement(gen *g)
{
    shape s = draw_shape(g);
    unsigned condition = any(g, B), first = results(g, &s);
    str_addf(g->out, "if %%v%u {\n", condition);
    for (int branch = 0; branch < 2; branch++) {
        scope outside = enter(g);
        g->own &= s.array;
        statements(g, draw(g, 4));
        yield(g, &s);
        leave(g, &outside);
        line(g, branch ? "}" : "} else {");
    }
    take_results(g, &s, first);
}

static void
open_body(gen *g, const shape *s, unsigned params)
{
    for (unsigned k = 0; k < s->n; k++)
        add(g, s->kinds[k], params + k);
    g->own = s->array;
    if (s->array)
        g->array = params + s->n;
}

/* v and a constant */
static unsigned
offset(gen *g, unsigned v, unsigned by)
{
    unsigned constant = g->next++, sum = g->next++;
    line(g, "%%v%u: i64 = const %u", constant, by);
    line(g, "%%v%u: i64 = add %%v%u, %%v%u", sum, v, constant);
    return sum;
}

static void
for_statement(gen *g)
{
    shape s = draw_shape(g);
    int step = (int[]){1, 1, 2, -1}[draw(g, 4)];
    bool behind = g->counter && draw(g, 3) == 0; /* it begins where the loop around it is */
    unsigned lo = behind ? offset(g, g->counter, step > 0 && draw(g, 2)) : small(g, 4);
    unsigned hi = behind || draw(g, 4) ? small(g, 8) : offset(g, lo, draw(g, 5)), index = g->next++, first = results(g, &s);
    str_addf(g->out, "for %%v%u: i64 = %%v%u to %%v%u step %d ", index, draw(g, 4) ? lo : hi, hi,
             step);
    unsigned params = carried(g, &s, 0);
    scope outside = enter(g);
    open_body(g, &s, params);
    add(g, I, g->counter = index);
    statements(g, 1 + draw(g, 4));
    yield(g, &s);
    leave(g, &outside);
    line(g, "}");
    take_results(g, &s, first);
}

static void
exit_if(gen *g, const shape *s, unsigned condition)
{
    indent(g);
    str_addf(g->out, "exit_if %%v%u (", condition);
    add_values(g, s);
    str_addz(g->out, ")\n");
}

/* A loop that ends at the latest when its counter reaches a bound, with more exits before and
 * after. */
static void
loop_statement(gen *g)
{
    shape s = draw_shape(g);
    unsigned start = small(g, 4), bound = small(g, 8), one = g->next++;
    line(g, "%%v%u: i64 = const 1", one);
    unsigned first = results(g, &s);
    str_addz(g->out, "loop ");
    unsigned params = carried(g, &s, start), counter = params + s.n + s.array;
    scope outside = enter(g);
    open_body(g, &s, params);
    add(g, I, counter);
    bool late = draw(g, 3) == 0;
    if (late)
        statements(g, 1 + draw(g, 2));
    unsigned end = g->next++, next = g->next++;
    line(g, "%%v%u: bool = %s %%v%u, %%v%u", end, "ge", counter, bound);
    exit_if(g, &s, end);
    statements(g, 1 + draw(g, 3));
    if (draw(g, 2)) {
        exit_if(g, &s, any(g, B));
        statements(g, draw(g, 3));
    }
    line(g, "%%v%u: i64 = add %%v%u, %%v%u", next, counter, one);
    indent(g);
    str_addf(g->out, "yield %%v%u, ", next);
    add_values(g, &s);
    str_addc(g->out, '\n');
    leave(g, &outside);
    line(g, "}");
    take_results(g, &s, first);
}

static void
statement(gen *g)
{
    unsigned kind = draw(g, 16);
    bool nests = g->depth < 5 && g->left > 4;
    if (kind < 5)
        float_op(g);
    else if (kind < 6)
        integer_op(g);
    else if (kind < 8)
        bool_op(g);
    else if (kind < 10 && g->array)
        array_op(g);
    else if (kind < 13 || !nests)
        memory_op(g);
    else if (kind == 13)
        if_statement(g);
    else if (kind == 14)
        for_statement(g);
    else
        loop_statement(g);
}

static void
statements(gen *g, unsigned n)
{
    for (; n && g->left; n--) {
        g->left--;
        statement(g);
    }
}

static void
new_array(gen *g)
{
    g->array = g->next++;
    g->own = true;
    line(g, "%%v%u: f64[%d] = array", g->array, ARRAY);
}

static void
constants(gen *g)
{
    for (unsigned k = 0; k < 3; k++) {
        line(g, "%%v%u: f64 = const %g", g->next, (double[]){0, 1, 0.75}[k]);
        add(g, F, g->next++);
        line(g, "%%v%u: i64 = const %u", g->next, (unsigned[]){0, 1, 6}[k]);
        add(g, I, g->next++);
    }
    line(g, "%%v%u: bool = const %s", g->next, draw(g, 2) ? "true" : "false");
    add(g, B, g->next++);
}

static void
task(gen *g)
{
    unsigned zero = g->next++;
    line(g, "%%v%u: i64 = const 0", zero);
    g->thread = g->next++;
    line(g, "parallel (%%v%u: i64) = (%%v%u) to (%%n) {", g->thread, zero);
    scope outside = enter(g);
    add(g, I, g->thread);
    g->threads = true;
    g->array = g->elements = g->counter = 0;
    if (draw(g, 2))
        new_array(g);
    g->left = 10 + draw(g, 25);
    bool_op(g);
    statements(g, g->left);
    line(g, "yield");
    g->threads = false;
    leave(g, &outside);
    line(g, "}");
}

/* Kernel-level code is one thread's: loops around it and loads of arrays are everyday C. */
void
irgen_kernel(str *out, uint64_t seed)
{
    gen *g = mem_zalloc(sizeof *g);
    g->out = out;
    g->state = seed * 0x9e3779b97f4a7c15ull + 88172645463325252ull;
    g->next = 1;
    str_addz(out,
             "kernel @k(%n: i64, %x: buf<f64,1>, %y: buf<f64,1>, %k: buf<i64,1>, "
             "%sum: buf<f64,1>)\n"
             "shape { %eight: i64 = const 8  %four: i64 = const 4  %all: i64 = mul %n, %eight\n"
             "  yield %eight, %all, %eight, %four } {\n");
    constants(g);
    add(g, I, g->next++);
    str_addf(out, "  %%v%u: i64 = add %%n, %%n\n", g->next - 1);
    if (draw(g, 3) == 0) {
        if (draw(g, 2))
            new_array(g);
        g->left = 10 + draw(g, 15);
        statements(g, g->left);
    }
    for (unsigned tasks = 1 + draw(g, 2); tasks; tasks--)
        task(g);
    str_addz(out, "  yield\n}\n");
    mem_free(g);
}

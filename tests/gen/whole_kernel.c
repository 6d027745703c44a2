/* A kernel: its parameters, and the serial code around its tasks. SPDX-License-Identifier: Apache-2.0 */
#include "whole_state.h"

/* -- parameters ------------------------------------------------------------------------------------------------------
 */

/* The two texts of the list, and what the oracle does before and after the call. */
typedef struct signature {
    str kernel, oracle, call, before, after;
} signature;

static whole_param *
add_param(whole_gen *g, const char *name, whole_content content)
{
    whole_param *p = &g->program->params[g->program->count++];
    *p = (whole_param){.name = name, .content = content, .shape = {1, 1}};
    return p;
}

static void
separate(signature *s)
{
    str_addz(&s->kernel, s->kernel.len ? ", " : "");
    str_addz(&s->oracle, s->oracle.len ? ", " : "");
    str_addz(&s->call, s->call.len ? ", " : "");
}

static void
whole_scalar(whole_gen *g, signature *s, const char *name, int64_t value)
{
    separate(s);
    str_addf(&s->kernel, "int %s", name);
    str_addf(&s->oracle, "int %s", name);
    str_addf(&s->call, "at[%u].whole[0]", g->program->count);
    add_param(g, name, WHOLE_SIZE)->value = value;
}

static void
real_scalar(whole_gen *g, signature *s, const char *name)
{
    separate(s);
    str_addf(&s->kernel, "%s %s", g->real, name);
    str_addf(&s->oracle, "real %s", name);
    str_addf(&s->call, "take(at[%u], 0)", g->program->count);
    add_param(g, name, WHOLE_REAL);
    declare(g, name, true, true, 0);
}

static void
whole_array_param(whole_gen *g, signature *s, const char *name, const char *extent, whole_content content,
                  int64_t count)
{
    const char *constant = content == WHOLE_ZERO ? "" : "const ";
    separate(s);
    str_addf(&s->kernel, "%sint %s[%s]", constant, name, extent);
    str_addf(&s->oracle, "%sint *%s", constant, name);
    str_addf(&s->call, "at[%u].whole", g->program->count);
    whole_param *p = add_param(g, name, content);
    p->rank = 1;
    p->shape[0] = count;
    p->loose = strcmp(name, "list") == 0;
}

static whole_array *
add_array(whole_gen *g, const char *name, const char *access, whole_shape shape, bool fixed, bool plain)
{
    whole_array *a = &g->arrays[g->array_count++];
    *a = (whole_array){
        .name = name, .access = access, .shape = shape, .fixed = fixed, .plain = plain, .class = g->classes++};
    return a;
}

static void
real_array(whole_gen *g, signature *s, const char *name, const char *extent, whole_shape shape, int64_t count,
           bool fixed)
{
    unsigned k = g->program->count;
    separate(s);
    if (shape != GRID && chance(g, 15))
        str_addf(&s->kernel, "%s%s *%s", fixed ? "const " : "", g->stored, name);
    else
        str_addf(&s->kernel, "%s%s %s[%s]", fixed ? "const " : "", g->stored, name, extent);
    str_addf(&s->oracle, shape == GRID ? "rows %s" : fixed ? "const real *%s" : "real *%s", name);
    str_addf(&s->call, shape == GRID ? "rows{%s.data(), %d}" : "%s.data()", name, (int)g->m);
    str_addf(&s->before, "    std::vector<real> %s = take_all(at[%u]);\n", name, k);
    str_addf(&s->after, "    give_all(at[%u], %s);\n", k, name);
    whole_param *p = add_param(g, name, WHOLE_REAL);
    p->rank = shape == GRID ? 2 : 1;
    p->shape[0] = shape == GRID ? g->n : count;
    p->shape[1] = g->m;
    p->constant = fixed && chance(g, 35);
    add_array(g, name, put(g, "%s[%%s]", name), shape, fixed, shape != GRID);
}

static void
points(whole_gen *g, signature *s)
{
    unsigned k = g->program->count;
    separate(s);
    str_addz(&s->kernel, "struct point pt[n]");
    str_addz(&s->oracle, "point *pt");
    str_addz(&s->call, "pt.data()");
    str_addf(&s->before,
             "    std::vector<point> pt(at[%u].count);\n    for (int i = 0; i < at[%u].count; i++) {\n        "
             "pt[i].pos = take(at[%u], i);\n"
             "        pt[i].vel = take(at[%u], i);\n    }\n",
             k, k, k, k + 1);
    str_addf(&s->after,
             "    for (int i = 0; i < at[%u].count; i++) {\n        give(at[%u], i, pt[i].pos);\n        give(at[%u], "
             "i, pt[i].vel);\n    }\n",
             k, k, k + 1);
    for (unsigned f = 0; f < 2; f++) {
        whole_param *p = add_param(g, f ? "pt.vel" : "pt.pos", WHOLE_REAL);
        p->rank = 1;
        p->shape[0] = g->n;
        add_array(g, p->name, f ? "pt[%s].vel" : "pt[%s].pos", VECTOR, false, false);
    }
}

static const char *const setup_fields[2][3] = {{"c.gain", "c.offset", "c.slope"},
                                               {"c.gain", "c.shift[0]", "c.shift[1]"}};

static void
setup(whole_gen *g, signature *s)
{
    unsigned k = g->program->count;
    separate(s);
    str_addz(&s->kernel, "struct setup c");
    str_addz(&s->oracle, "setup c");
    str_addz(&s->call, "c");
    const char *const *fields = setup_fields[g->setup_has_array];
    str_addz(&s->before, "    setup c;\n");
    for (unsigned f = 0; f < 3; f++) {
        str_addf(&s->before, "    %s = take(at[%u], 0);\n", fields[f], k + f);
        add_param(g,
                  f == 1 && g->setup_has_array   ? "c.shift.0"
                  : f == 2 && g->setup_has_array ? "c.shift.1"
                                                 : fields[f],
                  WHOLE_REAL);
        declare(g, fields[f], true, true, 0);
    }
    str_addf(&s->before, "    c.mode = at[%u].whole[0];\n", k + 3);
    add_param(g, "c.mode", WHOLE_SIZE)->value = below(g, 3);
    declare(g, "c.mode", false, true, 0);
}

static void
parameters(whole_gen *g, signature *s)
{
    static const int64_t lengths[] = {5, 8, 33, 7, 17, 2, 9, 16, 12, 3, 21}, columns[] = {2, 3, 5, 9};
    g->n = lengths[below(g, countof(lengths))];
    g->m = columns[below(g, countof(columns))];
    g->bins = 2 + below(g, 5);
    whole_scalar(g, s, "n", g->n);
    whole_scalar(g, s, "m", g->m);
    whole_scalar(g, s, "nb", g->bins);
    whole_scalar(g, s, "flag", below(g, 2));
    whole_scalar(g, s, "steps", below(g, 4));
    declare(g, "steps", false, true, 0);
    declare(g, "flag", false, true, 0);
    real_scalar(g, s, "p");
    if (chance(g, 50))
        real_scalar(g, s, "q");
    if (g->has_setup)
        setup(g, s);
    whole_array_param(g, s, "idx", "n", WHOLE_INDEX, g->n);
    whole_array_param(g, s, "perm", "n", WHOLE_PERM, g->n);
    whole_array_param(g, s, "cnt", "n", WHOLE_COUNTS, g->n);
    real_array(g, s, "x", "n", VECTOR, g->n, chance(g, 15));
    real_array(g, s, "y", "n", VECTOR, g->n, chance(g, 60));
    real_array(g, s, "z", "n", VECTOR, g->n, false);
    if (g->has_grid)
        real_array(g, s, "g", "n][m", GRID, 0, chance(g, 30));
    real_array(g, s, "acc", "4", SMALL, 4, false);
    if (chance(g, 60))
        real_array(g, s, "low", "4", SMALL, 4, false);
    if (g->has_bins)
        real_array(g, s, "bin", "nb", BINS, g->bins, false);
    if (g->has_points)
        points(g, s);
    if (g->has_list) {
        whole_array_param(g, s, "count", "1", WHOLE_ZERO, 1);
        whole_array_param(g, s, "list", "n", WHOLE_ZERO, g->n);
    }
}

/* -- serial code -----------------------------------------------------------------------------------------------------
 */

static void serial_block(whole_gen *g, unsigned count);

typedef struct outside {
    unsigned names, arrays;
    whole_array before[WHOLE_ARRAYS];
} outside;

static void
enter(whole_gen *g, outside *o)
{
    o->names = g->name_count;
    o->arrays = g->array_count;
    memcpy(o->before, g->arrays, sizeof g->arrays);
}

static void
leave(whole_gen *g, const outside *o)
{
    g->name_count = o->names;
    g->array_count = o->arrays;
    memcpy(g->arrays, o->before, sizeof g->arrays);
}

static void
serial_variable(whole_gen *g)
{
    bool real = chance(g, 75);
    const char *e = real ? real_expr(g, 2) : int_expr(g), *v = fresh(g, real ? "v" : "c");
    line(g, "%s %s = %s;", real ? real_type(g) : "int", v, e);
    declare(g, v, real, false, 0);
}

static void
serial_assign(whole_gen *g)
{
    whole_name *v = pick_name(g, true, true);
    if (!v)
        serial_variable(g);
    else if (chance(g, 60))
        line(g, "%s = %s;", v->text, real_expr(g, 2));
    else
        line(g, "%s += 0.3 * %s;", v->text, real_expr(g, 2));
}

/* An array that may be written here. */
static const whole_array *
written(whole_gen *g)
{
    for (unsigned tries = 0; tries < 8; tries++) {
        const whole_array *a = &g->arrays[below(g, g->array_count)];
        if (!a->fixed && !a->hidden)
            return a;
    }
    return NULL;
}

static void
serial_store(whole_gen *g)
{
    const whole_array *a = written(g);
    if (!a) {
        serial_assign(g);
        return;
    }
    if (a->shape == VECTOR && chance(g, 30)) {
        const char *k = fresh(g, "k");
        outside o;
        open_block(g, "for (int %s = 1; %s < n; %s++)", k, k, k);
        enter(g, &o);
        declare(g, k, false, true, 0);
        line(g, "%s %s %s;", element(g, a, k), chance(g, 60) ? "=" : "+=", real_expr(g, 2));
        leave(g, &o);
        close_block(g);
        return;
    }
    const char *to = element(g, a, index_expr(g, a));
    line(g, "%s %s %s;", to, (const char *[]){"=", "+=", "*=", "-="}[below(g, 4)], real_expr(g, 2));
}

static void
serial_if(whole_gen *g)
{
    outside o;
    open_block(g, "if (%s)", condition(g));
    enter(g, &o);
    serial_block(g, 1 + below(g, 2));
    leave(g, &o);
    if (g->may_return && chance(g, 12)) {
        line(g, g->returns ? "return %s;" : "return;", g->returns ? real_expr(g, 1) : "");
    } else if (chance(g, 40)) {
        g->indent--;
        line(g, "} else {");
        g->indent++;
        serial_block(g, 1 + below(g, 2));
        leave(g, &o);
    }
    close_block(g);
}

/* Two arrays as in and out, which change places in time. */
static whole_array *
pointer(whole_gen *g, const char *name, whole_shape shape, bool fixed)
{
    return add_array(g, name, put(g, "%s[%%s]", name), shape, fixed, true);
}

static void
swap_lines(whole_gen *g, const char *a, const char *b)
{
    const char *t = fresh(g, "other");
    bool guarded = chance(g, 15);
    if (guarded)
        open_block(g, "if (%s)", condition(g));
    line(g, "%s *%s = %s;", stored_type(g), t, a);
    line(g, "%s = %s;", a, b);
    line(g, "%s = %s;", b, t);
    if (guarded)
        close_block(g);
}

/* Two plain arrays of one shape that may be written; returns whether there are. */
static bool
pick_pair(whole_gen *g, bool writable, unsigned *one, unsigned *other)
{
    for (unsigned tries = 0; tries < 20; tries++) {
        *one = below(g, g->array_count);
        *other = below(g, g->array_count);
        const whole_array *a = &g->arrays[*one], *b = &g->arrays[*other];
        if (*one != *other && a->class != b->class && a->shape == b->shape && a->plain && b->plain && !a->hidden &&
            !b->hidden && !(writable && (a->fixed || b->fixed)))
            return true;
    }
    return false;
}

static void
time_loop(whole_gen *g)
{
    unsigned one, other;
    bool pair = chance(g, 40) && pick_pair(g, true, &one, &other), hide = chance(g, 75);
    const char *pa = NULL, *pb = NULL, *t = fresh(g, "t");
    outside o;
    enter(g, &o);
    if (pair) {
        pa = fresh(g, "pa"), pb = fresh(g, "pb");
        line(g, "%s *%s = %s, *%s = %s;", stored_type(g), pa, g->arrays[one].name, pb, g->arrays[other].name);
        whole_shape shape = g->arrays[one].shape;
        /* or all four are read alone, and share a class */
        whole_array *a = pointer(g, pa, shape, false), *b = pointer(g, pb, shape, false);
        if (hide) {
            for (unsigned k = 0; k < g->array_count; k++)
                if (g->arrays[k].class == g->arrays[one].class || g->arrays[k].class == g->arrays[other].class)
                    g->arrays[k].hidden = true;
        } else {
            int old = g->arrays[other].class;
            for (unsigned k = 0; k < g->array_count; k++)
                if (g->arrays[k].class == old)
                    g->arrays[k].class = g->arrays[one].class;
            a->class = b->class = g->arrays[one].class;
        }
    }
    whole_name *v = pick_name(g, true, true);
    if (v && chance(g, 35)) {
        line(g, "int %s = 0;", t);
        open_block(g, "while (%s < 0.9 && %s < %u)", v->text, t, 2 + below(g, 4));
        line(g, "%s++;", t);
        line(g, "%s = %s;", v->text, chance(g, 50) ? put(g, "%s + 0.4", v->text) : real_expr(g, 2));
    } else {
        open_block(g, "for (int %s = 0; %s < %s; %s++)", t, t, trips(g), t);
    }
    outside inside;
    declare(g, t, false, true, 0);
    enter(g, &inside);
    g->loops++;
    task(g);
    serial_block(g, below(g, 3));
    if (chance(g, 30))
        line(g, "if (%s) %s;", condition(g), chance(g, 75) ? "break" : "continue");
    if (chance(g, 30))
        serial_block(g, 1);
    if (pair)
        swap_lines(g, pa, pb);
    g->loops--;
    leave(g, &inside);
    close_block(g);
    leave(g, &o);
}

/* A pointer that may point to either of two arrays from here on. */
static bool
choose_pointer(whole_gen *g)
{
    unsigned one, other;
    bool fixed = chance(g, 25);
    if (!pick_pair(g, !fixed, &one, &other))
        return false;
    const char *p = fresh(g, "p"), *a = g->arrays[one].name, *b = g->arrays[other].name, *c = condition(g);
    if (chance(g, 8)) {
        line(g, "%s%s *%s = %s ? %s : %s;", fixed ? "const " : "", stored_type(g), p, c, a, b);
    } else {
        line(g, "%s%s *%s = %s;", fixed ? "const " : "", stored_type(g), p, a);
        line(g, "if (%s) %s = %s;", c, p, b);
    }
    whole_array *made = pointer(g, p, g->arrays[one].shape, fixed);
    int old = g->arrays[other].class;
    for (unsigned k = 0; k < g->array_count; k++)
        if (g->arrays[k].class == old)
            g->arrays[k].class = g->arrays[one].class;
    made->class = g->arrays[one].class;
    return true;
}

static void
local_buffer(whole_gen *g)
{
    const char *b = fresh(g, "buf");
    line(g, "%s %s[4] = {%s, %s, 0.25};", stored_type(g), b, number(g), number(g));
    pointer(g, b, SMALL, false)->plain = false;
}

/* A task in a function of its own, called with two arrays. */
static bool
step_call(whole_gen *g)
{
    const whole_function *f = pick_function(g, STEP);
    unsigned one, other;
    if (!f || !pick_pair(g, true, &one, &other) || g->arrays[one].shape != VECTOR)
        return false;
    g->tasks -= g->tasks > 0;
    line(g, "%s(n, %s, %s, %s);", f->text, g->arrays[one].name, g->arrays[other].name, real_expr(g, 1));
    return true;
}

static void
serial_statement(whole_gen *g)
{
    unsigned kind = below(g, 100);
    if (g->tasks && kind < 34) {
        task(g);
        return;
    }
    if (g->tasks && kind < 40) {
        for (unsigned k = 1 + below(g, 3); k > 0; k--)
            sum_task(g);
        return;
    }
    if (kind < 52)
        serial_variable(g);
    else if (kind < 58)
        serial_assign(g);
    else if (kind < 64)
        serial_store(g);
    else if (kind < 74 && g->depth < 2)
        serial_if(g);
    else if (kind < 86 && g->depth < 2 && g->tasks)
        time_loop(g);
    else if (kind < 92 && g->depth == 1 && choose_pointer(g))
        ;
    else if (kind < 94 && g->depth == 1 && chance(g, 30))
        local_buffer(g);
    else if (!(kind < 98 && step_call(g)))
        serial_variable(g);
}

static void
serial_block(whole_gen *g, unsigned count)
{
    g->depth++;
    for (; count > 0; count--) {
        statement_begin(g);
        serial_statement(g);
        statement_end(g);
    }
    g->depth--;
}

/* -- programs --------------------------------------------------------------------------------------------------------
 */

static void
make_step(whole_gen *g)
{
    const char *name = fresh(g, "step");
    bool reads = chance(g, 50);
    line(g, "%s %s(int n, %s *a, %s%s *b, %s w)", "static void", name, either(g, g->stored, "real"), "",
         either(g, g->stored, "real"), either(g, g->real, "real"));
    line(g, "{");
    g->indent++;
    line(g, "#pragma omp parallel for");
    open_block(g, "for (int i = 0; i < n; i++)");
    line(g, "%s left = b[i > 0 ? i - 1 : 0], here = b[i];", either(g, g->real, "real"));
    line(g, "a[i] %s %s(left - w * here)%s;", chance(g, 50) ? "=" : "+=", math(g, "sin"), reads ? " * here" : "");
    close_block(g);
    g->indent--;
    line(g, "}");
    line(g, "%s", "");
    g->functions[g->function_count++] = (whole_function){name, STEP};
}

static void
types(whole_gen *g)
{
    unsigned k = below(g, 100);
    g->real = k < 74 ? "double" : k < 78 ? "double" : "float";
    g->stored = k < 74 ? "double" : k < 92 ? "float" : "_Float16";
    g->program->narrow = k >= 74;
    g->program->half = k >= 92;
}

static void
definitions(whole_gen *g)
{
    line(g, "%s", either(g, "#include <math.h>\n#include <retrograd/kernel.h>\n", ""));
    if (g->has_points)
        line(g, "struct point {\n    %s pos, vel;\n};\n", either(g, g->stored, "real"));
    if (g->has_setup)
        line(g, "struct setup {\n    %s gain, %s;\n    int mode;\n};\n", either(g, g->real, "real"),
             g->setup_has_array ? "shift[2]" : "offset, slope");
    make_functions(g);
    if (chance(g, 20))
        make_step(g);
}

/* All that was computed counts, some of it only where a condition holds. */
static void
whole_result(whole_gen *g)
{
    unsigned known = g->name_count;
    line(g, "%s res = %s;", real_type(g), real_expr(g, 1));
    for (unsigned k = 0; k < known; k++) {
        const whole_name *n = &g->names[k];
        if (!n->real || n->fixed || n->length || chance(g, 20))
            continue;
        statement_begin(g);
        if (chance(g, 30))
            line(g, "if (%s)", condition(g));
        line(g, "res += %s * %s * %s;", number(g), n->text, chance(g, 50) ? n->text : pick_name(g, true, false)->text);
        statement_end(g);
    }
    if (g->returns)
        line(g, "return res;");
    else
        line(g, "acc[%u] += res;", below(g, 4));
}

void
whole_make(whole_program *p, uint64_t seed)
{
    whole_gen g = {.program = p, .out = &p->text, .random = hash_u64(seed, 17)};
    signature s = {0};
    *p = (whole_program){.arena = arena_new(), .seed = seed};
    below(&g, 2);
    types(&g);
    g.has_points = chance(&g, 12);
    g.has_setup = chance(&g, 12);
    g.setup_has_array = chance(&g, 25);
    g.has_grid = chance(&g, 30);
    g.has_bins = chance(&g, 30);
    g.has_list = chance(&g, 6);
    g.returns = chance(&g, 45);
    g.may_return = chance(&g, 30);
    g.captures = chance(&g, 3);
    g.tasks = 1 + below(&g, 6);
    definitions(&g);
    parameters(&g, &s);
    line(&g, "%s", either(&g, g.returns ? g.real : "void", g.returns ? "static real" : "static void"));
    line(&g, "kern(%s)", either(&g, s.kernel.ptr, s.oracle.ptr));
    line(&g, "{");
    g.indent++;
    if (g.has_list)
        compaction(&g);
    unsigned count = 1 + below(&g, 6);
    for (unsigned k = 0; k < count || (g.tasks && k < 12); k++)
        serial_block(&g, 1);
    whole_result(&g);
    g.indent--;
    line(&g, "}");
    if (g.returns) {
        str_addf(&s.after, "    give(at[%u], 0, result);\n", p->count);
        add_param(&g, "return", WHOLE_RESULT);
    }
    const char *run =
        put(&g, "static void run(const place *at)\n{\n%s    %skern(%s);\n%s}", s.before.ptr ? s.before.ptr : "",
            g.returns ? "real result = " : "", s.call.ptr, s.after.ptr ? s.after.ptr : "");
    line(&g, "%s", either(&g, "", run));
    for (size_t k = 0; k < p->text.len; k++)
        p->regions += p->text.ptr[k] == 4 || p->text.ptr[k] == 5;
    str_free(&s.kernel);
    str_free(&s.oracle);
    str_free(&s.call);
    str_free(&s.before);
    str_free(&s.after);
}

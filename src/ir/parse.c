/* Text to IR; text.h shows the form. SPDX-License-Identifier: Apache-2.0
 *
 * After an error of syntax the lexer gives no more tokens, so every loop here ends. Errors of
 * meaning (a name not known, a number out of range) let the reading go on; then a made-up value
 * stands in. What is accepted has the shape that printing needs; the verifier judges the rest. */
#include "ir/lex.h"
#include "ir/text.h"

enum { DEEPEST = 200 };

typedef struct named {
    rg_str name;
    ir_value *value;
} named;

typedef struct pending_call {
    ir_op *op;
    token name;
} pending_call;

typedef vec(ir_value *) values;

typedef struct parser {
    lexer lex;
    ir_module *m;
    ir_fn *fn;
    arena *scratch;
    map names; /* hash of a name -> named */
    vec(pending_call) calls;
    values args; /* of the op being read */
    str bytes;   /* of the table being read */
    unsigned depth;
    unsigned errors_before;
} parser;

/* -- tokens
 * ---------------------------------------------------------------------------------------- */

static bool
at_punct(parser *p, const char *text)
{
    return p->lex.now.kind == TOKEN_PUNCT && str_eq(p->lex.now.text, rg_str_of(text));
}

static bool
at_word(parser *p, const char *text)
{
    return p->lex.now.kind == TOKEN_WORD && str_eq(p->lex.now.text, rg_str_of(text));
}

static bool
skip_punct(parser *p, const char *text)
{
    bool there = at_punct(p, text);
    if (there)
        lex_next(&p->lex);
    return there;
}

static bool
skip_word(parser *p, const char *text)
{
    bool there = at_word(p, text);
    if (there)
        lex_next(&p->lex);
    return there;
}

static void
expected(parser *p, const char *what)
{
    if (p->lex.stopped)
        return;
    token now = p->lex.now;
    rg_str text = {p->lex.source.ptr + now.from, now.to - now.from};
    if (now.kind == TOKEN_END)
        lex_error(&p->lex, &now, E_SYNTAX, "the text ends where %s should stand", what);
    else
        lex_error(&p->lex, &now, E_SYNTAX, "%s should stand here, not `%.*s`", what,
                  (int)(text.len < 40 ? text.len : 40), text.ptr);
    lex_stop(&p->lex);
}

static bool
want_punct(parser *p, const char *text)
{
    char what[16];
    snprintf(what, sizeof what, "`%s`", text);
    if (!at_punct(p, text)) {
        expected(p, what);
        return false;
    }
    lex_next(&p->lex);
    return true;
}

static void
want_word(parser *p, const char *text)
{
    char what[16];
    snprintf(what, sizeof what, "`%s`", text);
    if (!skip_word(p, text))
        expected(p, what);
}

/* an integer that may be negative; `low` to `high` */
static int64_t
want_int(parser *p, const char *what, int64_t low, int64_t high)
{
    token t = p->lex.now;
    uint64_t bits = 0;
    if (t.kind != TOKEN_NUMBER) {
        expected(p, what);
        return low > 0 ? low : 0;
    }
    int64_t v = ir_parse_literal(t.text, RG_I64, &bits) ? (int64_t)bits : INT64_MIN;
    if (!ir_parse_literal(t.text, RG_I64, &bits) || v < low || v > high) {
        lex_error(&p->lex, &t, E_NUMBER,
                  "%s is malformed or out of range\nwrite an integer from %lld to %lld", what,
                  (long long)low, (long long)high);
        v = low > 0 ? low : 0;
    }
    lex_next(&p->lex);
    return v;
}

static const char *
want_string(parser *p, const char *what)
{
    if (p->lex.now.kind != TOKEN_STRING) {
        expected(p, what);
        return "";
    }
    const char *text = arena_str(p->m->arena, p->lex.now.text);
    lex_next(&p->lex);
    return text;
}

/* -- types and values
 * ------------------------------------------------------------------------------ */

static rg_dtype
parse_dtype(parser *p)
{
    token t = p->lex.now;
    if (t.kind != TOKEN_WORD) {
        expected(p, "a type");
        return RG_F32;
    }
    rg_dtype d = ir_dtype_find(t.text);
    if (d == RG_NONE) {
        lex_error(
            &p->lex, &t, E_TYPE,
            "no such type\nscalars are bool, i8 to i64, u8 to u64, f16, f32, f64; others are T[n], "
            "buf<T,rank>, slot<T,n>, trace, cursor");
        d = RG_F32;
    }
    lex_next(&p->lex);
    return d;
}

static ir_type
parse_type(parser *p)
{
    if (skip_word(p, "trace"))
        return ir_trace();
    if (skip_word(p, "cursor"))
        return ir_cursor();
    bool is_buffer = at_word(p, "buf");
    if (is_buffer || at_word(p, "slot")) {
        lex_next(&p->lex);
        want_punct(p, "<");
        rg_dtype d = parse_dtype(p);
        want_punct(p, ",");
        ir_type t = is_buffer ? ir_buffer(d, (unsigned)want_int(p, "a rank", 0, RG_MAX_RANK))
                              : ir_slot(d, (uint32_t)want_int(p, "a length", 1, UINT32_MAX));
        want_punct(p, ">");
        return t;
    }
    rg_dtype d = parse_dtype(p);
    if (!skip_punct(p, "["))
        return ir_scalar(d);
    ir_type t = ir_array(d, (uint32_t)want_int(p, "a length", 1, UINT32_MAX));
    want_punct(p, "]");
    return t;
}

static uint64_t
hash_name(rg_str name)
{
    return hash_bytes(0, name.ptr, name.len);
}

static const named *
find_name(parser *p, rg_str name)
{
    const named *found = map_get(&p->names, hash_name(name));
    return found && str_eq(found->name, name) ? found : NULL;
}

/* gives a new value the name that stands at `t` */
static void
name_value(parser *p, token t, ir_value *v)
{
    bool number = true;
    for (size_t i = 0; i < t.text.len; i++)
        number &= t.text.ptr[i] >= '0' && t.text.ptr[i] <= '9';
    if (!number)
        v->name = arena_str(p->m->arena, t.text);
    if (map_get(&p->names, hash_name(t.text))) {
        lex_error(
            &p->lex, &t, E_TWICE,
            "this name is defined twice in one function\nuse another name: names are unique in "
            "a function, also over regions");
        return;
    }
    named *n = arena_one(p->scratch, named);
    *n = (named){t.text, v};
    map_set(&p->names, hash_name(t.text), n);
}

/* a value that no op defines, where the text names none: an error was reported */
static ir_value *
made_up(parser *p)
{
    ir_op *op = ir_op_new(p->fn, RG_OP_CONST, 0, 0, (ir_loc){0});
    return ir_op_result(op, p->fn, ir_scalar(RG_F32), NULL);
}

static token
want_name(parser *p)
{
    token t = p->lex.now;
    if (t.kind == TOKEN_VALUE)
        lex_next(&p->lex);
    else
        expected(p, "a value's name (%name)");
    return t;
}

static ir_value *
parse_use(parser *p)
{
    token t = want_name(p);
    if (p->lex.stopped && t.kind != TOKEN_VALUE)
        return made_up(p);
    const named *found = find_name(p, t.text);
    if (found)
        return found->value;
    lex_error(&p->lex, &t, E_UNDEFINED,
              "no value of this name is defined before\nvalues are defined above their uses; names "
              "belong to one function");
    return made_up(p);
}

/* appends uses, separated by commas, to the args of the op being read */
static void
parse_uses(parser *p)
{
    do
        vec_push(&p->args, parse_use(p));
    while (skip_punct(p, ","));
}

/* (%a, %b), perhaps empty */
static void
parse_use_list(parser *p)
{
    want_punct(p, "(");
    if (!at_punct(p, ")"))
        parse_uses(p);
    want_punct(p, ")");
}

/* -- places
 * ---------------------------------------------------------------------------------------- */

static uint32_t
file_number(parser *p, rg_str path)
{
    if (path.len == 0)
        return 0;
    for (uint32_t i = 1; i < p->m->files.n; i++)
        if (str_eq(path, rg_str_of(p->m->files.at[i].path)))
            return i;
    ir_file file = {.path = arena_str(p->m->arena, path)};
    vec_push(&p->m->files, file);
    return (uint32_t)p->m->files.n - 1;
}

static ir_loc
parse_position(parser *p)
{
    ir_loc loc = {.file = file_number(p, lex_path(&p->lex))};
    want_punct(p, ":");
    loc.line = (uint32_t)want_int(p, "a line", 0, UINT32_MAX);
    want_punct(p, ":");
    loc.col = (uint32_t)want_int(p, "a column", 0, UINT32_MAX);
    if (p->lex.now.kind == TOKEN_NUMBER && p->lex.now.text.ptr[0] == '-')
        loc.end_col = (uint32_t)-want_int(p, "a column", -(int64_t)UINT32_MAX, 0);
    return loc;
}

static uint32_t
inline_number(parser *p, const char *callee, ir_loc at)
{
    for (uint32_t i = 1; i < p->m->inlines.n; i++) {
        const ir_inline *c = &p->m->inlines.at[i];
        if (strcmp(c->callee, callee) == 0 && memcmp(&c->at, &at, sizeof at) == 0)
            return i;
    }
    ir_inline call = {callee, at};
    vec_push(&p->m->inlines, call);
    return (uint32_t)p->m->inlines.n - 1;
}

/* `in @callee place` chains lead outwards: the rest is numbered first */
static uint32_t
parse_inlined(parser *p, unsigned depth)
{
    if (!at_word(p, "in"))
        return 0;
    if (depth == DEEPEST) {
        expected(p, "the end of a chain of inlined calls");
        return 0;
    }
    lex_next(&p->lex);
    if (p->lex.now.kind != TOKEN_GLOBAL) {
        expected(p, "a function's name (@name)");
        return 0;
    }
    const char *callee = arena_str(p->m->arena, p->lex.now.text);
    lex_next(&p->lex);
    ir_loc at = parse_position(p);
    at.inlined = parse_inlined(p, depth + 1);
    return inline_number(p, callee, at);
}

static ir_loc
parse_loc(parser *p)
{
    if (p->lex.now.kind != TOKEN_AT)
        return (ir_loc){0};
    lex_next(&p->lex);
    ir_loc loc = parse_position(p);
    loc.inlined = parse_inlined(p, 0);
    return loc;
}

/* -- names of ops
 * ---------------------------------------------------------------------------------- */

/* cuts the next part, up to a point, off the front */
static rg_str
cut_part(rg_str *rest)
{
    const char *point = rest->len ? memchr(rest->ptr, '.', rest->len) : NULL;
    rg_str part = {rest->ptr, point ? (size_t)(point - rest->ptr) : rest->len};
    size_t used = part.len + (point != NULL);
    *rest = (rg_str){rest->ptr + used, rest->len - used};
    return part;
}

static bool
is(rg_str s, const char *text)
{
    return str_eq(s, rg_str_of(text));
}

static bool
parse_rmw_suffix(ir_op *op, rg_str *rest)
{
    rg_str what = cut_part(rest);
    for (unsigned i = 0; i < RG_RMW_COUNT; i++) {
        if (is(what, ir_rmw_names[i])) {
            op->rmw = (uint8_t)i;
            return true;
        }
    }
    return false;
}

static bool
parse_suffixes(ir_op *op, rg_str rest)
{
    bool memory = op->code == RG_OP_LOAD || op->code == RG_OP_STORE || op->code == RG_OP_RMW;
    if (op->code == RG_OP_RMW && !parse_rmw_suffix(op, &rest))
        return false;
    while (rest.len) {
        rg_str part = cut_part(&rest);
        unsigned plane = is(part, "adj")    ? RG_ADJOINT
                         : is(part, "tan")  ? RG_TANGENT
                         : is(part, "tan2") ? RG_TANGENT2
                                            : RG_PRIMAL;
        if (plane && memory && plane > op->plane)
            op->plane |= (uint8_t)plane;
        else if (is(part, "atomic") && op->code == RG_OP_RMW && !op->atomic && !op->fast)
            op->atomic = true;
        else if (is(part, "fast") && !op->fast)
            op->fast = true;
        else
            return false;
    }
    return true;
}

static int
find_op(rg_str name)
{
    for (int i = 0; i < RG_OP_COUNT; i++)
        if (is(name, ir_ops[i].text))
            return i;
    return -1;
}

/* the op of this name, detached; NULL after an error */
static ir_op *
parse_op_name(parser *p)
{
    token t = p->lex.now;
    if (t.kind != TOKEN_WORD) {
        expected(p, "an operation");
        return NULL;
    }
    rg_str rest = t.text, name = cut_part(&rest);
    int code = find_op(name);
    if (code < 0) {
        lex_error(&p->lex, &t, E_OP, "no operation is called `%.*s`",
                  (int)(name.len < 40 ? name.len : 40), name.ptr);
        lex_stop(&p->lex);
        return NULL;
    }
    uint32_t nregions =
        code == RG_OP_IF ? 2
        : code == RG_OP_FOR || code == RG_OP_LOOP || code == RG_OP_PARALLEL || code == RG_OP_UNWIND
            ? 1
            : 0;
    ir_op *op = ir_op_new(p->fn, (rg_op)code, 0, nregions, (ir_loc){0});
    if (!parse_suffixes(op, rest) || t.text.ptr[t.text.len - 1] == '.')
        lex_error(
            &p->lex, &t, E_SUFFIX,
            "this operation cannot have such a suffix\nload and store take .adj .tan .tan2; rmw "
            "takes .add .min ... .cas, then planes, then .atomic; any op takes .fast last");
    lex_next(&p->lex);
    return op;
}

/* -- ops with their own way of writing
 * ------------------------------------------------------------- */

/* the results' types stand before the op, whose value they are */
typedef struct result {
    token name;
    ir_type type;
} result;

typedef vec(result) results;

static bool
parse_literal(parser *p, rg_dtype d, uint64_t *bits)
{
    token t = p->lex.now;
    if (t.kind != TOKEN_NUMBER && t.kind != TOKEN_WORD) {
        expected(p, "a number");
        return false;
    }
    lex_next(&p->lex);
    rg_str text = t.text;
    if (is(t.text, "nan") && at_punct(p, ":")) {
        lex_next(&p->lex);
        if (p->lex.now.kind == TOKEN_NUMBER) {
            t.to = p->lex.now.to;
            text = (rg_str){t.text.ptr, t.to - t.from};
        }
        lex_next(&p->lex);
    }
    if (ir_parse_literal(text, d, bits))
        return true;
    lex_error(&p->lex, &t, E_NUMBER, "not a number that %s can hold", ir_dtype_name(d));
    return false;
}

static void
parse_table(parser *p, ir_op *op, ir_type t)
{
    token start = p->lex.now;
    unsigned size = ir_bytes(t.dtype);
    uint32_t n = 0;
    p->bytes.len = 0;
    want_punct(p, "{");
    while (!p->lex.stopped && !at_punct(p, "}")) {
        uint64_t bits = 0;
        if (n && !want_punct(p, ","))
            break;
        parse_literal(p, t.dtype, &bits);
        str_add(&p->bytes, (rg_str){(const char *)&bits, size}); /* little-endian hosts */
        n++;
    }
    want_punct(p, "}");
    if (p->lex.stopped)
        return;
    if (t.kind != IR_ARRAY || n != t.length) {
        lex_error(&p->lex, &start, E_COUNT,
                  "a table's result is an array of as many elements as the list holds (here %u)",
                  n);
        return;
    }
    char *data = arena_alloc(p->m->arena, p->bytes.len);
    memcpy(data, p->bytes.ptr, p->bytes.len);
    op->attr.data = data;
}

/* one region parameter, `%a: T` */
static void
parse_region_param(parser *p, ir_region *r)
{
    token name = want_name(p);
    want_punct(p, ":");
    ir_type t = parse_type(p);
    if (!p->lex.stopped)
        name_value(p, name, ir_region_param(r, t, NULL));
}

/* `%a: T = %init, ...` up to the closing bracket. The inits are read where the parameters are not
 * yet seen, so that they cannot mean them. */
static void
parse_carried(parser *p, ir_region *r)
{
    results params = {0};
    mem_owner owns;
    mem_own(&owns, mem_release_ptr, &params.at);
    while (!p->lex.stopped) {
        result one = {.name = want_name(p)};
        want_punct(p, ":");
        one.type = parse_type(p);
        want_punct(p, "=");
        vec_push(&p->args, parse_use(p));
        vec_push(&params, one);
        if (!skip_punct(p, ","))
            break;
    }
    want_punct(p, ")");
    for (size_t i = 0; i < params.n && !p->lex.stopped; i++)
        name_value(p, params.at[i].name, ir_region_param(r, params.at[i].type, NULL));
    mem_disown(&owns);
    vec_free(&params);
}

static void
parse_for(parser *p, ir_op *op)
{
    ir_region *body = op->regions[0];
    token index = want_name(p);
    want_punct(p, ":");
    ir_type t = parse_type(p);
    want_punct(p, "=");
    vec_push(&p->args, parse_use(p));
    want_word(p, "to");
    vec_push(&p->args, parse_use(p));
    want_word(p, "step");
    op->attr.step = want_int(p, "a step", INT64_MIN, INT64_MAX);
    if (p->lex.stopped)
        return;
    ir_value *v = ir_region_param(body, t, NULL);
    if (skip_punct(p, "("))
        parse_carried(p, body);
    if (!p->lex.stopped)
        name_value(p, index, v);
}

static void
parse_unwind(parser *p, ir_op *op)
{
    ir_region *body = op->regions[0];
    vec_push(&p->args, parse_use(p));
    want_punct(p, ",");
    vec_push(&p->args, parse_use(p));
    want_punct(p, "(");
    parse_region_param(p, body);
    if (skip_punct(p, ","))
        parse_carried(p, body);
    else
        want_punct(p, ")");
}

static void
parse_reductions(parser *p, ir_op *op)
{
    uint8_t what[256];
    uint32_t n = 0;
    want_punct(p, "(");
    do {
        token t = p->lex.now;
        unsigned i = 0;
        while (i < RG_RMW_COUNT && !(t.kind == TOKEN_WORD && is(t.text, ir_rmw_names[i])))
            i++;
        if (i == RG_RMW_COUNT || n == countof(what)) {
            expected(p, "a reduction (add, min, max, mul, and, or, xor), at most 256 of them,");
            return;
        }
        what[n++] = (uint8_t)i;
        lex_next(&p->lex);
        vec_push(&p->args, parse_use(p));
    } while (skip_punct(p, ","));
    want_punct(p, ")");
    uint8_t *copy = arena_alloc(p->m->arena, n);
    memcpy(copy, what, n);
    op->reduce = copy;
}

static void
parse_bounds(parser *p, ir_op *op)
{
    token start = p->lex.now;
    size_t before = p->args.n;
    parse_use_list(p);
    if (p->args.n - before != op->attr.rank && !p->lex.stopped) {
        lex_error(&p->lex, &start, E_COUNT,
                  "a parallel loop has as many bounds as indices (here %u)", op->attr.rank);
        lex_stop(&p->lex);
    }
}

static void
parse_parallel(parser *p, ir_op *op)
{
    ir_value *trace = NULL;
    op->rewinds = skip_word(p, "rewinds");
    if (op->rewinds && p->lex.now.kind == TOKEN_VALUE)
        trace = parse_use(p);
    want_punct(p, "(");
    results indices = {0};
    mem_owner owns;
    mem_own(&owns, mem_release_ptr, &indices.at);
    while (!p->lex.stopped) {
        result one = {.name = want_name(p)};
        want_punct(p, ":");
        one.type = parse_type(p);
        vec_push(&indices, one);
        if (!skip_punct(p, ","))
            break;
    }
    want_punct(p, ")");
    op->attr.rank = (uint32_t)indices.n;
    want_punct(p, "=");
    parse_bounds(p, op);
    want_word(p, "to");
    parse_bounds(p, op);
    if (trace)
        vec_push(&p->args, trace);
    if (skip_word(p, "reduce"))
        parse_reductions(p, op);
    for (size_t i = 0; i < indices.n && !p->lex.stopped; i++)
        name_value(p, indices.at[i].name,
                   ir_region_param(op->regions[0], indices.at[i].type, NULL));
    mem_disown(&owns);
    vec_free(&indices);
}

static void
parse_call(parser *p, ir_op *op)
{
    pending_call call = {op, p->lex.now};
    if (p->lex.now.kind != TOKEN_GLOBAL) {
        expected(p, "a function's name (@name)");
        return;
    }
    vec_push(&p->calls, call);
    lex_next(&p->lex);
    parse_use_list(p);
}

static void
parse_own_way(parser *p, ir_op *op, const results *r)
{
    ir_type t = r->n ? r->at[0].type : ir_scalar(RG_F32);
    switch (op->code) {
    case RG_OP_CONST:
        parse_literal(p, t.kind == IR_SCALAR ? t.dtype : RG_NONE, &op->attr.bits);
        break;
    case RG_OP_TABLE:
        parse_table(p, op, t);
        break;
    case RG_OP_EXTENT:
        vec_push(&p->args, parse_use(p));
        want_punct(p, ",");
        op->attr.bits = (uint64_t)want_int(p, "an axis", 0, RG_MAX_RANK - 1);
        break;
    case RG_OP_TEMP:
        if (t.kind != IR_BUFFER || t.rank)
            parse_uses(p);
        break;
    case RG_OP_IF:
        vec_push(&p->args, parse_use(p));
        break;
    case RG_OP_FOR:
        parse_for(p, op);
        break;
    case RG_OP_LOOP:
        if (skip_punct(p, "("))
            parse_carried(p, op->regions[0]);
        break;
    case RG_OP_PARALLEL:
        parse_parallel(p, op);
        break;
    case RG_OP_UNWIND:
        parse_unwind(p, op);
        break;
    case RG_OP_EXIT_IF:
        vec_push(&p->args, parse_use(p));
        if (at_punct(p, "("))
            parse_use_list(p);
        break;
    case RG_OP_YIELD:
        if (p->lex.now.kind == TOKEN_VALUE)
            parse_uses(p);
        break;
    case RG_OP_CALL:
        parse_call(p, op);
        break;
    case RG_OP_ASSERT:
        vec_push(&p->args, parse_use(p));
        want_punct(p, ",");
        op->attr.text = want_string(p, "the assertion's text");
        break;
    case RG_OP_PRINT:
        op->attr.text = want_string(p, "a format");
        if (skip_punct(p, ","))
            parse_uses(p);
        break;
    default:
        break;
    }
}

static void
parse_access(parser *p)
{
    vec_push(&p->args, parse_use(p));
    if (skip_punct(p, "[")) {
        if (!at_punct(p, "]"))
            parse_uses(p);
        want_punct(p, "]");
    }
    if (skip_punct(p, ","))
        parse_uses(p);
}

/* -- ops and regions
 * ------------------------------------------------------------------------------- */

static void parse_region(parser *p, ir_region *r);

static void
parse_operands(parser *p, ir_op *op, const results *r)
{
    switch (ir_syntax_of(op->code)) {
    case SYNTAX_LIST:
        parse_uses(p);
        break;
    case SYNTAX_NONE:
        break;
    case SYNTAX_ACCESS:
        parse_access(p);
        break;
    case SYNTAX_OWN:
        parse_own_way(p, op, r);
        break;
    }
}

static void
parse_results(parser *p, results *r)
{
    if (p->lex.now.kind != TOKEN_VALUE)
        return;
    do {
        result one = {.name = want_name(p)};
        want_punct(p, ":");
        one.type = parse_type(p);
        vec_push(r, one);
    } while (skip_punct(p, ","));
    want_punct(p, "=");
}

/* an op's operands may not name its results, so they get their names after */
static void
define_results(parser *p, ir_op *op, const results *r)
{
    for (size_t i = 0; i < r->n && !p->lex.stopped; i++)
        name_value(p, r->at[i].name, ir_op_result(op, p->fn, r->at[i].type, NULL));
}

static void
parse_regions(parser *p, ir_op *op)
{
    if (op->nregions == 0)
        return;
    parse_region(p, op->regions[0]);
    if (op->nregions == 1)
        return;
    if (skip_word(p, "else"))
        parse_region(p, op->regions[1]);
    else
        ir_append(op->regions[1], ir_op_new(p->fn, RG_OP_YIELD, 0, 0, (ir_loc){0}));
}

static void
parse_op(parser *p, ir_region *into)
{
    results r = {0};
    mem_owner owns;
    mem_own(&owns, mem_release_ptr, &r.at);
    parse_results(p, &r);
    ir_op *op = p->lex.stopped ? NULL : parse_op_name(p);
    if (op) {
        bool can_record =
            op->code == RG_OP_FOR || op->code == RG_OP_LOOP || op->code == RG_OP_PARALLEL;
        op->records = can_record && skip_word(p, "records");
        p->args.n = 0;
        parse_operands(p, op, &r);
        for (size_t i = 0; i < p->args.n; i++)
            ir_op_arg(op, p->fn, p->args.at[i]);
        op->loc = parse_loc(p);
        ir_append(into, op);
        parse_regions(p, op);
        define_results(p, op, &r);
    }
    mem_disown(&owns);
    vec_free(&r);
}

static void
parse_region(parser *p, ir_region *r)
{
    if (p->depth == DEEPEST) {
        lex_error(&p->lex, &p->lex.now, E_DEPTH, "regions are nested more than %d deep", DEEPEST);
        lex_stop(&p->lex);
        return;
    }
    p->depth++;
    want_punct(p, "{");
    while (!p->lex.stopped && !at_punct(p, "}") && p->lex.now.kind != TOKEN_END)
        parse_op(p, r);
    want_punct(p, "}");
    p->depth--;
}

/* -- functions
 * ------------------------------------------------------------------------------------- */

static void
parse_param(parser *p)
{
    parse_region_param(p, p->fn->body);
    if (p->lex.stopped)
        return;
    ir_param *param = &p->fn->params[p->fn->body->nparams - 1];
    param->name = p->fn->body->params[p->fn->body->nparams - 1]->name;
    param->flat = skip_word(p, "flat");
    param->constant = skip_word(p, "const");
    if (skip_word(p, "record")) {
        want_punct(p, "(");
        param->record = (uint32_t)want_int(p, "a record's number", 1, UINT32_MAX);
        want_punct(p, ",");
        param->field_offset = (uint32_t)want_int(p, "an offset", 0, UINT32_MAX);
        want_punct(p, ",");
        param->record_size = (uint32_t)want_int(p, "a size", 0, UINT32_MAX);
        want_punct(p, ")");
    }
    param->loc = parse_loc(p);
}

static void
check_result_types(parser *p, const token *at, const ir_type *types, size_t n)
{
    const ir_op *end = ir_terminator(p->fn->body);
    bool same = end && end->nargs == n;
    for (size_t i = 0; same && i < n; i++)
        same = ir_type_eq(end->args[i]->type, types[i]);
    if (!same && !p->lex.stopped && p->lex.diags->errors == p->errors_before)
        lex_error(&p->lex, at, E_RESULTS, "these are not the types that the function's yield has");
}

static void
parse_bodies(parser *p)
{
    vec(ir_type) types = {0};
    mem_owner owns;
    mem_own(&owns, mem_release_ptr, &types.at);
    token arrow = p->lex.now;
    bool typed = skip_punct(p, "->");
    if (typed) {
        want_punct(p, "(");
        if (!at_punct(p, ")")) {
            do
                vec_push(&types, parse_type(p));
            while (skip_punct(p, ","));
        }
        want_punct(p, ")");
    }
    p->fn->loc = parse_loc(p);
    if (skip_word(p, "shape")) {
        p->fn->shape = ir_region_new(p->fn, NULL);
        parse_region(p, p->fn->shape);
    }
    parse_region(p, p->fn->body);
    if (typed)
        check_result_types(p, &arrow, types.at, types.n);
    mem_disown(&owns);
    vec_free(&types);
}

static void
parse_fn(parser *p)
{
    bool kernel = skip_word(p, "kernel");
    if (!kernel && !skip_word(p, "func")) {
        expected(p, "`kernel` or `func`");
        return;
    }
    token name = p->lex.now;
    if (name.kind != TOKEN_GLOBAL || name.text.len == 0) {
        expected(p, "a function's name (@name)");
        return;
    }
    if (ir_fn_find(p->m, name.text))
        lex_error(&p->lex, &name, E_TWICE, "two functions have this name");
    p->fn = ir_fn_new(p->m, arena_str(p->scratch, name.text), kernel);
    map_free(&p->names);
    lex_next(&p->lex);
    want_punct(p, "(");
    if (!at_punct(p, ")")) {
        do
            parse_param(p);
        while (skip_punct(p, ","));
    }
    want_punct(p, ")");
    parse_bodies(p);
}

/* calls may stand before what they call */
static void
resolve_calls(parser *p)
{
    for (size_t i = 0; i < p->calls.n; i++) {
        pending_call *c = &p->calls.at[i];
        c->op->attr.fn = ir_fn_find(p->m, c->name.text);
        if (!c->op->attr.fn)
            lex_error(&p->lex, &c->name, E_FUNCTION, "no function of this name is in the module");
    }
}

static void
release(void *parser_)
{
    parser *p = parser_;
    map_free(&p->names);
    vec_free(&p->calls);
    vec_free(&p->args);
    str_free(&p->bytes);
    arena_free(p->scratch);
    ir_module_free(p->m);
}

ir_module *
ir_parse(rg_str text, const char *path, diag_list *diags)
{
    parser p = {0};
    mem_owner owns;
    mem_own(&owns, release, &p);
    p.scratch = arena_new();
    p.m = ir_module_new();
    p.errors_before = diags->errors;
    lex_start(&p.lex, text, path, p.scratch, diags);
    while (p.lex.now.kind != TOKEN_END)
        parse_fn(&p);
    resolve_calls(&p);
    ir_module *m = NULL;
    if (diags->errors == p.errors_before) {
        m = p.m;
        p.m = NULL;
        for (ir_fn *fn = m->first; fn; fn = fn->next)
            ir_fn_scan_params(fn);
    }
    mem_disown(&owns);
    release(&p);
    return m;
}

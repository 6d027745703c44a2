/* Ops and regions of IR text. SPDX-License-Identifier: Apache-2.0
 *
 * What is accepted has the shape that printing needs; the verifier judges the rest. */
#include "ir/pattern.h"
#include "ir/text/parse.h"

/* -- names of ops ----------------------------------------------------------------------------- */

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

/* a number below 100 without leading zeros behind `name`; 0: it is something else */
static unsigned
number_behind(rg_str part, const char *name)
{
    size_t start = strlen(name);
    unsigned n = 0;
    if (part.len <= start || part.len > start + 2 || memcmp(part.ptr, name, start) != 0 ||
        part.ptr[start] == '0')
        return 0;
    for (size_t i = start; i < part.len; i++) {
        if (part.ptr[i] < '0' || part.ptr[i] > '9')
            return 0;
        n = n * 10 + (unsigned)(part.ptr[i] - '0');
    }
    return n;
}

/* d1, d2, ... (direction 0 is not written), then of1, of2, ... where they lie side by side */
static bool
parse_direction(ir_op *op, rg_str part)
{
    unsigned direction = number_behind(part, "d"), beside = number_behind(part, "of");
    if (!op->plane || op->atomic || op->fast || op->beside)
        return false;
    if (direction && direction < IR_DIRECTIONS && !op->direction)
        op->direction = (uint8_t)direction;
    else if (beside > op->direction && beside <= IR_DIRECTIONS)
        op->beside = (uint8_t)beside;
    else
        return false;
    return true;
}

static bool
parse_call_suffix(ir_op *op, rg_str part)
{
    if (op->silent || op->fast)
        return false;
    if (is(part, "vjp") && !op->reverse && !op->forward) {
        op->reverse = true;
    } else if ((is(part, "jvp") || is(part, "jvpt") || is(part, "jvpa")) && op->forward < IR_FORWARD_MAX) {
        op->tangents |= (uint8_t)(is(part, "jvpt") << op->forward);
        op->adjoints |= (uint8_t)(is(part, "jvpa") << op->forward);
        op->forward++;
    } else if (is(part, "again")) {
        op->silent = true;
    } else {
        return false;
    }
    return true;
}

static bool
parse_suffixes(ir_op *op, rg_str rest)
{
    unsigned flags = ir_ops[op->code].flags;
    bool memory = flags & IR_ACCESS;
    if ((flags & IR_COMBINES) && !parse_rmw_suffix(op, &rest))
        return false;
    while (rest.len) {
        rg_str part = cut_part(&rest);
        unsigned plane = is(part, "adj")    ? RG_ADJOINT
                         : is(part, "tan")  ? RG_TANGENT
                         : is(part, "tan2") ? RG_TANGENT2
                                            : RG_PRIMAL;
        if (plane && memory && plane > op->plane && !op->direction && !op->beside)
            op->plane |= (uint8_t)plane;
        else if (memory && is(part, "successive") && !op->successive && !op->plane && !op->atomic && !op->fast)
            op->successive = true;
        else if (parse_direction(op, part))
            continue;
        else if (is(part, "atomic") && memory && (flags & IR_READ) && !op->atomic && !op->fast)
            op->atomic = true;
        else if (memory && is(part, "row") && !op->in_row)
            op->in_row = true;
        else if (op->code == RG_OP_TEMP && is(part, "own") && !op->own)
            op->own = true;
        else if (op->code == RG_OP_TAPE_PUSH && is(part, "again"))
            op->again = true;
        else if (op->code == RG_OP_TAPE_BEGIN && is(part, "again"))
            op->drops = true;
        else if (op->code == RG_OP_CALL && parse_call_suffix(op, part))
            continue;
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

static uint32_t
nregions_of(rg_op code)
{
    uint32_t n = 0;
    for (const char *c = ir_ops[code].pattern; c && *c; c++)
        n += *c == '{';
    return n;
}

/* the op of this name, detached; NULL after an error */
static ir_op *
parse_op_name(parser *p)
{
    token t = p->lex.now;
    if (t.kind != TOKEN_WORD) {
        parse_expected(p, "an operation");
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
    ir_op *op = ir_op_new(p->fn, (rg_op)code, 0, nregions_of((rg_op)code), (ir_loc){0});
    if (!parse_suffixes(op, rest) || t.text.ptr[t.text.len - 1] == '.')
        lex_error(
            &p->lex, &t, E_SUFFIX,
            "this operation cannot have such a suffix\nload and store take .successive, .adj .tan .tan2, then "
            "a direction .d1 to .d63, .of2 to .of64; then load .atomic, all .row; rmw takes .add .min ... .cas, then these, then .atomic, .row; "
            "lanes_reduce takes .add .min ... .xor; call takes .vjp, .jvp, .again; any op takes .fast last");
    lex_next(&p->lex);
    return op;
}

/* -- ops with their own way of writing -------------------------------------------------------- */

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
        parse_expected(p, "a number");
        return false;
    }
    lex_next(&p->lex);
    rg_str text = t.text;
    if (is(t.text, "nan") && parse_at(p, ":")) {
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
    parse_want(p, "{");
    while (!p->lex.stopped && !parse_at(p, "}")) {
        uint64_t bits = 0;
        if (n && !parse_want(p, ","))
            break;
        parse_literal(p, t.dtype, &bits);
        str_add(&p->bytes, (rg_str){(const char *)&bits, size}); /* little-endian hosts */
        n++;
    }
    parse_want(p, "}");
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
void
parse_region_param(parser *p, ir_region *r)
{
    token name = parse_name(p);
    parse_want(p, ":");
    ir_type t = parse_type(p);
    if (!p->lex.stopped)
        parse_define(p, name, ir_region_param(r, t, NULL));
}

/* `%a: T = %init, ...` up to the closing bracket. The inits are read where the parameters are not
 * yet seen, so that they cannot mean them. */
static void
parse_carried(parser *p, ir_region *r)
{
    results params = {.in = p->scratch};
    while (!p->lex.stopped) {
        result one = {.name = parse_name(p)};
        parse_want(p, ":");
        one.type = parse_type(p);
        parse_want(p, "=");
        vec_push(&p->args, parse_use(p));
        vec_push(&params, one);
        if (!parse_skip(p, ","))
            break;
    }
    parse_want(p, ")");
    for (size_t i = 0; i < params.n && !p->lex.stopped; i++)
        parse_define(p, params.at[i].name, ir_region_param(r, params.at[i].type, NULL));
}

static void
parse_for(parser *p, ir_op *op)
{
    ir_region *body = op->regions[0];
    token index = parse_name(p);
    parse_want(p, ":");
    ir_type t = parse_type(p);
    parse_want(p, "=");
    vec_push(&p->args, parse_use(p));
    parse_want_word(p, "to");
    vec_push(&p->args, parse_use(p));
    parse_want_word(p, "step");
    op->attr.step = parse_int(p, "a step", INT64_MIN, INT64_MAX);
    if (p->lex.stopped)
        return;
    ir_value *v = ir_region_param(body, t, NULL);
    if (parse_skip(p, "("))
        parse_carried(p, body);
    if (!p->lex.stopped)
        parse_define(p, index, v);
}

static void
parse_unwind(parser *p, ir_op *op)
{
    ir_region *body = op->regions[0];
    vec_push(&p->args, parse_use(p));
    parse_want(p, ",");
    vec_push(&p->args, parse_use(p));
    parse_want(p, "(");
    parse_region_param(p, body);
    if (parse_skip(p, ","))
        parse_carried(p, body);
    else
        parse_want(p, ")");
}

static void
parse_reductions(parser *p, ir_op *op)
{
    uint8_t what[256];
    uint32_t n = 0;
    parse_want(p, "(");
    do {
        token t = p->lex.now;
        unsigned i = 0;
        while (i < RG_RMW_COUNT && !(t.kind == TOKEN_WORD && is(t.text, ir_rmw_names[i])))
            i++;
        if (i == RG_RMW_COUNT || n == countof(what)) {
            parse_expected(p,
                           "a reduction (add, min, max, mul, and, or, xor), at most 256 of them,");
            return;
        }
        what[n++] = (uint8_t)i;
        lex_next(&p->lex);
        vec_push(&p->args, parse_use(p));
    } while (parse_skip(p, ","));
    parse_want(p, ")");
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
    op->rewinds = parse_skip_word(p, "rewinds");
    if (op->rewinds && p->lex.now.kind == TOKEN_VALUE)
        trace = parse_use(p);
    parse_want(p, "(");
    results indices = {.in = p->scratch};
    while (!p->lex.stopped) {
        result one = {.name = parse_name(p)};
        parse_want(p, ":");
        one.type = parse_type(p);
        vec_push(&indices, one);
        if (!parse_skip(p, ","))
            break;
    }
    parse_want(p, ")");
    /* of a loop in groups the last one is the mask */
    bool groups = indices.n > 1 && indices.at[indices.n - 1].type.lanes;
    op->attr.rank = (uint32_t)indices.n - groups;
    parse_want(p, "=");
    parse_bounds(p, op);
    parse_want_word(p, "to");
    parse_bounds(p, op);
    if (trace)
        vec_push(&p->args, trace);
    if (parse_skip_word(p, "reduce"))
        parse_reductions(p, op);
    for (size_t i = 0; i < indices.n && !p->lex.stopped; i++)
        parse_define(p, indices.at[i].name,
                     ir_region_param(op->regions[0], indices.at[i].type, NULL));
}

static void
parse_callee(parser *p, ir_op *op)
{
    pending_call call = {op, p->lex.now};
    if (p->lex.now.kind != TOKEN_GLOBAL) {
        parse_expected(p, "a function's name (@name)");
        return;
    }
    vec_push(&p->calls, call);
    lex_next(&p->lex);
}

/* what the pattern writes as # */
static void
parse_attr(parser *p, ir_op *op, ir_type t)
{
    switch ((ir_attr)ir_ops[op->code].attr) {
    case IR_ATTR_LITERAL:
        parse_literal(p, t.kind == IR_SCALAR ? t.dtype : RG_NONE, &op->attr.bits);
        break;
    case IR_ATTR_AXIS:
        op->attr.bits = (uint64_t)parse_int(p, "an axis", 0, RG_MAX_RANK - 1);
        break;
    case IR_ATTR_FN:
        parse_callee(p, op);
        break;
    case IR_ATTR_TEXT:
        op->attr.text = parse_string(p, op->code == RG_OP_PRINT ? "a format" : "the assertion's text");
        break;
    case IR_ATTR_DATA:
        parse_table(p, op, t);
        break;
    case IR_ATTR_NONE:
    case IR_ATTR_STEP:
    case IR_ATTR_RANK:
        break;
    }
}

/* the last of the words from `item` on that follow each other behind commas; `item` itself, if it is none */
static const ir_item *
last_word(const ir_item *item)
{
    while (item[1].what == ',' && item[2].what == 'w')
        item += 2;
    return item;
}

/* Operands for all of these words, as many as there are: the verifier counts them. None may stand where any number may; but
 * how many a buffer has, whose next op may begin with a value too, its type says. */
static void
parse_words(parser *p, ir_item first, bool one, ir_type result)
{
    if (one)
        vec_push(&p->args, parse_use(p));
    else if (!first.times || (result.kind == IR_BUFFER ? result.rank > 0 : p->lex.now.kind == TOKEN_VALUE))
        parse_uses(p);
}

static void
parse_pattern(parser *p, ir_op *op, ir_type result)
{
    ir_pattern items = {0}; /* zeros behind it: last_word looks there */
    ir_pattern_read((rg_op)op->code, items);
    for (const ir_item *item = items; item->what && item->what != '>' && item->what != '{'; item++) {
        const ir_item *last = last_word(item + (item->what != 'w'));
        bool there = true, attr = last[1].what == ',' && last[2].what == '#';
        switch (item->what) {
        case 'w':
            parse_words(p, *item, attr, result);
            item = last;
            break;
        case '#':
            parse_attr(p, op, result);
            break;
        case ',':
            there = item[1].what == '#' ? parse_want(p, ",") : parse_skip(p, ",");
            break;
        case 'i':
            op->masked = parse_mask(p);
            item = last;
            break;
        case '(':
            there = item == items || item->spaced ? parse_skip(p, "(") : parse_want(p, "(");
            break;
        case '[':
            there = parse_skip(p, "[");
            break;
        default:
            parse_want(p, item->what == ')' ? ")" : "]");
            break;
        }
        if (!there) /* nor what it holds or parts */
            item = item->what == ',' ? (item[1].what == 'w' ? last : item) : last + 1;
    }
}

static void
parse_operands(parser *p, ir_op *op, const results *r)
{
    switch (op->code) {
    case RG_OP_FOR:
        parse_for(p, op);
        break;
    case RG_OP_LOOP:
        if (parse_skip(p, "("))
            parse_carried(p, op->regions[0]);
        break;
    case RG_OP_PARALLEL:
        parse_parallel(p, op);
        break;
    case RG_OP_UNWIND:
        parse_unwind(p, op);
        break;
    default:
        if (ir_ops[op->code].pattern)
            parse_pattern(p, op, r->n ? r->at[0].type : ir_scalar(RG_F32));
        else
            parse_uses(p);
        break;
    }
}

static void
parse_results(parser *p, results *r)
{
    if (p->lex.now.kind != TOKEN_VALUE)
        return;
    do {
        result one = {.name = parse_name(p)};
        parse_want(p, ":");
        one.type = parse_type(p);
        vec_push(r, one);
    } while (parse_skip(p, ","));
    parse_want(p, "=");
}

/* an op's operands may not name its results, so they get their names after */
static void
define_results(parser *p, ir_op *op, const results *r)
{
    for (size_t i = 0; i < r->n && !p->lex.stopped; i++)
        parse_define(p, r->at[i].name, ir_op_result(op, p->fn, r->at[i].type, NULL));
}

static void
parse_regions(parser *p, ir_op *op)
{
    if (op->nregions == 0)
        return;
    parse_region(p, op->regions[0]);
    if (op->nregions == 1)
        return;
    if (parse_skip_word(p, "else"))
        parse_region(p, op->regions[1]);
    else
        ir_append(op->regions[1], ir_op_new(p->fn, RG_OP_YIELD, 0, 0, (ir_loc){0}));
}

static uint32_t
parse_mark(parser *p)
{
    return (uint32_t)parse_int(p, "a number", 1, UINT32_MAX);
}

static void
parse_marks(parser *p, ir_op *op)
{
    if (!p->exact || !parse_skip_word(p, "with"))
        return;
    parse_want(p, "(");
    do {
#define BIT(name)                                                                                                      \
    if (parse_skip_word(p, #name))                                                                                     \
        op->name = true;                                                                                               \
    else
#define NUMBER(name)                                                                                                   \
    if (parse_skip_word(p, #name))                                                                                     \
        op->name = parse_mark(p);                                                                                      \
    else
        TEXT_MARKS(BIT, NUMBER)
#undef BIT
#undef NUMBER
        parse_expected(p, "a mark");
    } while (parse_skip(p, ","));
    parse_want(p, ")");
}

static void
parse_op(parser *p, ir_region *into)
{
    results r = {.in = p->scratch};
    parse_results(p, &r);
    ir_op *op = p->lex.stopped ? NULL : parse_op_name(p);
    if (op) {
        op->records = (ir_ops[op->code].flags & IR_RECORDS) && parse_skip_word(p, "records");
        p->args.n = 0;
        parse_operands(p, op, &r);
        for (size_t i = 0; i < p->args.n; i++)
            ir_op_arg(op, p->fn, p->args.at[i]);
        op->loc = parse_loc(p);
        parse_marks(p, op);
        ir_append(into, op);
        parse_regions(p, op);
        define_results(p, op, &r);
    }
}

void
parse_region(parser *p, ir_region *r)
{
    if (p->depth == PARSE_DEEPEST) {
        lex_error(&p->lex, &p->lex.now, E_DEPTH, "regions are nested more than %d deep",
                  PARSE_DEEPEST);
        lex_stop(&p->lex);
        return;
    }
    p->depth++;
    parse_want(p, "{");
    while (!p->lex.stopped && !parse_at(p, "}") && p->lex.now.kind != TOKEN_END)
        parse_op(p, r);
    parse_want(p, "}");
    p->depth--;
}

/* Tokens, types, values and places of IR text. SPDX-License-Identifier: Apache-2.0 */
#include "ir/text/parse.h"

typedef struct named {
    rg_str name;
    ir_value *value;
} named;

/* -- tokens ----------------------------------------------------------------------------------- */

bool
parse_at(parser *p, const char *text)
{
    return p->lex.now.kind == TOKEN_PUNCT && str_eq(p->lex.now.text, rg_str_of(text));
}

static bool
is_at_word(parser *p, const char *text)
{
    return p->lex.now.kind == TOKEN_WORD && str_eq(p->lex.now.text, rg_str_of(text));
}

bool
parse_skip(parser *p, const char *text)
{
    bool there = parse_at(p, text);
    if (there)
        lex_next(&p->lex);
    return there;
}

bool
parse_skip_word(parser *p, const char *text)
{
    bool there = is_at_word(p, text);
    if (there)
        lex_next(&p->lex);
    return there;
}

void
parse_expected(parser *p, const char *what)
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

bool
parse_want(parser *p, const char *text)
{
    char what[16];
    snprintf(what, sizeof what, "`%s`", text);
    if (!parse_at(p, text)) {
        parse_expected(p, what);
        return false;
    }
    lex_next(&p->lex);
    return true;
}

void
parse_want_word(parser *p, const char *text)
{
    char what[16];
    snprintf(what, sizeof what, "`%s`", text);
    if (!parse_skip_word(p, text))
        parse_expected(p, what);
}

/* an integer that may be negative; `low` to `high` */
int64_t
parse_int(parser *p, const char *what, int64_t low, int64_t high)
{
    token t = p->lex.now;
    uint64_t bits = 0;
    if (t.kind != TOKEN_NUMBER) {
        parse_expected(p, what);
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

const char *
parse_string(parser *p, const char *what)
{
    if (p->lex.now.kind != TOKEN_STRING) {
        parse_expected(p, what);
        return "";
    }
    const char *text = arena_str(p->m->arena, p->lex.now.text);
    lex_next(&p->lex);
    return text;
}

/* -- types and values ------------------------------------------------------------------------- */

/* x2, x16, ... at the end of a type's name: cuts it off */
static unsigned
cut_lanes(rg_str *name)
{
    size_t end = name->len;
    unsigned n = 0, scale = 1;
    while (end && scale < 100 && name->ptr[end - 1] >= '0' && name->ptr[end - 1] <= '9') {
        n += scale * (unsigned)(name->ptr[--end] - '0');
        scale *= 10;
    }
    if (n < scale / 10 || !n || end < 2 || name->ptr[end - 1] != 'x')
        return 0;
    name->len = end - 1;
    return n;
}

/* `lanes` receives how many; NULL: the type cannot have any */
static rg_dtype
parse_dtype(parser *p, unsigned *lanes)
{
    token t = p->lex.now;
    if (t.kind != TOKEN_WORD) {
        parse_expected(p, "a type");
        return RG_F32;
    }
    rg_str name = t.text;
    if (lanes)
        *lanes = cut_lanes(&name);
    rg_dtype d = ir_dtype_find(name);
    if (d == RG_NONE) {
        lex_error(
            &p->lex, &t, E_TYPE,
            "no such type\nscalars are bool, i8 to i64, u8 to u64, f16, f32, f64, with lanes f32x16; others are "
            "T[n], buf<T,rank>, slot<T,n>, trace, cursor");
        d = RG_F32;
    }
    lex_next(&p->lex);
    return d;
}

ir_type
parse_type(parser *p)
{
    if (parse_skip_word(p, "trace"))
        return ir_trace();
    if (parse_skip_word(p, "cursor"))
        return ir_cursor();
    unsigned lanes = 0;
    bool is_buffer = is_at_word(p, "buf");
    if (is_buffer || is_at_word(p, "slot")) {
        lex_next(&p->lex);
        parse_want(p, "<");
        rg_dtype d = parse_dtype(p, is_buffer ? NULL : &lanes);
        parse_want(p, ",");
        ir_type t = is_buffer ? ir_buffer(d, (unsigned)parse_int(p, "a rank", 0, RG_MAX_RANK))
                              : ir_slot(d, (uint32_t)parse_int(p, "a length", 1, UINT32_MAX));
        parse_want(p, ">");
        return ir_with_lanes(t, lanes);
    }
    rg_dtype d = parse_dtype(p, &lanes);
    if (!parse_skip(p, "["))
        return ir_with_lanes(ir_scalar(d), lanes);
    ir_type t = ir_array(d, (uint32_t)parse_int(p, "a length", 1, UINT32_MAX));
    parse_want(p, "]");
    return ir_with_lanes(t, lanes);
}

static const named *
find_name(parser *p, rg_str name)
{
    const named *found = map_get(&p->names, text_hash(name));
    return found && str_eq(found->name, name) ? found : NULL;
}

/* gives a new value the name that stands at `t` */
void
parse_define(parser *p, token t, ir_value *v)
{
    bool number = true;
    for (size_t i = 0; i < t.text.len; i++)
        number &= t.text.ptr[i] >= '0' && t.text.ptr[i] <= '9';
    if (!number)
        v->name = arena_str(p->m->arena, t.text);
    if (map_get(&p->names, text_hash(t.text))) {
        lex_error(
            &p->lex, &t, E_TWICE,
            "this name is defined twice in one function\nuse another name: names are unique in "
            "a function, also over regions");
        return;
    }
    named *n = arena_one(p->scratch, named);
    *n = (named){t.text, v};
    map_set(&p->names, text_hash(t.text), n);
}

/* a value that no op defines, where the text names none: an error was reported */
static ir_value *
made_up(parser *p)
{
    ir_op *op = ir_op_new(p->fn, RG_OP_CONST, 0, 0, (ir_loc){0});
    return ir_op_result(op, p->fn, ir_scalar(RG_F32), NULL);
}

token
parse_name(parser *p)
{
    token t = p->lex.now;
    if (t.kind == TOKEN_VALUE)
        lex_next(&p->lex);
    else
        parse_expected(p, "a value's name (%name)");
    return t;
}

ir_value *
parse_use(parser *p)
{
    token t = parse_name(p);
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
void
parse_uses(parser *p)
{
    do
        vec_push(&p->args, parse_use(p));
    while (parse_skip(p, ","));
}

/* `if %m` behind an access; where %m has no lanes this is the next op */
bool
parse_mask(parser *p)
{
    if (!is_at_word(p, "if"))
        return false;
    lexer before = p->lex;
    lex_next(&p->lex);
    const named *mask = p->lex.now.kind == TOKEN_VALUE ? find_name(p, p->lex.now.text) : NULL;
    if (!mask || !mask->value->type.lanes) {
        p->lex = before;
        return false;
    }
    vec_push(&p->args, parse_use(p));
    return true;
}

/* (%a, %b), perhaps empty */
void
parse_use_list(parser *p)
{
    parse_want(p, "(");
    if (!parse_at(p, ")"))
        parse_uses(p);
    parse_want(p, ")");
}

/* -- places ----------------------------------------------------------------------------------- */

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
    parse_want(p, ":");
    loc.line = (uint32_t)parse_int(p, "a line", 0, UINT32_MAX);
    parse_want(p, ":");
    loc.col = (uint32_t)parse_int(p, "a column", 0, UINT32_MAX);
    if (p->lex.now.kind == TOKEN_NUMBER && p->lex.now.text.ptr[0] == '-')
        loc.end_col = (uint32_t)-parse_int(p, "a column", -(int64_t)UINT32_MAX, 0);
    return loc;
}

/* `in @callee place` chains lead outwards: the rest is numbered first */
static uint32_t
parse_inlined(parser *p, unsigned depth)
{
    if (!is_at_word(p, "in"))
        return 0;
    if (depth == PARSE_DEEPEST) {
        parse_expected(p, "the end of a chain of inlined calls");
        return 0;
    }
    lex_next(&p->lex);
    if (p->lex.now.kind != TOKEN_GLOBAL) {
        parse_expected(p, "a function's name (@name)");
        return 0;
    }
    const char *callee = arena_str(p->m->arena, p->lex.now.text);
    lex_next(&p->lex);
    ir_loc at = parse_position(p);
    at.inlined = parse_inlined(p, depth + 1);
    return ir_inline_number(p->m, callee, at);
}

ir_loc
parse_loc(parser *p)
{
    if (p->lex.now.kind != TOKEN_AT)
        return (ir_loc){0};
    lex_next(&p->lex);
    ir_loc loc = parse_position(p);
    loc.inlined = parse_inlined(p, 0);
    return loc;
}

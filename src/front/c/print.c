/* What reports to the user: assert, printf and its like, and the calls that end a program.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/c/gen.h"

/* -- strings -------------------------------------------------------------------------------------- */

/* Neither wide nor with a zero inside. */
bool
fc_is_plain_string(const node *n)
{
    const ctype *t = n->type;
    return t->kind == TYPE_ARRAY && t->elem->kind == TYPE_SCALAR && fc_dtype_bits(t->elem->dtype) == 8 &&
           t->length > 0 && strlen(n->text) == n->bits;
}

place
fc_string_place(gen *g, const node *n)
{
    if (!fc_is_plain_string(n)) {
        fc_fail(g, ERR_STRING, n->place);
        return fc_nowhere(g, n->type->elem);
    }
    object *o = fc_object_new(g, OBJECT_VALUE, "a string", n->type, 0, NULL);
    o->constant = true;
    o->text = n->text;
    fc_at_node(g, n);
    char *data = arena_alloc(g->arena, (size_t)n->type->length + n->bits);
    memcpy(data, n->text, n->bits);
    o->leaves[0].value = rg_build_table(g->b, o->leaves[0].dtype, (uint32_t)n->type->length, data);
    place whole = fc_place_of(o);
    return fc_place_element(g, &whole, NULL);
}

/* The text that a pointer to characters leads to, if it is known now; NULL: it is not. */
static const char *
string_of(gen *g, const node *n)
{
    uint64_t first = 0;
    while (n->kind == E_CAST)
        n = n->kid[0];
    if (n->kind == E_STRING)
        return n->text;
    if (!n->type || n->type->kind != TYPE_POINTER || n->kind == E_COND || n->kind == E_ELVIS)
        return NULL;
    place p = fc_pointer(g, n);
    if (p.refused || !p.object->text || p.n != 1 || (p.index[0] && !rg_value_is_const(p.index[0], &first)))
        return p.refused ? "" : NULL;
    return first <= strlen(p.object->text) ? p.object->text + first : NULL;
}

/* -- printing ------------------------------------------------------------------------------------- */

typedef struct printing {
    gen *g;
    const node *call;
    list(char) format;
    list(rg_value) values;
    uint32_t next; /* argument */
} printing;

static void
add_text(printing *p, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        list_push(p->g->arena, &p->format, text[i]);
}

static void
print_conversion(printing *p, const char *flags, size_t nflags, char kind)
{
    gen *g = p->g;
    const node *argument = p->next < p->call->count ? p->call->list[p->next++] : NULL;
    char shown[3] = {'%', kind, 0};
    const char *text = kind == 's' && argument ? string_of(g, argument) : NULL;
    if (text) {
        for (const char *c = text; *c; c++) {
            add_text(p, "%", *c == '%');
            add_text(p, c, 1);
        }
        return;
    }
    if (!argument || !kind || !strchr("diuxXocfFeEgGaA", kind)) {
        fc_fail(g, ERR_PRINT_FORMAT, p->call->place, shown);
        return;
    }
    rg_value v = fc_scalar(g, argument);
    bool wants_float = strchr("fFeEgGaA", kind) != NULL;
    if (wants_float != fc_is_float_dtype(rg_value_type(v).dtype)) {
        fc_fail(g, ERR_PRINT_FORMAT, p->call->place, shown);
        return;
    }
    add_text(p, "%", 1);
    add_text(p, flags, nflags);
    add_text(p, "ll", !wants_float && kind != 'c' ? 2 : 0);
    add_text(p, &kind, 1);
    if (!wants_float) { /* the conversion decides how the bits are read */
        rg_dtype d = rg_value_type(v).dtype;
        bool narrow = fc_dtype_bits(d) <= 32;
        bool as_signed = kind == 'd' || kind == 'i' || kind == 'c';
        if (fc_is_signed_dtype(d) != as_signed)
            v = fc_convert(
                g, narrow ? (as_signed ? RG_I32 : RG_U32) : (as_signed ? RG_I64 : RG_U64), v);
    }
    list_push(p->g->arena, &p->values, v);
}

static void
print_format(printing *p, const char *f)
{
    while (*f) {
        if (*f != '%') {
            add_text(p, f++, 1);
            continue;
        }
        if (f[1] == '%') {
            add_text(p, "%%", 2);
            f += 2;
            continue;
        }
        const char *flags = ++f;
        while (*f && strchr("-+ #0123456789.", *f))
            f++;
        size_t nflags = (size_t)(f - flags);
        while (*f && strchr("hlzjt", *f))
            f++;
        print_conversion(p, flags, nflags, *f);
        if (*f)
            f++;
    }
}

/* What is printed where: numbers of arguments; -1: there is none. */
typedef struct print_row {
    const char *name, *format; /* format: NULL: it is an argument */
    int at, stream;
} print_row;

static const print_row print_rows[] = {
    {"printf", NULL, 0, -1},    {"fprintf", NULL, 1, 0},   {"puts", "%s\n", 0, -1}, {"fputs", "%s", 0, 1},
    {"putchar", "%c", 0, -1}, {"fputc", "%c", 0, 1}, {"putc", "%c", 0, 1},
};

static bool
is_terminal(const node *n)
{
    static const char *const names[] = {"stdout", "stderr", "__stdoutp", "__stderrp"};
    while (n->kind == E_CAST)
        n = n->kid[0];
    for (size_t i = 0; n->kind == E_REF && i < countof(names); i++)
        if (strcmp(n->decl->name, names[i]) == 0)
            return true;
    return false;
}

static void
print(gen *g, const node *n, const print_row *row)
{
    const char *format = row->format ? row->format : string_of(g, n->list[row->at]);
    printing p = {.g = g, .call = n, .next = (uint32_t)row->at + !row->format};
    if (row->stream >= 0 && !is_terminal(n->list[row->stream])) {
        fc_fail(g, ERR_FILE, n->place, n->decl->name);
    } else if (!format) {
        fc_fail(g, ERR_PRINT_FORMAT, n->place, "given at run time");
    } else {
        print_format(&p, format);
        fc_at_node(g, n);
        rg_build_print(g->b, (rg_str){p.format.at, p.format.n}, (uint32_t)p.values.n, p.values.at);
    }
}

static bool
print_call(gen *g, const node *n)
{
    if (strcmp(n->decl->name, "fflush") == 0)
        return true;
    for (size_t i = 0; i < countof(print_rows); i++) {
        const print_row *row = &print_rows[i];
        int most = row->at > row->stream ? row->at : row->stream;
        if (strcmp(n->decl->name, row->name) != 0 || n->count <= (uint32_t)most)
            continue;
        print(g, n, row);
        return true;
    }
    return false;
}

/* A text in an array of the kernel that it never reads need not be made: it goes to functions that report, which do
 * nothing here. */
bool
fc_format_call(gen *g, const node *n)
{
    bool counted = strcmp(n->decl->name, "snprintf") == 0;
    if ((!counted && strcmp(n->decl->name, "sprintf") != 0) || n->count < 2u + counted)
        return false;
    place p = fc_pointer(g, n->list[0]);
    for (uint32_t i = 1; i < n->count; i++)
        if (n->list[i]->type && n->list[i]->type->kind == TYPE_SCALAR)
            fc_effect(g, n->list[i]);
    if (p.refused)
        return true;
    text_use *use = p.object->kind == OBJECT_LOCAL ? p.object->leaves[p.leaf].use : NULL;
    if (!use)
        return false;
    use->formatted = true;
    if (use->read)
        fc_fail(g, ERR_FORMATTED, n->place, p.object->leaves[p.leaf].name);
    return true;
}

/* -- what ends the program ------------------------------------------------------------------------ */

static bool
assert_call(gen *g, const node *n)
{
    if (strcmp(n->decl->name, "__rg_assert") != 0 || n->count != 2)
        return false;
    rg_value c = fc_condition(g, n->list[0], false);
    const char *text = n->list[1]->kind == E_STRING ? n->list[1]->text : "";
    fc_at_node(g, n);
    rg_build_assert(g->b, c, rg_str_of(text));
    return true;
}

/* The first argument that is a text says why. */
static void
end_here(gen *g, const node *n)
{
    const char *why = fc_format(g->arena, "%s()", n->decl->name);
    for (uint32_t i = 0; i < n->count; i++)
        if (n->list[i]->type && n->list[i]->type->kind == TYPE_SCALAR)
            fc_effect(g, n->list[i]);
    for (uint32_t i = n->count; i-- > 0;)
        if (n->list[i]->kind == E_STRING)
            why = n->list[i]->text;
    fc_at_node(g, n);
    rg_build_assert(g->b, rg_build_int(g->b, RG_BOOL, 0), rg_str_of(why));
}

bool
fc_ending_call(gen *g, const node *n)
{
    static const char *const names[] = {"abort", "exit", "_exit", "_Exit", "quick_exit", "__builtin_trap",
                                        "__assert_fail"}; /* what glibc's assert calls */
    bool ends = n->decl->noreturn;
    for (size_t i = 0; i < countof(names); i++)
        ends |= strcmp(n->decl->name, names[i]) == 0 && !n->decl->body;
    if (ends)
        end_here(g, n);
    return ends;
}

bool
fc_report_call(gen *g, const node *n, value *out)
{
    *out = (value){.type = n->type};
    if (!assert_call(g, n) && !print_call(g, n))
        return false;
    if (n->type->kind == TYPE_SCALAR)
        out->scalar = fc_zero_value(g, n->type->dtype);
    return true;
}

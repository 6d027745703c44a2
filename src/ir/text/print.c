/* IR to text; text.h shows the form. SPDX-License-Identifier: Apache-2.0
 *
 * Prints whatever it is given, ops of a wrong shape too: the verifier quotes them. */
#include "ir/pattern.h"
#include "ir/text/text.h"

typedef struct printer {
    str *out;
    const ir_module *module;
    arena *scratch;
    mem_owner owns;
    map names;        /* value -> what it is called here */
    map used;         /* hash of a name -> itself */
    map suffixes;     /* hash of a name -> the last suffix given to it */
    unsigned unnamed; /* values without a name so far */
    unsigned depth;
    bool brief; /* regions as {...} */
    bool plain; /* no source places */
    bool exact; /* with marks */
} printer;

/* -- names ------------------------------------------------------------------------------------ */

static bool
is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '$';
}

static bool
is_plain_name(const char *name)
{
    const char *c = name;
    while (is_name_char(*c))
        c++;
    return *name && !*c;
}

static bool
is_all_digits(const char *name)
{
    return name[strspn(name, "0123456789")] == 0;
}

/* `wanted`, or the first of wanted.1, wanted.2, ... that is free */
static const char *
unique_name(printer *p, const char *wanted)
{
    uint64_t base = text_hash(rg_str_of(wanted));
    uintptr_t suffix = (uintptr_t)map_get(&p->suffixes, base);
    const char *name = wanted;
    while (map_get(&p->used, text_hash(rg_str_of(name)))) {
        size_t room = strlen(wanted) + 24;
        char *longer = arena_alloc(p->scratch, room);
        snprintf(longer, room, "%s.%zu", wanted, (size_t)++suffix);
        name = longer;
    }
    if (suffix)
        map_set(&p->suffixes, base, (void *)suffix);
    map_set(&p->used, text_hash(rg_str_of(name)), (void *)name);
    return name;
}

static void
name_value(printer *p, const ir_value *v)
{
    const char *name = v->name;
    if (name && !is_all_digits(name)) {
        name = unique_name(p, name);
    } else {
        char *number = arena_alloc(p->scratch, 16);
        snprintf(number, 16, "%u", p->unnamed++);
        name = number;
    }
    map_set(&p->names, map_ptr(v), (void *)name);
}

static void
name_region(printer *p, const ir_region *r)
{
    for (uint32_t i = 0; i < r->nparams; i++)
        name_value(p, r->params[i]);
    ir_for_ops(op, r)
    {
        for (uint32_t i = 0; i < op->nresults; i++)
            name_value(p, op->results[i]);
        for (uint32_t i = 0; i < op->nregions; i++)
            name_region(p, op->regions[i]);
    }
}

/* in the order of the text, so that reading it back gives the same names */
static void
name_fn(printer *p, const ir_fn *fn)
{
    map_free(&p->names);
    map_free(&p->used);
    map_free(&p->suffixes);
    p->unnamed = 0;
    for (uint32_t i = 0; i < fn->body->nparams; i++)
        name_value(p, fn->body->params[i]);
    if (fn->shape)
        name_region(p, fn->shape);
    ir_region inside = *fn->body;
    inside.nparams = 0;
    name_region(p, &inside);
}

/* -- pieces ----------------------------------------------------------------------------------- */

static void
print_string(str *out, const char *s)
{
    str_addc(out, '"');
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            str_addf(out, "\\%c", c);
        else if (c == '\n')
            str_addz(out, "\\n");
        else if (c == '\t')
            str_addz(out, "\\t");
        else if (c < 32 || c == 127)
            str_addf(out, "\\x%02x", c);
        else
            str_addc(out, *s);
    }
    str_addc(out, '"');
}

static void
print_name(str *out, char sigil, const char *name)
{
    str_addc(out, sigil);
    if (is_plain_name(name))
        str_addz(out, name);
    else
        print_string(out, name);
}

static void
print_use(printer *p, const ir_value *v)
{
    const char *name = v ? map_get(&p->names, map_ptr(v)) : NULL;
    if (name)
        print_name(p->out, '%', name);
    else if (v)
        str_addf(p->out, "%%?%u", v->id); /* of another function, or of none */
    else
        str_addz(p->out, "%?");
}

static void
print_uses(printer *p, ir_value *const *values, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            str_addz(p->out, ", ");
        print_use(p, values[i]);
    }
}

static void
print_type(str *out, ir_type t)
{
    const char *d = ir_dtype_name(t.dtype);
    char lanes[8] = "";
    if (t.lanes)
        snprintf(lanes, sizeof lanes, "x%u", t.lanes);
    switch ((ir_kind)t.kind) {
    case IR_SCALAR:
        str_addf(out, "%s%s", d, lanes);
        break;
    case IR_ARRAY:
        str_addf(out, "%s%s[%u]", d, lanes, t.length);
        break;
    case IR_BUFFER:
        str_addf(out, "buf<%s,%u>", d, t.rank);
        break;
    case IR_TRACE:
        str_addz(out, "trace");
        break;
    case IR_CURSOR:
        str_addz(out, "cursor");
        break;
    case IR_SLOT:
        str_addf(out, "slot<%s%s,%u>", d, lanes, t.length);
        break;
    }
}

static void
print_typed(printer *p, const ir_value *v)
{
    print_use(p, v);
    str_addz(p->out, ": ");
    print_type(p->out, v->type);
}

static bool
is_plain_path(const char *path)
{
    for (const char *c = path; *c; c++)
        if (!is_name_char(*c) && *c != '/' && *c != '-' && *c != '+')
            return false;
    return *path;
}

static void
print_position(printer *p, ir_loc loc)
{
    const char *path =
        loc.file && loc.file < p->module->files.n ? p->module->files.at[loc.file].path : NULL;
    if (path && is_plain_path(path))
        str_addz(p->out, path);
    else
        print_string(p->out, path ? path : "");
    str_addf(p->out, ":%u:%u", loc.line, loc.col);
    if (loc.end_col)
        str_addf(p->out, "-%u", loc.end_col);
}

static void
print_loc(printer *p, ir_loc loc)
{
    if (p->plain || (!loc.file && !loc.line))
        return;
    str_addz(p->out, " @ ");
    print_position(p, loc);
    uint32_t in = loc.inlined;
    while (in && in < p->module->inlines.n) {
        const ir_inline *call = &p->module->inlines.at[in];
        str_addz(p->out, " in ");
        print_name(p->out, '@', call->callee);
        str_addc(p->out, ' ');
        print_position(p, call->at);
        in = call->at.inlined < in ? call->at.inlined : 0;
    }
}

/* -- ops -------------------------------------------------------------------------------------- */

static void
indent(printer *p)
{
    for (unsigned i = 0; i < p->depth; i++)
        str_addz(p->out, "  ");
}

static void print_op(printer *p, const ir_op *op);

static void
print_region(printer *p, const ir_region *r)
{
    if (p->brief) {
        str_addz(p->out, "{...}");
        return;
    }
    str_addz(p->out, "{\n");
    p->depth++;
    ir_for_ops(op, r)
    {
        indent(p);
        print_op(p, op);
        str_addc(p->out, '\n');
    }
    p->depth--;
    indent(p);
    str_addc(p->out, '}');
}

static void
print_plane(str *out, unsigned plane)
{
    if (plane & RG_ADJOINT)
        str_addz(out, ".adj");
    if (plane & RG_TANGENT)
        str_addz(out, ".tan");
    if (plane & RG_TANGENT2)
        str_addz(out, ".tan2");
}

static void
print_op_name(printer *p, const ir_op *op)
{
    str_addz(p->out, ir_ops[op->code].text);
    if (ir_ops[op->code].flags & IR_COMBINES)
        str_addf(p->out, ".%s", op->rmw < RG_RMW_COUNT ? ir_rmw_names[op->rmw] : "?");
    if (op->successive)
        str_addz(p->out, ".successive");
    print_plane(p->out, op->plane);
    if (op->direction)
        str_addf(p->out, ".d%u", op->direction);
    if (op->beside)
        str_addf(p->out, ".of%u", op->beside);
    if (op->atomic)
        str_addz(p->out, ".atomic");
    if (op->in_row)
        str_addz(p->out, ".row");
    if (op->own)
        str_addz(p->out, ".own");
    if (op->reverse)
        str_addz(p->out, ".vjp");
    for (unsigned i = 0; i < op->forward; i++)
        str_addz(p->out, op->adjoints >> i & 1 ? ".jvpa" : op->tangents >> i & 1 ? ".jvpt" : ".jvp");
    if (op->silent || op->again || op->drops)
        str_addz(p->out, ".again");
    if (op->fast)
        str_addz(p->out, ".fast");
    if (op->records)
        str_addz(p->out, " records");
}

/* (%a: T = %init, ...): region parameters from `first` on with the operands from init on */
static void
print_carried(printer *p, const ir_op *op, uint32_t first, uint32_t init)
{
    const ir_region *body = op->regions[0];
    if (body->nparams <= first && init >= op->nargs)
        return;
    str_addz(p->out, " (");
    for (uint32_t i = first; i < body->nparams; i++) {
        if (i > first)
            str_addz(p->out, ", ");
        print_typed(p, body->params[i]);
        str_addz(p->out, " = ");
        print_use(p, init + i - first < op->nargs ? op->args[init + i - first] : NULL);
    }
    str_addc(p->out, ')');
}

static void
print_for(printer *p, const ir_op *op)
{
    str_addc(p->out, ' ');
    print_typed(p, op->regions[0]->params[0]);
    str_addz(p->out, " = ");
    print_use(p, op->args[0]);
    str_addz(p->out, " to ");
    print_use(p, op->args[1]);
    str_addf(p->out, " step %lld", (long long)op->attr.step);
    print_carried(p, op, 1, 2);
}

static void
print_unwind(printer *p, const ir_op *op)
{
    const ir_region *body = op->regions[0];
    str_addc(p->out, ' ');
    print_uses(p, op->args, 2);
    str_addz(p->out, " (");
    print_typed(p, body->params[0]);
    for (uint32_t i = 1; i < body->nparams; i++) {
        str_addz(p->out, ", ");
        print_typed(p, body->params[i]);
        str_addz(p->out, " = ");
        print_use(p, i + 1 < op->nargs ? op->args[i + 1] : NULL);
    }
    str_addc(p->out, ')');
}

static void
print_parallel(printer *p, const ir_op *op)
{
    uint32_t rank = op->attr.rank, init = ir_first_init(op);
    if (op->rewinds)
        str_addz(p->out, " rewinds");
    if (init > 2 * rank) {
        str_addc(p->out, ' ');
        print_use(p, op->args[2 * rank]);
    }
    str_addz(p->out, " (");
    for (uint32_t i = 0; i < op->regions[0]->nparams; i++) {
        if (i)
            str_addz(p->out, ", ");
        print_typed(p, op->regions[0]->params[i]);
    }
    str_addz(p->out, ") = (");
    print_uses(p, op->args, rank);
    str_addz(p->out, ") to (");
    print_uses(p, op->args + rank, rank);
    str_addc(p->out, ')');
    for (uint32_t i = init; i < op->nargs; i++) {
        unsigned what =
            op->reduce && i - init < ir_value_results(op) ? op->reduce[i - init] : RG_RMW_COUNT;
        str_addz(p->out, i == init ? " reduce (" : ", ");
        str_addf(p->out, "%s ", what < RG_RMW_COUNT ? ir_rmw_names[what] : "?");
        print_use(p, op->args[i]);
    }
    if (init < op->nargs)
        str_addc(p->out, ')');
}

static void
print_table(printer *p, const ir_op *op)
{
    ir_type t = op->results[0]->type;
    unsigned size = ir_bytes(t.dtype);
    str_addc(p->out, '{');
    for (uint32_t i = 0; i < t.length && op->attr.data; i++) {
        uint64_t bits = 0;
        memcpy(&bits, (const char *)op->attr.data + (size_t)i * size, size);
        if (i)
            str_addz(p->out, ", ");
        ir_print_literal(p->out, t.dtype, bits);
    }
    str_addc(p->out, '}');
}

/* what the pattern writes as # */
static void
print_attr(printer *p, const ir_op *op)
{
    switch ((ir_attr)ir_ops[op->code].attr) {
    case IR_ATTR_LITERAL:
        ir_print_literal(p->out, op->results[0]->type.dtype, op->attr.bits);
        break;
    case IR_ATTR_AXIS:
        str_addf(p->out, "%llu", (unsigned long long)op->attr.bits);
        break;
    case IR_ATTR_FN:
        print_name(p->out, '@', op->attr.fn ? op->attr.fn->name : "?");
        break;
    case IR_ATTR_TEXT:
        print_string(p->out, op->attr.text ? op->attr.text : "");
        break;
    case IR_ATTR_DATA:
        print_table(p, op);
        break;
    case IR_ATTR_NONE:
    case IR_ATTR_STEP:
    case IR_ATTR_RANK:
        break;
    }
}

/* `pending` is written before the next operand, if there is one */
static void
print_pattern(printer *p, const ir_op *op, const ir_item *item, uint32_t least)
{
    const char *pending = " ";
    bool scalar = op->nargs == least && op->nargs && op->args[0] && op->args[0]->type.kind == IR_SCALAR;
    uint32_t i = 0;
    for (; item->what && item->what != '>' && item->what != '{'; item++) {
        uint32_t n = item->what == 'w' ? ir_item_takes(op, *item, op->nargs, least) : 0;
        bool written = *pending != ' ';
        if (n || item->what == '#')
            str_addz(p->out, pending);
        switch (item->what) {
        case 'w':
            print_uses(p, op->args + i, n);
            i += n;
            pending = n ? "" : pending;
            break;
        case '#':
            print_attr(p, op);
            pending = "";
            break;
        case ',':
            pending = written ? ", " : pending;
            break;
        case 'i':
            pending = " if ";
            break;
        case '(':
            pending = written && !item->spaced ? "" : " (";
            if (!*pending)
                str_addc(p->out, '(');
            break;
        case ')': /* there is one if it was opened */
            if (written)
                str_addc(p->out, ')');
            break;
        default:
            if (!scalar)
                str_addc(p->out, item->what);
            break;
        }
    }
}

/* whether the op has all that its pattern, or its own way of writing, shows */
static bool
well_shaped(const ir_op *op, ir_counts c)
{
    if (op->nargs < c.nargs || (op->nargs > c.nargs && !c.more_args) || op->nresults < c.nresults || op->nregions != c.nregions)
        return false;
    switch (op->code) {
    case RG_OP_FOR:
    case RG_OP_UNWIND:
        return op->regions[0]->nparams >= 1;
    case RG_OP_PARALLEL:
        return op->attr.rank <= op->nargs && op->nargs >= ir_first_init(op);
    default:
        return true;
    }
}

static void
print_operands(printer *p, const ir_op *op)
{
    ir_pattern items = {0};
    if (ir_ops[op->code].pattern)
        ir_pattern_read((rg_op)op->code, items);
    ir_counts c = ir_counts_of(op, items);
    if (!items->what || !well_shaped(op, c)) {
        if (op->nargs)
            str_addc(p->out, ' ');
        print_uses(p, op->args, op->nargs);
        return;
    }
    switch (op->code) {
    case RG_OP_FOR:
        print_for(p, op);
        break;
    case RG_OP_LOOP:
        print_carried(p, op, 0, 0);
        break;
    case RG_OP_PARALLEL:
        print_parallel(p, op);
        break;
    case RG_OP_UNWIND:
        print_unwind(p, op);
        break;
    default:
        print_pattern(p, op, items, c.nargs);
        break;
    }
}

static void
print_marks(printer *p, const ir_op *op)
{
    const char *before = " with (";
#define BIT(name)                                                                                                      \
    if (op->name)                                                                                                      \
        str_addf(p->out, "%s" #name, before), before = ", ";
#define NUMBER(name)                                                                                                   \
    if (op->name)                                                                                                      \
        str_addf(p->out, "%s" #name " %u", before, op->name), before = ", ";
    TEXT_MARKS(BIT, NUMBER)
#undef BIT
#undef NUMBER
    if (*before == ',')
        str_addc(p->out, ')');
}

static bool
does_nothing(const ir_region *r)
{
    const ir_op *op = r->first;
    return op && op == r->last && op->code == RG_OP_YIELD && !op->nargs && !op->loc.file &&
           !op->loc.line && !op->fast;
}

static void
print_op(printer *p, const ir_op *op)
{
    for (uint32_t i = 0; i < op->nresults; i++) {
        if (i)
            str_addz(p->out, ", ");
        print_typed(p, op->results[i]);
    }
    if (op->nresults)
        str_addz(p->out, " = ");
    print_op_name(p, op);
    print_operands(p, op);
    print_loc(p, op->loc);
    if (p->exact)
        print_marks(p, op);
    for (uint32_t i = 0; i < op->nregions; i++) {
        if (i && does_nothing(op->regions[i]))
            continue;
        str_addz(p->out, i ? " else " : " ");
        print_region(p, op->regions[i]);
    }
}

/* -- functions -------------------------------------------------------------------------------- */

static void
print_param(printer *p, const ir_param *param, const ir_value *v)
{
    print_typed(p, v);
    if (param->flat)
        str_addz(p->out, " flat");
    if (param->constant)
        str_addz(p->out, " const");
    if (param->record)
        str_addf(p->out, " record(%u, %u, %u", param->record, param->field_offset, param->record_size);
    if (param->record && param->inner_axes)
        str_addf(p->out, ", %u", param->inner_axes);
    if (param->record)
        str_addz(p->out, ")");
    print_loc(p, param->loc);
}

static void
print_own(printer *p, const char *word, const ir_fn *derivative)
{
    if (!derivative)
        return;
    str_addz(p->out, word);
    print_name(p->out, '@', derivative->name);
}

static void
print_function(printer *p, const ir_fn *fn)
{
    name_fn(p, fn);
    str_addz(p->out, fn->kernel ? "kernel " : "func ");
    print_name(p->out, '@', fn->name);
    str_addc(p->out, '(');
    for (uint32_t i = 0; i < fn->body->nparams; i++) {
        if (i)
            str_addz(p->out, ", ");
        print_param(p, &fn->params[i], fn->body->params[i]);
    }
    str_addc(p->out, ')');
    const ir_op *end = ir_terminator(fn->body);
    if (end && (end->nargs || !fn->kernel)) {
        str_addz(p->out, " -> (");
        for (uint32_t i = 0; i < end->nargs; i++) {
            if (i)
                str_addz(p->out, ", ");
            if (end->args[i])
                print_type(p->out, end->args[i]->type);
        }
        str_addc(p->out, ')');
    }
    print_own(p, " vjp ", fn->vjp);
    print_own(p, " jvp ", fn->jvp);
    print_loc(p, fn->loc);
    if (fn->shape) {
        str_addz(p->out, " shape ");
        print_region(p, fn->shape);
    }
    str_addc(p->out, ' ');
    print_region(p, fn->body);
    str_addc(p->out, '\n');
}

/* -- entry ------------------------------------------------------------------------------------ */

static void
printer_start(printer *p, str *out, const ir_module *m)
{
    *p = (printer){.out = out, .module = m};
    p->scratch = p->names.in = p->used.in = p->suffixes.in = arena_new();
    mem_own(&p->owns, mem_release_arena, p->scratch);
}

static void
printer_finish(printer *p)
{
    mem_disown(&p->owns);
    arena_free(p->scratch);
}

void
ir_print_fn(str *out, const ir_fn *fn)
{
    printer p;
    printer_start(&p, out, fn->module);
    print_function(&p, fn);
    printer_finish(&p);
}

static void
print_module(str *out, const ir_module *m, bool plain, bool exact)
{
    printer p;
    printer_start(&p, out, m);
    p.plain = plain;
    p.exact = exact;
    str_add(out, (rg_str){NULL, 0}); /* a module without functions is the empty string */
    for (const ir_fn *fn = m->first; fn; fn = fn->next) {
        print_function(&p, fn);
        if (fn->next)
            str_addc(out, '\n');
    }
    printer_finish(&p);
}

void
ir_print_module(str *out, const ir_module *m)
{
    print_module(out, m, false, false);
}

void
ir_print_exact(str *out, const ir_module *m)
{
    print_module(out, m, false, true);
}

void
ir_print_plain(str *out, const ir_module *m)
{
    print_module(out, m, true, false);
}

void
ir_print_op(str *out, const ir_op *op)
{
    static const ir_module nothing;
    const ir_fn *fn = op->parent ? op->parent->fn : NULL;
    printer p;
    printer_start(&p, out, fn ? fn->module : &nothing);
    p.brief = true;
    if (fn)
        name_fn(&p, fn);
    print_op(&p, op);
    printer_finish(&p);
}

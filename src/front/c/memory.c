/* memcpy, memmove, memset and their like, of whole elements: loops over what the pointers lead to.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A pointer leads to elements in a row, or to rows of them: `shape` counts the axes of such a row. One side's axes are
 * walked; the other side follows with the same subscripts where its rows are known to be as long, else by the number of
 * the element. */
#include "front/c/gen.h"

#include "ir/ir.h"

enum { SMALL_COPY = 64 }; /* elements that are not worth a parallel loop */

typedef struct side {
    place at;          /* of the first row or element */
    const ctype *elem; /* a scalar or struct */
    uint32_t axes;     /* of a row; 0: elements */
    rg_value length[MAX_AXES];
    bool single; /* an object that has no neighbours */
} side;

typedef struct block {
    gen *g;
    const node *call;
    const char *name;
    side to, from;
    bool fills, may_overlap; /* memset; memmove */
    rg_value byte;
    rg_value count;    /* elements, i64 */
    rg_value backward; /* whether the last one goes first; NULL: never */
} block;

/* -- how many elements
 * ------------------------------------------------------------------------------ */
/* n / size, which leaves no rest, as i64 */
static rg_value
quotient(gen *g, const node *n, int64_t size)
{
    int64_t v;
    if (fc_is_constant_node(n, &v))
        return fc_int_value(g, RG_I64, v / size);
    if (size > 1 && n->kind == E_CAST && fc_known_divisor(n->kid[0]) % size == 0)
        return quotient(g, n->kid[0], size);
    if (size > 1 && n->kind == E_BINARY && n->op == RG_OP_MUL) {
        int64_t right = fc_common_divisor(size, fc_known_divisor(n->kid[1]));
        if (fc_known_divisor(n->kid[0]) % (size / right) == 0)
            return rg_build_2(g->b, RG_OP_MUL, quotient(g, n->kid[0], size / right), quotient(g, n->kid[1], right));
    }
    if (size > 1 && n->kind == E_BINARY && (n->op == RG_OP_ADD || n->op == RG_OP_SUB))
        return rg_build_2(g->b, n->op, quotient(g, n->kid[0], size), quotient(g, n->kid[1], size));
    rg_value bytes = fc_convert(g, RG_I64, fc_scalar(g, n));
    return size > 1 ? rg_build_2(g->b, RG_OP_DIV, bytes, fc_int_value(g, RG_I64, size)) : bytes;
}

/* -- what the pointers lead to
 * ------------------------------------------------------------------------ */
static bool
read_side(block *b, const node *pointer, side *s)
{
    gen *g = b->g;
    place p = fc_pointer(g, pointer);
    p = fc_pointed(g, &p, pointer);
    if (p.refused)
        return false;
    while (p.type->kind == TYPE_ARRAY && (p.n == 0 || p.fixed)) /* a pointer to a whole array */
        p = fc_place_element(g, &p, NULL);
    s->at = p;
    s->single = p.n == 0 || p.fixed;
    s->elem = p.type;
    const leaf *l = &p.object->leaves[p.leaf];
    for (; s->elem->kind == TYPE_ARRAY; s->elem = s->elem->elem) {
        uint32_t axis = p.n + s->axes;
        int64_t dim = axis < l->rank ? l->dim[axis] : 1;
        s->length[s->axes++] = dim >= 0 ? fc_int_value(g, RG_I64, dim) : rg_build_extent(g->b, l->value, axis);
    }
    return true;
}

static bool
same_rows(const side *x, const side *y)
{
    const leaf *l = &x->at.object->leaves[x->at.leaf], *m = &y->at.object->leaves[y->at.leaf];
    if (x->axes != y->axes)
        return false;
    for (uint32_t i = 0; i < x->axes; i++) {
        uint32_t a = x->at.n + i, b = y->at.n + i;
        if (l->dim[a] >= 0 && l->dim[a] == m->dim[b])
            continue;
        const decl *d = x->at.object->param, *e = y->at.object->param;
        if (!d || !e || a >= d->nextents || b >= e->nextents || !fc_same_expression(d->extents[a], e->extents[b]))
            return false;
    }
    return true;
}

/* -- elements
 * ----------------------------------------------------------------------------------------- */
static rg_value
row_size(gen *g, const side *s, uint32_t from)
{
    rg_value size = fc_int_value(g, RG_I64, 1);
    for (uint32_t i = from; i < s->axes; i++)
        size = rg_build_2(g->b, RG_OP_MUL, size, s->length[i]);
    return size;
}

/* Element `number` of a side, counted from its pointer on. */
static place
element_at(block *b, const side *s, rg_value number)
{
    gen *g = b->g;
    rg_value index[MAX_AXES + 1];
    for (uint32_t i = s->axes; i > 0; i--) {
        index[i] = rg_build_2(g->b, RG_OP_REM, number, s->length[i - 1]);
        number = rg_build_2(g->b, RG_OP_DIV, number, s->length[i - 1]);
    }
    place p = s->single ? s->at : fc_place_move(g, &s->at, number, b->call);
    for (uint32_t i = 1; i <= s->axes; i++)
        p = fc_place_element(g, &p, index[i]);
    return p;
}

/* The element under these subscripts of rows. */
static place
element_under(block *b, const side *s, const rg_value *index)
{
    place p = s->single ? s->at : fc_place_move(b->g, &s->at, index[0], b->call);
    for (uint32_t i = 1; i <= s->axes; i++)
        p = fc_place_element(b->g, &p, index[i]);
    return p;
}

static uint64_t
repeated_byte(uint64_t byte, rg_dtype d)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < ir_bytes(d); i++)
        bits |= (byte & 255) << 8 * i;
    return bits;
}

static void
fill_element(block *b, const place *to)
{
    gen *g = b->g;
    uint64_t byte;
    bool known = rg_value_is_const(b->byte, &byte);
    if (!fc_may_write(g, to, b->call))
        return;
    for (uint32_t k = 0; k < fc_type_leaves(to->type); k++) {
        const leaf *l = &to->object->leaves[to->leaf + k];
        rg_value v = known ? rg_build_bits(g->b, l->dtype, ir_wrap(l->dtype, repeated_byte(byte, l->dtype)))
                           : fc_convert(g, l->dtype, b->byte);
        for (uint32_t i = 0; i < fc_elements_below(l, to->n); i++) {
            place e = fc_place_below(g, l, to, i);
            fc_store_leaf(g, &e, k, v);
        }
    }
}

static void
put_element(block *b, const place *to, const place *from)
{
    gen *g = b->g;
    fc_at_node(g, b->call);
    if (b->fills) {
        fill_element(b, to);
        return;
    }
    value v = fc_load(g, from);
    if (to->type->kind == TYPE_SCALAR && to->type->dtype != from->type->dtype)
        v.scalar = rg_build_bitcast(g->b, to->type->dtype, v.scalar);
    fc_store(g, to, &v, b->call);
}

/* -- loops
 * -------------------------------------------------------------------------------------------- */
static bool
in_parallel(const block *b)
{
    uint64_t count;
    return !b->g->in_thread && b->to.at.object->kind == OBJECT_BUFFER && !b->may_overlap &&
           (b->fills || b->from.at.object->kind == OBJECT_BUFFER) &&
           !(rg_value_is_const(b->count, &count) && count <= SMALL_COPY);
}

static void
open_loops(block *b, uint32_t n, const rg_value *hi, rg_value *index)
{
    gen *g = b->g;
    rg_value lo[MAX_AXES + 1];
    for (uint32_t i = 0; i < n; i++)
        lo[i] = fc_int_value(g, RG_I64, 0);
    if (in_parallel(b)) {
        rg_build_parallel(g->b, n, lo, hi, index);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        rg_build_for(g->b, lo[i], hi[i], 1, &index[i]);
}

static void
close_loops(block *b, uint32_t n)
{
    for (uint32_t i = 0; i < (in_parallel(b) ? 1 : n); i++)
        rg_build_end(b->g->b);
}

/* memmove begins at the end where the target lies behind the source */
static rg_value
in_order(block *b, rg_value index, rg_value count)
{
    gen *g = b->g;
    if (!b->backward)
        return index;
    rg_value last = rg_build_2(g->b, RG_OP_SUB, count, fc_int_value(g, RG_I64, 1));
    return rg_build_3(g->b, RG_OP_SELECT, b->backward, rg_build_2(g->b, RG_OP_SUB, last, index), index);
}

/* all elements by their number */
static void
copy_by_number(block *b)
{
    rg_value index;
    open_loops(b, 1, &b->count, &index);
    rg_value number = in_order(b, index, b->count);
    place to = element_at(b, &b->to, number), from = b->fills ? to : element_at(b, &b->from, number);
    put_element(b, &to, &from);
    close_loops(b, 1);
}

/* `rows` rows of the target, which are as long as the source's, or follow its elements */
static void
copy_rows(block *b, rg_value rows, bool alike)
{
    gen *g = b->g;
    rg_value hi[MAX_AXES + 1], index[MAX_AXES + 1];
    uint32_t n = b->to.axes + 1;
    hi[0] = rows;
    for (uint32_t i = 1; i < n; i++)
        hi[i] = b->to.length[i - 1];
    open_loops(b, n, hi, index);
    index[0] = in_order(b, index[0], rows);
    place to = element_under(b, &b->to, index), from = to;
    if (alike && !b->fills) {
        from = element_under(b, &b->from, index);
    } else if (!b->fills) {
        rg_value number = index[0];
        for (uint32_t i = 1; i < n; i++)
            number = rg_build_2(g->b, RG_OP_ADD, rg_build_2(g->b, RG_OP_MUL, number, hi[i]), index[i]);
        from = element_at(b, &b->from, number);
    }
    put_element(b, &to, &from);
    close_loops(b, n);
}

static bool
is_multiple(rg_value count, rg_value size)
{
    uint64_t n, m;
    return rg_value_is_const(count, &n) && rg_value_is_const(size, &m) && m && n % m == 0;
}

/* Full rows, then the elements that are left of the last one. */
static void
copy_all(block *b)
{
    gen *g = b->g;
    bool alike = !b->fills && same_rows(&b->to, &b->from);
    if (b->to.axes == 0 || (b->may_overlap && !alike)) {
        copy_by_number(b);
        return;
    }
    rg_value size = row_size(g, &b->to, 0);
    rg_value rows = rg_build_2(g->b, RG_OP_DIV, b->count, size);
    copy_rows(b, rows, alike);
    if (is_multiple(b->count, size))
        return;
    rg_value done = rg_build_2(g->b, RG_OP_MUL, rows, size), index;
    rg_value rest = rg_build_2(g->b, RG_OP_SUB, b->count, done);
    open_loops(b, 1, &rest, &index);
    rg_value number = rg_build_2(g->b, RG_OP_ADD, done, index);
    place to = element_at(b, &b->to, number), from = b->fills ? to : element_at(b, &b->from, number);
    put_element(b, &to, &from);
    close_loops(b, 1);
}

/* -- whole local arrays are values
 * --------------------------------------------------------------------- */
static bool
is_whole_local(const side *s, uint64_t count)
{
    const object *o = s->at.object;
    const leaf *l = &o->leaves[s->at.leaf];
    uint64_t bits;
    if ((o->kind != OBJECT_LOCAL && o->kind != OBJECT_VALUE) || s->elem->kind != TYPE_SCALAR || s->single)
        return false;
    for (uint32_t i = 0; i < s->at.n; i++)
        if (s->at.index[i] && !(rg_value_is_const(s->at.index[i], &bits) && bits == 0))
            return false;
    return fc_elements_below(l, 0) == count;
}

static bool
copy_whole(block *b)
{
    uint64_t count, byte = 1;
    if (!rg_value_is_const(b->count, &count) || !is_whole_local(&b->to, count))
        return false;
    if (b->fills ? !rg_value_is_const(b->byte, &byte) || byte : !is_whole_local(&b->from, count))
        return false;
    place to = b->to.at, from = b->from.at;
    const leaf *l = &to.object->leaves[to.leaf];
    to.n = from.n = 0;
    if (!b->fills && from.object->leaves[from.leaf].dtype != l->dtype)
        return false;
    if (fc_may_write(b->g, &to, b->call))
        fc_store_leaf(b->g, &to, 0,
                      b->fills ? rg_build_array(b->g->b, l->dtype, (uint32_t)count) : fc_load_leaf(b->g, &from, 0));
    return true;
}

/* -- the calls
 * ------------------------------------------------------------------------------------------ */
static bool
same_bits(const ctype *x, const ctype *y)
{
    return fc_same_elements(x, y) || (x->kind == TYPE_SCALAR && y->kind == TYPE_SCALAR && x->dtype != RG_BOOL &&
                                      y->dtype != RG_BOOL && ir_bytes(x->dtype) == ir_bytes(y->dtype));
}

/* a byte makes a known value of a type if it is known itself, or is the whole value */
static bool
fills_type(const block *b, const side *s)
{
    uint64_t byte;
    if (!rg_value_is_const(b->byte, &byte))
        return s->elem->kind == TYPE_SCALAR && s->elem->dtype != RG_BOOL && ir_bytes(s->elem->dtype) == 1;
    return (byte & 255) == 0 || (s->elem->kind == TYPE_SCALAR && s->elem->dtype != RG_BOOL);
}

static bool
is_one(rg_value count)
{
    uint64_t n;
    return rg_value_is_const(count, &n) && n <= 1;
}

static bool
check(block *b, const node *size)
{
    gen *g = b->g;
    int64_t bytes = fc_type_size(b->to.elem);
    if (!b->fills && !same_bits(b->to.elem, b->from.elem)) {
        fc_fail(g, ERR_MEMORY_TYPES, b->call->place, b->name);
        return false;
    }
    if (b->fills && !fills_type(b, &b->to)) {
        fc_fail(g, ERR_MEMORY_BYTE, b->call->place, b->to.elem->name);
        return false;
    }
    if (bytes <= 0 || fc_known_divisor(size) % bytes) {
        fc_fail(g, ERR_MEMORY_SIZE, b->call->place, b->name, b->to.elem->name);
        return false;
    }
    b->count = quotient(g, size, bytes);
    if ((b->to.single || (!b->fills && b->from.single)) && !is_one(b->count)) {
        fc_fail(g, ERR_MEMORY_SINGLE, b->call->place, b->name);
        return false;
    }
    return !fc_hides_fields(g, &b->to.at, b->call);
}

static rg_value
subscript_at(gen *g, const place *p, uint32_t axis)
{
    return axis < p->n && p->index[axis] ? fc_convert(g, RG_I64, p->index[axis]) : fc_int_value(g, RG_I64, 0);
}

/* Whether p lies behind q in their array. Subscripts stay inside their axes but where a pointer has walked. */
static rg_value
lies_behind(gen *g, const place *p, const place *q)
{
    uint32_t axes = p->n > q->n ? p->n : q->n;
    rg_value behind = rg_build_int(g->b, RG_BOOL, 0);
    if (p->walks || q->walks)
        return rg_build_2(g->b, RG_OP_GT, fc_element_number(g, p, axes), fc_element_number(g, q, axes));
    for (uint32_t i = axes; i-- > 0;) {
        rg_value x = subscript_at(g, p, i), y = subscript_at(g, q, i);
        rg_value equal = rg_build_2(g->b, RG_OP_EQ, x, y);
        behind = rg_build_3(g->b, RG_OP_SELECT, equal, behind, rg_build_2(g->b, RG_OP_GT, x, y));
    }
    return behind;
}

/* A target in the same array as the source is written from its end on if it lies behind it. */
static void
find_order(block *b)
{
    const place *to = &b->to.at, *from = &b->from.at;
    b->may_overlap = b->may_overlap && (to->object == from->object || to->object->choice || from->object->choice);
    if (b->may_overlap && !b->to.single && !b->from.single)
        b->backward = lies_behind(b->g, to, from);
}

static void
generate(block *b, const node *to, const node *from, const node *size)
{
    gen *g = b->g;
    if (!read_side(b, to, &b->to) || (from && !read_side(b, from, &b->from)))
        return;
    fc_at_node(g, b->call);
    if (!check(b, size))
        return;
    find_order(b);
    if (!copy_whole(b))
        copy_all(b);
}

/* elements from p on, in its row */
static rg_value
elements_in_row(gen *g, const place *p)
{
    return rg_build_extent(g->b, p->object->leaves[p->leaf].value, p->n - 1);
}

void
fc_copy_memory(gen *g, const place *to, const place *from, const node *n)
{
    block b = {.g = g, .call = n, .name = "realloc", .to = {.at = *to, .elem = to->type}, .from = {.at = *from, .elem = from->type}};
    if (!fc_same_elements(to->type, from->type) || !from->n) {
        fc_fail(g, ERR_MEMORY_TYPES, n->place, b.name);
        return;
    }
    b.count = rg_build_2(g->b, RG_OP_MIN, elements_in_row(g, to), elements_in_row(g, from));
    copy_all(&b);
}

void
fc_clear(gen *g, const place *p, const node *n)
{
    block b = {.g = g, .call = n, .name = "calloc", .fills = true, .to = {.at = *p, .elem = p->type}};
    b.byte = fc_int_value(g, RG_I32, 0);
    b.count = elements_in_row(g, p);
    copy_all(&b);
}

/* memcpy for __builtin_memcpy and __builtin___memcpy_chk too */
static bool
is_call_of(const char *full, const char *name)
{
    static const char prefix[] = "__builtin_";
    if (strncmp(full, prefix, sizeof prefix - 1) == 0)
        full += sizeof prefix - 1;
    size_t n = strlen(name);
    if (strncmp(full, "__", 2) == 0 && strncmp(full + 2, name, n) == 0 && strcmp(full + 2 + n, "_chk") == 0)
        return true;
    return strcmp(full, name) == 0;
}

bool
fc_memory_call(gen *g, const node *n, value *out)
{
    block b = {.g = g, .call = n};
    const char *full = n->decl->name;
    node *const *arg = n->list;
    *out = (value){.type = n->type};
    if (n->count >= 3 && (is_call_of(full, "memcpy") || is_call_of(full, "memmove"))) {
        b.may_overlap = is_call_of(full, "memmove");
        b.name = b.may_overlap ? "memmove" : "memcpy";
        generate(&b, arg[0], arg[1], arg[2]);
    } else if (n->count == 3 && is_call_of(full, "bcopy")) {
        b.may_overlap = true;
        b.name = "bcopy";
        generate(&b, arg[1], arg[0], arg[2]);
    } else if (n->count >= 3 && is_call_of(full, "memset")) {
        b.fills = true;
        b.name = "memset";
        b.byte = fc_scalar(g, arg[1]);
        generate(&b, arg[0], NULL, arg[2]);
    } else if (n->count == 2 && is_call_of(full, "bzero")) {
        b.fills = true;
        b.name = "bzero";
        b.byte = fc_int_value(g, RG_I32, 0);
        generate(&b, arg[0], NULL, arg[1]);
    } else {
        return false;
    }
    if (n->type->kind == TYPE_POINTER)
        out->at = b.to.at.object ? b.to.at : fc_nowhere(g, n->type->elem);
    return true;
}

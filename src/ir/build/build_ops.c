/* The builder: constants, scalar operations, local arrays. SPDX-License-Identifier: Apache-2.0 */
#include "ir/build/build_impl.h"

/* -- constants: one of each value, in a row at the start of the function ----------------------- */

void
build_constants_forget(constant_pool *pool)
{
    for (int d = 0; d < RG_DTYPE_COUNT; d++)
        map_free(&pool->by_dtype[d]);
    pool->last = NULL;
    pool->region = NULL;
}

void
build_constants_find(rg_builder *b, constant_pool *pool, ir_region *region)
{
    (void)b;
    build_constants_forget(pool);
    pool->region = region;
    for (ir_op *op = region->first; op && op->code == RG_OP_CONST; op = op->next) {
        map_set(&pool->by_dtype[op->results[0]->type.dtype], op->attr.bits, op->results[0]);
        pool->last = op;
    }
}

static void
insert_constant(constant_pool *pool, ir_op *op)
{
    if (!pool->last)
        ir_insert_first(pool->region, op);
    else if (pool->last->next)
        ir_insert_before(pool->last->next, op);
    else
        ir_append(pool->region, op);
    pool->last = op;
}

/* The shape region cannot see the body's constants. */
static constant_pool *
pool_here(rg_builder *b)
{
    bool shape = b->fn->shape && build_home(b)->region == b->fn->shape;
    return shape ? &b->shape_constants : &b->body_constants;
}

ir_value *
build_bits(rg_builder *b, rg_dtype d, uint64_t bits)
{
    constant_pool *pool = pool_here(b);
    bits = ir_wrap(d, bits);
    ir_value *known = map_get(&pool->by_dtype[d], bits);
    if (known)
        return known;
    ir_op *op = ir_op_new(b->fn, RG_OP_CONST, 0, 0, b->loc);
    op->attr.bits = bits;
    ir_value *v = ir_op_result(op, b->fn, ir_scalar(d), NULL);
    insert_constant(pool, op);
    map_set(&pool->by_dtype[d], bits, v);
    return v;
}

/* arrays: a new op at the present point */
static ir_value *
zero_of(rg_builder *b, ir_type t)
{
    if (t.kind == IR_SCALAR)
        return build_bits(b, (rg_dtype)t.dtype, 0);
    ir_op *op = ir_op_new(b->fn, RG_OP_ARRAY, 0, 0, b->loc);
    ir_value *v = ir_op_result(op, b->fn, t, NULL);
    build_append(b, op);
    return v;
}

ir_value *
build_fallback(rg_builder *b, ir_type t)
{
    if (t.kind == IR_ARRAY || (t.kind == IR_SCALAR && ir_bits((rg_dtype)t.dtype)))
        return zero_of(b, t);
    return build_bits(b, RG_I32, 0);
}

static bool
known_dtype(rg_builder *b, rg_dtype *d)
{
    build_need_fn(b);
    if (ir_bits(*d))
        return true;
    build_report(b, ERROR_ARGUMENT, "not a type: %d", (int)*d);
    *d = RG_I32;
    return false;
}

ir_value *
rg_build_bits(rg_builder *b, rg_dtype dtype, uint64_t bits)
{
    BUILD_GUARDED(b, NULL);
    known_dtype(b, &dtype);
    return build_bits(b, dtype, bits);
}

ir_value *
rg_build_int(rg_builder *b, rg_dtype dtype, int64_t value)
{
    BUILD_GUARDED(b, NULL);
    known_dtype(b, &dtype);
    if (ir_is_float(dtype))
        return build_bits(b, dtype, ir_float_bits(dtype, (double)value));
    return build_bits(b, dtype, dtype == RG_BOOL ? value != 0 : (uint64_t)value);
}

ir_value *
rg_build_float(rg_builder *b, rg_dtype dtype, double value)
{
    BUILD_GUARDED(b, NULL);
    known_dtype(b, &dtype);
    if (ir_is_float(dtype))
        return build_bits(b, dtype, ir_float_bits(dtype, value));
    uint64_t bits = 0;
    ir_eval(RG_OP_CAST, RG_F64, dtype, ir_float_bits(RG_F64, value), 0, 0, &bits);
    return build_bits(b, dtype, bits);
}

rg_type
rg_value_type(ir_value *v)
{
    return v ? (rg_type){(rg_dtype)v->type.dtype, v->type.kind == IR_ARRAY ? v->type.length : 0} : (rg_type){0};
}

uint32_t
rg_value_rank(ir_value *v)
{
    return v && v->type.kind == IR_BUFFER ? v->type.rank : 0;
}

bool
rg_value_is_const(ir_value *v, uint64_t *bits)
{
    return v && ir_is_const(v, bits);
}

/* -- scalar operations ------------------------------------------------------------------------- */

static ir_value *
fold_constant(rg_builder *b, rg_op op, ir_type result, uint32_t nargs, ir_value *const *args)
{
    uint64_t bits[3] = {0}, out;
    if (op == RG_OP_SELECT && ir_is_const(args[0], bits))
        return bits[0] & 1 ? args[1] : args[2];
    for (uint32_t i = 0; i < nargs; i++)
        if (!ir_is_const(args[i], &bits[i]))
            return NULL;
    if (!ir_eval(op, (rg_dtype)args[0]->type.dtype, (rg_dtype)result.dtype, bits[0], bits[1],
                 bits[2], &out))
        return NULL;
    return build_bits(b, (rg_dtype)result.dtype, out);
}

static ir_op *
new_scalar_op(rg_builder *b, rg_op code, ir_type result, uint32_t nargs, ir_value *const *args)
{
    ir_op *op = ir_op_new(b->fn, code, nargs, 0, b->loc);
    for (uint32_t i = 0; i < nargs; i++)
        ir_op_arg(op, b->fn, args[i]);
    ir_op_result(op, b->fn, result, NULL);
    return op;
}

/* what a misused op would most likely have given */
static ir_type
likely_type(rg_op op, uint32_t nargs, const ir_type *types)
{
    if (ir_ops[op].form == IR_COMPARE)
        return ir_scalar(RG_BOOL);
    if (ir_ops[op].form == IR_EXPONENT)
        return ir_scalar(RG_I32);
    uint32_t from = ir_ops[op].form == IR_SELECT && nargs > 1 ? 1 : 0;
    return from < nargs && types[from].kind == IR_SCALAR ? types[from] : ir_scalar(RG_I32);
}

static void
report_types(rg_builder *b, rg_op op, uint32_t nargs, const ir_type *types)
{
    char names[3][32] = {"", "", ""};
    for (uint32_t i = 0; i < nargs && i < 3; i++)
        build_type_name(types[i], names[i], sizeof names[i]);
    build_report(b, ERROR_TYPES, "`%s` does not take %s%s%s%s%s", ir_ops[op].text, names[0],
                 nargs > 1 ? ", " : "", names[1], nargs > 2 ? ", " : "", names[2]);
}

static ir_value *
build_scalar_op(rg_builder *b, rg_op op, ir_type result, uint32_t nargs, const rg_value *given)
{
    ir_value *args[3];
    ir_type types[3] = {{0}};
    build_need_fn(b);
    bool ok = nargs <= 3 && op < RG_OP_COUNT;
    for (uint32_t i = 0; ok && i < nargs; i++) {
        ok = given[i] != NULL;
        if (!ok)
            break;
        args[i] = build_resolve(b, given[i]);
        types[i] = args[i]->type;
    }
    if (!ok) {
        build_report(b, ERROR_ARGUMENT, "an operation misses an operand");
        return build_bits(b, RG_I32, 0);
    }
    if (!ir_form_check(op, nargs, types, &result)) {
        report_types(b, op, nargs, types);
        return build_fallback(b, likely_type(op, nargs, types));
    }
    ir_value *known = fold_constant(b, op, result, nargs, args);
    if (known)
        return known;
    ir_op *made = new_scalar_op(b, op, result, nargs, args);
    build_append(b, made);
    return made->results[0];
}

ir_value *
rg_build_op(rg_builder *b, rg_op op, uint32_t nargs, const rg_value *args)
{
    BUILD_GUARDED(b, NULL);
    return build_scalar_op(b, op, (ir_type){0}, nargs, args);
}

ir_value *
rg_build_cast(rg_builder *b, rg_dtype to, rg_value v)
{
    BUILD_GUARDED(b, NULL);
    if (v && ir_type_eq(v->type, ir_scalar(to)))
        return build_resolve(b, v);
    return build_scalar_op(b, RG_OP_CAST, ir_scalar(to), 1, &v);
}

ir_value *
rg_build_bitcast(rg_builder *b, rg_dtype to, rg_value v)
{
    BUILD_GUARDED(b, NULL);
    if (v && ir_type_eq(v->type, ir_scalar(to)))
        return v;
    return build_scalar_op(b, RG_OP_BITCAST, ir_scalar(to), 1, &v);
}

/* For the builder's own flags. They stand where the region stands, before any guard. */
static ir_value *
flag_op(rg_builder *b, rg_op code, uint32_t nargs, ir_value *const *args)
{
    ir_type boolean = ir_scalar(RG_BOOL);
    ir_value *known = fold_constant(b, code, boolean, nargs, args);
    if (known)
        return known;
    ir_op *op = new_scalar_op(b, code, boolean, nargs, args);
    build_append_here(b, op);
    return op->results[0];
}

ir_value *
build_not(rg_builder *b, ir_value *v)
{
    if (v->def && v->def->code == RG_OP_NOT)
        return v->def->args[0];
    return flag_op(b, RG_OP_NOT, 1, &v);
}

ir_value *
build_or(rg_builder *b, ir_value *x, ir_value *y)
{
    uint64_t bits;
    if (ir_is_const(x, &bits))
        return bits ? x : y;
    if (ir_is_const(y, &bits))
        return bits ? y : x;
    return flag_op(b, RG_OP_OR, 2, (ir_value *[]){x, y});
}

/* -- local arrays ------------------------------------------------------------------------------ */

bool
build_is_index(const ir_value *v)
{
    return v && v->type.kind == IR_SCALAR && ir_is_int((rg_dtype)v->type.dtype);
}

ir_value *
rg_build_array(rg_builder *b, rg_dtype dtype, uint32_t length)
{
    BUILD_GUARDED(b, NULL);
    if (!known_dtype(b, &dtype) || !length) {
        build_report(b, ERROR_ARGUMENT, "a local array has a type and at least one element");
        length = length ? length : 1;
    }
    return zero_of(b, ir_array(dtype, length));
}

static ir_value *
find_table(rg_builder *b, uint64_t key, ir_type type, const void *data, size_t bytes)
{
    ir_op *op = map_get(&b->tables, key);
    bool same = op && ir_type_eq(op->results[0]->type, type) && !memcmp(op->attr.data, data, bytes);
    return same ? op->results[0] : NULL;
}

ir_value *
rg_build_table(rg_builder *b, rg_dtype dtype, uint32_t length, const void *data)
{
    BUILD_GUARDED(b, NULL);
    if (!known_dtype(b, &dtype) || !length || !data)
        return rg_build_array(b, dtype, length);
    ir_type type = ir_array(dtype, length);
    size_t bytes = (size_t)ir_bytes(dtype) * length;
    uint64_t key = hash_bytes(hash_u64(dtype, length), data, bytes);
    ir_value *known = find_table(b, key, type, data, bytes);
    if (known)
        return known;
    ir_op *op = ir_op_new(b->fn, RG_OP_TABLE, 0, 0, b->loc);
    void *copy = arena_alloc(b->module->arena, bytes);
    memcpy(copy, data, bytes);
    op->attr.data = copy;
    ir_op_result(op, b->fn, type, NULL);
    ir_op *last = b->body_constants.last; /* behind the constants, visible everywhere */
    if (!last)
        ir_insert_first(b->fn->body, op);
    else if (last->next)
        ir_insert_before(last->next, op);
    else
        ir_append(b->fn->body, op);
    map_set(&b->tables, key, op);
    return op->results[0];
}

static bool
need_array(rg_builder *b, const ir_value *array)
{
    if (array && array->type.kind == IR_ARRAY)
        return true;
    build_report(b, ERROR_TYPES, "not a local array");
    return false;
}

ir_value *
rg_build_copy(rg_builder *b, ir_value *array)
{
    BUILD_GUARDED(b, NULL);
    build_need_fn(b);
    if (!need_array(b, array))
        return array ? array : build_bits(b, RG_I32, 0);
    array = build_resolve(b, array);
    ir_op *op = new_scalar_op(b, RG_OP_COPY, array->type, 1, &array);
    build_append(b, op);
    return op->results[0];
}

/* The array and its i64 index, as an op's first operands; NULL after an error. */
static ir_op *
array_element_op(rg_builder *b, rg_op code, ir_value *array, ir_value *index)
{
    build_need_fn(b);
    if (!need_array(b, array))
        return NULL;
    if (!build_is_index(index)) {
        build_report(b, ERROR_TYPES, "an array's index is an integer");
        return NULL;
    }
    index = rg_build_cast(b, RG_I64, index);
    array = build_resolve(b, array);
    if (code == RG_OP_INSERT && array->def && array->def->code == RG_OP_TABLE)
        array = rg_build_copy(b, array);
    ir_op *op = ir_op_new(b->fn, code, code == RG_OP_INSERT ? 3 : 2, 0, b->loc);
    ir_op_arg(op, b->fn, array);
    ir_op_arg(op, b->fn, build_resolve(b, index));
    return op;
}

ir_value *
rg_build_extract(rg_builder *b, ir_value *array, ir_value *index)
{
    BUILD_GUARDED(b, NULL);
    ir_op *op = array_element_op(b, RG_OP_EXTRACT, array, index);
    if (!op)
        return build_fallback(b, array ? ir_scalar((rg_dtype)array->type.dtype) : (ir_type){0});
    ir_op_result(op, b->fn, ir_scalar((rg_dtype)array->type.dtype), NULL);
    build_append(b, op);
    return op->results[0];
}

ir_value *
rg_build_insert(rg_builder *b, ir_value *array, ir_value *index, ir_value *value)
{
    BUILD_GUARDED(b, NULL);
    ir_op *op = array_element_op(b, RG_OP_INSERT, array, index);
    if (!op)
        return array ? array : build_bits(b, RG_I32, 0);
    if (!value || !ir_type_eq(value->type, ir_scalar((rg_dtype)array->type.dtype))) {
        build_report(b, ERROR_TYPES, "the value's type is not that of the array's elements");
        return array;
    }
    ir_op_arg(op, b->fn, build_resolve(b, value));
    ir_op_result(op, b->fn, array->type, NULL);
    build_append(b, op);
    return op->results[0];
}

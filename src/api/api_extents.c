/* Scalars that follow from the shapes of arrays: `n` of float x[n], or of x[2 * n + 1]. SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

/* A number that grows with one scalar: factor * parameter + offset. */
typedef struct affine {
    const ir_value *param; /* NULL: it is the offset */
    int64_t factor, offset;
} affine;

static bool affine_of(const ir_value *v, affine *out);

static bool
affine_sum(const ir_op *op, affine *out)
{
    affine b;
    if (!affine_of(op->args[0], out) || !affine_of(op->args[1], &b) || (out->param && b.param))
        return false;
    int64_t sign = op->code == RG_OP_SUB ? -1 : 1;
    affine sum = {b.param ? b.param : out->param, out->factor, 0};
    bool fits = !__builtin_mul_overflow(sign, b.offset, &b.offset) && !__builtin_add_overflow(out->offset, b.offset, &sum.offset) &&
                (!b.param || !__builtin_mul_overflow(sign, b.factor, &sum.factor));
    *out = sum;
    return fits;
}

static bool
affine_product(const ir_op *op, affine *out)
{
    affine b;
    if (!affine_of(op->args[0], out) || !affine_of(op->args[1], &b) || (out->param && b.param))
        return false;
    int64_t by = out->param ? b.offset : out->offset;
    affine of = out->param ? *out : b;
    out->param = of.param;
    return !__builtin_mul_overflow(of.factor, by, &out->factor) && !__builtin_mul_overflow(of.offset, by, &out->offset);
}

static bool
affine_of(const ir_value *v, affine *out)
{
    uint64_t bits;
    *out = (affine){0};
    if (ir_is_const(v, &bits))
        return out->offset = (int64_t)bits, true;
    if (!v->def)
        return *out = (affine){v, 1, 0}, v->type.kind != IR_BUFFER;
    if (v->def->code == RG_OP_CAST)
        return affine_of(v->def->args[0], out);
    if (v->def->code == RG_OP_ADD || v->def->code == RG_OP_SUB)
        return affine_sum(v->def, out);
    return v->def->code == RG_OP_MUL && affine_product(v->def, out);
}

/* The scalar that extent number `index` of the shape region grows with. */
static bool
find_scalar(const ir_fn *fn, uint32_t index, affine *out)
{
    return fn->shape && affine_of(ir_terminator(fn->shape)->args[index], out) && out->param && out->factor;
}

void
api_mark_extents(rg_kernel *k)
{
    affine l;
    for (uint32_t i = 0; i < k->nextents; i++)
        if (find_scalar(k->fn, i, &l) && !ir_is_float(k->params[l.param->index].dtype))
            k->params[l.param->index].extent = true;
}

/* The scalar's value if an extent of the array decides it. */
static bool
infer_from(const rg_args *args, uint32_t array, uint32_t first, uint32_t index, int64_t *value)
{
    const rg_kernel *k = args->kernel;
    const rt_layout *layout = &args->slots[array].array->layout;
    affine l;
    for (uint32_t axis = 0; axis < k->params[array].rank; axis++) {
        if (layout->rank != k->params[array].rank || !find_scalar(k->fn, first + axis, &l) || l.param->index != index)
            continue;
        int64_t rest;
        if (__builtin_sub_overflow(layout->shape[axis], l.offset, &rest))
            continue;
        *value = rest / l.factor; /* an extent that it does not give is an error of the launch */
        return true;
    }
    return false;
}

static rg_status
infer(rg_args *args, uint32_t index)
{
    const rg_kernel *k = args->kernel;
    uint32_t first = 0;
    int64_t value;
    for (uint32_t i = 0; i < k->nparams; first += k->params[i++].rank)
        if (k->params[i].array && args->slots[i].array && infer_from(args, i, first, index, &value))
            return rg_args_set_int_at(args, index, value);
    if (k->params[index].extent)
        return api_error(RG_INVALID, "parameter `%s` of kernel `%s`: no array is set whose extents give its value",
                         k->params[index].name.ptr, k->fn->name);
    return api_error(RG_INVALID, "parameter `%s` of kernel `%s` does not follow from the extents of arrays; set it",
                     k->params[index].name.ptr, k->fn->name);
}

rg_status
rg_args_infer_at(rg_args *args, uint32_t index)
{
    const rg_param *p;
    TRY(api_check_param(args, index, false, &p));
    return infer(args, index);
}

rg_status
rg_args_infer(rg_args *args, rg_str name)
{
    uint32_t index;
    API_CHECK(args, API_ARGS, "args");
    TRY(api_param_find(args->kernel, name, &index));
    return rg_args_infer_at(args, index);
}

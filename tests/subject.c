/* See subject.h. SPDX-License-Identifier: Apache-2.0 */
#include "subject.h"

#include <stdlib.h>
#include <stdio.h>

bool
dtype_is_float(rg_dtype dtype)
{
    return dtype == RG_F16 || dtype == RG_F32 || dtype == RG_F64;
}

double
hash_unit(const char *name, size_t i, unsigned salt)
{
    uint64_t h = 0xcbf29ce484222325u ^ salt * 0xd6e8feb86659fd93u;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 0x100000001b3u;
    h ^= (i + 1) * 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 31)) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 29)) * 0x94d049bb133111ebu;
    h ^= h >> 32;
    return (double)(h >> 11) * 0x1p-52 - 1.0;
}

double
element_get(rg_dtype dtype, const void *data, size_t i)
{
    switch (dtype) {
    case RG_BOOL:
    case RG_U8:
        return ((const uint8_t *)data)[i];
    case RG_I8:
        return ((const int8_t *)data)[i];
    case RG_I16:
        return ((const int16_t *)data)[i];
    case RG_U16:
        return ((const uint16_t *)data)[i];
    case RG_I32:
        return ((const int32_t *)data)[i];
    case RG_U32:
        return ((const uint32_t *)data)[i];
    case RG_I64:
        return (double)((const int64_t *)data)[i];
    case RG_U64:
        return (double)((const uint64_t *)data)[i];
    case RG_F16:
        return (double)((const _Float16 *)data)[i];
    case RG_F32:
        return ((const float *)data)[i];
    default:
        return ((const double *)data)[i];
    }
}

static void
set_bits(rg_dtype dtype, void *data, size_t i, uint64_t bits)
{
    size_t size = rg_dtype_size(dtype);
    memcpy((char *)data + i * size, &bits, size); /* little-endian */
}

void
element_set(rg_dtype dtype, void *data, size_t i, double value)
{
    if (dtype == RG_F64)
        ((double *)data)[i] = value;
    else if (dtype == RG_F32)
        ((float *)data)[i] = (float)value;
    else if (dtype == RG_F16)
        ((_Float16 *)data)[i] = (_Float16)value;
    else
        set_bits(dtype, data, i, value < 0.0 ? (uint64_t)(int64_t)value : (uint64_t)value);
}

void
input_set(input *p, size_t i, double value)
{
    element_set(p->param.dtype, p->initial, i, value);
}

void
input_set_text(input *p, size_t i, const char *text)
{
    if (dtype_is_float(p->param.dtype))
        input_set(p, i, strtod(text, NULL));
    else
        set_bits(p->param.dtype, p->initial, i,
                 text[0] == '-' ? (uint64_t)strtoll(text, NULL, 0) : strtoull(text, NULL, 0));
}

rg_status
inputs_describe(inputs *in, const rg_kernel *kernel)
{
    *in = (inputs){.count = rg_kernel_param_count(kernel)};
    for (uint32_t k = 0; k < in->count && k < SUBJECT_PARAMS; k++) {
        in->at[k].param = RG_INIT(rg_param);
        rg_status status = rg_kernel_get_param(kernel, k, &in->at[k].param);
        if (status)
            return status;
        rg_str name = in->at[k].param.name;
        snprintf(in->at[k].name, sizeof in->at[k].name, "%.*s", (int)name.len, name.ptr);
    }
    return in->count <= SUBJECT_PARAMS ? RG_OK : RG_INVALID;
}

void
inputs_shape(input *p, uint32_t rank, const int64_t *shape)
{
    p->rank = rank;
    p->count = 1;
    for (uint32_t a = 0; a < rank; a++) {
        p->shape[a] = shape[a];
        p->count *= (size_t)shape[a];
    }
    p->initial = calloc(p->count + 1, 8);
    if (!dtype_is_float(p->param.dtype))
        return;
    p->seed = calloc(p->count + 1, sizeof(double));
    p->tangent = calloc(p->count + 1, sizeof(double));
    for (size_t i = 0; i < p->count; i++) { /* numbers that the dtype can hold */
        element_set(p->param.dtype, p->initial, i, hash_unit(p->name, i, 1));
        p->seed[i] = element_get(p->param.dtype, p->initial, i);
        element_set(p->param.dtype, p->initial, i, hash_unit(p->name, i, 2));
        p->tangent[i] = element_get(p->param.dtype, p->initial, i);
        element_set(p->param.dtype, p->initial, i, 0.0);
    }
}

void
inputs_free(inputs *in)
{
    for (uint32_t k = 0; k < in->count && k < SUBJECT_PARAMS; k++) {
        free(in->at[k].initial);
        free(in->at[k].seed);
        free(in->at[k].tangent);
    }
    in->count = 0;
}

input *
inputs_find(inputs *in, const char *name)
{
    for (uint32_t k = 0; k < in->count; k++)
        if (strcmp(in->at[k].name, name) == 0)
            return &in->at[k];
    return NULL;
}

/* -- modules -------------------------------------------------------------------------------------
 */

static const char *const as_f64[] = {
    "float=double", "_Float16=double",     "sinf=sin",           "cosf=cos",     "tanf=tan",
    "asinf=asin",   "acosf=acos",          "atanf=atan",         "sinhf=sinh",   "coshf=cosh",
    "tanhf=tanh",   "asinhf=asinh",        "acoshf=acosh",       "atanhf=atanh", "expf=exp",
    "exp2f=exp2",   "expm1f=expm1",        "logf=log",           "log2f=log2",   "log10f=log10",
    "log1pf=log1p", "sqrtf=sqrt",          "cbrtf=cbrt",         "erff=erf",     "erfcf=erfc",
    "powf=pow",     "atan2f=atan2",        "hypotf=hypot",       "fmodf=fmod",   "fmaxf=fmax",
    "fminf=fmin",   "fdimf=fdim",          "copysignf=copysign", "fmaf=fma",     "fabsf=fabs",
    "floorf=floor", "ceilf=ceil",          "roundf=round",       "truncf=trunc", "rintf=rint",
    "ldexpf=ldexp", "remainderf=remainder"};

bool
source_is_narrow(const char *text)
{
    bool narrow = strstr(text, "#include \"") != NULL;
    for (size_t k = 0; k < sizeof as_f64 / sizeof *as_f64; k++) {
        char name[16];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(as_f64[k], "="), as_f64[k]);
        narrow |= strstr(text, name) != NULL;
    }
    return narrow;
}

rg_status
subject_load(const char *path, const char *source, unsigned code, rg_module **module)
{
    enum { COUNT = sizeof as_f64 / sizeof *as_f64 };
    rg_str defines[COUNT];
    for (unsigned k = 0; k < COUNT; k++)
        defines[k] = rg_str_of(as_f64[k]);
    const char *option = getenv("RG_TEST_OPTION");
    rg_str more = rg_str_of(option ? option : "");
    rg_module_desc desc = RG_DESC(rg_module_desc, .defines = defines, .define_count = code & CODE_WIDE ? COUNT : 0,
                                  .options = &more, .option_count = option != NULL, .checked = code & CODE_CHECKED,
                                  .no_contraction = code & CODE_EXACT, .deterministic = code & CODE_DETERMINISTIC);
    if (source)
        return rg_module_from_c(rg_str_of(source), &desc, module);
    return rg_module_load(rg_str_of(path), &desc, module);
}

/* -- subjects ------------------------------------------------------------------------------------
 */

static rg_status
open_array(subject *s, rg_queue *queue, uint32_t k, const input *p)
{
    bool real = dtype_is_float(p->param.dtype);
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = p->param.dtype, .rank = p->rank, .adjoint = real, .tangent = real);
    memcpy(desc.shape, p->shape, sizeof p->shape);
    rg_status status = rg_array_create(queue, &desc, &s->arrays[k]);
    if (!status)
        status = p->param.array ? rg_args_set_array_at(s->args, k, s->arrays[k])
                                : rg_args_set_companion_at(s->args, k, s->arrays[k]);
    return status;
}

/* A field of records or a result: the arguments own its array. */
static rg_status
borrow_array(subject *s, uint32_t k, const input *p)
{
    s->lent[k] = true;
    rg_status status = rg_args_get_array(s->args, p->param.name, &s->arrays[k]);
    if (!status && dtype_is_float(p->param.dtype))
        status = rg_array_require(s->queue, s->arrays[k], RG_ADJOINT);
    if (!status && dtype_is_float(p->param.dtype))
        status = rg_array_require(s->queue, s->arrays[k], RG_TANGENT);
    return status;
}

static rg_status
open_records(subject *s, uint32_t k, const input *p)
{
    const char *dot = strchr(p->name, '.');
    rg_str name = {p->name, dot ? (size_t)(dot - p->name) : strlen(p->name)};
    s->records[k] = calloc(p->count + 1, p->param.record_size); /* count is more than needed where there are arrays inside */
    return rg_args_set_records(s->queue, s->args, name, s->records[k], p->rank - p->param.inner_axes, p->shape, NULL);
}

rg_status
subject_open(subject *s, rg_queue *queue, rg_module *module, const char *kernel,
             const inputs *in)
{
    rg_status status;
    uint32_t record = 0;
    *s = (subject){.queue = queue, .count = in->count};
    if ((status = rg_module_get_kernel(module, rg_str_of(kernel), &s->kernel)) ||
        (status = rg_args_create(queue, s->kernel, &s->args))) {
        *s = (subject){0};
        return status;
    }
    for (uint32_t k = 0; k < in->count && !status; k++) {
        const input *p = &in->at[k];
        if (p->param.record && p->param.record != record)
            status = open_records(s, k, p);
        record = p->param.record;
        if (status)
            break;
        if (p->param.record || p->param.result)
            status = borrow_array(s, k, p);
        else if (p->param.array || dtype_is_float(p->param.dtype))
            status = open_array(s, queue, k, p);
    }
    if (status)
        subject_close(s);
    return status;
}

void
subject_close(subject *s)
{
    for (uint32_t k = 0; k < s->count; k++)
        if (!s->lent[k])
            rg_array_destroy(s->arrays[k]);
    rg_args_destroy(s->args);
    for (uint32_t k = 0; k < s->count; k++)
        free(s->records[k]);
    *s = (subject){0};
}

rg_status
subject_require_second(subject *s, const inputs *in)
{
    rg_status status = RG_OK;
    for (uint32_t k = 0; k < in->count && !status; k++)
        if (in->at[k].seed)
            status = rg_array_require(s->queue, s->arrays[k], RG_ADJOINT | RG_TANGENT);
    s->second = status == RG_OK;
    return status;
}

static rg_status
reset_scalar(subject *s, const input *p, uint32_t k)
{
    if (dtype_is_float(p->param.dtype))
        return rg_args_set_float_at(s->args, k, element_get(p->param.dtype, p->initial, 0));
    uint64_t bits = 0;
    memcpy(&bits, p->initial, 8);
    if (p->param.dtype == RG_U64 || p->param.dtype == RG_I64)
        return rg_args_set_int_at(s->args, k, (int64_t)bits);
    return rg_args_set_int_at(s->args, k, (int64_t)element_get(p->param.dtype, p->initial, 0));
}

static rg_status
write_plane(subject *s, const input *p, uint32_t k, unsigned plane, const double *values)
{
    size_t bytes = p->count * rg_dtype_size(p->param.dtype);
    void *copy = calloc(p->count + 1, 8);
    for (size_t i = 0; i < p->count; i++)
        element_set(p->param.dtype, copy, i, values[i]);
    rg_status status = rg_array_write(s->queue, s->arrays[k], plane, copy, bytes);
    free(copy);
    return status;
}

rg_status
subject_reset(subject *s, const inputs *in)
{
    for (uint32_t k = 0; k < in->count; k++) {
        const input *p = &in->at[k];
        rg_status status = RG_OK;
        if (!p->param.array && !p->param.result)
            status = reset_scalar(s, p, k);
        else
            status = rg_array_write(s->queue, s->arrays[k], RG_PRIMAL, p->initial, p->count * rg_dtype_size(p->param.dtype));
        if (!status && p->seed)
            status = write_plane(s, p, k, RG_ADJOINT, p->seed);
        if (!status && p->seed)
            status = write_plane(s, p, k, RG_TANGENT, p->tangent);
        if (!status && p->seed && s->second)
            status = rg_array_fill(s->queue, s->arrays[k], RG_ADJOINT | RG_TANGENT, 0.0);
        if (status)
            return status;
    }
    return RG_OK;
}

static rg_status
launch(subject *s, form form)
{
    switch (form) {
    case FORWARD:
        return rg_launch(s->queue, s->args, RG_FORWARD);
    case VJP:
        return rg_launch(s->queue, s->args, RG_VJP);
    case FORWARD_VJP:
        return rg_launch(s->queue, s->args, RG_FORWARD_VJP);
    case JVP:
        return rg_launch(s->queue, s->args, RG_JVP);
    default:
        return rg_launch(s->queue, s->args, RG_JVP_FORWARD_VJP);
    }
}

rg_status
subject_run(subject *s, form form)
{
    rg_status status = launch(s, form);
    return status ? status : rg_queue_sync(s->queue);
}

bool
subject_read_raw(const subject *s, const inputs *in, uint32_t k, unsigned plane, void *out)
{
    const input *p = &in->at[k];
    if (!s->arrays[k] || (plane && !p->seed) || (!plane && !p->param.array && !p->param.result))
        return false;
    return rg_array_read(s->queue, s->arrays[k], plane, out, p->count * rg_dtype_size(p->param.dtype)) ==
           RG_OK;
}

bool
subject_read(const subject *s, const inputs *in, uint32_t k, unsigned plane, double *out)
{
    const input *p = &in->at[k];
    void *raw = calloc(p->count + 1, 8);
    bool found = subject_read_raw(s, in, k, plane, raw);
    for (size_t i = 0; found && i < p->count; i++)
        out[i] = element_get(p->param.dtype, raw, i);
    free(raw);
    return found;
}

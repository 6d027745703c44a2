/* A kernel's arguments from the words of a command line. SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"
#include "cli/cli.h"
#include "cli/npz.h"

#include <errno.h>
#include <math.h>

enum { MOST_LIKELY = 1 << 20 };

int
cli_arguments_begin(cli_arguments *a, rg_context *context, rg_kernel *kernel)
{
    *a = (cli_arguments){.context = context, .kernel = kernel};
    a->n = rg_kernel_param_count(kernel);
    a->params = mem_zalloc((a->n + 1) * sizeof(*a->params));
    a->arrays = mem_zalloc((a->n + 1) * sizeof(*a->arrays));
    a->given = mem_zalloc((a->n + 1) * sizeof(*a->given));
    a->files = mem_zalloc((a->n + 1) * sizeof(*a->files));
    for (uint32_t i = 0; i < a->n; i++)
        if (rg_kernel_get_param(kernel, i, &a->params[i]))
            return cli_fail_api();
    return rg_args_create(kernel, &a->args) ? cli_fail_api() : CLI_OK;
}

void
cli_arguments_free(cli_arguments *a)
{
    rg_args_destroy(a->args);
    for (uint32_t i = 0; i < a->n; i++)
        rg_array_destroy(a->arrays[i]);
    mem_free(a->arrays);
    mem_free(a->given);
    mem_free(a->files);
    mem_free(a->params);
}

/* -- NAME=VALUE -------------------------------------------------------------------------------- */

static bool
split(const char *word, rg_str *name, const char **value)
{
    const char *equals = strchr(word, '=');
    if (!equals || equals == word)
        return false;
    *name = (rg_str){word, (size_t)(equals - word)};
    *value = equals + 1;
    return true;
}

bool
cli_is_given(const cli_arguments *a, uint32_t param)
{
    return a->given[param] || a->files[param];
}

int
cli_read_inputs(const cli_words *path, npz *inputs)
{
    str error = {0};
    *inputs = (npz){0};
    bool ok = !path->n || npz_read(cli_last(path, NULL), inputs, &error);
    int code = ok ? CLI_OK : cli_fail("%s: %s", inputs->path, error.ptr);
    str_free(&error);
    return code;
}

void
cli_arguments_take_inputs(cli_arguments *a, const npz *inputs)
{
    a->inputs = inputs->path;
    for (uint32_t i = 0; i < a->n; i++)
        a->files[i] = npz_find(inputs, a->params[i].name);
}

/* One file may serve several kernels. */
void
cli_warn_unused(const cli_arguments *a, const npz *inputs)
{
    str names = {0};
    for (size_t k = 0; k < inputs->arrays.n; k++) {
        uint32_t i = 0;
        while (i < a->n && !str_eq(a->params[i].name, rg_str_of(inputs->arrays.at[k].name)))
            i++;
        if (i == a->n)
            str_addf(&names, "%s`%s`", names.len ? ", " : "", inputs->arrays.at[k].name);
    }
    if (names.len)
        fprintf(stderr, "rgc: note: %s: kernel `%s` has no parameter %s\n", inputs->path, a->kernel->fn->name, names.ptr);
    str_free(&names);
}

int
cli_arguments_take(cli_arguments *a, const cli_command *command, const cli_words *words)
{
    for (size_t k = 0; k < words->n; k++) {
        rg_str name;
        const char *value;
        uint32_t i;
        if (!split(words->at[k], &name, &value))
            return cli_usage_error(command, "`%s` is not NAME=VALUE", words->at[k]);
        if (rg_kernel_find_param(a->kernel, name, &i))
            return cli_fail_api();
        if (a->given[i])
            return cli_usage_error(command, "`%s` is given twice: %s=%s and %s", a->params[i].name.ptr, a->params[i].name.ptr,
                                   a->given[i], words->at[k]);
        a->given[i] = value;
    }
    return CLI_OK;
}

static bool
ends_with_npy(const char *s)
{
    size_t n = strlen(s);
    return n > 4 && strcmp(s + n - 4, ".npy") == 0;
}

static int
set_scalar(cli_arguments *a, uint32_t i, const char *text)
{
    const rg_param *p = &a->params[i];
    char *end;
    rg_status status;
    if (p->dtype >= RG_F16) {
        double v = strtod(text, &end);
        if (!*text || *end)
            return cli_fail("parameter `%s` is %s: `%s` is not a number", p->name.ptr, rg_dtype_name(p->dtype), text);
        status = rg_args_set_float_at(a->args, i, v);
    } else {
        bool negative = *text == '-';
        errno = 0;
        int64_t v = negative ? strtoll(text, &end, 0) : (int64_t)strtoull(text, &end, 0);
        if (p->dtype == RG_BOOL && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)) {
            v = *text == 't';
            end = (char *)(uintptr_t)text + strlen(text);
        }
        if (!*text || *end)
            return cli_fail("parameter `%s` is %s: `%s` is not an integer", p->name.ptr, rg_dtype_name(p->dtype), text);
        if (errno || (p->dtype == RG_U64 ? negative : !negative && v < 0))
            return cli_fail("parameter `%s` is %s: %s does not fit", p->name.ptr,
                            rg_dtype_name(p->dtype), text);
        status = rg_args_set_int_at(a->args, i, v);
    }
    return status ? cli_fail_api() : CLI_OK;
}

/* Any type of number that the parameter holds: NumPy's own integers are i64. */
static int
scalar_from_npy(cli_arguments *a, uint32_t i, const npy *file)
{
    const rg_param *p = &a->params[i];
    bool real = file->dtype >= RG_F16;
    uint64_t bits = 0;
    char text[32];
    size_t size = rg_dtype_size(file->dtype);
    if (file->bytes != size)
        return cli_fail("%s: parameter `%s` is a scalar, not %zu elements", a->inputs, p->name.ptr, file->bytes / size);
    if (real && p->dtype < RG_F16)
        return cli_fail("%s: dtype is %s, parameter `%s` needs %s", a->inputs, rg_dtype_name(file->dtype), p->name.ptr,
                        rg_dtype_name(p->dtype));
    memcpy(&bits, file->data, size); /* little-endian */
    if (!real)
        bits = ir_wrap(file->dtype, bits);
    if (real)
        snprintf(text, sizeof(text), "%.17g", ir_bits_float(file->dtype, bits));
    else if (ir_is_signed(file->dtype))
        snprintf(text, sizeof(text), "%lld", (long long)bits);
    else
        snprintf(text, sizeof(text), "%llu", (unsigned long long)bits);
    return set_scalar(a, i, text);
}

static int
make_array(cli_arguments *a, uint32_t i, uint32_t rank, const int64_t *shape)
{
    rg_array_desc desc = {.dtype = a->params[i].dtype, .rank = rank, .name = a->params[i].name};
    memcpy(desc.shape, shape, rank * sizeof(*shape));
    rg_array_destroy(a->arrays[i]);
    if (rg_array_create(a->context, &desc, &a->arrays[i]))
        return cli_fail_api();
    return rg_args_set_array_at(a->args, i, a->arrays[i]) ? cli_fail_api() : CLI_OK;
}

/* Copies a file's elements into a plane; the dtype must be the same. */
static int
fill_from_file(rg_array *array, unsigned plane, const npy *file, const char *name, const char *path)
{
    rg_array_info info;
    if (rg_array_get_info(array, &info))
        return cli_fail_api();
    if (file->dtype != info.dtype)
        return cli_fail("%s: dtype is %s, `%s` needs %s", path, rg_dtype_name(file->dtype), name,
                        rg_dtype_name(info.dtype));
    bool same = file->rank == info.rank;
    for (uint32_t k = 0; same && k < info.rank; k++)
        same = file->shape[k] == info.shape[k];
    /* a scalar's companion has rank 0; a file with its one element may have any rank */
    if (!same && !(info.rank == 0 && file->bytes == info.bytes))
        return cli_fail("%s: its shape differs from that of `%s`", path, name);
    return rg_array_write(array, plane, file->data, info.bytes) ? cli_fail_api() : CLI_OK;
}

static int
array_from_npy(cli_arguments *a, uint32_t i, const npy *file, const char *path)
{
    const rg_param *p = &a->params[i];
    if (file->dtype != p->dtype)
        return cli_fail("%s: dtype is %s, parameter `%s` needs %s", path, rg_dtype_name(file->dtype), p->name.ptr,
                        rg_dtype_name(p->dtype));
    if (!p->flat && file->rank != p->rank)
        return cli_fail("%s: rank is %u, parameter `%s` needs %u", path, file->rank, p->name.ptr, p->rank);
    int code = make_array(a, i, file->rank, file->shape);
    return code ? code : fill_from_file(a->arrays[i], RG_PRIMAL, file, p->name.ptr, path);
}

static int
array_from_file(cli_arguments *a, uint32_t i, const char *path)
{
    npy file;
    str error = {0};
    int code = npy_read(path, &file, &error) ? array_from_npy(a, i, &file, path) : cli_fail("%s: %s", path, error.ptr);
    str_free(&error);
    npy_free(&file);
    return code;
}

/* "3,4" */
static bool
parse_shape(const char *text, uint32_t *rank, int64_t *shape)
{
    *rank = 0;
    while (*text) {
        char *end;
        if (*text < '0' || *text > '9' || *rank == RG_MAX_RANK)
            return false;
        shape[(*rank)++] = strtoll(text, &end, 10);
        if (*end == ',')
            end++;
        else if (*end)
            return false;
        text = end;
    }
    return true;
}

/* Whether the text of an integer, as strtoll reads it, is one that dtype holds. */
static bool
parse_integer(const char *text, rg_dtype dtype, char **end, uint64_t *bits)
{
    bool negative = *text == '-';
    errno = 0;
    *bits = negative ? (uint64_t)strtoll(text, end, 0) : strtoull(text, end, 0);
    bool sign_fits = negative ? ir_is_signed(dtype) || !*bits : !ir_is_signed(dtype) || *bits <= INT64_MAX;
    return !errno && sign_fits && ir_wrap(dtype, *bits) == *bits && (dtype != RG_BOOL || *bits <= 1);
}

typedef struct list {
    void *data; /* elements of the dtype, one after the other; NULL: the text is something else */
    size_t count;
    char misfit[32]; /* the element that the dtype does not hold; empty: they all fit */
} list;

static void
keep_misfit(list *l, const char *start, const char *end)
{
    size_t n = (size_t)(end - start);
    snprintf(l->misfit, sizeof(l->misfit), "%.*s", (int)(n < sizeof(l->misfit) - 1 ? n : sizeof(l->misfit) - 1), start);
}

static bool
parse_element(list *l, const char *start, rg_dtype dtype, char **end)
{
    uint64_t bits;
    bool fits;
    if (dtype >= RG_F16) {
        double v = strtod(start, end);
        bits = ir_float_bits(dtype, v);
        fits = !isfinite(v) || isfinite(ir_bits_float(dtype, bits));
    } else {
        fits = parse_integer(start, dtype, end, &bits);
    }
    if (*end == start || (**end && **end != ','))
        return false;
    if (!fits && !l->misfit[0])
        keep_misfit(l, start, *end);
    size_t size = rg_dtype_size(dtype);
    memcpy((char *)l->data + l->count++ * size, &bits, size); /* little-endian */
    return true;
}

/* "0.5,2,4", "0.5", or with a comma at the end; data is for mem_free. */
static list
parse_list(const char *text, rg_dtype dtype)
{
    size_t most = 1;
    for (const char *p = text; *p; p++)
        most += *p == ',';
    list l = {.data = mem_alloc(most * rg_dtype_size(dtype))};
    char *end;
    for (const char *start = text; parse_element(&l, start, dtype, &end); start = end + 1)
        if (!*end || !end[1])
            return l;
    mem_free(l.data);
    l.data = NULL;
    return l;
}

static int
fail_misfit(const rg_param *p, const list *l)
{
    return cli_fail("parameter `%s` holds %s: %s does not fit", p->name.ptr, rg_dtype_name(p->dtype), l->misfit);
}

/* What the kernel's extents say; *known: they leave no axis open. */
static int
known_shape(cli_arguments *a, uint32_t i, uint32_t *rank, int64_t *shape, bool *known)
{
    *rank = a->params[i].rank;
    *known = a->params[i].fixed + 1 == 1u << *rank;
    return rg_args_get_shape(a->args, i, shape) ? cli_fail_api() : 0;
}

static int
fail_open(const rg_param *p)
{
    str shape = {0};
    for (uint32_t k = 0; k < p->rank; k++)
        str_addf(&shape, "%c%d", k ? ',' : ':', CLI_DEFAULT_INTEGER);
    int code = cli_fail("parameter `%s`: its extents do not follow from other parameters; give the shape, as in %s=zeros%s",
                        p->name.ptr, p->name.ptr, shape.ptr);
    str_free(&shape);
    return code;
}

static int
array_of_constant(cli_arguments *a, uint32_t i, const char *value, const char *rest, double fill)
{
    const rg_param *p = &a->params[i];
    uint32_t rank;
    int64_t shape[RG_MAX_RANK] = {0};
    if (*rest == ':') {
        if (!parse_shape(rest + 1, &rank, shape))
            return cli_fail("parameter `%s`: `%s` is no shape; write 3,4", p->name.ptr, rest + 1);
        if (!p->flat && rank != p->rank)
            return cli_fail("parameter `%s` has rank %u; `%s` has %u", p->name.ptr, p->rank, value,
                            rank);
    } else {
        bool known;
        int code = known_shape(a, i, &rank, shape, &known);
        if (!code && !known)
            code = fail_open(p);
        if (code)
            return code;
    }
    int code = make_array(a, i, rank, shape);
    if (!code && rg_array_fill(a->arrays[i], RG_PRIMAL, fill))
        code = cli_fail_api();
    return code;
}

static int
fail_count(const rg_param *p, int64_t has, size_t given)
{
    return cli_fail("parameter `%s` has %lld element%s, not %zu", p->name.ptr, (long long)has, has == 1 ? "" : "s", given);
}

/* In the shape that the kernel says, else in a row. */
static int
array_of_list(cli_arguments *a, uint32_t i, const void *list, size_t count)
{
    const rg_param *p = &a->params[i];
    uint32_t rank;
    int64_t shape[RG_MAX_RANK] = {0}, known = 1;
    bool said;
    int code = known_shape(a, i, &rank, shape, &said);
    if (code)
        return code;
    for (uint32_t k = 0; k < rank && said; k++)
        known *= shape[k];
    if (!said && p->rank != 1)
        return cli_fail("parameter `%s` has rank %u and a shape that does not follow from other parameters; give a .npy "
                        "file",
                        p->name.ptr, p->rank);
    if (said && (size_t)known != count)
        return fail_count(p, known, count);
    if (!said)
        shape[0] = (int64_t)count;
    code = make_array(a, i, said ? rank : 1, shape);
    if (!code && rg_array_write(a->arrays[i], RG_PRIMAL, list, count * rg_dtype_size(p->dtype)))
        code = cli_fail_api();
    return code;
}

/* The element of a list, or the text itself, that is the reason why it is none. */
static int
fail_value(const rg_param *p, const char *value)
{
    const char *type = rg_dtype_name(p->dtype);
    for (const char *at = value, *end; *at; at = *end ? end + 1 : end) {
        char *stop;
        end = at + strcspn(at, ",");
        (void)strtod(at, &stop);
        bool number = stop == end && end > at;
        if (number && p->dtype < RG_F16 && strcspn(at, ".eEnNpP") < (size_t)(end - at))
            return cli_fail("parameter `%s` holds %s: `%.*s` is not an integer", p->name.ptr, type, (int)(end - at), at);
        if (!number && (at > value || *end))
            return cli_fail("parameter `%s` holds %s: `%.*s` is not a number", p->name.ptr, type, (int)(end - at), at);
    }
    return cli_fail("parameter `%s` is an array of %s: `%s` is neither FILE.npy nor zeros nor ones, and no list of numbers "
                    "as in %s=1,2,3",
                    p->name.ptr, type, value, p->name.ptr);
}

static int
set_array(cli_arguments *a, uint32_t i, const char *value)
{
    const rg_param *p = &a->params[i];
    if (ends_with_npy(value))
        return array_from_file(a, i, value);
    if (strncmp(value, "zeros", 5) == 0 && (value[5] == 0 || value[5] == ':'))
        return array_of_constant(a, i, value, value + 5, 0);
    if (strncmp(value, "ones", 4) == 0 && (value[4] == 0 || value[4] == ':'))
        return array_of_constant(a, i, value, value + 4, 1);
    char *end;
    double number = strtod(value, &end);
    bool one = *value && !*end;
    list l = parse_list(value, p->dtype);
    if (l.data && (l.misfit[0] || !one || !p->record)) {
        int code = l.misfit[0] ? fail_misfit(p, &l) : array_of_list(a, i, l.data, l.count);
        mem_free(l.data);
        return code;
    }
    mem_free(l.data);
    if (one && p->record) { /* a pointer to one struct: its fields are numbers */
        int64_t shape[RG_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
        int code = make_array(a, i, p->rank, shape);
        if (!code && rg_array_fill(a->arrays[i], RG_PRIMAL, number))
            code = cli_fail_api();
        return code;
    }
    return fail_value(p, value);
}

int
cli_arguments_set_scalars(cli_arguments *a)
{
    int code = CLI_OK;
    for (uint32_t i = 0; i < a->n && !code; i++)
        if (cli_is_given(a, i) && !a->params[i].array)
            code = a->given[i] ? set_scalar(a, i, a->given[i]) : scalar_from_npy(a, i, a->files[i]);
    return code;
}

int
cli_arguments_set_arrays(cli_arguments *a)
{
    int code = CLI_OK;
    for (uint32_t i = 0; i < a->n && !code; i++)
        if (cli_is_given(a, i) && a->params[i].array && !a->params[i].result)
            code = a->given[i] ? set_array(a, i, a->given[i]) : array_from_npy(a, i, a->files[i], a->inputs);
    return code;
}

int64_t
cli_likely_extent(const cli_arguments *a)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < a->n; i++)
        if (!a->params[i].array && a->params[i].dtype < RG_F16) {
            int64_t v = (int64_t)a->args->slots[i].bits;
            most = v > most && v <= MOST_LIKELY ? v : most;
        }
    return most ? most : CLI_DEFAULT_INTEGER;
}

/* -- planes ------------------------------------------------------------------------------------ */

/* The array whose planes belong to parameter i. */
static int
holder(cli_arguments *a, uint32_t i, rg_array **array)
{
    *array = a->arrays[i];
    if (*array)
        return CLI_OK;
    if (a->params[i].array) /* given by the arguments themselves: results */
        return rg_args_get_array(a->args, a->params[i].name, array) ? cli_fail_api() : CLI_OK;
    rg_array_desc desc = {.dtype = a->params[i].dtype, .name = a->params[i].name};
    if (rg_array_create(a->context, &desc, array))
        return cli_fail_api();
    a->arrays[i] = *array;
    return rg_args_set_companion_at(a->args, i, *array) ? cli_fail_api() : CLI_OK;
}

int
cli_arguments_require(cli_arguments *a, unsigned plane)
{
    for (uint32_t i = 0; i < a->n; i++) {
        if (a->params[i].dtype < RG_F16)
            continue;
        rg_array *array;
        int code = holder(a, i, &array);
        if (code)
            return code;
        if (rg_array_require(array, plane))
            return cli_fail_api();
    }
    return CLI_OK;
}

/* An adjoint to start from where the kernel leaves nothing would come back as if it were a gradient. */
static int
fail_seed(const cli_arguments *a, uint32_t i)
{
    str outputs = {0};
    for (uint32_t k = 0; k < a->n; k++)
        if (a->params[k].dtype >= RG_F16 && a->params[k].written)
            str_addf(&outputs, "%s`%s`", outputs.len ? ", " : "", a->params[k].name.ptr);
    int code = cli_fail("--vjp takes the adjoint of an output to start from, and the kernel does not write `%s`%s%s; its own "
                        "adjoint is what the gradient gives",
                        a->params[i].name.ptr, outputs.len ? ": name one of " : ", nor any other float",
                        outputs.len ? outputs.ptr : "");
    str_free(&outputs);
    return code;
}

int
cli_arguments_set_plane(cli_arguments *a, const cli_command *command, const char *word,
                        unsigned plane)
{
    rg_str name;
    const char *value;
    uint32_t i;
    if (!split(word, &name, &value))
        return cli_usage_error(command, "`%s` is not NAME=VALUE: write %s=ones, %s=0.5,1 or %s=FILE.npy", word, word, word, word);
    if (rg_kernel_find_param(a->kernel, name, &i))
        return cli_fail_api();
    if (a->params[i].dtype < RG_F16)
        return cli_fail("parameter `%s` is %s: only floats have derivatives", a->params[i].name.ptr,
                        rg_dtype_name(a->params[i].dtype));
    if (plane == RG_ADJOINT && !a->params[i].written && strcmp(value, "zeros") != 0)
        return fail_seed(a, i);
    rg_array *array;
    int code = holder(a, i, &array);
    if (code)
        return code;
    if (strcmp(value, "zeros") == 0 || strcmp(value, "ones") == 0)
        return rg_array_fill(array, plane, value[0] == 'o') ? cli_fail_api() : CLI_OK;
    list l = {.data = NULL};
    if (!ends_with_npy(value))
        l = parse_list(value, a->params[i].dtype);
    if (l.data) {
        rg_array_info info;
        if (l.misfit[0])
            code = fail_misfit(&a->params[i], &l);
        else if (rg_array_get_info(array, &info))
            code = cli_fail_api();
        else if (info.count != l.count)
            code = fail_count(&a->params[i], (int64_t)info.count, l.count);
        else if (rg_array_write(array, plane, l.data, l.count * rg_dtype_size(a->params[i].dtype)))
            code = cli_fail_api();
        mem_free(l.data);
        return code;
    }
    if (!ends_with_npy(value))
        return fail_value(&a->params[i], value);
    npy file;
    str error = {0};
    if (npy_read(value, &file, &error))
        code = fill_from_file(array, plane, &file, a->params[i].name.ptr, value);
    else
        code = cli_fail("%s: %s", value, error.ptr);
    str_free(&error);
    npy_free(&file);
    return code;
}

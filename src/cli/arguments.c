/* A kernel's arguments from the words of a command line. SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"
#include "cli/cli.h"
#include "cli/npz.h"

#include <errno.h>
#include <math.h>

void
cli_arguments_begin(cli_arguments *a, rg_queue *queue, rg_kernel *kernel)
{
    uint32_t n = rg_kernel_param_count(kernel);
    *a = (cli_arguments){.queue = queue, .kernel = kernel, .n = n};
    a->params = arena_new_n(mem_scratch(), rg_param, n);
    a->arrays = arena_new_n(mem_scratch(), rg_array *, n);
    a->given = arena_new_n(mem_scratch(), const char *, n);
    a->files = arena_new_n(mem_scratch(), const npy *, n);
    for (uint32_t i = 0; i < n; i++) {
        a->params[i] = RG_INIT(rg_param);
        cli_need(rg_kernel_get_param(kernel, i, &a->params[i]));
    }
    cli_need(rg_args_create(queue, kernel, &a->args));
}

void
cli_arguments_free(cli_arguments *a)
{
    rg_args_destroy(a->args);
    for (uint32_t i = 0; i < a->n; i++)
        rg_array_destroy(a->arrays[i]);
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
    str names = {.in = mem_scratch()};
    for (size_t k = 0; k < inputs->arrays.n; k++) {
        uint32_t i = 0;
        while (i < a->n && !str_eq(a->params[i].name, rg_str_of(inputs->arrays.at[k].name)))
            i++;
        if (i == a->n)
            str_addf(&names, "%s`%s`", names.len ? ", " : "", inputs->arrays.at[k].name);
    }
    if (names.len)
        fprintf(stderr, "rgc: note: %s: kernel `%s` has no parameter %s\n", inputs->path, a->kernel->fn->name, names.ptr);
}

void
cli_arguments_take(cli_arguments *a, const cli_command *command, const cli_words *words)
{
    for (size_t k = 0; k < words->n; k++) {
        rg_str name;
        const char *value;
        uint32_t i;
        if (!split(words->at[k], &name, &value))
            cli_usage_error(command, "`%s` is not NAME=VALUE", words->at[k]);
        cli_need(rg_kernel_find_param(a->kernel, name, &i));
        if (a->given[i])
            cli_usage_error(command, "`%s` is given twice: %s=%s and %s", a->params[i].name.ptr, a->params[i].name.ptr,
                            a->given[i], words->at[k]);
        a->given[i] = value;
    }
}

static void
set_scalar(cli_arguments *a, uint32_t i, const char *text)
{
    const rg_param *p = &a->params[i];
    const char *name = p->name.ptr, *type = rg_dtype_name(p->dtype);
    char *end;
    if (p->dtype >= RG_F16) {
        double v = strtod(text, &end);
        if (!*text || *end)
            cli_fail("parameter `%s` is %s: `%s` is not a number", name, type, text);
        cli_need(rg_args_set_float_at(a->args, i, v));
        return;
    }
    bool negative = *text == '-', truth = p->dtype == RG_BOOL && strcmp(text, "true") == 0;
    if (truth || (p->dtype == RG_BOOL && strcmp(text, "false") == 0))
        text = truth ? "1" : "0";
    errno = 0;
    int64_t v = negative ? strtoll(text, &end, 0) : (int64_t)strtoull(text, &end, 0);
    if (!*text || *end)
        cli_fail("parameter `%s` is %s: `%s` is not an integer", name, type, text);
    if (errno || (p->dtype == RG_U64 ? negative : !negative && v < 0))
        cli_fail("parameter `%s` is %s: %s does not fit", name, type, text);
    cli_need(rg_args_set_int_at(a->args, i, v));
}

/* Any type of number that the parameter holds: NumPy's own integers are i64. */
static void
scalar_from_npy(cli_arguments *a, uint32_t i, const npy *file)
{
    const rg_param *p = &a->params[i];
    bool real = file->dtype >= RG_F16;
    uint64_t bits = 0;
    char text[32];
    size_t size = rg_dtype_size(file->dtype);
    if (file->bytes != size)
        cli_fail("%s: parameter `%s` is a scalar, not %zu elements", a->inputs, p->name.ptr, file->bytes / size);
    if (real && p->dtype < RG_F16)
        cli_fail("%s: dtype is %s, parameter `%s` needs %s", a->inputs, rg_dtype_name(file->dtype), p->name.ptr,
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
    set_scalar(a, i, text);
}

static void
make_array(cli_arguments *a, uint32_t i, uint32_t rank, const int64_t *shape)
{
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = a->params[i].dtype, .rank = rank, .name = a->params[i].name);
    memcpy(desc.shape, shape, rank * sizeof(*shape));
    rg_array_destroy(a->arrays[i]);
    cli_need(rg_array_create(a->queue, &desc, &a->arrays[i]));
    cli_need(rg_args_set_array_at(a->args, i, a->arrays[i]));
}

/* Copies a file's elements into a plane; the dtype must be the same. */
static void
fill_from_file(const cli_arguments *a, rg_array *array, unsigned plane, const npy *file, const char *name, const char *path)
{
    rg_array_info info = RG_INIT(rg_array_info);
    cli_need(rg_array_get_info(array, &info));
    if (file->dtype != info.dtype)
        cli_fail("%s: dtype is %s, `%s` needs %s", path, rg_dtype_name(file->dtype), name, rg_dtype_name(info.dtype));
    bool same = file->rank == info.rank;
    for (uint32_t k = 0; same && k < info.rank; k++)
        same = file->shape[k] == info.shape[k];
    /* a scalar's companion has rank 0; a file with its one element may have any rank */
    if (!same && !(info.rank == 0 && file->bytes == info.bytes))
        cli_fail("%s: its shape differs from that of `%s`", path, name);
    cli_need(rg_array_write(a->queue, array, plane, file->data, info.bytes));
}

static void
array_from_npy(cli_arguments *a, uint32_t i, const npy *file, const char *path)
{
    const rg_param *p = &a->params[i];
    if (file->dtype != p->dtype)
        cli_fail("%s: dtype is %s, parameter `%s` needs %s", path, rg_dtype_name(file->dtype), p->name.ptr,
                 rg_dtype_name(p->dtype));
    if (!p->flat && file->rank != p->rank)
        cli_fail("%s: rank is %u, parameter `%s` needs %u", path, file->rank, p->name.ptr, p->rank);
    make_array(a, i, file->rank, file->shape);
    fill_from_file(a, a->arrays[i], RG_PRIMAL, file, p->name.ptr, path);
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
        snprintf(l->misfit, sizeof(l->misfit), "%.*s", (int)(*end - start), start);
    size_t size = rg_dtype_size(dtype);
    memcpy((char *)l->data + l->count++ * size, &bits, size); /* little-endian */
    return true;
}

/* "0.5,2,4", "0.5", or with a comma at the end. */
static list
parse_list(const char *text, rg_dtype dtype)
{
    size_t most = 1;
    for (const char *p = text; *p; p++)
        most += *p == ',';
    list l = {.data = arena_raw(mem_scratch(), most * rg_dtype_size(dtype))};
    char *end;
    for (const char *start = text; parse_element(&l, start, dtype, &end); start = end + 1)
        if (!*end || !end[1])
            return l;
    return (list){0};
}

static void
check_fits(const rg_param *p, const list *l)
{
    if (l->misfit[0])
        cli_fail("parameter `%s` holds %s: %s does not fit", p->name.ptr, rg_dtype_name(p->dtype), l->misfit);
}

static void
check_value_count(const rg_param *p, size_t has, const list *l)
{
    if (has != l->count)
        cli_fail("parameter `%s` has %zu element%s, not %zu", p->name.ptr, has, has == 1 ? "" : "s", l->count);
}

/* What the kernel's extents say; false: they leave an axis open. */
static bool
known_shape(cli_arguments *a, uint32_t i, int64_t *shape)
{
    cli_need(rg_args_get_shape(a->args, i, shape));
    return a->params[i].fixed + 1 == 1u << a->params[i].rank;
}

static void
array_of_constant(cli_arguments *a, uint32_t i, const char *value, const char *rest, double fill)
{
    const rg_param *p = &a->params[i];
    uint32_t rank = p->rank;
    int64_t shape[RG_MAX_RANK] = {0};
    if (*rest == ':') {
        if (!parse_shape(rest + 1, &rank, shape))
            cli_fail("parameter `%s`: `%s` is no shape; write 3,4", p->name.ptr, rest + 1);
        if (!p->flat && rank != p->rank)
            cli_fail("parameter `%s` has rank %u; `%s` has %u", p->name.ptr, p->rank, value, rank);
    } else if (!known_shape(a, i, shape)) {
        str example = {.in = mem_scratch()};
        for (uint32_t k = 0; k < rank; k++)
            str_addf(&example, "%c%d", k ? ',' : ':', API_DEFAULT_INTEGER);
        cli_fail("parameter `%s`: its extents do not follow from other parameters; give the shape, as in %s=zeros%s",
                 p->name.ptr, p->name.ptr, example.ptr);
    }
    make_array(a, i, rank, shape);
    cli_need(rg_array_fill(a->queue, a->arrays[i], RG_PRIMAL, fill));
}

/* In the shape that the kernel says, else in a row. */
static void
array_of_list(cli_arguments *a, uint32_t i, const list *l)
{
    const rg_param *p = &a->params[i];
    int64_t shape[RG_MAX_RANK] = {0}, count = 1;
    bool said = known_shape(a, i, shape);
    for (uint32_t k = 0; k < p->rank && said; k++)
        count *= shape[k];
    if (!said && p->rank != 1)
        cli_fail("parameter `%s` has rank %u and a shape that does not follow from other parameters; give a .npy file",
                 p->name.ptr, p->rank);
    if (said)
        check_value_count(p, (size_t)count, l);
    else
        shape[0] = (int64_t)l->count;
    make_array(a, i, p->rank, shape);
    cli_need(rg_array_write(a->queue, a->arrays[i], RG_PRIMAL, l->data, l->count * rg_dtype_size(p->dtype)));
}

/* The element of a list, or the text itself, that is the reason why it is none. */
static _Noreturn void
fail_value(const rg_param *p, const char *value)
{
    const char *type = rg_dtype_name(p->dtype);
    for (const char *at = value, *end; *at; at = *end ? end + 1 : end) {
        char *stop;
        end = at + strcspn(at, ",");
        (void)strtod(at, &stop);
        bool number = stop == end && end > at;
        if (number && p->dtype < RG_F16 && strcspn(at, ".eEnNpP") < (size_t)(end - at))
            cli_fail("parameter `%s` holds %s: `%.*s` is not an integer", p->name.ptr, type, (int)(end - at), at);
        if (!number && (at > value || *end))
            cli_fail("parameter `%s` holds %s: `%.*s` is not a number", p->name.ptr, type, (int)(end - at), at);
    }
    cli_fail("parameter `%s` is an array of %s: `%s` is neither FILE.npy nor zeros nor ones, and no list of numbers "
             "as in %s=1,2,3",
             p->name.ptr, type, value, p->name.ptr);
}

static void
set_array(cli_arguments *a, uint32_t i, const char *value)
{
    const rg_param *p = &a->params[i];
    if (str_ends(rg_str_of(value), ".npy")) {
        npy file = npy_read(value);
        array_from_npy(a, i, &file, value);
        return;
    }
    if (strncmp(value, "zeros", 5) == 0 && (value[5] == 0 || value[5] == ':')) {
        array_of_constant(a, i, value, value + 5, 0);
        return;
    }
    if (strncmp(value, "ones", 4) == 0 && (value[4] == 0 || value[4] == ':')) {
        array_of_constant(a, i, value, value + 4, 1);
        return;
    }
    char *end;
    double number = strtod(value, &end);
    bool one = *value && !*end;
    list l = parse_list(value, p->dtype);
    if (l.data)
        check_fits(p, &l);
    if (one && p->record) { /* a pointer to one struct: its fields are numbers */
        int64_t shape[RG_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
        make_array(a, i, p->rank, shape);
        cli_need(rg_array_fill(a->queue, a->arrays[i], RG_PRIMAL, number));
    } else if (l.data) {
        array_of_list(a, i, &l);
    } else {
        fail_value(p, value);
    }
}

void
cli_arguments_set_scalars(cli_arguments *a)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (!a->params[i].array && a->given[i])
            set_scalar(a, i, a->given[i]);
        else if (!a->params[i].array && a->files[i])
            scalar_from_npy(a, i, a->files[i]);
}

void
cli_arguments_set_arrays(cli_arguments *a)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (!a->params[i].array || a->params[i].result)
            continue;
        else if (a->given[i])
            set_array(a, i, a->given[i]);
        else if (a->files[i])
            array_from_npy(a, i, a->files[i], a->inputs);
}

/* -- planes ------------------------------------------------------------------------------------ */

/* The array whose planes belong to parameter i. */
static rg_array *
holder(cli_arguments *a, uint32_t i)
{
    rg_array *array = a->arrays[i];
    if (!array && a->params[i].array) { /* given by the arguments themselves: results */
        cli_need(rg_args_get_array(a->args, a->params[i].name, &array));
    } else if (!array) {
        rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = a->params[i].dtype, .name = a->params[i].name);
        cli_need(rg_array_create(a->queue, &desc, &array));
        cli_need(rg_args_set_companion_at(a->args, i, array));
        a->arrays[i] = array;
    }
    return array;
}

void
cli_arguments_require(cli_arguments *a, unsigned plane)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (a->params[i].dtype >= RG_F16)
            cli_need(rg_array_require(a->queue, holder(a, i), plane));
}

void
cli_arguments_set_plane(cli_arguments *a, const cli_command *command, const char *word, unsigned plane)
{
    rg_str name;
    const char *value;
    uint32_t i;
    if (!split(word, &name, &value))
        cli_usage_error(command, "`%s` is not NAME=VALUE: write %s=ones, %s=0.5,1 or %s=FILE.npy", word, word, word, word);
    cli_need(rg_kernel_find_param(a->kernel, name, &i));
    const rg_param *p = &a->params[i];
    if (p->dtype < RG_F16)
        cli_fail("parameter `%s` is %s: only floats have derivatives", p->name.ptr, rg_dtype_name(p->dtype));
    if (plane == RG_ADJOINT && !p->written && strcmp(value, "zeros") != 0) {
        /* An adjoint to start from where the kernel leaves nothing would come back as if it were a gradient. */
        str outputs = {.in = mem_scratch()};
        for (uint32_t k = 0; k < a->n; k++)
            if (a->params[k].dtype >= RG_F16 && a->params[k].written)
                str_addf(&outputs, "%s`%s`", outputs.len ? ", " : "", a->params[k].name.ptr);
        cli_fail("--vjp takes the adjoint of an output to start from, and the kernel does not write `%s`%s%s; its own "
                 "adjoint is what the gradient gives",
                 a->params[i].name.ptr, outputs.len ? ": name one of " : ", nor any other float",
                 outputs.len ? outputs.ptr : "");
    }
    rg_array *array = holder(a, i);
    if (strcmp(value, "zeros") == 0 || strcmp(value, "ones") == 0) {
        cli_need(rg_array_fill(a->queue, array, plane, value[0] == 'o'));
    } else if (str_ends(rg_str_of(value), ".npy")) {
        npy file = npy_read(value);
        fill_from_file(a, array, plane, &file, p->name.ptr, value);
    } else {
        rg_array_info info = RG_INIT(rg_array_info);
        list l = parse_list(value, p->dtype);
        if (!l.data)
            fail_value(p, value);
        check_fits(p, &l);
        cli_need(rg_array_get_info(array, &info));
        check_value_count(p, info.count, &l);
        cli_need(rg_array_write(a->queue, array, plane, l.data, l.count * rg_dtype_size(p->dtype)));
    }
}

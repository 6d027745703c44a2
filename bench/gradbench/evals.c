/* See evals.h. SPDX-License-Identifier: Apache-2.0 */
#include "evals.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* -- lines of JSON
 * ------------------------------------------------------------------------------------ */

void
line_add(line *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (l->length + (size_t)n + 1 > l->capacity) {
        l->capacity = 2 * l->capacity + (size_t)n + 256;
        l->text = realloc(l->text, l->capacity);
    }
    va_start(args, format);
    vsnprintf(l->text + l->length, (size_t)n + 1, format, args);
    va_end(args);
    l->length += (size_t)n;
}

void
line_numbers(line *l, const double *values, size_t count)
{
    line_add(l, "[");
    for (size_t i = 0; i < count; i++)
        line_add(l, "%s%.17g", i ? ", " : "", values[i]);
    line_add(l, "]");
}

void
line_rows(line *l, const double *values, size_t rows, size_t columns)
{
    line_add(l, "[");
    for (size_t r = 0; r < rows; r++) {
        line_add(l, "%s", r ? ", " : "");
        line_numbers(l, values + r * columns, columns);
    }
    line_add(l, "]");
}

/* -- kernels and their arrays
 * ----------------------------------------------------------------------------- */

static void
check(rg_status status, const char *what)
{
    if (status == RG_OK)
        return;
    fprintf(stderr, "gradbench: %s: %s: %s\n", what, rg_status_name(status), rg_error_message());
    exit(1);
}

static const json *
member(const eval *e, const char *name)
{
    const json *value = json_get(e->input, name);
    if (value)
        return value;
    fprintf(stderr, "gradbench: the input has no %s\n", name);
    exit(1);
}

static int64_t
whole(const eval *e, const char *name)
{
    return (int64_t)member(e, name)->number;
}

static void
set_int(eval *e, const char *name, int64_t value)
{
    check(rg_args_set_int(e->args, rg_str_of(name), value), name);
}

/* Takes over `initial` (NULL: zeros). */
static eval_array *
add_array(eval *e, const char *name, double *initial, int64_t rows, int64_t columns)
{
    eval_array *a = &e->arrays[e->count++];
    rg_array_desc desc = {RG_F64, columns ? 2 : 1, {rows, columns}, .adjoint = true};
    *a = (eval_array){
        .name = name, .count = (size_t)(rows * (columns ? columns : 1)), .initial = initial};
    if (!initial)
        a->initial = calloc(a->count + 1, sizeof(double));
    check(rg_array_create(e->context, &desc, &a->array), name);
    check(rg_args_set_array(e->args, rg_str_of(name), a->array), name);
    return a;
}

static eval_array *
add_input(eval *e, const char *name, const char *key, int64_t rows, int64_t columns)
{
    const json *value = member(e, key);
    size_t count = json_numbers(value, NULL);
    if (count != (size_t)(rows * (columns ? columns : 1))) {
        fprintf(stderr, "gradbench: %s has %zu numbers\n", key, count);
        exit(1);
    }
    double *initial = calloc(count + 1, sizeof(double));
    json_numbers(value, initial);
    return add_array(e, name, initial, rows, columns);
}

static eval_array *
find(eval *e, const char *name)
{
    unsigned k = 0;
    while (strcmp(e->arrays[k].name, name) != 0)
        k++;
    return &e->arrays[k];
}

/* The plane's elements; the caller frees them. */
static double *
fetch(eval *e, const char *name, unsigned plane)
{
    eval_array *a = find(e, name);
    double *copy = calloc(a->count + 1, sizeof(double));
    check(rg_array_read(a->array, plane, copy, a->count * sizeof(double)), name);
    return copy;
}

/* Data has no adjoint: the gradient is not taken with respect to it. */
static void
make_data(eval_array *a)
{
    a->data = true;
    check(rg_array_attach(a->array, RG_ADJOINT, NULL), a->name);
}

static void
restore(eval *e)
{
    for (unsigned k = 0; k < e->count; k++) {
        eval_array *a = &e->arrays[k];
        check(rg_array_write(a->array, RG_PRIMAL, a->initial, a->count * sizeof(double)), a->name);
        if (!a->data)
            check(rg_array_fill(a->array, RG_ADJOINT, 0.0), a->name);
    }
}

static void
print_number(eval *e, const char *name, line *out)
{
    double *v = fetch(e, name, RG_PRIMAL);
    line_add(out, "%.17g", v[0]);
    free(v);
}

static void
launch(eval *e)
{
    restore(e);
    check(rg_launch(e->kernel, e->args), e->kind->name);
}

/* Forward and reverse from one output. */
static void
launch_gradient(eval *e, const char *output)
{
    restore(e);
    check(rg_array_fill(find(e, output)->array, RG_ADJOINT, 1.0), output);
    check(rg_launch_forward_vjp(e->kernel, e->args), e->kind->name);
}

void
eval_open(eval *e, const eval_kind *kind, const json *input, const char *kernels)
{
    *e = (eval){.input = input, .kind = kind};
    check(rg_context_create(&(rg_context_desc){.device = RG_STR("cpu")}, &e->context), "context");
    check(rg_module_load(e->context, rg_str_of(kernels), NULL, &e->module), kernels);
    check(rg_module_get_kernel(e->module, rg_str_of(kind->name), &e->kernel), kind->name);
    check(rg_args_create(e->kernel, &e->args), kind->name);
    kind->prepare(e);
}

void
eval_close(eval *e)
{
    for (unsigned k = 0; k < e->count; k++) {
        rg_array_destroy(e->arrays[k].array);
        free(e->arrays[k].initial);
    }
    free(e->rows);
    rg_args_destroy(e->args);
    rg_module_destroy(e->module);
    rg_context_destroy(e->context);
}

/* -- gmm
 * --------------------------------------------------------------------------------------------------
 */

static void
gmm_prepare(eval *e)
{
    int64_t d = whole(e, "d"), k = whole(e, "k"), n = whole(e, "n");
    set_int(e, "d", d);
    set_int(e, "k", k);
    set_int(e, "n", n);
    set_int(e, "wishart", whole(e, "m"));
    check(rg_args_set_float(e->args, RG_STR("gamma"), member(e, "gamma")->number), "gamma");
    make_data(add_input(e, "x", "x", n, d));
    add_input(e, "alpha", "alpha", k, 0);
    add_input(e, "mu", "mu", k, d);
    add_input(e, "q", "q", k, d);
    add_input(e, "l", "l", k, d * (d - 1) / 2);
    add_array(e, "diagonal", NULL, k, d);
    add_array(e, "weight", NULL, k, 0);
    add_array(e, "error", NULL, 1, 0);
}

static void
gmm_gradient(eval *e)
{
    launch_gradient(e, "error");
}

static void
gmm_print(eval *e, line *out)
{
    print_number(e, "error", out);
}

static void
gmm_print_gradient(eval *e, line *out)
{
    static const char *const names[] = {"alpha", "mu", "q", "l"};
    size_t k = (size_t)whole(e, "k");
    line_add(out, "{");
    for (size_t i = 0; i < 4; i++) {
        double *v = fetch(e, names[i], RG_ADJOINT);
        line_add(out, "%s\"%s\": ", i ? ", " : "", names[i]);
        if (i == 0)
            line_numbers(out, v, k);
        else
            line_rows(out, v, k, find(e, names[i])->count / k);
        free(v);
    }
    line_add(out, "}");
}

/* -- kmeans: the gradient divided by the diagonal of the Hessian
 * -------------------------------------------- */

static void
kmeans_prepare(eval *e)
{
    const json *points = member(e, "points"), *centroids = member(e, "centroids");
    int64_t n = (int64_t)points->count, k = (int64_t)centroids->count;
    int64_t d = n ? (int64_t)points->items[0].count : 0;
    set_int(e, "n", n);
    set_int(e, "k", k);
    set_int(e, "d", d);
    make_data(add_input(e, "point", "points", n, d));
    add_input(e, "centroid", "centroids", k, d);
    add_array(e, "cost", NULL, 1, 0);
    static const char *const names[] = {"centroid", "cost"};
    for (size_t i = 0; i < 2; i++) {
        rg_array *a = find(e, names[i])->array;
        check(rg_array_require(a, RG_TANGENT), names[i]);
        check(rg_array_require(a, RG_ADJOINT | RG_TANGENT), names[i]);
        check(rg_array_fill(a, RG_TANGENT, i == 0), names[i]);
    }
}

static void
kmeans_gradient(eval *e)
{
    /* the Hessian is diagonal: its product with ones is its diagonal */
    restore(e);
    check(rg_array_fill(find(e, "cost")->array, RG_ADJOINT, 1.0), "cost");
    check(rg_array_fill(find(e, "cost")->array, RG_ADJOINT | RG_TANGENT, 0.0), "cost");
    check(rg_array_fill(find(e, "centroid")->array, RG_ADJOINT | RG_TANGENT, 0.0), "centroid");
    check(rg_launch_jvp_forward_vjp(e->kernel, e->args), "kmeans");
}

static void
kmeans_print(eval *e, line *out)
{
    print_number(e, "cost", out);
}

static void
kmeans_print_gradient(eval *e, line *out)
{
    size_t rows = member(e, "centroids")->count, count = find(e, "centroid")->count;
    double *gradient = fetch(e, "centroid", RG_ADJOINT);
    double *hessian = fetch(e, "centroid", RG_ADJOINT | RG_TANGENT);
    for (size_t i = 0; i < count; i++)
        gradient[i] /= hessian[i];
    line_rows(out, gradient, rows, rows ? count / rows : 0);
    free(gradient);
    free(hessian);
}

/* -- lstm
 * ---------------------------------------------------------------------------------------------------
 */

static void
lstm_prepare(eval *e)
{
    int64_t layers = (int64_t)member(e, "main_params")->count / 2;
    const json *sequence = member(e, "sequence");
    int64_t length = (int64_t)sequence->count,
            bits = length ? (int64_t)sequence->items[0].count : 0;
    set_int(e, "layers", layers);
    set_int(e, "bits", bits);
    set_int(e, "length", length);
    add_input(e, "main", "main_params", 2 * layers, 4 * bits);
    add_input(e, "extra", "extra_params", 3, bits);
    add_input(e, "state", "state", 2 * layers, bits);
    make_data(add_input(e, "sequence", "sequence", length, bits));
    add_array(e, "loss", NULL, 1, 0);
}

static void
lstm_gradient(eval *e)
{
    launch_gradient(e, "loss");
}

static void
lstm_print(eval *e, line *out)
{
    print_number(e, "loss", out);
}

static void
lstm_print_gradient(eval *e, line *out)
{
    size_t mains = find(e, "main")->count, extras = find(e, "extra")->count;
    double *main = fetch(e, "main", RG_ADJOINT), *extra = fetch(e, "extra", RG_ADJOINT);
    main = realloc(main, (mains + extras + 1) * sizeof(double));
    memcpy(main + mains, extra, extras * sizeof(double));
    line_numbers(out, main, mains + extras);
    free(main);
    free(extra);
}

/* -- det
 * ------------------------------------------------------------------------------------------------------
 */

static void
det_prepare(eval *e)
{
    int64_t l = whole(e, "ell");
    if (l < 1 || l > 20) {
        fprintf(stderr, "gradbench: det takes sizes from 1 to 20\n");
        exit(1);
    }
    set_int(e, "l", l);
    add_input(e, "a", "A", l, l);
    add_array(e, "out", NULL, 1, 0);
}

static void
det_gradient(eval *e)
{
    launch_gradient(e, "out");
}

static void
det_print(eval *e, line *out)
{
    print_number(e, "out", out);
}

static void
det_print_gradient(eval *e, line *out)
{
    double *v = fetch(e, "a", RG_ADJOINT);
    line_numbers(out, v, find(e, "a")->count);
    free(v);
}

/* -- ba: a row of the Jacobian for each of the two errors of each observation
 * ----------------------------------- */

static void
repeat(double *to, const json *from, size_t count, int64_t times)
{
    json_numbers(from, to);
    for (int64_t i = 1; i < times; i++)
        memcpy(to + (size_t)i * count, to, count * sizeof(double));
}

/* The one camera, point and so on of the input, for each of p observations. */
static void
add_repeated(eval *e, const char *name, const char *key, int64_t p, int64_t columns)
{
    size_t width = (size_t)(columns ? columns : 1);
    double *values = calloc((size_t)p * width + 1, sizeof(double));
    if (json_numbers(member(e, key), NULL) != width) {
        fprintf(stderr, "gradbench: %s needs %zu numbers\n", key, width);
        exit(1);
    }
    repeat(values, member(e, key), width, p);
    add_array(e, name, values, p, columns);
}

static void
ba_prepare(eval *e)
{
    int64_t p = whole(e, "p");
    set_int(e, "p", p);
    add_repeated(e, "camera", "cam", p, 11);
    add_repeated(e, "point", "x", p, 3);
    add_repeated(e, "weight", "w", p, 0);
    add_repeated(e, "feature", "feat", p, 2);
    make_data(find(e, "feature"));
    add_array(e, "reprojection", NULL, p, 2);
    add_array(e, "weight_error", NULL, p, 0);
}

/* One reverse launch for each of an observation's outputs gives that row of every block: 15 entries
 * for outputs 0 and 1, one for output 2. */
static void
ba_gradient(eval *e)
{
    size_t p = (size_t)whole(e, "p");
    free(e->rows);
    e->rows = calloc(31 * p + 1, sizeof(double));
    for (int output = 0; output < 3; output++) {
        eval_array *to = find(e, output < 2 ? "reprojection" : "weight_error");
        double *seed = calloc(to->count + 1, sizeof(double));
        restore(e);
        for (size_t i = 0; i < p; i++)
            seed[output < 2 ? 2 * i + (size_t)output : i] = 1.0;
        check(rg_array_write(to->array, RG_ADJOINT, seed, to->count * sizeof(double)), "seed");
        check(rg_launch_forward_vjp(e->kernel, e->args), "ba");
        double *camera = fetch(e, "camera", RG_ADJOINT), *point = fetch(e, "point", RG_ADJOINT);
        double *weight = fetch(e, "weight", RG_ADJOINT);
        for (size_t i = 0; i < p; i++) {
            double *row =
                output < 2 ? &e->rows[(2 * i + (size_t)output) * 15] : &e->rows[30 * p + i];
            if (output < 2) {
                memcpy(row, &camera[11 * i], 11 * sizeof(double));
                memcpy(row + 11, &point[3 * i], 3 * sizeof(double));
                row += 14;
            }
            *row = weight[i];
        }
        free(seed);
        free(camera);
        free(point);
        free(weight);
    }
}

static void
ba_print(eval *e, line *out)
{
    double *r = fetch(e, "reprojection", RG_PRIMAL), *w = fetch(e, "weight_error", RG_PRIMAL);
    line_add(out, "{\"reproj_error\": {\"elements\": [%.17g, %.17g], \"repeated\": %lld}, ", r[0],
             r[1], (long long)whole(e, "p"));
    line_add(out, "\"w_err\": {\"element\": %.17g, \"repeated\": %lld}}", w[0],
             (long long)whole(e, "p"));
    free(r);
    free(w);
}

/* Number k of the list of columns of the whole matrix. */
static int64_t
ba_column(eval *e, int64_t k)
{
    int64_t n = whole(e, "n"), m = whole(e, "m"), p = whole(e, "p");
    int64_t i = k < 30 * p ? k / 30 : k - 30 * p, j = k < 30 * p ? k % 15 : 14;
    if (j < 11)
        return 11 * (i % n) + j;
    return j < 14 ? 11 * n + 3 * (i % m) + j - 11 : 11 * n + 3 * m + i;
}

static void
ba_print_gradient(eval *e, line *out)
{
    int64_t p = whole(e, "p"), last = 31 * p - 1;
    line_add(out, "{\"rows\": [");
    for (int64_t k = 0; k < 31; k++) {
        int64_t row = k < 30 ? k : 3 * p;
        line_add(out, "%s%lld", k ? ", " : "",
                 (long long)(row <= 2 * p ? 15 * row : 30 * p + row - 2 * p));
    }
    line_add(out, "], \"cols\": [");
    for (int64_t k = 0; k < 31; k++)
        line_add(out, "%s%lld", k ? ", " : "", (long long)ba_column(e, k < 30 ? k : last));
    line_add(out, "], \"vals\": [");
    for (int64_t k = 0; k < 31; k++)
        line_add(out, "%s%.17g", k ? ", " : "", e->rows[k < 30 ? k : last]);
    line_add(out, "]}");
}

const eval_kind eval_kinds[] = {
    {"gmm", "objective", "jacobian", gmm_prepare, launch, gmm_gradient, gmm_print,
     gmm_print_gradient},
    {"ba", "objective", "jacobian", ba_prepare, launch, ba_gradient, ba_print, ba_print_gradient},
    {"lstm", "objective", "jacobian", lstm_prepare, launch, lstm_gradient, lstm_print,
     lstm_print_gradient},
    {"kmeans", "cost", "dir", kmeans_prepare, launch, kmeans_gradient, kmeans_print,
     kmeans_print_gradient},
    {"det", "primal", "gradient", det_prepare, launch, det_gradient, det_print, det_print_gradient},
};
const size_t eval_kind_count = sizeof eval_kinds / sizeof *eval_kinds;

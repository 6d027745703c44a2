/* See evals.h. SPDX-License-Identifier: Apache-2.0 */
#include "../../tests/queue.h"
#include "evals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const eval_kind *const eval_kinds[] = {
    &eval_hello, &eval_det,  &eval_gmm, &eval_kmeans,   &eval_llsq,   &eval_lse, &eval_ba,
    &eval_ht,    &eval_lstm, &eval_ode, &eval_particle, &eval_saddle, NULL,
};

const eval_kind *
eval_find(const char *name)
{
    for (unsigned k = 0; eval_kinds[k]; k++)
        if (strcmp(eval_kinds[k]->name, name) == 0)
            return eval_kinds[k];
    return NULL;
}

const eval_function *
eval_find_function(const eval_kind *kind, const char *name)
{
    for (unsigned k = 0; k < EVAL_FUNCTIONS && kind->functions[k].name; k++)
        if (strcmp(kind->functions[k].name, name) == 0)
            return &kind->functions[k];
    return NULL;
}

/* -- errors, inputs -----------------------------------------------------------------------------
 */

void
eval_check(rg_status status, const char *what)
{
    if (status == RG_OK)
        return;
    fprintf(stderr, "gradbench: %s: %s: %s\n", what, rg_status_name(status), rg_error_message());
    exit(1);
}

const json *
eval_member(const eval *e, const char *key)
{
    const json *value = json_get(e->input, key);
    if (value)
        return value;
    fprintf(stderr, "gradbench: the input has no %s\n", key);
    exit(1);
}

int64_t
eval_whole(const eval *e, const char *key)
{
    return (int64_t)eval_member(e, key)->number;
}

double *
eval_numbers(const json *list, const char *key, size_t count)
{
    size_t have = json_numbers(list, NULL);
    if (have != count) {
        fprintf(stderr, "gradbench: %s has %zu numbers, not %zu\n", key, have, count);
        exit(1);
    }
    double *values = calloc(count + 1, sizeof *values);
    json_numbers(list, values);
    return values;
}

/* -- arguments ----------------------------------------------------------------------------------
 */

static bool
takes(const eval *e, unsigned k, const char *name)
{
    uint32_t index;
    return e->kernels[k] && !rg_kernel_find_param(e->kernels[k], rg_str_of(name), &index);
}

void
eval_set_int(eval *e, const char *name, int64_t value)
{
    for (unsigned k = 0; k < EVAL_KERNELS; k++)
        if (takes(e, k, name))
            eval_check(rg_args_set_int(e->args[k], rg_str_of(name), value), name);
}

void
eval_set_float(eval *e, const char *name, double value)
{
    for (unsigned k = 0; k < EVAL_KERNELS; k++)
        if (takes(e, k, name))
            eval_check(rg_args_set_float(e->args[k], rg_str_of(name), value), name);
}

static eval_array *
create(eval *e, const char *name, rg_array_desc desc)
{
    eval_array *a = &e->arrays[e->count++];
    a->name = name;
    eval_check(rg_array_create(e->queue, &desc, &a->array), name);
    for (unsigned k = 0; k < EVAL_KERNELS; k++)
        if (takes(e, k, name))
            eval_check(rg_args_set_array(e->args[k], rg_str_of(name), a->array), name);
    return a;
}

/* begins where a cache line does */
static double *
zeros(size_t count)
{
    size_t bytes = (count * sizeof(double) + 64) / 64 * 64;
    return memset(aligned_alloc(64, bytes), 0, bytes);
}

static size_t
elements(int64_t rows, int64_t columns)
{
    return (size_t)(rows * (columns < 0 ? 1 : columns));
}

/* Memory of the array's own planes. */
static eval_array *
fill_in(eval_array *a, size_t count, double *values, unsigned planes)
{
    a->count = count;
    a->plane[RG_PRIMAL] = values;
    for (unsigned plane = 1; plane < EVAL_PLANES; plane++)
        if (planes >> plane & 1)
            eval_add_directions(a, plane, 1);
    return a;
}

eval_array *
eval_add(eval *e, const char *name, int64_t rows, int64_t columns, double *values, unsigned planes)
{
    size_t count = elements(rows, columns);
    if (!values)
        values = zeros(count);
    eval_array *a =
        create(e, name,
               RG_DESC(rg_array_desc, RG_F64, columns < 0 ? 1 : 2, {rows, columns < 0 ? 0 : columns}, .data = values));
    return fill_in(a, count, values, planes);
}

eval_array *
eval_add_work(eval *e, const char *name, const int64_t shape[3], unsigned planes)
{
    size_t count = (size_t)(shape[0] * shape[1] * shape[2]);
    double *values = zeros(count);
    rg_array_desc desc = RG_DESC(rg_array_desc, RG_F64, 3, {shape[0], shape[1], shape[2]}, .data = values);
    return fill_in(create(e, name, desc), count, values, planes);
}

void
eval_add_directions(eval_array *a, unsigned plane, size_t directions)
{
    double *memory = zeros(directions * a->count);
    a->directions = directions;
    a->plane[plane] = memory;
    eval_check(rg_array_attach_directions(a->array, plane, memory, (uint32_t)directions), a->name);
}

eval_array *
eval_add_ints(eval *e, const char *name, int64_t rows, int64_t columns, const json *list)
{
    size_t count = elements(rows, columns);
    double *numbers = list ? eval_numbers(list, name, count) : NULL;
    int *ints = calloc(count + 1, sizeof *ints);
    for (size_t i = 0; list && i < count; i++)
        ints[i] = (int)numbers[i];
    free(numbers);
    eval_array *a =
        create(e, name,
               RG_DESC(rg_array_desc, RG_I32, columns < 0 ? 1 : 2, {rows, columns < 0 ? 0 : columns}, .data = ints));
    a->count = count;
    a->ints = ints;
    return a;
}

eval_array *
eval_add_input(eval *e, const char *name, const char *key, int64_t rows, int64_t columns,
               unsigned planes)
{
    double *values = eval_numbers(eval_member(e, key), key, elements(rows, columns));
    return eval_add(e, name, rows, columns, values, planes);
}

eval_array *
eval_get(eval *e, const char *name)
{
    unsigned k = 0;
    while (strcmp(e->arrays[k].name, name) != 0)
        k++;
    return &e->arrays[k];
}

/* -- launches -----------------------------------------------------------------------------------
 */

void
eval_launch(eval *e, unsigned kernel, rg_form form)
{
    eval_check(rg_launch(e->queue, e->args[kernel], form), e->kind->kernels[kernel]);
}

void
eval_clear(eval *e, unsigned plane)
{
    for (unsigned k = 0; k < e->count; k++)
        if (e->arrays[k].plane[plane])
            memset(e->arrays[k].plane[plane], 0,
                   e->arrays[k].directions * e->arrays[k].count * sizeof(double));
}

void
eval_forward(eval *e)
{
    eval_launch(e, 0, RG_FORWARD);
}

void
eval_reverse(eval *e, const char *output, rg_form form)
{
    eval_clear(e, RG_ADJOINT);
    eval_get(e, output)->plane[RG_ADJOINT][0] = 1.0;
    eval_launch(e, 0, form);
}

/* -- open and close -----------------------------------------------------------------------------
 */

void
eval_open(eval *e, const eval_kind *kind, const json *input)
{
    char path[1024];
    *e = (eval){.input = input, .kind = kind};
    snprintf(path, sizeof path, "%s/%s.c", GRADBENCH_KERNELS, kind->name);
    eval_check(queue_open("cpu", NULL, &e->queue), "cpu");
    eval_check(rg_module_load(rg_str_of(path), NULL, &e->module), path);
    for (unsigned k = 0; k < EVAL_KERNELS && kind->kernels[k]; k++) {
        const char *name = kind->kernels[k];
        eval_check(rg_module_get_kernel(e->module, rg_str_of(name), &e->kernels[k]), name);
        eval_check(rg_args_create(e->queue, e->kernels[k], &e->args[k]), name);
    }
    kind->prepare(e);
}

void
eval_close(eval *e)
{
    for (unsigned k = 0; k < e->count; k++) {
        rg_array_destroy(e->arrays[k].array);
        free(e->arrays[k].ints);
        for (unsigned plane = 0; plane < EVAL_PLANES; plane++)
            free(e->arrays[k].plane[plane]);
    }
    for (unsigned k = 0; k < EVAL_KERNELS; k++)
        rg_args_destroy(e->args[k]);
    free(e->result);
    rg_module_destroy(e->module);
    rg_queue_destroy(e->queue);
}

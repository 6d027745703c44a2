/* The five evals on top of the public API. SPDX-License-Identifier: Apache-2.0 */
#ifndef GRADBENCH_EVALS_H
#define GRADBENCH_EVALS_H

#include "json.h"

#include <retrograd/retrograd.h>

enum { EVAL_ARRAYS = 16 };

typedef struct eval_array {
    const char *name;
    rg_array *array;
    size_t count;
    bool data;       /* without an adjoint */
    double *initial; /* what it holds before each run */
} eval_array;

/* One eval with its input loaded. */
typedef struct eval {
    rg_context *context;
    rg_module *module;
    rg_kernel *kernel;
    rg_args *args;
    unsigned count;
    eval_array arrays[EVAL_ARRAYS];
    const json *input;
    double *rows; /* ba: the Jacobian's values */
    const struct eval_kind *kind;
} eval;

/* A growing line of JSON. */
typedef struct line {
    char *text;
    size_t length, capacity;
} line;
void line_add(line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
void line_numbers(line *l, const double *values, size_t count);
void line_rows(line *l, const double *values, size_t rows, size_t columns);

typedef struct eval_kind {
    const char *name, *primal, *gradient; /* the functions' names in the suite */
    void (*prepare)(eval *e);
    void (*run_primal)(eval *e);
    void (*run_gradient)(eval *e);
    void (*print_primal)(eval *e, line *out);
    void (*print_gradient)(eval *e, line *out);
} eval_kind;

extern const eval_kind eval_kinds[];
extern const size_t eval_kind_count;

/* Errors end the program with a message. */
void eval_open(eval *e, const eval_kind *kind, const json *input, const char *kernels);
void eval_close(eval *e);

#endif

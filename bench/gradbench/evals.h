/* The evals of the GradBench suite on top of the public API. SPDX-License-Identifier: Apache-2.0
 *
 * An eval is one file of kernels (kernels/NAME.c) and one that feeds them (evals/NAME.c; descents.c
 * feeds two). Its arrays lie in memory of ours, planes and all, so that nothing is copied between
 * launches. */
#ifndef GRADBENCH_EVALS_H
#define GRADBENCH_EVALS_H

#include "json.h"
#include "line.h"

#include <retrograd/retrograd.h>

enum { EVAL_ARRAYS = 24, EVAL_KERNELS = 4, EVAL_FUNCTIONS = 4, EVAL_PLANES = 4 };

typedef struct eval_array {
    const char *name;
    rg_array *array;
    size_t count;
    double *plane[EVAL_PLANES]; /* primal, adjoint, tangent, the adjoint's tangent; NULL: none */
    size_t directions;          /* of the companions */
    int *ints;                  /* of an array of integers: its elements, and no plane */
} eval_array;

/* One eval with its input loaded. */
typedef struct eval {
    const struct eval_kind *kind;
    const json *input;
    rg_queue *queue;
    rg_module *module;
    rg_kernel *kernels[EVAL_KERNELS];
    rg_args *args[EVAL_KERNELS];
    unsigned count;
    eval_array arrays[EVAL_ARRAYS];
    double *result; /* what a derivative left that is no plane of an array */
} eval;

typedef struct eval_function {
    const char *name; /* in the suite */
    void (*run)(eval *e);
    void (*print)(eval *e, line *out);
} eval_function;

typedef struct eval_kind {
    const char *name;
    const char *kernels[EVAL_KERNELS];
    void (*prepare)(eval *e);
    /* the first one is the primal and the second its derivative, or all are derivatives */
    eval_function functions[EVAL_FUNCTIONS];
    /* the C functions of the same names as the kernels, as the C compiler has them, on the arrays
     */
    void (*plain)(eval *e, void *const *kernels);
    /* an input of middle size; NULL: the eval has one size and is not timed */
    void (*generate)(line *out);
    double bar; /* the ratio of derivative to primal that is asked for; 0: none */
} eval_kind;

extern const eval_kind eval_hello, eval_det, eval_gmm, eval_kmeans, eval_llsq, eval_lse, eval_ba,
    eval_ht, eval_lstm, eval_ode, eval_particle, eval_saddle;
extern const eval_kind *const eval_kinds[]; /* ends with NULL */

/* NULL: no such eval, no such function */
const eval_kind *eval_find(const char *name);
const eval_function *eval_find_function(const eval_kind *kind, const char *name);
/* Errors end the program with a message. The input must outlive the eval. */
void eval_open(eval *e, const eval_kind *kind, const json *input);
void eval_close(eval *e);

/* -- what evals are written with ----------------------------------------------------------------
 */

/* A member of the input; an error where there is none. */
const json *eval_member(const eval *e, const char *key);
int64_t eval_whole(const eval *e, const char *key);
/* Numbers of a list, any nesting, as many as said; the caller frees them. */
double *eval_numbers(const json *list, const char *key, size_t count);

enum { EVAL_LIST = -1 }; /* columns of an array of one axis */
enum {
    EVAL_ADJOINT = 1 << RG_ADJOINT,
    EVAL_TANGENT = 1 << RG_TANGENT,
    EVAL_BOTH = 1 << (RG_ADJOINT | RG_TANGENT)
};

/* Arguments go to every kernel of the eval that has one of that name. */
void eval_set_int(eval *e, const char *name, int64_t value);
void eval_set_float(eval *e, const char *name, double value);
/* Takes over `values` (NULL: zeros). planes: bits of the companions, EVAL_ADJOINT and so on. */
eval_array *eval_add(eval *e, const char *name, int64_t rows, int64_t columns, double *values,
                     unsigned planes);
/* Zeros with three axes, for work space. */
eval_array *eval_add_work(eval *e, const char *name, const int64_t shape[3], unsigned planes);
eval_array *eval_add_ints(eval *e, const char *name, int64_t rows, int64_t columns,
                          const json *list); /* NULL: zeros */
/* An argument from the input's member `key`. */
eval_array *eval_add_input(eval *e, const char *name, const char *key, int64_t rows,
                           int64_t columns, unsigned planes);
/* Gives an array one more companion, with directions. */
void eval_add_directions(eval_array *a, unsigned plane, size_t directions);
eval_array *eval_get(eval *e, const char *name);

typedef rg_status eval_launcher(rg_kernel *, rg_args *);
void eval_launch(eval *e, unsigned kernel, rg_form form);
/* Zeros in one plane of all arrays that have it. */
void eval_clear(eval *e, unsigned plane);
/* functions[0].run of most: kernel 0 */
void eval_forward(eval *e);
/* The reverse of kernel 0 from element 0 of one output; `how` does it with the forward run or,
 * where the reverse needs nothing that the kernel writes, without. */
void eval_reverse(eval *e, const char *output, rg_form form);
void eval_check(rg_status status, const char *what);

#endif

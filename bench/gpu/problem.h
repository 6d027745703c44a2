/* Kernels of the bench with their arguments. SPDX-License-Identifier: Apache-2.0 */
#ifndef GPU_PROBLEM_H
#define GPU_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROBLEM_PARAMS = 9 };

typedef enum param_kind { PARAM_INT, PARAM_REAL, PARAM_INTS, PARAM_FLOATS } param_kind;

typedef struct problem_param {
    param_kind kind;
    double scalar;
    uint32_t rank;
    int64_t shape[3];
    size_t count;  /* elements; of 4 bytes */
    void *initial; /* of arrays: what they hold before each run */
    float *seed;   /* of arrays with adjoints: what those hold; 0 for inputs */
    bool output; /* also an array that the kernel changes */
} problem_param;

typedef struct problem {
    const char *kernel, *title;
    double tolerance; /* of gradients, relative, by the root of the sum of squares */
    bool combined;    /* its gradient is forward and reverse in one launch; else the reverse after a forward launch */
    bool touchy; /* some threads' last step hangs on last bits: judged where both have the same math functions */
    int64_t threads;
    double primal_bytes, gradient_bytes; /* the fewest that must be read and written; 0: unknown */
    unsigned count;
    problem_param params[PROBLEM_PARAMS];
} problem;

/* How the trip counts of a recurrence are spread. */
typedef enum spread { SPREAD_UNIFORM, SPREAD_RAGGED, SPREAD_RARE } spread;
extern const char *const spread_names[3];

/* To describe a problem, parameter by parameter: after problem_seed all random numbers are the same. */
void problem_seed(uint64_t seed);
float problem_between(double lo, double hi);
void problem_int(problem *p, int value);
void problem_real(problem *p, double value);
/* Of zeros, without an adjoint. Arrays have one axis if columns is 0. */
problem_param *problem_array(problem *p, param_kind kind, int64_t rows, int64_t columns);
/* An input with an adjoint, of uniform numbers, which it returns. */
float *problem_input(problem *p, int64_t rows, int64_t columns, double lo, double hi);
/* An output; its adjoint begins with uniform numbers. */
void problem_output(problem *p, int64_t rows, int64_t columns);
/* The same that begins with uniform numbers itself, which it returns. */
float *problem_state(problem *p, int64_t rows, int64_t columns, double lo, double hi);
/* Of the last parameter: makes the columns two axes; takes its adjoint away. */
void problem_axes(problem *p, int64_t second, int64_t third);
void problem_drop_adjoint(problem *p);

/* "sines" or "products": n threads with `most` steps each; 1 to `most`; 1 to 32, but one in a thousand `most`. */
void problem_recurrence(problem *p, const char *kernel, int n, int most, spread how);
/* Those of kernels.c that have adjoints by hand; scale 1 is made for a GPU. */
enum { PROBLEMS = 6 };
void problem_make(problem *p, unsigned which, double scale);
/* Those of unseen/kernels. */
enum { UNSEEN_PROBLEMS = 12 };
void unseen_make(problem *p, unsigned which, double scale);
/* Without arguments but n = 1. */
void problem_empty(problem *p);
void problem_free(problem *p);

#endif

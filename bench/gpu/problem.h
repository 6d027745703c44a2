/* Kernels of the bench with their arguments. SPDX-License-Identifier: Apache-2.0 */
#ifndef GPU_PROBLEM_H
#define GPU_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROBLEM_PARAMS = 8 };

typedef enum param_kind { PARAM_INT, PARAM_REAL, PARAM_INTS, PARAM_FLOATS } param_kind;

typedef struct problem_param {
    param_kind kind;
    double scalar;
    uint32_t rank;
    int64_t shape[2];
    size_t count;  /* elements; of 4 bytes */
    void *initial; /* of arrays: what they hold before each run */
    float *seed;   /* of arrays with adjoints: what those hold; 0 for inputs */
    bool output;
} problem_param;

typedef struct problem {
    const char *kernel, *title;
    double tolerance; /* of gradients, relative, by the root of the sum of squares */
    bool touchy; /* some threads' last step hangs on last bits: judged where both have the same math functions */
    int64_t threads;
    double primal_bytes, gradient_bytes; /* the fewest that must be read and written; 0: unknown */
    unsigned count;
    problem_param params[PROBLEM_PARAMS];
} problem;

/* How the trip counts of a recurrence are spread. */
typedef enum spread { SPREAD_UNIFORM, SPREAD_RAGGED, SPREAD_RARE } spread;
extern const char *const spread_names[3];

/* "sines" or "products": n threads with `most` steps each; 1 to `most`; 1 to 32, but one in a thousand `most`. */
void problem_recurrence(problem *p, const char *kernel, int n, int most, spread how);
/* Those that have adjoints by hand; scale 1 is made for a GPU. */
enum { PROBLEMS = 6 };
void problem_make(problem *p, unsigned which, double scale);
/* Without arguments but n = 1. */
void problem_empty(problem *p);
void problem_free(problem *p);

#endif

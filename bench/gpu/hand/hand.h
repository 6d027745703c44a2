/* Adjoints written by hand in CUDA, in a library of their own: what gpu_bench loads and times beside Retrograd's.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A kernel's parameters come as its C has them. Gradients do what Retrograd's do: they add into the adjoints of inputs,
 * take those of outputs and leave zeros there, and do not write outputs. */
#ifndef HAND_H
#define HAND_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HAND_PARAMS = 9 };

typedef struct hand_param {
    size_t bytes;      /* of an array; 0: a scalar */
    const void *array; /* what it holds to begin with */
    const void *seed;  /* what its adjoint holds to begin with; NULL: it has none */
    double scalar;
} hand_param;

typedef struct hand_problem hand_problem; /* a kernel with its arrays on the GPU */

#if defined HAND_EXPORTS
#define HAND_API __attribute__((visibility("default")))
#else
#define HAND_API
#endif

/* NULL: no such kernel, or no memory. */
HAND_API hand_problem *hand_open(const char *kernel, const hand_param *params, unsigned count);
HAND_API void hand_close(hand_problem *problem);
/* Milliseconds of GPU time of one run on arrays as they were to begin with; below 0: it failed. */
HAND_API double hand_primal(hand_problem *problem);
HAND_API double hand_gradient(hand_problem *problem);
/* Bytes that gradients record. */
HAND_API size_t hand_tape(const hand_problem *problem);
/* Copies an array, or its adjoint, to the host; 0: done. */
HAND_API int hand_read(hand_problem *problem, unsigned param, int adjoint, void *to);
/* Bytes a second (read and written) of a large copy on the GPU, the best of a few; 0: failed. */
HAND_API double hand_bandwidth(void);

#ifdef __cplusplus
}
#endif
#endif

/* A case file: comment lines at its head say how to call the kernel and what must come out.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     // args: n=3 x[3]=0.5,1,-2 w[2][2]=0 p.mass[3]=1   a list shorter than the array is repeated
 *     // seed: y=1,0,1       adjoints before the reverse; others 0. Without this line: random
 *     // expect: y=2,3,4     the array after the kernel
 *     // grad: x=1,2,3       the adjoint after the reverse
 *     // split: refused      a split vjp must be refused; `any`: may be. Else it must equal
 * combined
 *     // skip: fd duality second gcc directions   checks that make no sense here, or take minutes; `bits`: sums
 *                             over threads have another order than the interpreter's or C's
 *     // tol: 1e-8           of expectations and gradients, instead of 1e-11
 *     // kernel: name        the kernel for the lines that follow, if it is not named like the file
 */
#ifndef TESTS_CASE_H
#define TESTS_CASE_H

#include <retrograd/retrograd.h>

enum { CASE_VALUES = 64 };

typedef enum case_line { CASE_ARGS, CASE_SEED, CASE_EXPECT, CASE_GRAD, CASE_LINES } case_line;

/* name[2][3]=list */
typedef struct case_value {
    case_line line;
    char name[64];
    uint32_t rank;
    int64_t shape[RG_MAX_RANK];
    const char *list; /* up to the next blank */
    size_t length;
} case_value;

typedef enum case_split { SPLIT_EQUAL, SPLIT_REFUSED, SPLIT_ANY } case_split;

typedef struct test_case {
    char kernel[64];
    unsigned count;
    case_value values[CASE_VALUES];
    case_split split;
    bool skip_fd, skip_duality, skip_second, skip_gcc, skip_bits, skip_directions, has_seeds;
    double tolerance;
} test_case;

/* The next case of a file's text at *at, which moves on; false at the end. path gives the kernel's
 * name. Problems are reported on stderr and end the file. */
bool case_next(test_case *c, const char *path, const char **at);
/* Element i of the list (repeated) into text; false: the list is empty. */
bool case_element(const case_value *v, size_t i, char *text, size_t size);

#endif

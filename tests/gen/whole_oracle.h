/* Programs in dual numbers, compiled by a C++ compiler. SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_GEN_WHOLE_ORACLE_H
#define TESTS_GEN_WHOLE_ORACLE_H

#include "whole.h"

#include "../subject.h"

enum { ORACLE_DIRECTIONS = 4 }; /* dual.h's */

/* dual.h's: a parameter's floats with their tangents, or its integers. */
typedef struct place {
    double *value, *tangent;
    int32_t *whole;
    int64_t count;
} place;

/* What a program leaves, by the program's parameters. */
typedef struct oracle {
    uint32_t count;
    place at[WHOLE_PARAMS];
    double gap;  /* the closest decision, see dual.h */
    bool finite; /* all values and tangents are finite, and of a size that tells something */
} oracle;

/* Compiles C++ text to a shared library; false: it does not compile, or there is no compiler ($CXX, else g++). */
bool oracle_compile(const str *text, const char *library);
void *oracle_load(const char *library); /* NULL: cannot */
/* Runs from the inputs, moved by step times their tangents; results on the way are moved by up to `roundings`, beside
 * their size. false: the library lacks the program. */
bool oracle_run(void *library, const whole_program *p, inputs *in, double step, double roundings, oracle *out);
/* How far such roundings move values and tangents, beside the size of the array's largest (at least 1): a program that
 * makes much of them shows nothing. Only the oracle is asked. */
double oracle_moved_by(void *library, const whole_program *p, inputs *in, const oracle *o, double roundings);
void oracle_free(oracle *o);
/* Direction k of element i: 0: the input's tangent. */
double oracle_direction(const input *p, size_t i, unsigned k);
/* <w, T u> for w the inputs' seeds; *size receives the sum of what was added, without signs. */
double oracle_product(const oracle *o, const whole_program *p, inputs *in, unsigned direction, double *size);

#endif

/* Whole programs: kernels of several tasks with serial code around them. SPDX-License-Identifier: Apache-2.0
 *
 * One program is one marked text, from which two are made: the kernel in C, and the same kernel in C++ for dual.h.
 * Statements and expressions are marked too, so that a failing program can be made smaller. Programs are free of races,
 * and end. */
#ifndef TESTS_GEN_WHOLE_H
#define TESTS_GEN_WHOLE_H

#include "base/base.h"

enum { WHOLE_PARAMS = 40 };

/* What a parameter starts with. */
typedef enum whole_content {
    WHOLE_REAL,   /* floats in -1..1 */
    WHOLE_SIZE,   /* its value */
    WHOLE_INDEX,  /* numbers below n */
    WHOLE_PERM,   /* those, each once */
    WHOLE_COUNTS, /* 0 to 3 */
    WHOLE_ZERO,   /* integers, all 0 */
    WHOLE_RESULT, /* what the kernel returns */
} whole_content;

typedef struct whole_param {
    const char *name; /* as the API has it: "x", "c.gain", "return" */
    whole_content content;
    uint32_t rank;
    int64_t shape[2], value;
    bool constant; /* has neither adjoint nor tangent */
    bool loose;    /* what it holds depends on the order of threads */
} whole_param;

typedef struct whole_program {
    arena *arena;
    uint64_t seed;
    whole_param params[WHOLE_PARAMS];
    uint32_t count;
    str text;         /* marked */
    unsigned regions; /* statements and expressions in it */
    bool narrow;      /* has floats narrower than double */
    bool half;        /* has _Float16 */
} whole_program;

void whole_make(whole_program *p, uint64_t seed);
void whole_free(whole_program *p);
/* The kernel `kern` in C. off: regions that are left out, or NULL. */
void whole_print_c(const whole_program *p, const bool *off, str *out);
/* The same for a C++ compiler: extern "C" void oracle_NUMBER(const place *). */
void whole_print_oracle(const whole_program *p, const bool *off, uint64_t number, str *out);

#endif

/* Whether a whole program's derivatives are right. SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_GEN_WHOLE_JUDGE_H
#define TESTS_GEN_WHOLE_JUDGE_H

#include "whole_oracle.h"

#include "../checks.h"

/* What a program can be refused in. */
typedef enum mode { MODE_FRONT, MODE_FORWARD, MODE_SPLIT, MODE_COMBINED, MODE_JVP, MODE_SECOND, MODE_COUNT } mode;

typedef enum verdict_kind { PASSED, FAILED, NEAR_TIE, TOO_LARGE, ILL_CONDITIONED, VERDICTS } verdict_kind;

typedef struct verdict {
    uint64_t seed;
    verdict_kind kind;
    bool widened;            /* narrow floats say nothing in it: devices ran it with double in their place */
    int refused[MODE_COUNT]; /* the error's number; 0: it was not */
    char why[MODE_COUNT][200];
    report report;
} verdict;

typedef struct bench {
    const char *device; /* NULL: the CPU, and sometimes simt */
    int never;          /* a refusal with this number is a failure; 0: none is */
    bool quick;         /* a few forms and widths for each program, other ones for the next */
    bool lowered;       /* the interpreter alone, which runs what lowering makes too: many programs in a short time */
    rg_queue *interp, *cpu, *threads, *tight, *other, *cut;
} bench;

/* Contexts belong to the process that opens them. false: rg_error_message() says why. */
bool bench_open(bench *b);
void judge(const bench *b, void *library, const whole_program *p, const bool *off, verdict *v);

#endif

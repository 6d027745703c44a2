/* Checks of one kernel against itself: device against interpreter, vjp against jvp, central
 * differences. SPDX-License-Identifier: Apache-2.0 */
#ifndef CHECK_H
#define CHECK_H

#include "ir/ir.h"

/* What a parameter holds before the kernel runs. */
typedef struct check_value {
    uint64_t bits; /* a scalar */
    int64_t shape[RG_MAX_RANK];
    const void *data; /* a buffer: row-major, not changed */
    uint32_t rank;    /* of the array given; differs from the parameter's only where that is flat */
} check_value;

typedef struct check_options {
    uint64_t seed;    /* of directions and of the components that differences are taken at */
    bool contraction; /* form fma, as launches do by default */
    uint32_t samples; /* components that differences are taken at; 0: 24 */
    const char *device; /* compared with the interpreter; "interp": none; NULL: "cpu" where this build has it */
} check_options;

/* One comparison and the worst place in it. */
typedef struct check_finding {
    const char *test; /* the report's */
    double error, tolerance; /* relative; error is infinite where one side is not a number */
    char where[144];         /* "x[3] is 1.5, should be 1.25"; empty if all is equal */
    bool failed;
    const char *skipped; /* why the comparison was not made; NULL: it was */
} check_finding;

typedef struct check_report {
    vec(check_finding) findings;
    bool failed;
} check_report;

/* `kernel` is as the front end made it; values follow its parameters. RG_OK also when comparisons
 * fail; RG_COMPILE (diags say why): the kernel or its gradient does not compile. Other statuses: a
 * launch failed, `diags` names it. */
rg_status check_kernel(const ir_fn *kernel, const check_value *values, const check_options *options,
                       check_report *report, diag_list *diags);
void check_report_free(check_report *report);

/* Fills `bytes` of a buffer for a parameter that was not given: floats in [1/4, 5/4), integers in
 * [0, below). */
void check_fill(rg_dtype dtype, void *data, size_t count, uint64_t below, uint64_t *seed);

#endif

/* Checks of one kernel against itself: device against interpreter, launches against each other, vjp against jvp,
 * central differences. SPDX-License-Identifier: Apache-2.0 */
#ifndef CHECK_H
#define CHECK_H

#include "device/device.h"

/* What a parameter holds before the kernel runs. */
typedef struct check_value {
    uint64_t bits; /* a scalar */
    int64_t shape[RG_MAX_RANK];
    const void *data; /* a buffer: row-major, not changed */
    uint32_t rank;    /* of the array given; differs from the parameter's only where that is flat */
} check_value;

/* Where to start from. Values follow the kernel's parameters. */
typedef struct check_start {
    const check_value *values;
    const char *optional; /* its name ("arrays of both signs"): left out if the kernel fails there or what it computes is not
                           * finite; NULL: it counts. The first one has to */
} check_start;

typedef struct check_options {
    uint64_t seed;       /* of directions and of the components that differences are taken at */
    bool contraction;    /* form fma, as launches do by default */
    uint32_t samples;    /* components that differences are taken at, at all starts together, or all there are; 0: 24 */
    uint64_t step_limit; /* operations that the forward kernel may take at the first start; 0: any number */
    uint32_t results;    /* of the kernel's last parameters: outputs, which no start has a value for */
    bool apart;          /* LLVM runs in a process of its own */
    const rt_device_table *device; /* compared with the interpreter, if it is another; NULL: there is none */
    uint32_t ordinal;              /* its number */
} check_options;

typedef enum check_outcome {
    CHECK_OK,
    CHECK_LEFT_OUT,  /* not made, and nobody misses it */
    CHECK_NOT_SHOWN, /* in part or at all: what would have to agree is not finite, or refused */
    CHECK_FAILED,
} check_outcome;

/* One comparison at all starts, and the worst place in it. */
typedef struct check_finding {
    const char *test;
    check_outcome outcome;
    double error, tolerance; /* relative; error is infinite where one side is not a number */
    char where[144];         /* "x[3] is 1.5, should be 1.25"; empty if all is equal */
    uint64_t compared, unshown; /* numbers, and those that could not be compared: not finite on both sides */
    const char *note; /* why it was not made, or not everywhere; may be NULL */
    unsigned code;    /* number of the error that refused it; 0: none */
} check_finding;

typedef struct check_report {
    arena *arena; /* of the findings' texts */
    vec(check_finding) findings;
    bool failed, not_shown; /* any of them */
} check_report;

/* `kernel` came from pipeline_source. RG_OK also when comparisons fail, and where a derivative is refused; RG_COMPILE (diags
 * say why): the kernel itself does not compile. Other statuses: a launch failed, `diags` names it. */
rg_status check_kernel(const ir_fn *kernel, const check_start *starts, uint32_t nstarts, const check_options *options,
                       check_report *report, diag_list *diags);
void check_report_free(check_report *report);

/* Fills a buffer for a parameter that was not given: floats in [1/4, 5/4), half of them negative if `signs`; integers in
 * [0, below). */
void check_fill(rg_dtype dtype, void *data, size_t count, uint64_t below, bool signs, uint64_t *seed);

/* What integers that arrays of the kernel hold lead to: below[i] is the least extent that a subscript which depends on an
 * element of parameter i has to fit, 0 if there is none. extents[i] follows parameter i. */
void check_index_limits(const ir_fn *kernel, const int64_t (*extents)[RG_MAX_RANK], uint64_t *below);

#endif

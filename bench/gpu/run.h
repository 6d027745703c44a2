/* Problems on a device: prepared, launched, timed. What fails says so on stderr and gives false, or a time below 0.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GPU_RUN_H
#define GPU_RUN_H

#include "problem.h"

#include <retrograd/retrograd.h>

typedef struct settings {
    const char *device, *kernels; /* file of kernels.c */
    const char *hand, *probes;    /* library of adjoints by hand; folder of the probes' outputs; NULL: none */
    double scale;
    unsigned repeat;
    const char *kernel, *math; /* only this one; NULL: all */
} settings;

typedef enum math { MATH_OWN, MATH_NATIVE, MATH_FAST } math;
extern const char *const math_names[3];

typedef struct run {
    rg_context *context;
    rg_module *module;
    rg_kernel *kernel;
    rg_args *args;
    rg_array *arrays[PROBLEM_PARAMS];
    bool joined; /* context and module are another's */
} run;

typedef rg_status launch(rg_kernel *kernel, rg_args *args);

bool run_fine(rg_status status, const char *what);
/* Whether the settings ask for it. */
bool run_wants(const settings *s, const char *kernel, math how);
rg_context_desc run_desc(const settings *s, math how, uint64_t budget);
bool run_open(run *r, const settings *s, const rg_context_desc *desc, const problem *p);
/* In the context of another, which is closed later. */
bool run_join(run *r, const run *other, const problem *p);
void run_close(run *r);
/* Adjoints as they are to begin with. */
bool run_reset(run *r, const problem *p);
/* Milliseconds of the device: the median of `repeat` launches, each after a reset. */
double run_time(run *r, const problem *p, launch *what, unsigned repeat);
/* Resets, launches and waits. */
bool run_once(run *r, const problem *p, launch *what);

double median_of(double *times, unsigned n);

#endif

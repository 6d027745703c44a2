/* Problems on a device: prepared, launched, timed. What fails says so on stderr and gives false, or a time below 0.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GPU_RUN_H
#define GPU_RUN_H

#include "problem.h"

#include <retrograd/retrograd.h>

typedef struct settings {
    const char *device, *kernels, *unseen; /* file of kernels.c, folder of unseen/kernels */
    const char *hand, *probes;    /* library of adjoints by hand; folder of the probes' outputs; NULL: none */
    double scale;
    unsigned repeat;
    const char *kernel, *math; /* only this one; NULL: all */
} settings;

typedef enum math { MATH_OWN, MATH_NATIVE, MATH_FAST } math;
extern const char *const math_names[3];

typedef struct run {
    rg_queue *queue;
    rg_module *module;
    rg_kernel *kernel;
    rg_args *args;
    rg_array *arrays[PROBLEM_PARAMS], *begins[PROBLEM_PARAMS]; /* begins: outputs, with adjoints, as they are to begin with */
    bool joined; /* queue and module are another's */
} run;


bool run_fine(rg_status status, const char *what);
/* Whether the settings ask for it. */
bool run_wants(const settings *s, const char *kernel, math how);
typedef struct run_desc {
    rg_queue_desc queue;
    rg_module_desc code;
} run_desc;
run_desc run_describe(math how, uint64_t budget);
bool run_open(run *r, const settings *s, const run_desc *desc, const problem *p);
/* In the context of another, which is closed later. */
bool run_join(run *r, const run *other, const problem *p);
void run_close(run *r);
/* Outputs and all adjoints as they are to begin with. */
bool run_reset(run *r, const problem *p);
/* Milliseconds of the device: the median of `repeat` launches, each after a reset; on devices other than cuda the host's, of several
 * launches. */
double run_time(run *r, const problem *p, rg_form form, unsigned repeat);
/* Resets, launches and waits. */
bool run_once(run *r, const problem *p, rg_form form);

double median_of(double *times, unsigned n);

#endif

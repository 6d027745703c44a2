/* What the checks of one kernel share: the kernel, memory for a launch, findings. SPDX-License-Identifier: Apache-2.0 */
#ifndef CHECK_SUBJECT_H
#define CHECK_SUBJECT_H

#include "check/check.h"
#include "check/check_device.h"

enum { CHECK_PLANES = 4 };

/* The kernel in one precision. */
typedef struct subject {
    arena *arena;
    ir_module *module;
    const ir_fn *fn; /* results are outputs */
    uint32_t n, given;
    const check_value *values;
    const struct subject *from; /* whose types the values have; itself, but where it was promoted */
    rg_dtype narrowest;         /* float that it computes in */
    uint64_t seed;
    bool contraction;
    check_device *interp, *other; /* other: NULL: the interpreter alone */
    check_report *report;
    diag_list *diags;
} subject;

/* Planes of every parameter, for one launch. */
typedef struct memory {
    rt_arg *args;
    size_t *bytes; /* of each plane */
} memory;

uint64_t check_random(uint64_t *seed); /* splitmix64 */
double check_get(rg_dtype dtype, const void *data, size_t i);
void check_put(rg_dtype dtype, void *data, size_t i, double v);

ir_type check_type(const subject *s, uint32_t i);
size_t check_count(const subject *s, uint32_t i);
bool check_is_real(const subject *s, uint32_t i);
bool check_is_buffer(const subject *s, uint32_t i);

/* Everything as it is before the kernel; the planes above 0 are zero. */
memory check_memory(const subject *s);
/* A plane of every parameter that has one, in [-1, 1). */
void check_randomize(const subject *s, memory m, unsigned plane, uint64_t seed);

/* Runs a form once. *ran: it did; else it is refused, which is a finding. */
rg_status check_launch(subject *s, check_device *on, rg_form form, memory m, bool *ran);
/* What the interpreter runs of a form; NULL, which is a finding: it is refused. */
rg_status check_compile(subject *s, check_device *on, rg_form form, const ir_fn **made);

/* "gradient, cpu against interpreter": `format` takes the device's name */
const char *check_test_name(const subject *s, const char *format, const check_device *on);
/* Settles the outcome: by the error, and what could not be shown. A test that is there already keeps what is worse. */
void check_add(subject *s, check_finding f);
void check_note(subject *s, const char *test, check_outcome outcome, const char *note);
/* "x[3]" */
void check_element_name(const subject *s, uint32_t i, size_t k, char *out, size_t room);
/* |found - expected|; infinite where one of them is not finite. Where neither is and they are alike: 0 */
double check_difference(double found, double expected);
/* A plane of two memories, element by element, relative to the array's largest, beyond what the order of sums
 * decides, by the bound for the narrowest float that
 * the kernel computes in; integers must be equal. */
void check_compare(subject *s, const char *test, memory found, memory expected, unsigned plane, double tolerance_f64,
                   double tolerance_f32);

/* check_differences.c: gradient and tangents against central differences: at all components of the inputs if these are up to
 * `samples`, else at a part of so many, one of `parts`. */
rg_status check_differences(subject *s, uint32_t samples, uint32_t parts);

#endif

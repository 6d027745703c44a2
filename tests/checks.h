/* What makes a gradient right: devices agree, vjp and jvp are adjoint to each other, differences of
 * the forward kernel agree with it. SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_CHECKS_H
#define TESTS_CHECKS_H

#include "subject.h"

typedef struct report {
    char text[1024]; /* what was wrong first */
} report;

bool complain(report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Plane by plane: |a - b| <= tolerance * max(1, largest component of that array); tolerance 0: the
 * same bits (any NaN equals any). */
bool check_planes(const inputs *in, const subject *a, const subject *b, unsigned plane,
                  double tolerance, const char *what, report *r);
/* The same for a plane of all parameters. */
bool check_planes_near(const inputs *in, const subject *a, const subject *b, unsigned plane, const char *what,
                       report *r);
bool check_bits(const input *p, const void *a, const void *b, const char *what, report *r);
/* To 1e-12 (f64), 1e-5 (f32), 1e-2 (f16) of the largest. */
bool check_near(const input *p, const void *a, const void *b, const char *what, report *r);
/* The plane against values kept by kept_take. */
typedef struct kept {
    double *at[SUBJECT_PARAMS];
} kept;
void kept_take(kept *k, const inputs *in, const subject *s, unsigned plane);
void kept_free(kept *k);
bool check_kept(const inputs *in, const subject *s, unsigned plane, const kept *k, double tolerance,
                const char *what, report *r);
/* Runs forward_vjp and jvp: |<vjp(w), u> - <w, jvp(u)>| <= tolerance |vjp(w)| |u|. *worst receives
 * the quotient if not NULL. Values that are not finite pass: other checks look at those. */
bool check_duality(const inputs *in, subject *s, double tolerance, double *worst, report *r);
/* Central differences of <w, after> for each component against the gradient of a forward_vjp run.
 */
bool check_differences(inputs *in, subject *s, double tolerance, report *r);
/* The Hessian's product with the tangents (a jvp of the gradient) against a central difference of
 * gradients. */
bool check_second(inputs *in, subject *s, double tolerance, report *r);
/* The Hessian is symmetric: <u', H u> = <u, H u'> to tolerance |H u| |u'|. */
bool check_symmetry(inputs *in, subject *s, double tolerance, report *r);

#endif

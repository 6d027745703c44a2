/* What varies in a parallel loop, bounded by what is known when it starts. SPDX-License-Identifier: Apache-2.0
 *
 * Bounds are polynomials over values from outside of the loop. What they rest on and is not decided by
 * looking (a product that does not wrap, a stride that is not negative) becomes a condition for a test. */
#ifndef AD_BOUNDS_H
#define AD_BOUNDS_H

#include "analysis/integers.h"

typedef struct ad_bounds {
    const ir_op *task;      /* the parallel loop */
    const ir_op *at;        /* the access in it that is being looked at */
    integers in;            /* with the claims of polynomials in hand */
    vec(poly) conditions;   /* that have to be >= 0 */
    bool asks;              /* conditions may be left to a test */
    bool checking;          /* claims are being looked at */
    const char *why;        /* what went wrong first; NULL: nothing */
} ad_bounds;

bool ad_bounds_fail(ad_bounds *s, const char *why); /* false */
/* a >= b + c: known, or noted as a condition */
bool ad_bounds_require_apart(ad_bounds *s, const poly *a, const poly *b, int64_t c);
/* the innermost factor of p that varies in the loop; NULL: none does */
const poly_factor *ad_bounds_varying(const ad_bounds *s, const poly *p);
/* the claims in hand: that no value which the polynomials stand for wrapped */
bool ad_bounds_check(ad_bounds *s);
/* the least (greatest) value of a factor, over what is further out; of p, over what is outside */
bool ad_bounds_limit(ad_bounds *s, const poly_factor *f, bool upper, poly *out);
bool ad_bounds_of(ad_bounds *s, poly p, bool upper, poly *out);

#endif

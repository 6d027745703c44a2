/* Integer polynomials: what subscripts, bounds and extents are, as exact integers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The arithmetic of kernels wraps. A polynomial is what a value would be if it did not; the claims that
 * come with it say what must hold for that to be its value. */
#ifndef IR_POLY_H
#define IR_POLY_H

#include "ir/ir.h"

enum { POLY_TERMS = 12, POLY_FACTORS = 3 };

/* an integer that was not taken apart, or an extent of a buffer */
typedef struct poly_factor {
    const ir_value *value;
    uint32_t axis; /* 0: the integer itself; k + 1: extent k of the buffer */
} poly_factor;

typedef struct poly_term {
    int64_t c;
    uint32_t n;
    poly_factor factor[POLY_FACTORS]; /* in order */
} poly_term;

typedef struct poly {
    bool known; /* false: too many terms, or constants too large */
    uint32_t n;
    poly_term term[POLY_TERMS];
} poly;

/* the polynomial is a number of this type */
typedef struct poly_claim {
    poly p;
    rg_dtype dtype;
} poly_claim;
typedef vec(poly_claim) poly_claims;

poly poly_const(int64_t c);
poly poly_add(const poly *a, const poly *b, int64_t scale); /* a + scale * b */
poly poly_mul(const poly *a, const poly *b);
bool poly_is_const(const poly *p, int64_t *c);
bool poly_equal(const poly *a, const poly *b);
/* p = *coefficient * f + *rest without f in either; false: p is not linear in f */
bool poly_split(const poly *p, const poly_factor *f, poly *coefficient, poly *rest);
/* the factor that stands for an integer value taken as it is */
static inline poly_factor
poly_factor_of(const ir_value *v)
{
    return (poly_factor){v, 0};
}

/* An integer value through sums, products and casts, as it is used (as a subscript or bound). */
poly poly_of(const ir_value *v, poly_claims *claims);
/* An extent of a buffer, as declared where it is. */
poly poly_of_extent(const ir_value *buffer, uint32_t axis, poly_claims *claims);

/* What the factor is known to lie between, in f64 (rounded outwards). */
void poly_factor_bounds(const poly_factor *f, double *lo, double *hi);
/* At most how far from 0 p is. */
double poly_magnitude(const poly *p);
/* Whether p >= 0 always (1), never (-1), or nobody knows (0). */
int poly_sign(const poly *p);

#endif

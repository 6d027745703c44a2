/* What is known of integers: polynomials, intervals, values that follow from indices. SPDX-License-Identifier: Apache-2.0
 *
 * The arithmetic of kernels wraps. A polynomial is what a value would be if it did not; the claims that come with it say
 * what must hold for that to be its value, and it always is modulo a power of 2. */
#ifndef IR_INTEGERS_H
#define IR_INTEGERS_H

#include "ir/ir.h"

/* -- counting ---------------------------------------------------------------------------------------- */

/* Whether `param`, a parameter of the loop's (for, loop, parallel) body, is an integer that starts at
 * *start and grows by *step (wrapping) with every iteration. A parallel's index counts by 1. */
bool ir_is_induction(const ir_op *loop, const ir_value *param, ir_value **start, uint64_t *step);
/* Whether v is an index of a for or parallel: from *from on by *step, before *to. */
bool ir_is_counted(const ir_value *v, const ir_value **from, const ir_value **to, int64_t *step);
/* how often a `for` runs */
uint64_t ir_iterations(const ir_op *loop, uint64_t lo, uint64_t hi);
/* How often a `for` runs if it runs at all, where its bounds differ by a constant; 0: that is not known. It may not where the
 * further bound wraps; *surely: none does. */
uint64_t ir_fixed_iterations(const ir_op *loop, bool *surely);

/* -- polynomials --------------------------------------------------------------------------------------- */
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
poly poly_of_factor(poly_factor f);

/* Questions about values of one function, which does not change meanwhile: each value is taken apart once. They live in the
 * thread's scratch memory: those that begin later end first. */
enum { INTEGERS_FEW = 12 };
typedef struct integers {
    arena *in;
    arena_mark mark;
    vec(poly_claim) claims; /* of the polynomials in hand, not yet checked */
    uint32_t n, questions;
    struct integer *few[INTEGERS_FEW]; /* the first ones that were looked at */
    map more;
} integers;
integers integers_begin(void);
void integers_end(integers *in);

/* An integer value through sums, products and casts, as it is used. */
poly poly_of(integers *in, const ir_value *v);
/* The same of a subscript, whose own arithmetic is exact. */
poly poly_of_subscript(integers *in, const ir_value *v);
/* Whether op is arithmetic that is exact in a subscript which is made of it by such ops and casts alone: sums, differences and products
 * of signed numbers. Where one of them wraps, the subscript is outside of its array. */
bool ir_is_exact_in_subscript(const ir_op *op);
enum { IR_EXACT_DEPTH = 8 }; /* so many of them in a row are looked at by who computes a subscript */
/* The same modulo 2^*bits: without claims. */
poly poly_modulo(integers *in, const ir_value *v, unsigned *bits);
/* Whether the polynomials of two values differ by a constant, and that is not 0 modulo 2^bits: then they differ. */
bool poly_differ(integers *in, const ir_value *a, const ir_value *b);
/* An extent of a buffer, as declared where it is. */
poly poly_of_extent(integers *in, const ir_value *buffer, uint32_t axis);

/* Whether a value of the shape region and one of the body, or two of either, are the same function of the parameters. */
bool ir_same_number(const ir_value *x, const ir_value *y);
/* v before casts that give it more bits */
const ir_value *ir_without_widening(const ir_value *v);
/* Whether both buffers are declared with the same extent. */
bool ir_same_extent(const ir_value *x, const ir_value *y, uint32_t axis);

/* -- intervals ------------------------------------------------------------------------------------------- */
__extension__ typedef __int128 wide;
typedef struct range {
    wide min, max;
} range;

range range_of_type(rg_dtype d);
range range_of(const ir_value *v);
bool range_within(range r, range in);
/* whether it is an unsigned number of so many bits */
bool range_fits(const ir_value *v, unsigned bits);
/* of a factor: extents of arrays are not negative */
range poly_factor_range(const poly_factor *f);
/* what a polynomial that is known lies between */
range poly_range(const poly *p);
/* Whether p >= 0 always (1), never (-1), or nobody knows (0). */
int poly_sign(const poly *p);
/* whether a for or loop runs at least once */
bool ir_runs_at_once(const ir_op *loop);
/* How often a for or loop runs at most: where that follows from intervals, or from an exit that counts; else UINT64_MAX. */
uint64_t ir_most_iterations(const ir_op *loop);

/* -- values that follow from indices ------------------------------------------------------------------- */

/* An index of a loop that is run through, and of those around it. */
typedef struct ir_known {
    const ir_value *index;
    uint64_t bits;
    const struct ir_known *outer;
} ir_known;

/* Whether v, a number or flag that no float decides, follows from constants and these indices. */
bool ir_known_value(const ir_known *indices, const ir_value *v, uint64_t *bits);

#endif

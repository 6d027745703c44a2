/* Which values carry derivatives. SPDX-License-Identifier: Apache-2.0
 *
 * varied: depends differentiably on an active input. useful: an active output depends differentiably on
 * it. active = both. Found by iterating over the structured IR until nothing changes; memory is one bit
 * per buffer (a parameter or temp; a pick stands for all it may be). */
#ifndef AD_ACTIVITY_H
#define AD_ACTIVITY_H

#include "diff/rules.h"
#include "analysis/writes.h"

typedef struct ad_activity {
    const ir_fn *fn;
    bool *varied, *useful; /* by value id; for buffers: what they hold */
    bool *has_adjoint;     /* by value id, buffers and scalar parameters: parameter marked active, or temp
                            * through which derivatives pass */
    bool changed;
} ad_activity;

/* `active` and `results` as in ad_options. With backward false only `varied` is found. */
void ad_activity_find(ad_activity *a, const ir_fn *fn, const bool *active, const bool *results, bool backward,
                      arena *in);

static inline bool
ad_is_active(const ad_activity *a, const ir_value *v)
{
    return a->varied[v->id] && a->useful[v->id];
}

/* Which operand of op carries derivatives to its (scalar or array) result: by the rules and, for casts
 * and local arrays, by their nature. */
bool ad_flows(const ir_op *op, uint32_t k);

#endif

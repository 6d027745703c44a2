/* Branches that are computed again as a whole. SPDX-License-Identifier: Apache-2.0 */
#ifndef AD_ARMS_H
#define AD_ARMS_H

#include "ir/ir.h"

/* What a branch takes to be computed again: its condition and what its arms take from outside of it, each once. */
typedef struct ad_arms {
    bool again; /* it can be: its arms do nothing but compute numbers */
    vec(ir_value *) outside;
    vec(ir_op *) loads; /* of the arms */
    int32_t cost;       /* of both arms */
} ad_arms;

/* `again` says whether what a load in an arm reads is there in the reverse sweep, too. Lists are in the arena. */
void ad_find_arms(ad_arms *arms, arena *in, const ir_op *branch, bool (*again)(void *user, const ir_value *loaded), void *user);

#endif

/* What the reverse computes from forward values alone. SPDX-License-Identifier: Apache-2.0 */
#ifndef AD_DERIVE_H
#define AD_DERIVE_H

#include "ir/ir.h"

/* How a value came into the forward sweep. */
typedef enum ad_origin {
    AD_FORWARD, /* it is what the sweep computes for itself */
    AD_DERIVED, /* only the reverse needs it */
    AD_PAIRED   /* the same, and it stands beside its like: a cosine beside a sine */
} ad_origin;

/* Moves what reverse code computes from forward values alone into the forward sweep; the reverse recalls
 * it. What the plan does not record it computes where it stood before. Fills in `origins` (value ->
 * ad_origin; none for AD_FORWARD). Numbers fn's values anew. */
bool ad_derive(ir_fn *fn, map *origins, arena *scratch);

#endif

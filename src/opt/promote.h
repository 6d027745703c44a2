/* Wider floats for tests. SPDX-License-Identifier: Apache-2.0 */
#ifndef PASS_PROMOTE_H
#define PASS_PROMOTE_H

#include "ir/ir.h"

/* Makes every f16 and f32 of the module an f64: parameters, values, constants, tables. Derivatives
 * can then be judged without the rounding of the narrow type. false, and the module is left as it
 * was: the bits of a narrow float are looked at (bitcast), or there are planes or tape ops already.
 */
bool ir_promote(ir_module *m);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MATH_FLATTEN_H
#define MATH_FLATTEN_H

#include "opt/pass.h"

/* Makes selects of ifs without calls and loops: in lanes both sides are evaluated anyway, and a short branch costs more
 * than what it leaves out. */
bool math_flatten(ir_module *m, pass_context *c);

#endif

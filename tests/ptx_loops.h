/* The loops of PTX, as its branches make them. SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_PTX_LOOPS_H
#define TESTS_PTX_LOOPS_H

#include "base/base.h"

/* Whether from no loop in a loop two branches are reached that lead back to the outer one's head (codegen/llvm/latch.c says why
 * it has to be so; stricter than what was seen to go wrong: of loops that may be passed by none did). If not, `why` says where. */
bool ptx_loops_are_plain(const char *text, str *why);

#endif

/* The loops of PTX, as its branches make them. SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_PTX_LOOPS_H
#define TESTS_PTX_LOOPS_H

#include "base/base.h"

/* Whether each loop that has loops in it is led back to its head by one branch (codegen/llvm/latch.c says why it has to be).
 * If not, `why` gets the label of one that is not. */
bool ptx_loops_are_plain(const char *text, str *why);

#endif

/* The loops of PTX, as its branches make them. SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_PTX_LOOPS_H
#define TESTS_PTX_LOOPS_H

#include "base/base.h"

/* Whether of each loop one branch at most leads back to its head from behind the head of a loop in it (codegen/llvm/latch.c
 * says why it has to be so). If not, `why` gets the label of one that is not. */
bool ptx_loops_are_plain(const char *text, str *why);

#endif

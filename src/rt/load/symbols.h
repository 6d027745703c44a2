/* All that compiled code may call by its name. SPDX-License-Identifier: Apache-2.0 */
#ifndef RT_LOAD_SYMBOLS_H
#define RT_LOAD_SYMBOLS_H

/* The runtime, the math library, libm's functions (as rg_NAME), those of libmvec where this machine has it. NULL: no such
 * function. */
void *rt_symbol_find(const char *name);

#endif

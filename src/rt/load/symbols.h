/* All that compiled code may call by its name. SPDX-License-Identifier: Apache-2.0 */
#ifndef RT_LOAD_SYMBOLS_H
#define RT_LOAD_SYMBOLS_H

/* The runtime, the math library, libm's functions (as rg_NAME), those of libmvec where this machine has it. NULL: no such
 * function. */
void *rt_symbol_find(const char *name);
/* glibc's, of the latter: _ZGVeN16v_sinf is sinf of 16 lanes for AVX-512, _ZGVdN8v_sinf of 8 for AVX2. */
void *rt_symbol_vector(const char *name);

#endif

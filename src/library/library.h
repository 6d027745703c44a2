/* The math library's functions in IR, for code generation. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATH_LIBRARY_H
#define MATH_LIBRARY_H

#include "ir/ir.h"

/* Those functions that were asked for, parsed, each with what it calls. All zero: none yet. One thread at a time. */
typedef struct math_library {
    vec(ir_module *) modules;
} math_library;

/* The function `name` (rgm_sinf), at IR_STAGE_SLOTS; lanes > 0: of values with lanes, as are all its parameters and results.
 * NULL: this build has no IR of it. It lives as long as the library. */
const ir_fn *math_find(math_library *lib, const char *name, unsigned lanes, arena *scratch);
void math_library_free(math_library *lib);

#endif

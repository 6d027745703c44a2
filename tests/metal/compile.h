/* MSL for the host: a C++ compiler takes it with metal_stdlib of this folder. SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_METAL_COMPILE_H
#define TESTS_METAL_COMPILE_H

#include <stdbool.h>
#include <stddef.h>

/* The compiler's answer to a text, for a library at `output`; "": no output, only errors. MSL_KEEP=1: a refused text is kept in /tmp. */
bool msl_compile(const char *text, size_t len, const char *output);

#endif

/* A device of the tests: kernels printed as MSL, which a C++ compiler takes with metal_stdlib of this folder, and the host runs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_METAL_DEVICE_H
#define TESTS_METAL_DEVICE_H

#include "codegen/metal/msl.h"
#include "device/device.h"

extern const rt_device_table msl_device; /* "msl"; with MSL_PLAIN=1 in the environment without SIMD-group functions and narrow elements */
/* Features without these: memory of threadgroups is used instead, and exchanges of words. */
enum { MSL_PLAIN = MSL_FEATURES & ~(SPIRV_SUBGROUPS | SPIRV_STORAGE8 | SPIRV_STORAGE16 | SPIRV_ATOMIC_ADD32) };

/* The compiler's answer to a text in MSL, for a file or library at `output`; "": no output, only errors. */
bool msl_compile(const str *text, const char *output);

#endif

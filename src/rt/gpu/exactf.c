/* libm's exact functions of float for GPUs, which have none. SPDX-License-Identifier: Apache-2.0
 *
 * Results are those of any libm, bit for bit; their names those that compiled code calls (codegen/llvm/calls.c). */
#define NAME(name)    name##f
#define BUILTIN(name) __builtin_##name##f
#define REAL          float
#define BITS          uint32_t
enum { MANTISSA = 24, BIAS = 127 };
#include "rt/gpu/exact_of.h"

/* libm's exact functions of double for GPUs, which have none. SPDX-License-Identifier: Apache-2.0
 *
 * Results are those of any libm, bit for bit; their names those that compiled code calls (codegen/llvm/calls.c). */
#define NAME(name)    name
#define BUILTIN(name) __builtin_##name
#define REAL          double
#define BITS          uint64_t
enum { MANTISSA = 53, BIAS = 1023 };
#include "rt/gpu/exact_of.h"

/* How many registers a thread needs. SPDX-License-Identifier: Apache-2.0 */
#ifndef CODEGEN_NVIDIA_PRESSURE_H
#define CODEGEN_NVIDIA_PRESSURE_H

#include "ir/ir.h"

/* The most values that live at one place of the kernel, in registers of four bytes, as its ops stand. */
uint32_t nvidia_pressure(const ir_fn *fn);

#endif

/* Scheduling for NVIDIA's GPUs, on the IR: LLVM keeps the order of accesses. SPDX-License-Identifier: Apache-2.0 */
#ifndef CODEGEN_NVIDIA_SCHEDULE_H
#define CODEGEN_NVIDIA_SCHEDULE_H

#include "opt/pass.h"

void nvidia_schedule(ir_module *m, bool reverses, pass_context *c); /* as codegen_schedule */

#endif

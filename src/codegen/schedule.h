/* The order of loads and stores that a machine wants: the last passes over the IR, chosen by whoever makes its code.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CODEGEN_SCHEDULE_H
#define CODEGEN_SCHEDULE_H

#include "opt/pass.h"

/* At IR_STAGE_SLOTS, for the module's target. `reverses`: it has reverse sweeps. */
void codegen_schedule(ir_module *m, bool reverses, pass_context *c);

#endif

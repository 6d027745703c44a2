/* Scheduling for NVIDIA's GPUs. SPDX-License-Identifier: Apache-2.0 */
#include "codegen/nvidia/schedule.h"

void
nvidia_schedule(ir_module *m, bool reverses, pass_context *c)
{
    /* local arrays with known subscripts are in registers */
    PASS_RUN(m, opt_unroll_slots, IR_STAGE_SLOTS, c);
    /* sums of lanes are formed faster where several are, and loads waited for */
    PASS_RUN(m, opt_unroll_counted, IR_STAGE_SLOTS, c);
    if (reverses) {
        /* memory adds more slowly than it reads and writes */
        PASS_RUN(m, opt_plain_adds, IR_STAGE_SLOTS, c);
        /* memory is slow to write while it is being read */
        PASS_RUN(m, opt_late_zeros, IR_STAGE_SLOTS, c);
        /* seeds are there when the forward sweep ends */
        PASS_RUN(m, opt_load_ahead, IR_STAGE_SLOTS, c);
    }
    /* a warp waits for all loads that have gone out as long as for one */
    PASS_RUN(m, opt_early_loads, IR_STAGE_SLOTS, c);
}

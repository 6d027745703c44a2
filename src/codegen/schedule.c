/* Which machine wants its loads and stores in which order. SPDX-License-Identifier: Apache-2.0 */
#include "codegen/schedule.h"

#include "codegen/nvidia/schedule.h"

typedef void schedule(ir_module *m, bool reverses, pass_context *c);

static const struct {
    const target *target;
    schedule *by;
} schedules[] = {{&target_nvidia, nvidia_schedule}, {&target_segments, nvidia_schedule}};

void
codegen_schedule(ir_module *m, bool reverses, pass_context *c)
{
    for (size_t i = 0; i < countof(schedules); i++)
        if (m->target == schedules[i].target)
            schedules[i].by(m, reverses, c);
}

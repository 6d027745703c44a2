/* Which loops ask whether their launch is to end. SPDX-License-Identifier: Apache-2.0 */
#include "analysis/polls.h"

#include "analysis/integers.h"

/* in operations */
enum { LONG = 1 << 16, LONG_IN_WARP = 1 << 12, FEW_LONG = 16, LONG_BODY = 16, WORK_MAX = 1000000 };
static const int64_t most_operations = (int64_t)1 << 40;

int64_t
ir_work(const ir_region *r)
{
    int64_t work = 0;
    ir_for_ops (op, r) {
        int64_t inner = 0;
        uint64_t trips = op->code == RG_OP_LOOP || op->code == RG_OP_FOR || op->code == RG_OP_PARALLEL ? 16 : 1;
        for (uint32_t i = 0; i < op->nregions; i++)
            inner += ir_work(op->regions[i]);
        uint64_t fixed = op->code == RG_OP_FOR ? ir_fixed_iterations(op, &(bool){false}) : 0;
        trips = fixed ? fixed : trips;
        work += inner * (int64_t)(trips < WORK_MAX ? trips : WORK_MAX) + 1;
        if (work > WORK_MAX)
            return WORK_MAX;
    }
    return work;
}

ir_polls
ir_polls_of(const ir_op *op, bool in_warp)
{
    int64_t body = ir_most_unpolled(op->regions[0], in_warp), much = in_warp ? LONG_IN_WARP : LONG;
    uint64_t trips = ir_most_iterations(op);
    if (trips < (uint64_t)(much * FEW_LONG) && (int64_t)trips * body <= much * FEW_LONG)
        return (ir_polls){.most = (int64_t)trips * body};
    if (op->code == RG_OP_LOOP || body * LONG_BODY > much)
        return (ir_polls){.each = true, .most = body};
    return (ir_polls){.strip = much / body, .most = much};
}

int64_t
ir_most_unpolled(const ir_region *r, bool in_warp)
{
    int64_t most = 1;
    ir_for_ops (op, r) {
        most++;
        if (op->code == RG_OP_IF)
            most += ir_most_unpolled(op->regions[0], in_warp) + ir_most_unpolled(op->regions[1], in_warp);
        else if (op->code == RG_OP_FOR || op->code == RG_OP_LOOP)
            most += ir_polls_of(op, in_warp).most;
        else if (op->code == RG_OP_PARALLEL)
            most += IR_POLLS_TASK;
    }
    return most < most_operations ? most : most_operations;
}

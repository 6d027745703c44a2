/* What an operation costs. SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cost.h"

#include "target/target.h"

int32_t
ir_cost(const ir_op *op)
{
    bool integer = op->nresults && !ir_is_float((rg_dtype)op->results[0]->type.dtype);
    switch ((rg_op)op->code) {
    case RG_OP_LOAD: /* read, where recording writes and reads */
        return op->parent->fn->module->target->load;
    case RG_OP_EXTRACT:
        return 2;
    case RG_OP_DIV:
    case RG_OP_REM:
    case RG_OP_FLOORDIV:
    case RG_OP_FLOORMOD:
        if (!integer)
            return 5;
        return op->nargs > 1 && ir_is_const(op->args[1], NULL) ? 4 : 12;
    case RG_OP_SQRT:
        return 6;
    case RG_OP_RSQRT:
        return 11;
    case RG_OP_FLOOR:
    case RG_OP_CEIL:
    case RG_OP_TRUNC:
    case RG_OP_RINT:
    case RG_OP_COPYSIGN:
    case RG_OP_ZERO_GUARD:
        return 1;
    default:
        break;
    }
    switch (ir_ops[op->code].form) {
    case IR_UNARY_F:
    case IR_BINARY_F:
    case IR_LDEXP:
    case IR_EXPONENT:
        return op->args[0]->type.dtype == RG_F64 ? 24 : 10;
    default:
        return 1;
    }
}

/* Scalar simplification, op by op. SPDX-License-Identifier: Apache-2.0 */
#ifndef PASS_FOLD_SCALAR_H
#define PASS_FOLD_SCALAR_H

#include "opt/edit.h"

/* A value equal to op's result, bit for bit (NaN payloads apart), or NULL. New ops stand before op;
 * op itself may be changed in place to an equal form (operands exchanged, ...). */
ir_value *fold_scalar(edit *e, ir_op *op);

#endif

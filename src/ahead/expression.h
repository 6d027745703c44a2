/* Values of the IR as expressions of the source. SPDX-License-Identifier: Apache-2.0 */
#ifndef AHEAD_EXPRESSION_H
#define AHEAD_EXPRESSION_H

#include "ir/ir.h"

/* How an operation stands between its operands in C, and how tightly it binds them. */
enum { LOOSE, SHIFT, SUM, PRODUCT };
typedef struct infix {
    const char *text; /* " + "; NULL: it does not */
    int binds;
} infix;
infix expression_infix(rg_op code);

/* "n * m[i] + 1". false: it is more than an expression; *out then holds a part of it */
bool expression_write(str *out, const ir_value *v);

#endif

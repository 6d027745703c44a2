/* What a launch did wrong, in words. SPDX-License-Identifier: Apache-2.0 */
#ifndef RT_EXPLAIN_H
#define RT_EXPLAIN_H

#include "ir/ir.h"
#include "rt/cpu/cpu.h"

/* Adds "FILE:LINE: ..." for the kernel that the report is of; every device says it like this. RG_OK: nothing. */
rg_status rt_explain(const rt_report *report, const ir_fn *fn, str *error);

#endif

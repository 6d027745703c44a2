/* What a launch did wrong, in words. SPDX-License-Identifier: Apache-2.0 */
#ifndef RT_EXPLAIN_H
#define RT_EXPLAIN_H

#include "base/base.h"
#include "rt/cpu/cpu.h"

/* Adds "FILE:LINE: ..." for the kernel that the report is of, which stands in `file` (may be NULL); every device says it
 * like this. RG_OK: nothing. */
rg_status rt_explain(const rt_report *report, const char *file, str *error);

#endif

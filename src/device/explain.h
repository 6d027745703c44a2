/* What a launch did wrong, in words. SPDX-License-Identifier: Apache-2.0 */
#ifndef RT_EXPLAIN_H
#define RT_EXPLAIN_H

#include "codegen/llvm/code.h"
#include "rt/cpu/cpu.h"
#include "rt/gpu/launch.h"

/* Adds "FILE:LINE: ..." for the kernel that the report is of, which stands in `file` (may be NULL); every device says it
 * like this. RG_OK: nothing. */
rg_status rt_explain(const rt_report *report, const char *file, str *error);
/* The same of code in warps, behind the program's label (NULL: without). `place` is the one that the report names; NULL: none. */
rg_status rt_explain_gpu(const rt_gpu_report *from, const ll_place *place, const char *label, const char *file, str *error);
/* Prints that a GPU's buffer had no room for so many prints; 0: nothing. */
void rt_explain_lost(const rt_sink *sink, uint64_t lost);

#endif

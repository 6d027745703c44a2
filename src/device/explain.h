/* What a launch did wrong, in words. SPDX-License-Identifier: Apache-2.0 */
#ifndef RT_EXPLAIN_H
#define RT_EXPLAIN_H

#include "codegen/llvm/code.h"
#include "rt/cpu/cpu.h"
#include "rt/gpu/launch.h"

enum { RT_PRINT_CELLS = 1 << 16 }; /* that a GPU's buffer of prints has room for */

/* Adds "FILE:LINE: ..." for the kernel that the report is of, which stands in `file` (may be NULL); every device says it
 * like this. RG_OK: nothing. */
rg_status rt_explain(const rt_report *report, const char *file, str *error);
/* The same of code in warps, behind the program's label (NULL: without). `place` is the one that the report names; NULL: none. */
rg_status rt_explain_gpu(const rt_gpu_report *from, const ll_place *place, const char *label, const char *file, str *error);
/* What a GPU has printed, when nothing runs that prints; the buffer (NULL: there is none) is empty then. A print names its place in a
 * program: NULL, if that is no more. */
typedef const ll_place *rt_place_finder(void *user, uint32_t program, uint32_t place);
void rt_explain_prints(const rt_sink *sink, rt_gpu_prints *prints, rt_place_finder *find, void *user);
/* Prints that the buffer had no room for, so many; 0: nothing. */
void rt_explain_lost(const rt_sink *sink, uint64_t lost);

#endif

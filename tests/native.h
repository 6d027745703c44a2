/* The same kernels as the C compiler has them. SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_NATIVE_H
#define TESTS_NATIVE_H

#include "checks.h"

/* Compiles the files ($CC or cc, with the flags that give C Retrograd's meaning) and loads them;
 * NULL where that fails. */
void *native_load(char *const *files, int count);
void native_close(void *library); /* takes NULL */
/* Runs the forward kernel one thread at a time: what C leaves is then the same, bit by bit. Only for
 * subjects that have not run. */
rg_status native_run(subject *s, const inputs *in);
/* Calls a kernel on copies of the inputs and compares what it leaves with the subject's arrays, bit
 * by bit, or (loose) as check_near does. */
bool native_compare(void *library, const char *kernel, const inputs *in, const subject *s,
                    bool loose, report *r);

#endif

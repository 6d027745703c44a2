/* The kernels of C files, in every form. SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_EACH_KERNEL_H
#define TESTS_EACH_KERNEL_H

#include "pipeline/pipeline.h"

typedef struct each_kernel {
    void (*run)(void *user, const ir_fn *source, rg_form form, const char *path); /* source: from pipeline_source; path: its file */
    void *user;
    int every; /* one kernel of so many; 0: all */
    int kernels, failures; /* that were found; what the front end refuses, which is printed */
} each_kernel;

/* path: a file *.c, or a folder whose files *.c are taken */
void each_kernel_of(each_kernel *e, const char *path);

#endif

/* The C front end: C source with OpenMP loops → IR, through libclang and the builder.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_C_FRONT_C_H
#define FRONT_C_FRONT_C_H

#include "base/base.h"
#include "ir/ir.h"

typedef struct front_c_source {
    const char *path;   /* shown in diagnostics; read if text is {NULL, 0} */
    rg_str text;
    const char *kernel; /* the one to build; NULL: every kernel of the file */
    const rg_str *include_paths;
    size_t include_count;
    const rg_str *defines; /* "NAME" or "NAME=VALUE" */
    size_t define_count;
} front_c_source;

/* Compiles. NULL after errors, which are in diags; the caller frees the module with ir_module_free.
 * Functions of the file that are neither wanted nor called by what is wanted raise no errors. */
ir_module *front_c_compile(const front_c_source *source, diag_list *diags);

/* Lists the kernels of a file in its order: the externally linked functions that it defines, but main.
 * The names live in `a`. false after errors. */
RG_MUST_CHECK bool front_c_kernels(const front_c_source *source, arena *a, rg_str **names,
                                   size_t *count, diag_list *diags);

#endif

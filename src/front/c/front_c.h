/* The C front end: C source with OpenMP loops → IR, through libclang and the builder.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_C_FRONT_C_H
#define FRONT_C_FRONT_C_H

#include "base/base.h"
#include "ir/ir.h"

/* Zero-terminated strings throughout; all belong to the caller. */
typedef struct front_c_source {
    const char *path; /* shown in diagnostics; read if text is {NULL, 0} */
    rg_str text;
    const char *kernel; /* the one to build; NULL: every kernel of the file */
    uint32_t include_count, define_count;
    const char *const *include_paths;
    const char *const *defines; /* "NAME" or "NAME=VALUE" */
} front_c_source;

typedef struct front_c_names {
    uint32_t count;
    char **names; /* in the order of the file */
} front_c_names;

/* Compiles. NULL after errors, which are in diags; the caller frees the module with ir_module_free.
 * Functions of the file that are neither wanted nor called by what is wanted raise no errors. */
ir_module *front_c_compile(const front_c_source *source, diag_list *diags);

/* The same for a library: each function of the file with external linkage, which takes and gives scalars or structs of
 * them, becomes an IR function of its name. Calls of functions named ..._slow stay calls. */
ir_module *front_c_library(const front_c_source *source, diag_list *diags);

/* Lists the kernels of a file: the externally linked functions that it defines, but main. false
 * after errors. The caller frees the names. */
RG_MUST_CHECK bool front_c_list(const front_c_source *source, front_c_names *names,
                                diag_list *diags);
void front_c_names_free(front_c_names *names);

#endif

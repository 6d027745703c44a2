/* The C front end: C source with OpenMP loops → IR, through libclang and the builder.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_C_FRONT_C_H
#define FRONT_C_FRONT_C_H

#include "base/base.h"
#include "front/seen.h"
#include "ir/ir.h"

/* A further file of a source. */
typedef struct front_c_file {
    const char *path; /* if text is {NULL, 0}: read when it is needed; a folder: all its .c files */
    rg_str text;
} front_c_file;

/* Zero-terminated strings throughout; all belong to the caller. */
typedef struct front_c_source {
    const char *path; /* shown in diagnostics; read if text is {NULL, 0} */
    rg_str text;
    const char *kernel; /* the one to build, of whatever linkage; NULL: every kernel of the file */
    uint32_t include_count, define_count;
    const char *const *include_paths;
    const char *const *defines; /* "NAME" or "NAME=VALUE" */
    uint32_t option_count;
    const char *const *options; /* words of a C compiler's command line; those without effect are left out */
    uint32_t file_count;
    const front_c_file *files; /* where bodies and tables are that the source does not define */
    bool *unknown;              /* NULL, or set where there is no function `kernel` */
    bool on_disk;               /* the path is one: compile_commands.json may have more options for it */
    seen_list *seen;            /* NULL, or told what else the result depends on, if there is one */
} front_c_source;

typedef struct front_c_names {
    uint32_t count, statics; /* of external linkage, but main; static ones of the main file */
    const char **names;      /* those of external linkage, then the static ones, each in the order of the file */
} front_c_names;

/* Compiles. NULL after errors, which are in diags; the caller frees the module with ir_module_free.
 * What is neither wanted nor reached by what is wanted raises no errors, whatever it holds. */
ir_module *front_c_compile(const front_c_source *source, diag_list *diags);

/* The same for a library: each function of the file with external linkage, which takes and gives scalars or structs of
 * them, becomes an IR function of its name. Calls of functions named ..._slow stay calls. */
ir_module *front_c_library(const front_c_source *source, diag_list *diags);

/* Lists the kernels of a file: the functions that it defines. false if the file cannot be read. The names are in mem_scratch(). */
RG_MUST_CHECK bool front_c_list(const front_c_source *source, front_c_names *names,
                                diag_list *diags);

#endif

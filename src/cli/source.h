/* Source files as IR, for the subcommands that look at it. SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_SOURCE_H
#define CLI_SOURCE_H

#include "cli/cli.h"
#include "pipeline/pipeline.h"

typedef struct cli_ir {
    const char *path;
    ir_module *module;
    ir_fn *kernel; /* as the front end made it */
    bool contraction, unknown; /* unknown: there is no function of the kernel's name */
    diag_list diags;
} cli_ir;

/* A file with one kernel, or with all (NULL). false: the diagnostics say why. */
bool cli_compile_module(cli_ir *out, const cli_source *source, const char *path, const char *kernel);
/* The kernels of a file, whether they compile or not. false: it cannot be read or parsed. */
typedef vec(const char *) cli_names;
bool cli_find_names(const cli_source *source, const char *path, cli_names *names);
/* The words must be FILE and KERNEL, and no others unless there may be `more`. */
void cli_names_kernel(const cli_command *command, const cli_source *source, const cli_words *words, bool more);
/* The type of a kernel's parameter with its extents: "f32[n,m + 1]". */
void cli_add_type(str *out, const ir_fn *fn, uint32_t param);
/* Ends the process where it fails. */
cli_ir cli_compile(const cli_source *source, const char *path, const char *kernel);
/* What the named parameters of fn leave of the planes (pipeline_options.planes): none. */
uint8_t *cli_planes(const ir_fn *fn, const cli_words *constant);
#define CLI_CONSTANT_HELP "  --constant NAME   has no adjoint and no tangent; may be given again\n"
/* What --device and --target say together. */
typedef struct cli_machine {
    const char *device; /* its name */
    const target *target; /* NULL: this machine's CPU */
    const char *gpu;    /* "sm_90", "gfx942": a GPU's code; NULL: not that */
    const char *ending; /* then, of the names of files with it: "ptx" */
} cli_machine;
cli_machine cli_find_machine(const cli_command *command, const cli_words *device, const cli_words *target);
_Noreturn void cli_fail_diags(const cli_ir *ir);
bool cli_find_form(const char *name, rg_form *form);

#endif

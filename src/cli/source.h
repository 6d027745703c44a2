/* Source files as IR, for the subcommands that look at it. SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_SOURCE_H
#define CLI_SOURCE_H

#include "cli/cli.h"
#include "pipeline.h"

typedef struct cli_ir {
    const char *path;
    ir_module *module;
    ir_fn *kernel; /* as the front end made it */
    bool contraction;
    diag_list diags;
} cli_ir;

/* CLI_OK, or the exit code after the diagnostics were shown; free in any case. */
int cli_compile(cli_ir *out, const cli_source *source, const char *path, const char *kernel);
void cli_ir_free(cli_ir *ir);
/* What the named parameters of fn leave of the planes (pipeline_options.planes), for mem_free:
 * none. NULL, after a message, where there is no such parameter. */
uint8_t *cli_planes(const ir_fn *fn, const cli_words *constant);
#define CLI_CONSTANT_HELP "  --constant NAME   has no adjoint and no tangent; may be given again\n"
/* Whether the last device named (none: the CPU) runs threads in warps. CLI_OK, or the exit code after a message. */
int cli_warps(const cli_words *device, bool *warps);
int cli_fail_diags(const cli_ir *ir);
bool cli_find_form(const char *name, pipeline_form *form);

#endif

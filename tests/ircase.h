/* Cases in IR text: the arguments and what they must become stand in comments at the top.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   ; arg n = 3                     a scalar parameter
 *   ; arg x[2,3] = 1 2 3 4 5 6      an array and its elements; missing ones repeat the last
 *   ; arg x.adj = 1                 another plane: adj, tan, adj.tan; of a scalar too
 *   ; want x = 2 4 6                after the run (.adj and so on as well; `return` is the result)
 *   ; tolerance 1e-12               relative; 0 unless told
 *   ; fault TEXT                    the run fails, the message holds TEXT
 *   ; print TEXT                    what the run prints (\n for an end of line)
 *   ; budget BYTES                  of the tape
 *   ; stage ad                      source (unless told), ad, tape, slots
 *   ; simt 1                        groups are warps
 *   ; count PASS OP N               after PASS (or `simplify`) the kernel holds N ops of this name
 *
 * The last kernel of the file is run. */
#ifndef TESTS_IRCASE_H
#define TESTS_IRCASE_H

#include "rt/interp/interp.h"

typedef struct ircase {
    const char *path;
    str text, printed;
    diag_list diags;
    ir_module *module;
    ir_fn *fn;
    ir_stage stage;
    rt_arg *args; /* parameters, then results */
    uint32_t nargs;
    double tolerance;
    int64_t budget;
    rt_fault fault;
    interp_report report;
} ircase;

/* false, with a message on stderr, if the file cannot be read or parsed, or is not valid */
bool ircase_open(ircase *c, const char *path);
void ircase_close(ircase *c);
/* sets arguments as the comments say; false, with a message, if they cannot be read */
bool ircase_arguments(ircase *c);
/* sets arguments as the comments say and interprets the kernel as it is now */
void ircase_run(ircase *c);
/* whether all that the comments want holds after a run; complains on stderr, naming `when` */
bool ircase_check(ircase *c, const char *when);
/* calls each(file) for every .rg file of a folder, sorted; the sum of the results */
int ircase_each(const char *folder, int (*each)(const char *path));
/* the next comment line that starts with `word`: what follows the word, or NULL. *at begins at 0.
 */
const char *ircase_line(const ircase *c, const char *word, size_t *at, size_t *len);

#endif

/* The C header of a kernel that was compiled ahead of time. SPDX-License-Identifier: Apache-2.0 */
#ifndef AHEAD_HEADER_H
#define AHEAD_HEADER_H

#include "pipeline/pipeline.h"

/* One function of the object file. */
typedef struct header_entry {
    const char *symbol; /* in the object */
    const char *suffix; /* of the function that users call: KERNEL_suffix */
    unsigned planes;    /* bit p: it takes plane p of floats beside the primal */
    const char *doc;
} header_entry;

/* `kernel` came from pipeline_source. *made gets the name of the object's rt_made, in which the header's text is counted: a
 * header and an object that do not belong together do not link. false: an extent's expression has no counterpart in C
 * (*error). */
bool header_write(str *out, const ir_fn *kernel, const header_entry *entries, size_t n, str *made, str *error);

#endif

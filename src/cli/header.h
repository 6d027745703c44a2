/* The C header of a kernel that was compiled ahead of time. SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HEADER_H
#define CLI_HEADER_H

#include "pipeline/pipeline.h"

/* One function of the object file. */
typedef struct header_entry {
    const char *symbol; /* in the object */
    const char *suffix; /* of the function that users call: KERNEL_suffix */
    bool adjoints;      /* takes them */
    const char *doc;
} header_entry;

/* `kernel` came from pipeline_source. false: an extent's expression has no counterpart in C
 * (*error). */
bool header_write(str *out, const ir_fn *kernel, const header_entry *entries, size_t n, str *error);

#endif

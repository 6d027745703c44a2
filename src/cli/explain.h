/* The parts of rgc explain. SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_EXPLAIN_H
#define CLI_EXPLAIN_H

#include "base/base.h"
#include "ir/ir.h"

/* -- the listing: lines of source with notes below them --------------------------------------------------------------- */

typedef struct listing listing;
listing *listing_new(void);
/* The files that the places' numbers mean; may be said again when there are more. */
void listing_files(listing *l, const ir_module *m);
/* Line and notes of all files that the kernel's ops come from are shown. */
void listing_cover(listing *l, ir_loc loc);
/* Notes that begin with a loop's head stand first; what a line says already is dropped. */
void listing_note(listing *l, ir_loc loc, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same, but one note for all that begins so on one line: "START one, two". */
void listing_note_item(listing *l, ir_loc loc, const char *start, const char *item);
void listing_print(listing *l, uint32_t first_file);

/* -- what there is to say ---------------------------------------------------------------------------------------------- */

/* every addition to an adjoint in a gradient: plain, a per-thread sum, or atomic */
void explain_adds(const ir_fn *fn, listing *to);
/* how many bytes the task's threads record that begin with this tape_begin */
void explain_count(const ir_op *begin, listing *to);
/* of a kernel as it was simplified: loops that could be parallel, doubles among floats; on GPUs, doubles */
void explain_advice(const ir_fn *kernel, bool gpu, listing *to);

#endif

/* What gpu_bench measures, part by part. SPDX-License-Identifier: Apache-2.0
 *
 * Each prints its table and returns whether all results were right; times are not judged. */
#ifndef GPU_PARTS_H
#define GPU_PARTS_H

#include "run.h"

/* Recurrences beside the probes' best times. */
bool part_probes(const settings *s);
/* Six kernels beside their adjoints by hand. */
bool part_adjoints(const settings *s);
/* Kernels that nobody tuned the compiler for, the same way. */
bool part_unseen(const settings *s);
/* The tape of a few long threads among many short ones, by budgets. */
bool part_tape(const settings *s);
/* What a launch costs. */
bool part_launches(const settings *s);
/* Copies between host and device beside the driver's own. */
bool part_transfers(const settings *s);
/* Ten gradients in a graph beside the same one by one, also with trip counts that it was not recorded with. */
bool part_graph(const settings *s);
/* Deterministic code beside the usual. */
bool part_fixed(const settings *s);
/* From source to the first gradient. */
bool part_compile(const settings *s);

#endif

/* Arrays that a task reads and somebody overwrites, kept whole instead of what each thread read of them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef AD_SNAPSHOT_H
#define AD_SNAPSHOT_H

#include "analysis/effects.h"

typedef struct ad_snapshots {
    ir_fn *fn;
    vec(ir_op *) kept, restored; /* snapshots and restores that there are */
    ir_footprints footprints;
} ad_snapshots;

ad_snapshots ad_snapshots_find(ir_fn *fn, arena *scratch);

/* Whether the load, in the body of a task that records, reads what its array held before the task, and a
 * snapshot of that can be restored. */
bool ad_can_snapshot(ad_snapshots *s, const ir_op *task, const ir_op *load);
/* Whether there is a snapshot of the array as the task finds it. */
bool ad_has_snapshot(ad_snapshots *s, const ir_op *task, const ir_value *array);
/* How many elements of the array there are for each thread of the task, if there are many threads; 0: nobody
 * knows, or ever more. */
double ad_elements_per_thread(const ir_op *task, const ir_value *array);
/* The temp that holds the array as the task found it, in the parallel that rewinds the task. */
ir_value *ad_snapshot_in(ad_snapshots *s, ir_op *task, ir_op *rewinding, ir_value *array);

#endif

/* Running the body of a parallel loop again, for the operands of some of its updates. SPDX-License-Identifier: Apache-2.0
 *
 * A sweep holds the slice of the body that leads to what is wanted: values, and the control around them. It
 * changes nothing that the kernel can see. What the slice reads and the loop writes it finds as the first run
 * found it:
 *
 *   a copy of the array, made before the loop. The writes that may reach what the slice reads go to the copy, in
 *   the order of the thread. No thread of a race-free loop reads what another one writes, so each finds its own
 *   writes, or what was there before.
 *
 *   a record of the value, where other threads can reach the element: what an atomic returned, and what is read
 *   of an element that is updated atomically. The loop stores it in a buffer that has an element for each thread.
 *   Such a value in a loop of the thread is refused (E0512): nobody knows how many there will be. */
#ifndef AD_SWEEP_H
#define AD_SWEEP_H

#include "diff/reduce.h"
#include "analysis/writes.h"

enum { AD_SWEEP_ROUNDS = 2 };

/* an array that the slice reads or writes, or a buffer picked of such */
typedef struct ad_sweep_array {
    ir_value *array;
    uint32_t reads; /* a bit for each plane that is read */
    bool copied;
    ir_value *copy[AD_SWEEP_ROUNDS];
} ad_sweep_array;

typedef struct ad_sweep_record {
    ir_value *value, *kept;
} ad_sweep_record;

typedef struct ad_sweep {
    ir_fn *fn;
    ir_op *task; /* of fn */
    diag_list *diags;
    bool failed;
    uint32_t room;  /* ids of the task's values are below it */
    bool *needed;   /* by id */
    map kept_ops;   /* regions that are entered, writes that go to copies, wanted updates: op -> op */
    map to_copies;  /* writes that go to copies */
    map clones;     /* of the last run: wanted update -> its clone */
    ir_value **now; /* of the last run, by id */
    vec(ir_value *) todo;
    vec(const ir_op *) updates;
    vec(ad_sweep_array) arrays;
    vec(ad_sweep_record) records;
    const ir_op *for_update; /* whose operands are being looked at */
} ad_sweep;

void ad_sweep_open(ad_sweep *s, ir_fn *fn, ir_op *task, diag_list *diags);
void ad_sweep_close(void *sweep);

/* what is wanted: an update's subscripts and value, and one more value (its tangent), or NULL */
void ad_sweep_want(ad_sweep *s, const ir_op *update, ir_value *also);
/* Finds the slice. false: a value cannot be had again, which was said. */
bool ad_sweep_solve(ad_sweep *s);
/* Makes the copies for so many rounds where the builder stands, before the task. */
void ad_sweep_copy(ad_sweep *s, rg_builder *b, unsigned rounds);
/* Has the task keep the records. */
void ad_sweep_record_all(ad_sweep *s);
/* Appends the slice to the parallel loop over the task's domain that is open in b, with these indices. */
void ad_sweep_run(ad_sweep *s, rg_builder *b, const ad_domain *d, ir_value *const *index, unsigned round);
/* The clone of a wanted update: its operands are the sweep's. It stands there until it is settled, which removes it
 * or, where the slice reads its array, has it update the copy. */
ir_op *ad_sweep_clone(ad_sweep *s, const ir_op *update);
void ad_sweep_settle(ad_sweep *s, const ir_op *update);
/* what stands for a value of the body in the last run */
ir_value *ad_sweep_now(ad_sweep *s, ir_value *value);

#endif

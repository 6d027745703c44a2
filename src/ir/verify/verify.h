/* The verifier's files among themselves. SPDX-License-Identifier: Apache-2.0 */
#ifndef IR_VERIFY_H
#define IR_VERIFY_H

#include "ir/pattern.h"

enum {
    E_STRUCTURE = 201, /* links, numbers, parents */
    E_TERMINATOR,      /* a region that does not end with its only yield */
    E_SCOPE,           /* an operand that is not visible */
    E_OPERAND,         /* number or type of operands */
    E_RESULT,          /* number or type of results */
    E_ATTRIBUTE,       /* attributes, flags, regions of the op itself */
    E_YIELD,           /* a yield or exit_if that does not match what it leaves to */
    E_EXIT,            /* where an exit_if stands, or none in a loop */
    E_LEVEL,           /* what belongs to kernel level only */
    E_RECALL,          /* a recall of what was not recorded */
    E_LINEAR,          /* a local array used after it was consumed, or consumed twice */
    E_STAGE,           /* an op or type that this stage has not */
    E_CALL,            /* calls */
    E_SIGNATURE,       /* parameters, results, shape of a function */
    E_LANES,           /* values with lanes */
    E_ORDER            /* tasks that do not take their frames back last in, first out */
};

typedef struct verifier {
    const ir_module *module;
    const ir_fn *fn;
    ir_stage stage;
    const char *after;
    diag_list *diags;
    arena *scratch;           /* while the function is looked at */
    const ir_value **visible; /* by id: the value, while uses may name it */
    bool *left;               /* by id: was defined, its region is closed */
    uint8_t *consumed;        /* by id: local arrays */
    vec(uint32_t) trail;      /* ids in the order in which they were consumed */
    map closed;               /* regions that were left: each one itself, or a region around it (verify_recall.c) */
    ir_pattern patterns[RG_OP_COUNT]; /* those read so far */
    unsigned parallels;       /* parallel regions around */
    unsigned segments;        /* segments around */
    unsigned lanes;           /* of the values of this parallel loop, or outside of these; 0: none yet */
} verifier;

/* op may be NULL: the function as a whole. Always false. */
bool verify_error(verifier *v, const ir_op *op, unsigned number, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* verify_op.c: operands, results, attributes and regions of one op, and how its regions leave */
bool verify_op(verifier *v, const ir_op *op);
bool verify_arg(verifier *v, const ir_op *op, uint32_t i, ir_type t);
bool verify_result(verifier *v, const ir_op *op, uint32_t i, ir_type t);
/* verify_control.c: serial control */
bool verify_control(verifier *v, const ir_op *op);
/* verify_segments.c: a segment; an op of the kernel level that stands in none */
bool verify_segment(verifier *v, const ir_op *op);
bool verify_between_tasks(verifier *v, const ir_op *op);
/* verify_lanes.c: the width of a value's lanes; of all operands; accesses of a buffer of this rank, elements of arrays
 * (`value`: one is put in), and the ops between lanes and scalars */
bool verify_value_lanes(verifier *v, const ir_value *value, const ir_op *op);
bool verify_arg_lanes(verifier *v, const ir_op *op);
bool verify_access_lanes(verifier *v, const ir_op *op, uint32_t rank);
bool verify_element_lanes(verifier *v, const ir_op *op, bool value);
bool verify_lane_op(verifier *v, const ir_op *op);
/* verify_recall.c: a recall; a region that all recalls behind it leave */
bool verify_recall(verifier *v, const ir_op *recall);
void verify_region_closed(verifier *v, ir_region *r);
/* verify_tapes.c: the order in which the function's tasks are rewound */
bool verify_tapes(verifier *v);
/* verify_linear.c: the local arrays of a whole region */
void verify_linear(verifier *v, const ir_region *r);

#endif

/* One call of a kernel in programs of XLA. SPDX-License-Identifier: Apache-2.0
 *
 * Python's part says once which operands and results the memory of each parameter is; programs name the call by a number. A launch needs no
 * Python and no interpreter lock. A call lives as long as the Python object that made it and the programs that use it. */
#ifndef CORE_XLA_CALL_H
#define CORE_XLA_CALL_H

#include "kernel.h"
#include "xla.h"

/* Which operand a plane's memory is, or which result: of a result that is no operand too the contents are zeros before the launch. */
typedef struct place {
    int16_t operand, result; /* -1: none */
} place;

typedef struct part {
    place at[1 + PLANES]; /* the values, then as plane_bits */
    bool constant;        /* a scalar that is the same in every launch */
    int64_t integer;
    double number;
} part;

/* An rg_args, used by one launch at a time and kept for the next one. */
typedef struct arguments {
    struct arguments *next;
    int gpu;
    rg_args *args;
    bool complete; /* constants are set, and scalars that follow from shapes */
    struct {
        rg_array *array; /* lent; of a scalar: its companion */
        rg_array *read;  /* a scalar in a GPU's memory */
    } own[];
} arguments;

typedef struct xla_call {
    struct xla_call *next;
    uint64_t id, sign; /* sign: what the call is made of; a program that another process compiled may name another call */
    unsigned users;
    core_shared *module;
    rg_kernel *kernel;
    rg_form form;
    uint32_t directions[PLANES];
    uint32_t nparams;
    rg_param *params;
    pthread_mutex_t lock; /* of: */
    arguments *free;
    part parts[];
} xla_call;

int core_add_xla_calls(PyObject *module);
/* The call of that number, used once more; NULL: there is none. */
xla_call *xla_call_find(uint64_t id, uint64_t sign);
void xla_call_drop(xla_call *c);
/* In a queue of GPU number `gpu`, or of the CPU (-1). After a failure *text is the message. */
rg_status xla_call_launch(xla_call *c, rg_queue *queue, int gpu, const xla_buffers *operands, const xla_buffers *results, const char **text);

#endif

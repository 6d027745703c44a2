/* Kernels: what their parameters are to Python, and the arguments of calls. SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_KERNEL_H
#define CORE_KERNEL_H

#include "core.h"

/* A struct and an array of structs are several parameters of the kernel. A struct with arrays is as many inputs. The last two kinds
 * are memory. */
typedef enum input_kind { INPUT_SCALAR, INPUT_STRUCT, INPUT_ARRAY, INPUT_RECORDS } input_kind;

/* What a call gives. */
typedef struct input {
    PyObject *name;     /* interned */
    PyObject *argument; /* the same, or the struct whose field it is; interned */
    uint32_t parts;     /* inputs of this argument, at the first; 0: not the first */
    input_kind kind;
    uint32_t index, count; /* of the kernel's parameters */
    bool extent;           /* may be left out: shapes of arrays tell */
    bool apart;            /* a field of a struct with arrays */
} input;

enum { PLANES = 3 }; /* adjoint, tangent, the adjoint's tangent */
extern const unsigned plane_bits[PLANES];

/* What a parameter is set to in an rg_args. */
typedef struct slot {
    rg_array *array; /* of an array of others, lent: made here. Of a scalar: its companion. NULL: none made */
    rg_array *own;   /* an array of the library that is set; the rg_args has a reference */
    core_view view;  /* what `array` lends, without its owner */
    PyObject *records; /* dtype that was compared with the kernel's struct */
} slot;

/* An rg_args, used by one call at a time and kept for the next one: what stays the same is not set again. */
typedef struct frame {
    struct frame *next, *before, *after; /* of its kernel, free; of all frames */
    rg_args *args;
    core_device *device;
    uint32_t count;
    bool busy;
    slot slots[];
} frame;

/* A module of the library, which ends with its last user: its Python object, or calls of its kernels in programs of others. */
typedef struct core_shared {
    rg_module *module;
    unsigned users;
} core_shared;

/* A Module that owns it. */
PyObject *core_module_own(rg_module *module);
/* Without the interpreter lock, too. */
core_shared *core_share(core_shared *shared);
void core_unshare(core_shared *shared);

typedef struct core_module {
    PyObject_HEAD
    core_shared *shared;
} core_module;

typedef struct core_kernel {
    PyObject_HEAD
    core_module *module;
    rg_kernel *kernel;
    uint32_t nparams, ninputs, nresults;
    rg_param *params; /* the results last */
    input *inputs;
    frame *free;
} core_kernel;

/* A plane that is the caller's memory during a call, or a copy of a seed. */
typedef struct attachment {
    rg_array *array;
    unsigned plane;
    void *copy;
} attachment;

typedef struct call {
    core_kernel *kernel;
    core_queue *queue;
    frame *frame;
    PyObject **values;         /* by input; NULL: left out. Borrowed */
    core_view *views;          /* by input; dtype and owner of arrays of others */
    PyObject *planes[PLANES];  /* a dict by name, or a tuple by parameter with None for what is not there; NULL: none */
    PyObject *seeds;           /* a tuple by parameter: adjoints in the host's memory, which the launch gets copies of; NULL: none */
    PyObject *results;         /* a tuple of arrays for them; NULL: they are returned */
    bool with_gradient;        /* the caller sees to gradients of the arrays */
    core_view seen;      /* of an array that a derivative belongs to */
    attachment *attached;
    uint32_t nattached;
    void *stream; /* of whoever made the arrays on a GPU */
    bool follows; /* one is known */
    bool waits;   /* until the launch has ended: work of others would not come behind it */
} call;

/* Values by argument, at the first input of each, from positional and keyword arguments. `partial`: any may be missing. */
int core_bind_arguments(core_kernel *k, PyObject *args, PyObject *kw, bool partial, PyObject **values);
/* Values by input, and behind them, to be released, what owns those that were taken out of structs. */
int core_bind(core_kernel *k, PyObject *args, PyObject *kw, bool partial, PyObject **values);
/* Sets c->values and c->planes; c->kernel is set. call_end in any case. */
int core_call_begin(call *c);
void core_call_end(call *c);
/* The same with a frame of its own, in which what is left out is not set. */
int core_call_begin_alone(call *c);
void core_call_end_alone(call *c);
/* A launch: one value for each input, views of those that are known already (all others zero but for .cuda), which it releases;
 * `how`: planes, results, with_gradient. */
PyObject *core_kernel_run(core_kernel *k, rg_form form, PyObject **values, core_view *views, const call *how);
/* An array of the library ends: frames that nobody uses let it go. */
void core_frames_forget(rg_array *array);
void core_frame_free(frame *f);
/* The memory of an array of others as s->array: made, or given another address. 1: it is another rg_array than before. */
int core_lend(call *c, slot *s, const rg_param *p, const core_view *view);

#endif

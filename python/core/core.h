/* The extension module retrograd._core: the C API as Python objects. SPDX-License-Identifier: Apache-2.0
 *
 * Only the limited API of CPython 3.10 is used, so one build serves that version and newer ones. Calls that wait, compile or
 * launch release the interpreter lock. Every type here is small; what needs no speed is in Python, in ../retrograd.
 *
 * Conventions: functions that return PyObject * or int follow Python's (NULL or -1: an exception is set). core_fail raises the
 * exception of a status. */
#ifndef CORE_H
#define CORE_H

#define Py_LIMITED_API 0x030A0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <retrograd/retrograd.h>

#include <pthread.h>

/* -- errors (errors.c) --------------------------------------------------------------------------------------------- */

int core_add_errors(PyObject *module);
/* Raises the exception of the status, with the library's message. Returns NULL. */
PyObject *core_fail(rg_status status);
/* A text of the library as a str, which names what Python has where the text names functions of C. */
PyObject *core_text(const char *text, size_t length);
/* The class of a status, borrowed. */
PyObject *core_error_class(rg_status status);
extern PyObject *core_warning; /* the class of all warnings */
/* A module's log: keeps what the library warns of, on any thread. */
void core_hear(void *user, const rg_event *event);
/* Hands that to Python's warnings; -1 and an exception if they are errors there. */
int core_warn(void);

/* -- devices (device.c) --------------------------------------------------------------------------------------------- */

typedef struct core_device {
    PyObject_HEAD
    rg_device *device;
    PyObject *name; /* "cpu", "cuda:1" */
    bool own_memory;
    bool cuda;
    bool sought;               /* for `twin` */
    struct core_device *twin; /* "cuda" on the same GPU, which may reach its memory; NULL: there is none */
} core_device;

extern PyTypeObject *core_device_type;
int core_add_devices(PyObject *module);
/* The opened device of that name; one object for each name. Borrowed. */
core_device *core_device_of(PyObject *name);
/* Its twin, kept when it was found. Borrowed; NULL without an exception: there is none, or it cannot be opened. */
core_device *core_device_twin(core_device *device);

/* -- queues (queue.c) ---------------------------------------------------------------------------------------------- */

/* Of an object that ended while another thread used its queue: destroyed when that call ends. */
typedef struct discarded {
    struct discarded *next;
    void (*destroy)(void *handle);
    void *handle;
} discarded;

typedef struct core_queue {
    PyObject_HEAD
    rg_queue *queue;
    core_device *device;
    void *home, *stream; /* cuda: where it works when nobody else's arrays are used, and where now */
    bool usual;          /* a thread's own: it may stay in the stream of whoever made the arguments */
    struct core_queue *next; /* usual: one for another stream; a reference */
    unsigned depth; /* calls of it under way, all on thread `user` */
    unsigned long user;
    bool recording; /* a tape or a graph records what is done now: arrays have to be the library's own */
    bool deferring; /* it is a graph: nothing is done yet */
    discarded *discarded;
    pthread_mutex_t printing;
    char *printed; /* by kernels, not written to sys.stdout yet */
    size_t printed_length, printed_room;
    bool print_lost; /* for lack of memory */
} core_queue;

extern PyTypeObject *core_queue_type;
int core_add_queues(PyObject *module);
/* The queue that this thread uses for the device: the innermost `with queue:` of that device, else one of the thread's own.
 * Borrowed, and alive as long as the thread. */
core_queue *core_queue_of(core_device *device);
/* ... for arrays in the host's memory: of the innermost `with queue:` whose device works there, else of "cpu". */
core_queue *core_host_queue(void);
/* On cuda: a usual queue for launches on the memory of others alone, in their stream, NULL: the legacy default stream. It is not ordered
 * with the usual queue's other work. Borrowed. */
core_queue *core_queue_in(core_queue *q, void *stream);
/* On cuda: what follows comes behind all work that a stream of others has now; NULL: the legacy default stream. A usual queue then
 * works there. 1: the work in that stream comes behind the queue's, too; 0: it does not; -1: an exception is set. */
int core_queue_follow(core_queue *q, void *stream);
/* What this thread does from now on is to be recorded in the queue, or no longer. -1 and an exception if it cannot be noted. */
int core_queue_record(core_queue *q);
void core_queue_stop(core_queue *q);
/* Where this thread records; NULL: nowhere. Borrowed. */
core_queue *core_queue_recording(void);
/* Brackets calls that use the queue without the interpreter lock. begin: -1 and an exception if another thread uses it. */
int core_queue_begin(core_queue *q);
void core_queue_end(core_queue *q);
/* After a call: writes to sys.stdout what kernels printed; raises what became of the call. Ctrl-C in it is KeyboardInterrupt. */
int core_queue_finish(core_queue *q, rg_status status);
/* destroy(handle), as soon as no other thread uses the queue. */
void core_queue_discard(core_queue *q, void (*destroy)(void *handle), void *handle);

/* -- calls that Ctrl-C ends (interrupt.c) -------------------------------------------------------------------------- */

int core_add_interrupts(void);
/* rg_launch. */
rg_status core_launch(core_queue *q, rg_args *args, rg_form form);
/* Any other call that may take long, without the interpreter lock. */
rg_status core_run(core_queue *q, rg_status (*call)(void *user), void *user);

/* -- arrays of others (foreign.c) ---------------------------------------------------------------------------------- */

/* The memory of a Python object, described by the object. */
typedef struct core_view {
    void *data;
    rg_dtype dtype;       /* RG_NONE: records of `item` bytes */
    uint32_t item;
    uint32_t rank;
    int64_t shape[RG_MAX_RANK], strides[RG_MAX_RANK]; /* in elements */
    bool read_only;
    int cuda;             /* the GPU's number; -1: host memory */
    const struct DLPackExchangeAPI *maker; /* whose current stream the contents are ready in; NULL: they are ready */
    PyObject *owner;      /* a reference that keeps the description, and for capsules the memory; may be NULL */
} core_view;

/* 1: described; 0: not an array (no exception is set); -1: an array that cannot be used. `what` names it in messages. */
int core_view_of(PyObject *object, const char *what, core_view *view);
/* The same for callers that see to its gradient, and to elements that stand negated in memory: such tensors of torch are refused otherwise. */
int core_view_with_gradient(PyObject *object, const char *what, core_view *view);
/* The stream that makers of that kind work in at the moment, on that GPU. */
int core_current_stream(const struct DLPackExchangeAPI *maker, int gpu, void **stream);
void core_view_release(core_view *view);
/* Whether it is in memory that kernels of the device use. */
bool core_is_there(const core_view *view, const core_device *device);
bool core_view_is_dense(const core_view *view);
const char *core_dtype_name(rg_dtype dtype); /* NumPy's name */
PyObject *core_shape(uint32_t rank, const int64_t *shape);

/* -- own arrays (array.c) ------------------------------------------------------------------------------------------ */

typedef struct core_array {
    PyObject_HEAD
    rg_array *array;
    unsigned plane;
    core_device *device;
    struct core_array *of; /* whose derivative plane it is; NULL: plane is RG_PRIMAL, and `array` is this object's own */
    bool lends;            /* a derivative whose memory others may use as long as this object lives */
    uint32_t lent[RG_PLANE_COUNT]; /* of its derivatives: objects that lend */
} core_array;

extern PyTypeObject *core_array_type;
int core_add_arrays(PyObject *module);
/* What one plane looks like, in its device's memory: that of several directions has an axis more. */
int core_array_view(const core_array *a, core_view *view);
/* The array, which is not a derivative of another one; NULL: it is no such object, and TypeError says what is wanted. */
rg_array *core_whole_array(PyObject *object, const char *wanted);

/* -- modules and kernels (kernel.c) -------------------------------------------------------------------------------- */

extern PyTypeObject *core_module_type, *core_kernel_type;
int core_add_kernels(PyObject *module);

/* -- launches of kernels in Python (dispatch.c) --------------------------------------------------------------------- */

int core_add_dispatch(PyObject *module);

/* -- the cache on disk (cache.c) ----------------------------------------------------------------------------------- */

int core_add_cache(PyObject *module);

/* -- front ends (build.c) ------------------------------------------------------------------------------------------ */

int core_add_builder(PyObject *module);

/* -- tapes and graphs (record.c) ----------------------------------------------------------------------------------- */

int core_add_records(PyObject *module);

/* -- programs of XLA (xla.c) --------------------------------------------------------------------------------------- */

int core_add_xla(PyObject *module);

/* -- shared -------------------------------------------------------------------------------------------------------- */

/* UTF-8 of a str, which lives as long as it; {NULL, 0} and an exception if it is none. */
rg_str core_str(PyObject *text);
/* Converters ("O&") to uint64_t and uint32_t, which refuse negative numbers; more than fits is the most that does. */
int core_count(PyObject *number, void *count);
int core_few(PyObject *number, void *count);
PyTypeObject *core_add_type(PyObject *module, PyType_Spec *spec);
/* The last lines of a dealloc of a type made from a spec. */
void core_free(PyObject *self);

#endif

/* Retrograd: kernels and their exact gradients. This is the whole public API; build.h adds the
 * builder that front ends use. SPDX-License-Identifier: Apache-2.0
 *
 *     rg_device *device;  rg_device_open(NULL, &device);
 *     rg_queue *queue;    rg_queue_create(device, NULL, &queue);
 *     rg_module *module;  rg_module_load(RG_STR("kernels.c"), NULL, &module);
 *     rg_kernel *relax;   rg_module_get_kernel(module, RG_STR("relax"), &relax);
 *     rg_args *args;      rg_args_create(queue, relax, &args);
 *     rg_args_set_int(args, RG_STR("n"), n);
 *     rg_args_set_array(args, RG_STR("x"), x);
 *     rg_launch(queue, args, RG_FORWARD);
 *     rg_launch(queue, args, RG_VJP);      the gradient: adds into the arrays' adjoints
 *
 * Rules that hold throughout:
 * - Every function that can fail returns an rg_status. After a failure rg_error_message() of the
 *   same thread says what was wrong. Outputs come last and are NULL (or zero) after a failure.
 * - Functions named create, open, load or from return a handle that the caller destroys. Functions named get
 *   lend one, which is valid as long as the object that it was taken from. Destroying NULL does nothing. A handle keeps alive what it depends
 *   on: a device, queue, module or array may be destroyed while others still use it.
 * - Descriptors and infos begin with their size: RG_DESC and RG_INIT (types.h) set it. All else zero means
 *   default. Strings and arrays in them are copied.
 * - Threads: devices, modules and kernels may be used by any threads at once. A queue, what is recorded in it, and
 *   a set of arguments belong to one thread at a time. An array may be used by several threads at once as long as none of
 *   them writes it, maps or unmaps it, makes companions or destroys it.
 * - Functions that take a queue happen in its order, behind all that was given to it before. Several queues of a
 *   device run side by side: rg_queue_wait orders them where one uses what another writes.
 * - Debug builds know every live handle: a freed or foreign one gives RG_INVALID. */
#ifndef RETROGRAD_RETROGRAD_H
#define RETROGRAD_RETROGRAD_H

#include <retrograd/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RG_VERSION "0.1.0"

/* RG_VERSION of the library that runs, which may be newer than the header. */
RG_API const char *rg_version(void);

/* -- errors ------------------------------------------------------------------------------------ */

/* What the last failed call of this thread said; "" before any. Valid until the next failure. */
RG_API const char *rg_error_message(void);
/* "RG_INVALID" and so on. */
RG_API const char *rg_status_name(rg_status status);
/* "f32" and so on; size of an element in bytes. */
RG_API const char *rg_dtype_name(rg_dtype dtype);
RG_API size_t rg_dtype_size(rg_dtype dtype);

/* -- devices ----------------------------------------------------------------------------------- */

/* Where memory of the host comes from: that of arrays, and on devices with memory of their own that of mapped copies.
 * Both functions may be called from any thread that uses the device; allocate returns NULL when there is none. */
typedef struct rg_allocator {
    void *(*allocate)(void *user, size_t bytes, size_t alignment);
    void (*release)(void *user, void *memory, size_t bytes);
    void *user;
} rg_allocator;

typedef struct rg_device_desc {
    uint32_t size;
    rg_str name;            /* "cpu", "interp", "simt", "cuda", "cuda:1" (the second GPU); empty: "cpu" where this build
                             * has it */
    rg_allocator allocator; /* zero: the C library's */
} rg_device_desc;

typedef struct rg_device_info {
    uint32_t size;
    char name[32];            /* as rg_device_desc takes it: "cuda:0" */
    char model[96];           /* as its maker calls it */
    char code[32];            /* what code is made for: "sm_90", "x86-64" */
    uint64_t memory;          /* bytes that it has, or the host's where it has none of its own */
    uint64_t memory_free;     /* of these, now; 0: unknown */
    uint32_t processors;      /* multiprocessors of a GPU, processors of the host that this process may use */
    uint32_t threads;         /* that are resident at once */
    bool own_memory;          /* arrays live there, and the host copies from and to them */
    bool asynchronous;        /* launches return before they have ended */
} rg_device_info;

/* "cpu" and "interp" share the host's memory, and a launch has ended when it returns. "cuda" is a GPU of NVIDIA's,
 * "simt" runs the GPU's code on the host, slowly, to test it; both have memory of their own: arrays live there, and the
 * host reads and writes them through rg_array_read, _write, _fill, _copy and _map.
 *
 * desc may be NULL. RG_NOT_FOUND: no such device; RG_UNSUPPORTED: this build leaves it out. RG_DEVICE: it is there in
 * name only (no GPU, no driver). */
RG_API RG_MUST_CHECK rg_status rg_device_open(const rg_device_desc *desc, rg_device **device);
RG_API void rg_device_destroy(rg_device *device);
RG_API RG_MUST_CHECK rg_status rg_device_get_info(rg_device *device, rg_device_info *info);
/* Of device number `index` among all that this process can open; RG_NOT_FOUND behind the last. */
RG_API RG_MUST_CHECK rg_status rg_device_enumerate(uint32_t index, rg_device_info *info);

/* -- queues ------------------------------------------------------------------------------------ */

typedef struct rg_queue_desc {
    uint32_t size;
    uint32_t num_threads;   /* cpu: threads that loops are divided among, up to RG_MAX_THREADS, which decides the bits of
                             * sums; 0: OMP_NUM_THREADS, else one for each processor. The process has one pool for all
                             * queues, with no more threads than processors. Others choose themselves */
    uint64_t tape_budget;   /* bytes that gradients may record; long loops run again what does not fit; 0: a quarter
                             * of the memory (of the device's own) */
    /* A stream of the caller's may be captured into a graph of his. It may be launched as long as the queue, the kernels and
     * the arrays in it live. */
    void *stream;           /* cuda: the CUstream (cudaStream_t) in which everything is done, which has to live as long as the
                             * queue or until rg_queue_set_stream; NULL: one of the queue's own */
    /* What kernels print, in pieces that stay whole, at most 4 KB each; NULL: to the standard output. Called by one thread
     * at a time, which on cpu may be one of the pool's. It calls nothing of this library, and does not wait for a thread
     * that does. */
    void (*print)(void *user, const char *text, size_t length);
    void *user;
} rg_queue_desc;

/* Launches on cuda are asynchronous: they return at once, and everything that a queue does happens in that order. What
 * goes wrong in one (RG_ASSERT, RG_BUDGET, ...) is reported by the next call that waits (rg_queue_sync, rg_array_read,
 * rg_array_map) or that launches, which is then not done; the message names the kernel whose launch failed.
 * desc may be NULL. */
RG_API RG_MUST_CHECK rg_status rg_queue_create(rg_device *device, const rg_queue_desc *desc, rg_queue **queue);
/* Waits for what was launched. A graph or a mapped array holds the queue, and a stream of the caller's that it has, until it
 * is destroyed, too. */
RG_API void rg_queue_destroy(rg_queue *queue);
/* Waits until everything launched has ended and reports errors of launches not yet reported. */
RG_API RG_MUST_CHECK rg_status rg_queue_sync(rg_queue *queue);
/* What is given to the queue from now on happens after all that `other`, of the same device, was given before. The host
 * does not wait. Another thread may use `other` meanwhile, but not record in it. */
RG_API RG_MUST_CHECK rg_status rg_queue_wait(rg_queue *queue, rg_queue *other);
/* cuda: goes on in another stream of the caller's, behind what the queue did in the one before, which is not used any
 * more. NULL: the queue's own. */
RG_API RG_MUST_CHECK rg_status rg_queue_set_stream(rg_queue *queue, void *stream);
/* Ends what runs in the queue now, and what waits behind it, within a tenth of a second: RG_CANCELLED from the launch, or on
 * cuda from the next call that waits or launches, which is then not done. The queue works on; contents of arrays that were
 * being written are unspecified. Where nothing runs it has no effect; while something is compiled it waits for nobody and
 * changes nothing. From any thread at any time, and from a signal handler; the queue must be a live one. On cuda a launch that takes
 * less than a millisecond may reach its end; what works on arrays in whole (copies, fills) does. */
RG_API void rg_queue_cancel(rg_queue *queue);
/* Peak memory in bytes that any finished launch of the queue has used for its tape and temporary arrays. 0 where that is not counted: on devices that share the host's memory. */
RG_API uint64_t rg_queue_tape_peak(const rg_queue *queue);

/* -- arrays ------------------------------------------------------------------------------------ */

typedef struct rg_array_desc {
    uint32_t size;
    rg_dtype dtype;
    uint32_t rank;              /* 0 (one element) to RG_MAX_RANK */
    int64_t shape[RG_MAX_RANK]; /* elements along each axis; the last one varies fastest */
    const int64_t *strides;     /* in elements, `rank` of them, may be negative; NULL: row-major */
    void *data;            /* NULL: owned, zeroed memory. Else the caller's, which must outlive the
                            * array; it points at element [0]...[0] and is aligned to the dtype.
                            * Devices with memory of their own take what their kernels reach
                            * (cuda: device and managed memory), else RG_INVALID */
    bool adjoint, tangent; /* create these companions at once */
    uint32_t directions;   /* of these companions; 0: 1 */
    bool side_by_side;     /* directions of an element lie behind each other; else each direction
                            * is a dense copy of the array */
    rg_str name;           /* for messages; optional */
    /* Called once, after the last reference to the array is gone and all that the device was given so far has ended, which is
     * waited for; by the thread that drops that reference. It calls nothing of this library. May be NULL. */
    void (*release)(void *user, void *data);
    void *user;
} rg_array_desc;

typedef struct rg_array_info {
    uint32_t size;
    rg_dtype dtype;
    uint32_t rank;
    int64_t shape[RG_MAX_RANK];
    int64_t strides[RG_MAX_RANK]; /* of the primal, in elements */
    size_t count;                 /* elements */
    size_t bytes;                 /* of a dense copy */
    uint32_t planes;              /* bit p: plane p exists */
    uint32_t directions[RG_PLANE_COUNT]; /* that a plane holds; 0: there is none */
    bool side_by_side;                   /* how they lie */
    void *data[RG_PLANE_COUNT]; /* where a plane's element [0]...[0] is, in memory of the device; NULL: there is none */
    uint64_t version;             /* grows when the host or a kernel may have written the primal */
} rg_array_info;

RG_API RG_MUST_CHECK rg_status rg_array_create(rg_queue *queue, const rg_array_desc *desc,
                                               rg_array **array);
RG_API void rg_array_destroy(rg_array *array);
RG_API RG_MUST_CHECK rg_status rg_array_get_info(const rg_array *array, rg_array_info *info);
/* Makes sure that a companion exists (zeroed if new): RG_ADJOINT, RG_TANGENT, both. Companions are
 * dense, row-major, of the array's dtype; integers have none (RG_INVALID). */
RG_API RG_MUST_CHECK rg_status rg_array_require(rg_queue *queue, rg_array *array, unsigned plane);
/* Uses the caller's dense row-major memory as a companion (as rg_array_desc.data). NULL: removes the companion. */
RG_API RG_MUST_CHECK rg_status rg_array_attach(rg_array *array, unsigned plane, void *data);
/* The same for companions with n >= 1 directions, for as many adjoints or tangents in one launch: n
 * dense row-major copies of the array, one after the other. A companion that has another number of
 * them is replaced by a new one, unless its memory is the caller's (RG_INVALID). */
RG_API RG_MUST_CHECK rg_status rg_array_require_directions(rg_queue *queue, rg_array *array, unsigned plane,
                                                           uint32_t n);
RG_API RG_MUST_CHECK rg_status rg_array_attach_directions(rg_array *array, unsigned plane,
                                                          void *data, uint32_t n);
/* How the directions of the array's companions lie: as shape [n][array], or side by side, as shape
 * [array][n], where directions are computed by vectors. All that take part in a launch lie alike.
 * RG_INVALID once a companion has several. */
RG_API RG_MUST_CHECK rg_status rg_array_set_side_by_side(rg_array *array, bool on);
/* Copies all elements in row-major order, of a companion those of all its directions as they lie;
 * bytes must be those of a dense copy, times directions. */
RG_API RG_MUST_CHECK rg_status rg_array_read(rg_queue *queue, rg_array *array, unsigned plane, void *data,
                                             size_t bytes);
RG_API RG_MUST_CHECK rg_status rg_array_write(rg_queue *queue, rg_array *array, unsigned plane, const void *data,
                                              size_t bytes);
/* Sets every element (of all directions) to the value, converted to the dtype. */
RG_API RG_MUST_CHECK rg_status rg_array_fill(rg_queue *queue, rg_array *array, unsigned plane, double value);
/* Copies a plane to another of the same dtype and size (with all its directions, as they lie) that shares no memory with
 * it. Within a device with memory of its own the host does not wait. `queue` is one of the device of `to`; `from` may be
 * of another device: the host then waits until that has done all that it was given, and for the copy. */
RG_API RG_MUST_CHECK rg_status rg_array_copy(rg_queue *queue, rg_array *to, unsigned to_plane, rg_array *from,
                                             unsigned from_plane);
/* The elements in host memory until unmap; `write` says whether they may be changed. *data points
 * at element [0]...[0]; the primal has the array's strides, companions are dense. Where the device has memory of its own
 * it is a copy, which launches meanwhile neither see nor change, and unmap writes it back if any map was to `write`; that
 * it could not be written back is reported by the next call that waits or launches. A plane that was mapped n times is
 * unmapped by the n-th unmap. */
RG_API RG_MUST_CHECK rg_status rg_array_map(rg_queue *queue, rg_array *array, unsigned plane, bool write,
                                            void **data);
RG_API void rg_array_unmap(rg_array *array, unsigned plane);

/* -- modules ----------------------------------------------------------------------------------- */

/* A further C file of a module. */
typedef struct rg_module_file {
    rg_str path; /* with a text: its name in messages; a folder: all its .c files */
    rg_str text; /* {NULL, 0}: the file is read when a kernel first needs it */
} rg_module_file;

struct rg_module_desc {
    uint32_t size;
    const rg_str *include_paths; /* folders searched by #include */
    size_t include_count;
    const rg_str *defines; /* "NAME" or "NAME=VALUE" */
    size_t define_count;
    rg_str name; /* the name of a source text in messages */
    const rg_str *options; /* words of a C compiler's command line: "-std=c99", "-include", "x.h"; */
    size_t option_count;   /* those that do not decide what the text means have no effect: "-O2" */
    /* Where functions and constants are that the source uses and does not define: each is a unit of
     * its own, with the same options, as for a linker. They are parsed only if something is missing
     * that their texts define; a path that cannot be read is an error of each kernel. */
    const rg_module_file *files;
    size_t file_count;
    /* of the code that is made */
    bool no_contraction; /* keep a * b + c as two rounded operations instead of fma */
    bool native_math;    /* sin, exp, ... of the platform's libraries instead of our own: on cpu their bits depend on
                          * the vector width, on cuda they are NVIDIA's libdevice, which must be installed */
    bool fast_math;      /* cuda: approximate instructions for division, roots, sin, exp, ... of float */
    bool checked;        /* a subscript outside its array's extents ends the launch with RG_ASSERT, which names the line; on
                          * the interpreter so do two threads of a forward launch at one element, of which one
                          * writes and not atomically */
    bool deterministic;  /* launches on cpu give the same bits with any number of threads, in every run on one machine, also where
                          * threads add to one element. Loops are cut into 64 parts whatever the number of threads; of those whose
                          * threads do more to an element that they share than add to it, or add to arrays of more than 16,384
                          * elements, one thread alone runs all. On cuda: RG_UNSUPPORTED */
};

/* A file of C, or of IR if its name ends with ".rg" or ".ir". desc may be NULL. The file is read
 * now; C is compiled kernel by kernel when rg_module_get_kernel asks for one, so errors elsewhere
 * in the file do no harm. A compile_commands.json in the file's folder or above may have more
 * options for it; what no file of desc defines is looked for in the other C files that it lists. The first file that
 * includes a header of the system asks the C compiler (CC, or
 * cc, gcc, clang) where those are, in a child process that ends before the call returns; with CC
 * set to nothing, headers that are built in are taken. What compiling gave, here and for launches, is kept in files for later
 * processes (RG_CACHE names their folder, or is "off": docs/rgc.md). RG_COMPILE: the message is the list of
 * diagnostics. RG_UNSUPPORTED: a build without the C front end. */
RG_API RG_MUST_CHECK rg_status rg_module_load(rg_str path,
                                              const rg_module_desc *desc, rg_module **module);
/* C that lies in memory. */
RG_API RG_MUST_CHECK rg_status rg_module_from_c(rg_str source,
                                                const rg_module_desc *desc, rg_module **module);
RG_API RG_MUST_CHECK rg_status rg_module_from_ir(rg_str text,
                                                 const rg_module_desc *desc, rg_module **module);
RG_API void rg_module_destroy(rg_module *module);
/* Names of the kernels, in the order of the source: of C, the functions with external linkage that
 * the file itself defines, but main. Both live as long as the module. RG_COMPILE: the C cannot be
 * read. */
RG_API RG_MUST_CHECK rg_status rg_module_get_names(rg_module *module, const rg_str **names,
                                                   size_t *count);
/* Compiles the kernel to IR if that was not done yet; in C any function with a body, also a static
 * one or one of an included file. RG_NOT_FOUND lists the names that rg_module_get_names has. */
RG_API RG_MUST_CHECK rg_status rg_module_get_kernel(rg_module *module, rg_str name,
                                                    rg_kernel **kernel);

/* -- kernels ----------------------------------------------------------------------------------- */

typedef struct rg_param {
    uint32_t size;
    rg_str name; /* fields of records: "p.mass"; results: "return", "return1", ... */
    rg_dtype dtype;
    bool array;         /* else a scalar */
    uint32_t rank;      /* of arrays */
    bool flat;          /* a pointer: takes a contiguous array of any rank */
    bool read, written; /* of arrays: what the kernel does with the primal */
    bool result;        /* an output of one element; args provide one if none is set */
    uint32_t fixed;     /* bit a: the extent of axis a follows from scalar parameters */
    uint32_t record;    /* > 0: a field of records; equal for all fields of one parameter */
    uint32_t field_offset, record_size; /* bytes */
} rg_param;

RG_API rg_str rg_kernel_name(const rg_kernel *kernel);
RG_API uint32_t rg_kernel_param_count(const rg_kernel *kernel);
RG_API RG_MUST_CHECK rg_status rg_kernel_get_param(const rg_kernel *kernel, uint32_t index,
                                                   rg_param *param);
/* Index of a parameter; RG_NOT_FOUND lists those there are. */
RG_API RG_MUST_CHECK rg_status rg_kernel_find_param(const rg_kernel *kernel, rg_str name,
                                                    uint32_t *index);

typedef struct rg_compile_desc {
    uint32_t size;
    rg_form form;
    /* By parameter: bit p says that its argument has plane p, as rg_array_info.planes. NULL: each float array has what the
     * form reads or writes, other parameters have none. */
    const uint8_t *planes;
    uint32_t directions; /* of adjoints, or of tangents where the form has any; 0: 1 */
} rg_compile_desc;

/* Makes the code ahead of the first launch of that form on the device, in any thread, for dense arrays with these planes;
 * a launch with others, or with few threads, may have to make its own. Errors are those of the launch. desc may be NULL. */
RG_API RG_MUST_CHECK rg_status rg_kernel_compile(rg_kernel *kernel, rg_device *device, const rg_compile_desc *desc);

/* -- arguments --------------------------------------------------------------------------------- */

RG_API RG_MUST_CHECK rg_status rg_args_create(rg_queue *queue, rg_kernel *kernel, rg_args **args);
RG_API void rg_args_destroy(rg_args *args);

/* Scalars. An integer must fit its parameter's type, a u64 takes any as its 64 bits; a bool takes 0 and 1. set_int also serves
 * float parameters; set_float serves float parameters only. Arrays must have the parameter's dtype
 * and rank; shapes are compared at the launch. NULL takes an array out again. */
RG_API RG_MUST_CHECK rg_status rg_args_set_int(rg_args *args, rg_str name, int64_t value);
RG_API RG_MUST_CHECK rg_status rg_args_set_float(rg_args *args, rg_str name, double value);
RG_API RG_MUST_CHECK rg_status rg_args_set_array(rg_args *args, rg_str name, rg_array *array);
/* The planes above 0 of a float scalar: those of a one-element array of its dtype. A gradient adds
 * into its adjoint, a jvp reads its tangent; its own element is not used. */
RG_API RG_MUST_CHECK rg_status rg_args_set_companion(rg_args *args, rg_str name, rg_array *array);
/* An array of structs in the caller's memory, given whole: one strided array for each field
 * `name.f` is made and set; rg_args_get_array lends them. Shape and strides as in rg_array_desc,
 * but strides count records. A device whose kernels do not reach the records copies them, now, field by field into
 * dense arrays: what launches write is in those arrays, and rg_args_read_records copies it back. */
RG_API RG_MUST_CHECK rg_status rg_args_set_records(rg_queue *queue, rg_args *args, rg_str name, void *data,
                                                   uint32_t rank, const int64_t *shape,
                                                   const int64_t *strides);
/* Copies what the fields hold into records of the shape that was set; where the arrays lie in the records themselves
 * there is nothing to copy. */
RG_API RG_MUST_CHECK rg_status rg_args_read_records(rg_queue *queue, rg_args *args, rg_str name, void *data,
                                                    uint32_t rank, const int64_t *shape,
                                                    const int64_t *strides);
/* The same by number. */
RG_API RG_MUST_CHECK rg_status rg_args_set_int_at(rg_args *args, uint32_t index, int64_t value);
RG_API RG_MUST_CHECK rg_status rg_args_set_float_at(rg_args *args, uint32_t index, double value);
RG_API RG_MUST_CHECK rg_status rg_args_set_array_at(rg_args *args, uint32_t index, rg_array *array);
RG_API RG_MUST_CHECK rg_status rg_args_set_companion_at(rg_args *args, uint32_t index,
                                                        rg_array *array);
/* The array of a parameter: one that was set, a field of records, or a result. */
RG_API RG_MUST_CHECK rg_status rg_args_get_array(rg_args *args, rg_str name, rg_array **array);
/* The shape that a parameter must have, from the scalars set so far; -1 where any extent will do. RG_INVALID names an
 * axis that would have a negative number of elements. */
RG_API RG_MUST_CHECK rg_status rg_args_get_shape(rg_args *args, uint32_t index,
                                                 int64_t shape[RG_MAX_RANK]);

/* -- launches ---------------------------------------------------------------------------------- */
/* All take the arguments as they stand. Which parameters take part in a derivative is decided by
 * the companions that their arrays have: adjoints for vjp, tangents for jvp. The first launch of
 * each form compiles it.
 *
 * Compiling is the work of LLVM and libclang, in this process: memory that ends inside of them, or a fault that they find
 * in themselves, ends the process; memory that ends anywhere else is RG_OUT_OF_MEMORY. Kernels whose code was kept from an
 * earlier run (RG_CACHE, docs/rgc.md) need neither of the two.
 *
 * Adjoints (tangents) that take part may have n directions, all the same n: one launch then does
 * what n would do, rows (columns) of a Jacobian, and computes the primal once. In the jvp of a
 * gradient adjoints, or tangents, or both have n directions, and the adjoints' tangents have n. Any
 * number for RG_VJP, at most 64 for launches whose effects (or adjoints' changes) all
 * directions share, and where they lie side by side.
 *
 * RG_INVALID: an argument is missing, an extent differs from what the kernel fixes, memory
 * overlaps that the kernel writes, or companions differ in their directions. RG_COMPILE: a derivative does not exist. RG_BUDGET: the tape
 * does not fit. RG_ASSERT: an assertion failed; contents of written arrays are then unspecified. */

RG_API RG_MUST_CHECK rg_status rg_launch(rg_queue *queue, rg_args *args, rg_form form);

/* -- graphs ------------------------------------------------------------------------------------ */
/* Between begin and end launches, rg_array_fill and rg_array_copy are recorded and not done, with the arguments as they
 * stand. A graph's launch does all of it, in order, with what the arrays hold then: counts of loops that depend on data may
 * be others each time. On cuda it is one launch of a CUDA graph.
 *
 *     rg_graph_begin(queue);
 *     rg_array_fill(queue, loss, RG_ADJOINT, 1);
 *     rg_launch(queue, step_args, RG_FORWARD_VJP);
 *     rg_launch(queue, update_args, RG_FORWARD);
 *     rg_graph *iteration;  rg_graph_end(queue, &iteration);
 *     while (...)
 *         rg_graph_launch(iteration);
 *
 * What is launched for the first time is compiled while it is recorded. Calls that wait, copy from or to the host, or make
 * arrays or companions give RG_INVALID meanwhile. A graph keeps alive the arrays and kernels that it uses. */
/* Like a launch it may report what went wrong in an earlier one; nothing is then recorded. */
RG_API RG_MUST_CHECK rg_status rg_graph_begin(rg_queue *queue);
/* Ends the recording also where it fails. */
RG_API RG_MUST_CHECK rg_status rg_graph_end(rg_queue *queue, rg_graph **graph);
/* Fails as its launches do; those behind the first that fails may be done or not. RG_INVALID, too, if a plane of an array in
 * it was made, replaced or attached since it was recorded. */
RG_API RG_MUST_CHECK rg_status rg_graph_launch(rg_graph *graph);
RG_API void rg_graph_destroy(rg_graph *graph);

/* -- tapes ------------------------------------------------------------------------------------- */
/* Between begin and end, RG_FORWARD launches and rg_array_fill, _write and _copy of primals in the queue are done and noted,
 * with the arguments as they stand. rg_tape_vjp then is the reverse of all of it, last first: of a launch RG_VJP, or
 * RG_FORWARD_VJP where that is refused; a fill or a write sets the array's adjoint to zero; a copy adds the adjoint to that
 * of its source. Arrays that take part need their adjoints when they are recorded.
 *
 *     rg_tape *tape;  rg_tape_begin(queue, NULL, &tape);
 *     for (int t = 0; t < steps; t++)
 *         rg_launch(queue, step_args, RG_FORWARD);       in place
 *     rg_launch(queue, loss_args, RG_FORWARD);
 *     rg_tape_end(tape);
 *     rg_array_fill(queue, loss, RG_ADJOINT, 1);         any number of arrays may be seeded
 *     rg_tape_vjp(tape);                                 adds into the arrays' adjoints
 *
 * What is overwritten is saved before, if a reverse reads it. It is an error of rg_tape_vjp, before anything is done, if an
 * array that a reverse needs, an index or a bound among them, was written meanwhile by anything that was not recorded:
 * rg_array_map to write, another queue, what was done while the tape was paused. The message names array and launch. So it is
 * where others have written an array between an operation that wrote it and one that read it: its adjoint would belong to both.
 *
 * Memory of the caller's (rg_array_desc.data) is written without notice; `validate` compares checksums of it, and so reads it
 * around each operation. Arrays of the tape that share memory must not be written: RG_INVALID.
 *
 * A launch that is run again (RG_FORWARD_VJP, or with a budget) prints again, and is to give the same bits: what depends on
 * sums of threads in any order does so as far as these do. Not on the tape: other forms, launches of graphs,
 * copies from other devices, tangents, gradients of gradients. */
typedef struct rg_tape_desc {
    uint32_t size;
    uint64_t budget; /* bytes for copies of arrays, of the device's memory where it has its own; what does not fit is computed
                      * again, so that many states (all that later operations begin with) take the place of few. Two states
                      * are the least: RG_BUDGET. 0: no bound, and nothing is computed twice. Notes, about 200 bytes for each
                      * operation, come on top */
    bool validate;
} rg_tape_desc;

/* A function of the caller's with a reverse of its own. Launches in it are not recorded. */
typedef struct rg_tape_call_desc {
    uint32_t size;
    rg_str name;                         /* for messages */
    rg_status (*forward)(void *user);    /* called at once, and again where states are computed again */
    rg_status (*reverse)(void *user);    /* finds the arrays below as they stood behind `forward`; takes and leaves adjoints as
                                          * rg_launch does. NULL: adjoints of `writes` are set to zero */
    void *user;                          /* lives as long as the tape */
    rg_array *const *reads, *const *writes; /* all that `forward` reads or writes */
    size_t read_count, write_count;
} rg_tape_call_desc;

typedef struct rg_tape_info {
    uint32_t size;
    uint64_t operations;  /* recorded */
    uint64_t bytes, peak; /* of copies: now, and at most so far */
    uint64_t recomputed;  /* operations that were run again to compute states, so far */
} rg_tape_info;

/* One tape records in a queue at a time. desc may be NULL. */
RG_API RG_MUST_CHECK rg_status rg_tape_begin(rg_queue *queue, const rg_tape_desc *desc, rg_tape **tape);
RG_API RG_MUST_CHECK rg_status rg_tape_end(rg_tape *tape);
/* What is done between them is not recorded: constants, to the gradient. */
RG_API RG_MUST_CHECK rg_status rg_tape_pause(rg_tape *tape);
RG_API RG_MUST_CHECK rg_status rg_tape_resume(rg_tape *tape);
RG_API RG_MUST_CHECK rg_status rg_tape_call(rg_tape *tape, const rg_tape_call_desc *desc);
/* What operations behind it do with the array's contents does not count: its adjoint is set to zero here. */
RG_API RG_MUST_CHECK rg_status rg_tape_stop_gradient(rg_tape *tape, rg_array *array);
/* Takes the adjoints of the state behind the tape to those of the state before. Primals hold in the end what they held; where
 * it fails on the way adjoints are unspecified. May be called again, with other seeds. */
RG_API RG_MUST_CHECK rg_status rg_tape_vjp(rg_tape *tape);
RG_API RG_MUST_CHECK rg_status rg_tape_get_info(const rg_tape *tape, rg_tape_info *info);
/* Also ends the recording. */
RG_API void rg_tape_destroy(rg_tape *tape);

#ifdef __cplusplus
}
#endif
#endif

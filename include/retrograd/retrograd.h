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
 *     rg_launch(queue, args, RG_VJP);      the reverse: adds the gradient to the adjoint of x
 *
 * Rules for all functions:
 * - Errors: every function that can fail returns an rg_status. After a failure rg_error_message() of the same thread has the
 *   message. Output parameters come last, and are NULL (or zero) after a failure.
 * - Ownership: functions named create, open, load, from, begin or end that return a handle give it to the caller, who destroys
 *   it. Functions named get lend a handle, which is valid as long as the object that it was taken from. Destroying NULL does
 *   nothing. A handle keeps alive the objects that it uses, so handles may be destroyed in any order: arguments keep their
 *   kernel and their arrays, a graph and a tape keep their queue, arrays and kernels. Kernels of a destroyed module cannot be
 *   used for new arguments; existing arguments can still be launched.
 * - Launches in flight: arguments, arrays, modules and queues may be destroyed while launches that use them are still running.
 *   Memory of the library is released after these launches. Memory of the caller (rg_array_desc.data, rg_array_attach,
 *   rg_queue_desc.stream) has to stay valid until they have ended: call rg_queue_sync first, or set rg_array_desc.release.
 * - Descriptors and infos begin with their size, which RG_DESC and RG_INIT (types.h) set. A field that is zero means its
 *   default. Strings and lists in descriptors are copied.
 * - Threads: any number of threads may use a device, a module or a kernel at the same time. A queue, with the graphs and tapes
 *   that were recorded in it, is used by one thread at a time; so is an rg_args. Several threads may use an array at the
 *   same time as long as none of them writes it, maps or unmaps it, adds or replaces a derivative plane, or destroys it.
 *   rg_queue_cancel may be called by any thread.
 * - Order: calls that take a queue take effect in the order of the calls. Queues run concurrently, whether of one
 *   device or of several; rg_queue_wait orders one behind another.
 * - Processes: after fork, the child can use the devices that run on the host. A GPU that the parent opened gives RG_DEVICE.
 * - Planes: an array has a primal (its values) and optional derivative planes of the same shape: the adjoint, the tangent, and
 *   the adjoint's tangent (types.h).
 * - Callbacks and host functions of the caller return: longjmp and C++ exceptions must not leave them.
 * - Builds that are not release builds know every live handle: a destroyed or foreign handle gives RG_INVALID. */
#ifndef RETROGRAD_RETROGRAD_H
#define RETROGRAD_RETROGRAD_H

#include <retrograd/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RG_VERSION "0.1.0"

/* RG_VERSION of the library at run time, which may be newer than the header. */
RG_API const char *rg_version(void);

/* -- errors ------------------------------------------------------------------------------------ */

/* The message of this thread's last failed call; "" before any. Valid until the thread's next failure. */
RG_API const char *rg_error_message(void);
/* "RG_INVALID", ... */
RG_API const char *rg_status_name(rg_status status);
/* "f32", ...; bytes of one element. */
RG_API const char *rg_dtype_name(rg_dtype dtype);
RG_API size_t rg_dtype_size(rg_dtype dtype);

/* -- devices ----------------------------------------------------------------------------------- */

/* Allocates host memory: of arrays on devices that share the host's memory, of mapped copies on devices with memory of their
 * own. Any thread that uses the device may call both functions. `allocate` returns NULL when there is no memory. */
typedef struct rg_allocator {
    void *(*allocate)(void *user, size_t bytes, size_t alignment);
    void (*release)(void *user, void *memory, size_t bytes);
    void *user;
} rg_allocator;

typedef struct rg_device_desc {
    uint32_t size;
    rg_str name;            /* "cpu", "interp", "simt", "segments", "cuda", "cuda:1" (the second GPU), "amd", "vulkan", "vulkan:1";
                             * empty: "cpu" if this build has it, else "interp" */
    rg_allocator allocator; /* zero: the C library's allocator */
} rg_device_desc;

typedef struct rg_device_info {
    uint32_t size;
    char name[32];            /* as rg_device_desc takes it: "cuda:0" */
    char model[96];           /* the manufacturer's name for it */
    char code[32];            /* the target of compiled code: "sm_90", "x86-64" */
    uint64_t memory;          /* bytes of the device's memory, or of the host's if the device shares it */
    uint64_t memory_free;     /* bytes free now; 0: unknown */
    uint32_t processors;      /* multiprocessors of a GPU (0: its driver does not tell); host processors that this process may use */
    uint32_t threads;         /* resident at the same time */
    bool own_memory;          /* the device does not share the host's memory: the host copies from and to arrays */
    bool asynchronous;        /* launches return before they have ended */
    uint8_t uuid[16];         /* of a GPU: the same, whichever kind of device it is used as; zeros: unknown */
} rg_device_info;

/* "cpu" runs machine code on the host's threads, "interp" is the interpreter. Both share the host's memory, and a launch has
 * ended when it returns. "cuda" is an NVIDIA GPU, "amd" an AMD GPU: what is said of cuda below holds for amd, too
 * (docs/gpu.md says what does not). "vulkan" is any GPU with a driver of Vulkan. "simt" runs GPU code on the host, slowly, for
 * tests; "segments" does too, a launch as one grid after the other. These have memory of their own: the host reads and writes
 * arrays with rg_array_read, _write, _fill, _copy and _map.
 *
 * desc may be NULL. RG_NOT_FOUND: no such device. RG_UNSUPPORTED: this build does not include it. RG_DEVICE: it is not usable
 * here (no GPU, no driver). */
RG_API RG_MUST_CHECK rg_status rg_device_open(const rg_device_desc *desc, rg_device **device);
RG_API void rg_device_destroy(rg_device *device);
RG_API RG_MUST_CHECK rg_status rg_device_get_info(rg_device *device, rg_device_info *info);
/* The info of device number `index`, counted from 0, of all devices that this process can open. RG_NOT_FOUND: there are fewer. */
RG_API RG_MUST_CHECK rg_status rg_device_enumerate(uint32_t index, rg_device_info *info);

/* -- queues ------------------------------------------------------------------------------------ */

typedef struct rg_queue_desc {
    uint32_t size;
    uint32_t num_threads;   /* cpu: worker threads of a launch, at most RG_MAX_THREADS; 0: OMP_NUM_THREADS, else one for each
                             * processor. The number decides the order of floating-point sums, and so their last bits. All
                             * queues of a process share one pool, which has no more threads than there are processors.
                             * Other devices ignore it */
    uint64_t tape_budget;   /* bytes that gradients may record; a loop that exceeds them is checkpointed. 0: a quarter of the
                             * host's memory; cuda: a quarter of the GPU's memory that is free when the queue is created */
    void *stream;           /* cuda: the caller's CUstream (cudaStream_t) for all work of the queue, of the GPU's primary context;
                             * it must live until the queue is closed, or until rg_queue_set_stream. NULL: a stream of the
                             * queue's own. The caller may capture the stream into a CUDA graph; that graph may be launched as
                             * long as the queue, the kernels and the arrays that it uses live */
    /* Receives what kernels print, in whole pieces of at most 4 KB; NULL: it goes to the standard output. Called by one thread
     * at a time: on cpu perhaps a thread of the pool, on cuda the thread whose call waits for the launch. It must not call
     * this library, nor wait for a thread that does. */
    void (*print)(void *user, const char *text, size_t length);
    void *user;
} rg_queue_desc;

/* Launches on cuda are asynchronous: they return at once. A launch that fails while it runs (RG_ASSERT, RG_BUDGET, ...) is reported
 * by the next call that waits (rg_queue_sync, rg_array_read, rg_array_map, rg_graph_begin) or by the next launch, which is then
 * not done; the message names the kernel that failed.
 * desc may be NULL. */
RG_API RG_MUST_CHECK rg_status rg_queue_create(rg_device *device, const rg_queue_desc *desc, rg_queue **queue);
/* Closes the queue: waits for its launches; failures not yet reported are lost (rg_queue_sync reports them). A graph, a tape or
 * a mapped array of the queue keeps it, and the caller's stream in it, open until it is destroyed too. */
RG_API void rg_queue_destroy(rg_queue *queue);
/* Waits for all work given to the queue, and reports a failure not yet reported. */
RG_API RG_MUST_CHECK rg_status rg_queue_sync(rg_queue *queue);
/* Work that is given to `queue` from now on starts after all work given to `other` before, a queue of this device or of another one.
 * The host waits only if the devices are of different kinds ("cuda" and "cpu"). Another thread may use `other` during the call, but must
 * not record a graph in it. */
RG_API RG_MUST_CHECK rg_status rg_queue_wait(rg_queue *queue, rg_queue *other);
/* cuda: the queue continues in another stream of the caller's, behind its work in the previous one, which it then no longer
 * uses. NULL: the queue's own stream. Other devices: RG_INVALID. */
RG_API RG_MUST_CHECK rg_status rg_queue_set_stream(rg_queue *queue, void *stream);
/* Ends the running launch, and those waiting behind it, within a tenth of a second. The launch returns RG_CANCELLED; on cuda the
 * next call that waits or launches does, and is then not done. Arrays that were being written have unspecified contents; the
 * queue stays usable. A launch that compiles its kernel returns once that is compiled; graphs and tapes do not go on to their next
 * launch. No effect if no such call and no launch is under way. Any thread and signal handlers may call it at any time before
 * rg_queue_destroy. On cuda, copies and fills are completed, and so may be a launch of less than a millisecond. */
RG_API void rg_queue_cancel(rg_queue *queue);
/* Devices with memory of their own: the most bytes that a finished launch of the queue has used for its tape and temporary arrays.
 * 0 on others, which do not count them. */
RG_API uint64_t rg_queue_tape_peak(const rg_queue *queue);

/* -- arrays ------------------------------------------------------------------------------------ */

typedef struct rg_array_desc {
    uint32_t size;
    rg_dtype dtype;
    uint32_t rank;              /* 0 (one element) to RG_MAX_RANK */
    int64_t shape[RG_MAX_RANK]; /* elements along each axis; the last axis varies fastest */
    const int64_t *strides;     /* in elements, `rank` of them, may be negative; NULL: row-major */
    void *data;            /* the caller's memory, where element [0]...[0] is, aligned to the dtype. It must stay valid until
                            * the array is destroyed and launches that use it have ended. Devices with memory of their own
                            * need memory that their kernels reach (cuda: device or managed memory), else RG_INVALID.
                            * NULL: zeroed memory that the array owns */
    bool adjoint, tangent; /* create these planes with the array */
    uint32_t directions;   /* of these planes; 0: 1 */
    bool side_by_side;     /* layout of several directions: true: shape [array][directions]; false: [directions][array] */
    rg_str name;           /* for messages; optional */
    /* Called once with `data`, by the thread that drops the last reference to the array, after it has waited for all work of
     * the device; not if rg_array_create fails. It must not call this library. NULL: not called. */
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
    size_t bytes;                 /* of the elements, without gaps */
    uint32_t planes;              /* bit p is set if plane p exists */
    uint32_t directions[RG_PLANE_COUNT]; /* of each plane; 0: the plane does not exist */
    bool side_by_side;                   /* layout of several directions */
    void *data[RG_PLANE_COUNT]; /* address of each plane's element [0]...[0], in the device's memory; NULL: no plane */
    uint64_t version;             /* grows with each call that may write the primal */
} rg_array_info;

/* An array of the queue's device, for all queues of that device. */
RG_API RG_MUST_CHECK rg_status rg_array_create(rg_queue *queue, const rg_array_desc *desc,
                                               rg_array **array);
RG_API void rg_array_destroy(rg_array *array);
RG_API RG_MUST_CHECK rg_status rg_array_get_info(const rg_array *array, rg_array_info *info);
/* From now on the array's elements are in other memory of the caller's, with the layout that it has: cheaper than another array where
 * addresses change from launch to launch. RG_INVALID: the memory is the library's or has a release callback. A graph that was recorded
 * before cannot be launched any more. */
RG_API RG_MUST_CHECK rg_status rg_array_set_data(rg_array *array, void *data);
/* Creates a derivative plane, zeroed, if the array has none: RG_ADJOINT, RG_TANGENT, or both bits. Derivative planes are dense,
 * row-major, of the array's dtype. Arrays of integers have none (RG_INVALID). */
RG_API RG_MUST_CHECK rg_status rg_array_require(rg_queue *queue, rg_array *array, unsigned plane);
/* Uses the caller's dense row-major memory as a derivative plane, by the rules of rg_array_desc.data. NULL: removes the plane. */
RG_API RG_MUST_CHECK rg_status rg_array_attach(rg_array *array, unsigned plane, void *data);
/* The same for a plane with n >= 1 directions: n adjoints or tangents of one launch, as n dense row-major copies of the array. A
 * plane with another number of directions is replaced by a new one, unless its memory is the caller's (RG_INVALID). */
RG_API RG_MUST_CHECK rg_status rg_array_require_directions(rg_queue *queue, rg_array *array, unsigned plane,
                                                           uint32_t n);
RG_API RG_MUST_CHECK rg_status rg_array_attach_directions(rg_array *array, unsigned plane,
                                                          void *data, uint32_t n);
/* The layout of several directions in the array's planes: shape [n][array] (false), or [array][n] (true), which lets vector
 * instructions compute the directions. Planes of one launch have the same layout. RG_INVALID once a plane has several. */
RG_API RG_MUST_CHECK rg_status rg_array_set_side_by_side(rg_array *array, bool on);
/* Copies all elements of a plane, in row-major order; of several directions in their layout. `bytes` must be
 * rg_array_info.bytes times the plane's directions. rg_array_read waits; rg_array_write has read `data` when it returns. */
RG_API RG_MUST_CHECK rg_status rg_array_read(rg_queue *queue, rg_array *array, unsigned plane, void *data,
                                             size_t bytes);
RG_API RG_MUST_CHECK rg_status rg_array_write(rg_queue *queue, rg_array *array, unsigned plane, const void *data,
                                              size_t bytes);
/* Sets every element of a plane, in all directions, to the value, converted to the dtype. */
RG_API RG_MUST_CHECK rg_status rg_array_fill(rg_queue *queue, rg_array *array, unsigned plane, double value);
/* Copies a plane to another one of the same dtype and number of bytes, with all directions; they must not overlap in memory.
 * `queue` is a queue of the device of `to`. On a device with memory of its own the host does not wait if both planes are
 * dense. `from` may belong to another device. If that is of the same kind (two GPUs) and both planes are dense, the copy starts after
 * all work given before to the queues of that device, work given to them later starts after the copy, and the host does not wait.
 * Otherwise the host waits for all work of that device, and for the copy, which passes through its memory unless one device reaches the
 * plane of the other (rg_array_reach) and both are dense: the plane then stays reached, and that device open, until the plane goes. */
RG_API RG_MUST_CHECK rg_status rg_array_copy(rg_queue *queue, rg_array *to, unsigned to_plane, rg_array *from,
                                             unsigned from_plane);
/* Maps a plane into host memory until rg_array_unmap. `write`: the caller may change elements. *data is the address of element
 * [0]...[0]; the primal has the array's strides, derivative planes are dense. Devices that share the host's memory give the
 * array's own memory. Other devices give a copy, which launches neither read nor change until unmap; if any map was for writing, the
 * last unmap writes it back, in the queue of the first map; if that fails, the queue's next call that waits or launches
 * reports it. A plane that was mapped n times is unmapped by the n-th unmap. Destroying the array discards the copy. */
RG_API RG_MUST_CHECK rg_status rg_array_map(rg_queue *queue, rg_array *array, unsigned plane, bool write,
                                            void **data);
RG_API void rg_array_unmap(rg_array *array, unsigned plane);
/* Lets another device use a plane where it is: *data is the address of element [0]...[0] for its kernels, which rg_array_desc.data and
 * rg_array_attach of that device take. It is valid as long as the plane; the array keeps the device open. Devices "cuda" reach arrays of
 * "vulkan" on the same GPU (rg_device_info.uuid) whose memory the library has allocated at once; all others give RG_UNSUPPORTED. What one
 * device does with the memory is ordered with the other one's work by rg_queue_wait, or rg_queue_sync, alone. The address may also be given
 * to other users of CUDA, as its primary context has it. */
RG_API RG_MUST_CHECK rg_status rg_array_reach(rg_array *array, unsigned plane, rg_device *device, void **data);

/* -- modules ----------------------------------------------------------------------------------- */

/* A further C file of a module. */
typedef struct rg_module_file {
    rg_str path; /* a file, or a folder: all its .c files; with `text`: the name in messages */
    rg_str text; /* the source; {NULL, 0}: the file is read when a kernel first needs it */
} rg_module_file;

typedef enum rg_event_kind {
    RG_EVENT_FOUND = 0, /* in the cache: "IR of kernels.c, step", "code of kernel `step` (forward_vjp) for cpu" */
    RG_EVENT_MADE,      /* compiled: the same texts */
    RG_EVENT_NOTE,      /* other messages that are no errors: why an entry of the cache is not used */
    RG_EVENT_WARNING    /* the cache is of less use than it could be: it cannot be written, an entry is damaged or another user's */
} rg_event_kind;

typedef struct rg_event {
    uint32_t size;
    rg_event_kind what;
    double milliseconds; /* how long it took; 0 for notes and warnings */
    rg_str text;         /* valid during the call */
} rg_event;

struct rg_module_desc {
    uint32_t size;
    const rg_str *include_paths; /* folders searched by #include */
    size_t include_count;
    const rg_str *defines; /* "NAME" or "NAME=VALUE" */
    size_t define_count;
    rg_str name; /* the name of a source text in messages */
    const rg_str *options; /* options of a C compiler, one word each: "-std=c99", "-include", "x.h"; options */
    size_t option_count;   /* that do not change the meaning of the source, such as "-O2", have no effect */
    /* Files that define functions and constants which the source only declares. Each is a translation unit of its own, with the
     * same options. A file is parsed only if it may define something that is missing; a path that cannot be read is an error
     * of each kernel. */
    const rg_module_file *files;
    size_t file_count;
    /* options of code generation */
    bool no_contraction; /* keep a * b + c as two rounded operations instead of an fma */
    bool native_math;    /* sin, exp, ... of the platform's libraries instead of the library's own. On cpu their bits then depend
                          * on the vector width; on cuda they are NVIDIA's libdevice, which must be installed */
    bool fast_math;      /* cuda: approximate instructions for division, roots, sin, exp, ... of float */
    bool checked;        /* a subscript outside its array's extents ends the launch with RG_ASSERT, and the message names the
                          * line. On interp a race of a forward launch does so too: two threads access one element, one of
                          * them writes it, and not both accesses are atomic */
    bool deterministic;  /* launches give the same bits in every run on one machine, also where threads add to one element: on
                          * cpu for any number of threads, on cuda whatever the order and number of its warps. The length of a
                          * parallel loop alone decides how it is divided into parts; sums are added part by part. A loop
                          * runs in order, on one thread (cpu) or one warp (cuda), if its threads access shared
                          * elements in any way but addition, or add to arrays of more than 16,384 elements. On cuda
                          * these are counted over all arrays that the loop adds to, and are 4,096 where its tape is kept for
                          * a later loop. Different devices may give different last bits */
    /* Called after IR or code of the module's kernels was compiled or found in the cache, on the thread that compiles, which may
     * hold locks. It must not call functions of the library, wait for a thread that does, longjmp or throw. Several threads may
     * call it at once. NULL: no calls. (RG_DEBUG=cache prints what concerns the cache.) */
    void (*log)(void *user, const rg_event *event);
    void *user;
    bool compile_process; /* LLVM and libclang run in a helper process, see below; RG_COMPILE_PROCESS=on sets it for all modules */
    rg_str cache; /* where results of compiling are kept: a folder, "on" or "off"; empty: as RG_CACHE says */
};

/* With compile_process nothing that LLVM or libclang does ends this process: all calls of them, for rg_kernel_build too, are made
 * in a helper process. If they run out of memory there, the call returns RG_OUT_OF_MEMORY; if they crash, or this process has no
 * file descriptor left for the request, RG_DEVICE. The message names the kernel and says what happened. Module, device and queue
 * stay usable, and the next call may succeed. Results have the same bits as without the option, diagnostics the same text.
 *
 * The helper is a program that is installed beside the library (retrograd-compiler.0; RG_COMPILE_PROCESS may be its path). The
 * first call that compiles starts it, through a child process that ends before the call returns. After that it is not a child of this
 * process: wait() does not see it, and its end sends no SIGCHLD. Each call is the work of a new process that the helper forks; it has
 * the environment, the working directory and the RLIMIT_AS that this process has at that time. Threads compile in parallel. The
 * helper ends when this process ends or unloads the library; after fork() the child starts its own. A helper that is stopped is
 * ended after 60 seconds without a sign of life, and the call returns RG_DEVICE. */

/* Loads a C file, C++ if the name says so (docs/c.md), or IR if it ends with ".rg" or ".ir". desc may be NULL. The file is read now; each kernel is compiled when
 * rg_module_get_kernel asks for it, so errors elsewhere in the file do not matter. A compile_commands.json in the file's folder,
 * above it, or in a `build` folder there adds options for the file; the C files that it lists are searched for
 * definitions that desc.files lacks. To find the system's headers, the first file that includes one runs the C compiler (CC, or cc, gcc,
 * clang) in a child process, which ends before the call returns; if CC is set to nothing, built-in headers are used.
 * Results of compiling, here and for launches, are kept in a cache on disk (RG_CACHE names its folder, or is "off": docs/rgc.md).
 * RG_COMPILE: the message is the list of diagnostics. RG_UNSUPPORTED: this build has no C front end. */
RG_API RG_MUST_CHECK rg_status rg_module_load(rg_str path,
                                              const rg_module_desc *desc, rg_module **module);
/* The same for C source in memory, and for IR text in memory. */
RG_API RG_MUST_CHECK rg_status rg_module_from_c(rg_str source,
                                                const rg_module_desc *desc, rg_module **module);
RG_API RG_MUST_CHECK rg_status rg_module_from_ir(rg_str text,
                                                 const rg_module_desc *desc, rg_module **module);
RG_API void rg_module_destroy(rg_module *module);
/* The names of the kernels, in the order of the source. For C: the functions with external linkage that the file itself
 * defines, except main. The list lives as long as the module. RG_COMPILE: the C cannot be parsed. */
RG_API RG_MUST_CHECK rg_status rg_module_get_names(rg_module *module, const rg_str **names,
                                                   size_t *count);
/* Compiles the kernel to IR at the first call. For C: any function with a body, also a static function and one of an included
 * file. RG_NOT_FOUND: the message lists the names that rg_module_get_names gives, or the static functions if there are none. */
RG_API RG_MUST_CHECK rg_status rg_module_get_kernel(rg_module *module, rg_str name,
                                                    rg_kernel **kernel);

/* -- kernels ----------------------------------------------------------------------------------- */

typedef struct rg_param {
    uint32_t size;
    rg_str name; /* of a field of records: "p.mass"; of a result: "return", "return1", ... */
    rg_dtype dtype;
    bool array;         /* false: a scalar */
    uint32_t rank;      /* of an array */
    bool flat;          /* a pointer parameter: takes a contiguous array of any rank */
    bool read, written; /* of an array: whether the kernel reads, and writes, the primal */
    bool result;        /* an output of one element, for which rg_args_create makes an array */
    uint32_t fixed;     /* bit a is set if scalar parameters determine the extent of axis a */
    uint32_t record;    /* > 0: a field of records; all fields of one parameter have the same number */
    uint32_t field_offset, record_size; /* bytes */
    uint32_t inner_axes; /* how many of the last axes are those of an array inside the record */
    bool extent;        /* a scalar that an extent of an array determines, as n of x[n] or x[2 * n + 1]: see rg_args_infer */
} rg_param;

RG_API rg_str rg_kernel_name(const rg_kernel *kernel);
/* The kernel as it was written, and the functions that it calls, as IR text, which rg_module_from_ir takes. Valid as long as the kernel. */
RG_API RG_MUST_CHECK rg_status rg_kernel_get_text(const rg_kernel *kernel, rg_str *text);
RG_API uint32_t rg_kernel_param_count(const rg_kernel *kernel);
RG_API RG_MUST_CHECK rg_status rg_kernel_get_param(const rg_kernel *kernel, uint32_t index,
                                                   rg_param *param);
/* The index of a parameter. RG_NOT_FOUND: the message lists the parameters. */
RG_API RG_MUST_CHECK rg_status rg_kernel_find_param(const rg_kernel *kernel, rg_str name,
                                                    uint32_t *index);

typedef struct rg_compile_desc {
    uint32_t size;
    rg_form form;
    /* One entry for each parameter: the planes of its argument, as in rg_array_info.planes. NULL: float arrays have all planes
     * that the form uses, other parameters have none. */
    const uint8_t *planes;
    uint32_t directions; /* of the tangents if the form has tangents, else of the adjoints; 0: 1 */
} rg_compile_desc;

/* Compiles code for a form on a device before its first launch, in any thread, for dense arrays with these planes. A launch with
 * strided arrays, other planes, or few threads may still compile other code. Errors are those of rg_launch. desc may be NULL. */
RG_API RG_MUST_CHECK rg_status rg_kernel_compile(rg_kernel *kernel, rg_device *device, const rg_compile_desc *desc);

/* -- checks of a kernel's derivatives ---------------------------------------------------------- */

typedef enum rg_outcome {
    RG_CHECK_SHOWN = 0, /* within the bound */
    RG_CHECK_LEFT_OUT,  /* not compared, without consequence: a split launch or a second-order form that is refused */
    RG_CHECK_NOT_SHOWN, /* not compared, or in part only: values are not finite, or the derivative is refused */
    RG_CHECK_FAILED     /* above the bound; a race; an internal error of the compiler */
} rg_outcome;

typedef struct rg_check_desc {
    uint32_t size;
    rg_str device;    /* compared with the interpreter, named as for rg_device_open; "interp": the interpreter only; empty: "cpu" if
                       * this build has it */
    rg_args *args;    /* the inputs: arguments that are set, with the current contents of their arrays, which the check does not
                       * change. Arguments that are not set are generated (docs/rgc.md#check). NULL: all are generated */
    uint64_t seed;    /* of generated arguments and of directions; 0: 1 */
    uint32_t samples; /* components for central differences; 0: 24 */
    uint32_t starts;  /* repetitions with other generated arguments; 0: 3 */
} rg_check_desc;

typedef struct rg_report_info {
    uint32_t size;
    rg_outcome outcome; /* RG_CHECK_FAILED if any finding has it; else RG_CHECK_NOT_SHOWN if any has it; else RG_CHECK_SHOWN */
    uint32_t findings;
} rg_report_info;

/* One comparison over all starts, with the place of its largest error. */
typedef struct rg_finding {
    uint32_t size;
    rg_outcome outcome;
    uint32_t code;           /* number of the error by which a derivative was refused: 530 for E0530; 0: none */
    rg_str test;             /* "gradient, cpu against interpreter" */
    double error, tolerance; /* relative; error is infinite if one side is NaN; tolerance 0: nothing was measured */
    uint64_t compared, unshown; /* values that were compared; values that could not be: not finite on both sides */
    rg_str where;            /* "x[3] is 1.5, should be 1.25"; empty if all values are equal */
    rg_str note;             /* why the comparison was left out, or is incomplete, with the place in the source; else empty */
} rg_finding;

/* Runs all forms of a kernel in the interpreter and on a device, in the kernel's own types and in f64. Compares the device with the
 * interpreter, split with combined gradients, vjp with jvp, and both with central differences; looks for races
 * (docs/rgc.md#check). RG_OK also if a comparison fails: the report has the outcome. RG_INVALID: an array of args does not have
 * the extents that the kernel declares. RG_BUDGET: the kernel takes more than 2^28 operations of the interpreter, with generated
 * arguments or with those that are set, or arrays of more than 2^28 elements would be generated. Other errors are those of an RG_FORWARD launch with the inputs. Of the module's options
 * no_contraction and compile_process count, not native_math, fast_math, checked, deterministic and log: subscripts are always
 * checked, in the interpreter. What the kernel prints goes nowhere. desc may be NULL. */
RG_API RG_MUST_CHECK rg_status rg_kernel_check(rg_kernel *kernel, const rg_check_desc *desc, rg_report **report);
RG_API RG_MUST_CHECK rg_status rg_report_get_info(const rg_report *report, rg_report_info *info);
/* Findings are counted from 0. RG_NOT_FOUND: there are fewer. The texts are valid as long as the report. */
RG_API RG_MUST_CHECK rg_status rg_report_get_finding(const rg_report *report, uint32_t index, rg_finding *finding);
RG_API void rg_report_destroy(rg_report *report);

/* -- ahead of time ----------------------------------------------------------------------------- */

typedef struct rg_object_desc {
    uint32_t size;
    uint32_t forms;      /* forms to compile, one bit each, as 1u << RG_FORWARD_VJP; 0: RG_FORWARD */
    uint32_t also;       /* further forms, in the same way, which are left out if the kernel has no such derivative */
    rg_str target;       /* empty: this machine; "sm_70" to "sm_121": PTX for that NVIDIA GPU or a newer one; "gfx942", "gfx1100",
                          * "gfx11-generic", ...: a code object for that AMD GPU; else LLVM's name of a triple: "aarch64-linux-gnu" */
    rg_str cpu, features; /* LLVM's names: "x86-64-v3", "+avx2,+fma". Empty: those of this machine; with a triple, generic ones */
    bool assembly;       /* assembly text instead of an object file; PTX is always text, a code object never */
} rg_object_desc;

typedef struct rg_object_info {
    uint32_t size;
    uint32_t forms; /* forms that were compiled */
    rg_str code;    /* an object file, to be linked with librgrt.a, -pthread and -lm; or assembly text */
    rg_str header;  /* a C header that declares KERNEL_forward() and so on, and needs no other header of this library. Empty for PTX,
                     * which begins with a description of how to launch it (docs/gpu.md); of a code object, that description */
} rg_object_info;

/* Compiles a kernel ahead of time, with adjoints and tangents for all float parameters, for use without a compiler. Options of code
 * generation are those of its module. Any thread may call it. With a triple, cpu or features a short-lived child process asks LLVM
 * whether it knows the names. RG_UNSUPPORTED: LLVM does not know them, the target does not support an option of the module, or
 * this build has no code generator for it. RG_COMPILE: a derivative of `forms` does not exist, or none of `also`
 * if `forms` is 0. desc may be NULL. */
RG_API RG_MUST_CHECK rg_status rg_kernel_build(rg_kernel *kernel, const rg_object_desc *desc, rg_object **object);
/* The texts are valid as long as the object. */
RG_API RG_MUST_CHECK rg_status rg_object_get_info(const rg_object *object, rg_object_info *info);
RG_API void rg_object_destroy(rg_object *object);

/* -- the cache --------------------------------------------------------------------------------- */
/* Front ends keep their own entries beside the compiler's, under keys that begin with the front end's name; other versions of the library
 * do not find them. `folder` is as in rg_module_desc.cache. Any number of processes use it at a time: an entry appears as a whole or not at all. Any thread. */

/* Calls `found` with the entry of that key; the content is valid during the call, which must not call the library. RG_NOT_FOUND: there is
 * none that is whole, and this user's. */
RG_API RG_MUST_CHECK rg_status rg_cache_find(rg_str folder, rg_str key, void (*found)(void *user, rg_str content), void *user);
/* Adds or replaces an entry. Where nothing can be written nothing is kept, and that is no error. */
RG_API RG_MUST_CHECK rg_status rg_cache_keep(rg_str folder, rg_str key, rg_str content);

/* -- arguments --------------------------------------------------------------------------------- */

/* Arguments for launches in any queue of the queue's device. */
RG_API RG_MUST_CHECK rg_status rg_args_create(rg_queue *queue, rg_kernel *kernel, rg_args **args);
RG_API void rg_args_destroy(rg_args *args);

/* Arguments by name. set_int: for integers, bool (0 or 1) and floats; the value must fit the parameter's type (u64: any, as its
 * 64 bits). set_float: for floats only. set_array: the dtype and rank must be the parameter's; extents are compared at
 * the launch; NULL unsets the parameter. The arguments keep a reference to the array. */
RG_API RG_MUST_CHECK rg_status rg_args_set_int(rg_args *args, rg_str name, int64_t value);
RG_API RG_MUST_CHECK rg_status rg_args_set_float(rg_args *args, rg_str name, double value);
RG_API RG_MUST_CHECK rg_status rg_args_set_array(rg_args *args, rg_str name, rg_array *array);
/* Sets a scalar (rg_param.extent) to the value that the extents of the arrays that are set ask for. RG_INVALID: none of these
 * extents determines it. */
RG_API RG_MUST_CHECK rg_status rg_args_infer(rg_args *args, rg_str name);
/* Derivatives of a float scalar: the derivative planes of an array of one element, of the parameter's dtype. A vjp adds to its
 * adjoint, a jvp reads its tangent; its primal is not used. NULL: none. */
RG_API RG_MUST_CHECK rg_status rg_args_set_companion(rg_args *args, rg_str name, rg_array *array);
/* An array of structs in the caller's memory, as one argument. For each field it makes a strided array and sets parameter
 * `name.field`; rg_args_get_array lends these arrays, for instance to require adjoints. `shape` and `strides` are those of
 * rg_array_desc, and strides count records. `data` must stay valid like rg_array_desc.data. If the device does not reach the
 * records, they are copied now to dense arrays of the device, one for each field; rg_args_read_records copies results back. */
RG_API RG_MUST_CHECK rg_status rg_args_set_records(rg_queue *queue, rg_args *args, rg_str name, void *data,
                                                   uint32_t rank, const int64_t *shape,
                                                   const int64_t *strides);
/* Copies the arrays of the fields to records of the shape that was set. Nothing is copied if the arrays are in these records. */
RG_API RG_MUST_CHECK rg_status rg_args_read_records(rg_queue *queue, rg_args *args, rg_str name, void *data,
                                                    uint32_t rank, const int64_t *shape,
                                                    const int64_t *strides);
/* The same by index of the parameter. */
RG_API RG_MUST_CHECK rg_status rg_args_set_int_at(rg_args *args, uint32_t index, int64_t value);
RG_API RG_MUST_CHECK rg_status rg_args_set_float_at(rg_args *args, uint32_t index, double value);
RG_API RG_MUST_CHECK rg_status rg_args_set_array_at(rg_args *args, uint32_t index, rg_array *array);
RG_API RG_MUST_CHECK rg_status rg_args_infer_at(rg_args *args, uint32_t index);
RG_API RG_MUST_CHECK rg_status rg_args_set_companion_at(rg_args *args, uint32_t index,
                                                        rg_array *array);
/* Lends the array of a parameter: one that was set, a field of records, or a result. Valid until the parameter is set
 * again or the arguments are destroyed. */
RG_API RG_MUST_CHECK rg_status rg_args_get_array(rg_args *args, rg_str name, rg_array **array);
/* The shape that a parameter must have, computed from the scalars set so far; -1: any extent. RG_INVALID: an extent would be
 * negative. */
RG_API RG_MUST_CHECK rg_status rg_args_get_shape(rg_args *args, uint32_t index,
                                                 int64_t shape[RG_MAX_RANK]);

/* -- launches ---------------------------------------------------------------------------------- */
/* A launch uses the current arguments; they may be changed or destroyed as soon as it returns. Derivative planes decide which
 * arguments take part in a derivative: those with an adjoint in a vjp, those with a tangent in a jvp; other arguments are
 * constants. A vjp adds to the adjoints of arrays that the kernel reads; the adjoints of elements that it overwrites
 * become zero (docs/semantics.md). The caller clears adjoints that were added to.
 *
 * The first launch of each form compiles it, with LLVM and libclang in this process. If memory runs out inside LLVM or libclang, or
 * an internal check of theirs fails, the process ends, unless the module has compile_process; anywhere else RG_OUT_OF_MEMORY is
 * returned. Kernels in the cache
 * (RG_CACHE, docs/rgc.md) need neither library.
 *
 * Adjoints and tangents may have n directions, all adjoints the same n and all tangents the same n. One launch then does the
 * work of n launches, for n rows (adjoints) or columns (tangents) of a Jacobian, and computes the primal once. In a jvp of
 * a vjp the adjoints, the tangents, or both have n directions, and the adjoints' tangents have n. RG_VJP takes any n; side by
 * side, and for forms whose effects are common to all directions, n is at most 64 (docs/jacobians.md).
 *
 * RG_INVALID: an argument is missing; an extent is not the one that the kernel declares; arguments overlap in memory and the
 * kernel writes one of them; elements of an array that it writes share memory; no argument has a plane that the form needs; numbers of directions differ. RG_COMPILE: the
 * derivative does not exist, or cannot be computed in this form. RG_BUDGET: the tape exceeds the budget. RG_ASSERT, RG_CANCELLED: an
 * assertion failed, or rg_queue_cancel was called; arrays that the launch writes have unspecified contents. */

RG_API RG_MUST_CHECK rg_status rg_launch(rg_queue *queue, rg_args *args, rg_form form);

/* -- graphs ------------------------------------------------------------------------------------ */
/* Between begin and end, launches, rg_array_fill and rg_array_copy are recorded and not done, with the current arguments.
 * rg_graph_launch does all of them in order, with the contents that arrays then have; trip counts that depend on data may
 * differ each time. On cuda it is one launch of a CUDA graph.
 *
 *     rg_graph_begin(queue);
 *     rg_array_fill(queue, loss, RG_ADJOINT, 1);
 *     rg_launch(queue, step_args, RG_FORWARD_VJP);
 *     rg_launch(queue, update_args, RG_FORWARD);
 *     rg_graph *iteration;  rg_graph_end(queue, &iteration);
 *     while (...)
 *         rg_graph_launch(iteration);
 *
 * A kernel that has no code yet is compiled while it is recorded. Calls that wait, copy from or to the host, or create arrays or
 * planes give RG_INVALID during the recording. A call that fails records nothing, and the recording continues. A graph keeps its
 * queue, arrays and kernels alive; scalars keep the values that they had when they were recorded. */
/* Like a launch it may report the failure of an earlier launch; then no recording begins. */
RG_API RG_MUST_CHECK rg_status rg_graph_begin(rg_queue *queue);
/* Ends the recording, also if it fails. */
RG_API RG_MUST_CHECK rg_status rg_graph_end(rg_queue *queue, rg_graph **graph);
/* Launches the graph in the queue that recorded it. Fails as its launches do; after a failure the launches behind it may or may not
 * be done. RG_INVALID also if a plane of one of its arrays was created, replaced or attached since the recording. */
RG_API RG_MUST_CHECK rg_status rg_graph_launch(rg_graph *graph);
/* Waits for its launches. */
RG_API void rg_graph_destroy(rg_graph *graph);

/* -- tapes ------------------------------------------------------------------------------------- */
/* Between begin and end, RG_FORWARD launches and rg_array_fill, _write and _copy of primals in the queue are done and recorded,
 * with the current arguments. rg_tape_vjp reverses them from last to first: a launch by RG_VJP, or by RG_FORWARD_VJP where RG_VJP is
 * refused; a fill or a write by setting the array's adjoint to zero; a copy by adding the adjoint of the destination to that of
 * the source, and setting it to zero. Arrays and scalars take part if they have an adjoint when they are recorded.
 *
 *     rg_tape *tape;  rg_tape_begin(queue, NULL, &tape);
 *     for (int t = 0; t < steps; t++)
 *         rg_launch(queue, step_args, RG_FORWARD);       in place
 *     rg_launch(queue, loss_args, RG_FORWARD);
 *     rg_tape_end(tape);
 *     rg_array_fill(queue, loss, RG_ADJOINT, 1);         any number of arrays may be seeded
 *     rg_tape_vjp(tape);                                 adds into the arrays' adjoints
 *
 * Before an operation overwrites an array that a reverse needs, the tape copies the array. The tape knows of writes by launches, by
 * this API and in other queues. rg_tape_vjp gives RG_INVALID, before it does anything, if an unrecorded write (rg_array_map,
 * another queue, while the tape was paused, after rg_tape_end) has changed values, indices or bounds that a reverse needs, or
 * has changed an array with an adjoint between two recorded operations that use it: the adjoint would belong to both values.
 * The message names array and launch.
 *
 * The tape does not see direct writes to the caller's memory (rg_array_desc.data), nor those through a mapping before it is
 * unmapped. With `validate` it compares checksums of such arrays, and for that reads them before and after each operation.
 * Arrays of a tape that share memory must not be written: RG_INVALID. docs/tape.md lists all that is not recorded.
 *
 * A launch that runs again (RG_FORWARD_VJP, or within a budget) prints again, and is expected to compute the same bits. Where the
 * order of a sum over threads is not fixed, the states before and after differ by rounding. Not on a tape: other forms,
 * launches of graphs, copies from other devices, tangents, gradients of gradients. */
typedef struct rg_tape_desc {
    uint32_t size;
    uint64_t budget; /* bytes for copies of arrays, in the device's memory if it has its own. Beyond it the tape keeps some states
                      * (all arrays that later operations read) and recomputes the others. Less than two states: RG_BUDGET. 0: no
                      * bound, and no operation runs again to recompute a state. About 200 bytes for each operation come on top */
    bool validate;
    /* Called by rg_tape_vjp, on its thread, after each operation that was reversed or run again: how many of the tape's operations
     * are reversed, and how many were run again so far. On cuda these launches may still run. If it returns false, rg_tape_vjp
     * stops with RG_CANCELLED: adjoints are unspecified, primals hold what they held before. After the last operation the result
     * has no effect. It may call any function of the library, except those of this tape other than rg_tape_get_info, and
     * those that write arrays of the tape. NULL: no calls */
    bool (*progress)(void *user, uint64_t reversed, uint64_t operations, uint64_t recomputed);
    void *user;
} rg_tape_desc;

/* A host function with its own reverse, as one operation. Both functions may use the queue; launches in them are not recorded. A
 * status that they return is that of rg_tape_call and rg_tape_vjp. */
typedef struct rg_tape_call_desc {
    uint32_t size;
    rg_str name;                         /* for messages */
    rg_status (*forward)(void *user);    /* called at once, and again when states are recomputed */
    rg_status (*reverse)(void *user);    /* called with the arrays below as `forward` left them; adds to the adjoints of `reads`,
                                          * and consumes those of `writes`, as a launch does. NULL: adjoints of `writes` become zero */
    void *user;                          /* has to live as long as the tape */
    rg_array *const *reads, *const *writes; /* all arrays that `forward` reads, and writes; the lists are copied */
    size_t read_count, write_count;
} rg_tape_call_desc;

typedef struct rg_tape_info {
    uint32_t size;
    uint64_t operations;  /* recorded */
    uint64_t bytes, peak; /* of copies of arrays: now, and the most so far */
    uint64_t recomputed;  /* operations that were run again to recompute states, so far */
} rg_tape_info;

/* At most one tape records in a queue at a time. desc may be NULL. */
RG_API RG_MUST_CHECK rg_status rg_tape_begin(rg_queue *queue, const rg_tape_desc *desc, rg_tape **tape);
RG_API RG_MUST_CHECK rg_status rg_tape_end(rg_tape *tape);
/* Operations between pause and resume are done and not recorded. Gradients take what they wrote for constants. */
RG_API RG_MUST_CHECK rg_status rg_tape_pause(rg_tape *tape);
RG_API RG_MUST_CHECK rg_status rg_tape_resume(rg_tape *tape);
RG_API RG_MUST_CHECK rg_status rg_tape_call(rg_tape *tape, const rg_tape_call_desc *desc);
/* Later operations see the array as a constant: the reverse sets its adjoint to zero here. */
RG_API RG_MUST_CHECK rg_status rg_tape_stop_gradient(rg_tape *tape, rg_array *array);
/* The reverse of all recorded operations, after rg_tape_end: takes the adjoints of the arrays after the last operation, leaves
 * those of the arrays before the first. Primals have their former contents afterwards; after a failure during the sweep adjoints
 * are unspecified. May be called again; adjoints that the first call left are then seeds, unless they are set again. */
RG_API RG_MUST_CHECK rg_status rg_tape_vjp(rg_tape *tape);
RG_API RG_MUST_CHECK rg_status rg_tape_get_info(const rg_tape *tape, rg_tape_info *info);
/* Also ends the recording. */
RG_API void rg_tape_destroy(rg_tape *tape);

#ifdef __cplusplus
}
#endif
#endif

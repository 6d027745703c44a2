/* What the files of the public API share: handles, the guard against failed allocations, messages.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef API_H
#define API_H

#include "base/bytes.h"
#include "base/digest.h"
#include "base/settings.h"
#include "pipeline/pipeline.h"
#include "retrograd/retrograd.h"
#include "device/memory.h"

#include <pthread.h>
#include <setjmp.h>

/* -- messages ---------------------------------------------------------------------------------- */

/* Sets the calling thread's message and returns the status. */
rg_status api_error(rg_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));
/* The same with a finished text, for lists of diagnostics. */
rg_status api_error_text(rg_status status, rg_str text);
/* What a device said of a failure, "device NAME: WHAT" if it said nothing; RG_OK stays. */
rg_status api_error_device(const struct rg_device *device, rg_status status, const str *text, const char *what);

/* -- handles --------------------------------------------------------------------------------------
 * Every object begins with its kind, which freeing changes. Debug builds also keep a table of all
 * live objects, so that a pointer to freed memory is never looked at. */

typedef enum api_kind {
    API_DEVICE = 0x44455649,
    API_QUEUE = 0x51554555,
    API_ARRAY = 0x59415252,
    API_MODULE = 0x4d4f4455,
    API_KERNEL = 0x4b45524e,
    API_ARGS = 0x41524753,
    API_GRAPH = 0x47525048,
    API_TAPE = 0x54415045,
    API_OBJECT = 0x4f424a45,
    API_REPORT = 0x5245504f
} api_kind;

typedef struct api_handle {
    uint32_t kind;
    uint32_t refs; /* the user's one and one for each object that depends on it; any thread changes it */
} api_handle;

/* One reference more, one less. true: that was the last. `object` begins with an api_handle. */
void api_keep(void *object);
bool api_drop(void *object);

void *api_new(api_kind kind, size_t bytes); /* zeroed, one reference */
/* RG_INVALID and a message unless p is a live handle of that kind; `what` is the parameter's name.
 */
rg_status api_check(const void *p, api_kind kind, const char *what);
/* Gives up the user's reference: the handle is dead to the user from now on. false: it was not
 * live. */
bool api_retire(void *p, api_kind kind);
void api_free(void *p); /* its memory, when no reference is left */

/* -- structs with a size ----------------------------------------------------------------------- */

/* The caller's descriptor, which may be older or newer than ours, as ours of `size` bytes at `to`. NULL: all zero. */
rg_status api_read_desc(void *to, size_t size, const void *desc, const char *type);
/* Checks an info that the caller wants filled, and clears all behind its size. */
rg_status api_begin_info(void *info, const char *type);
/* Fills it from ours of `size` bytes. */
void api_write_info(void *info, const void *from, size_t size);

#define API_READ_DESC(to, desc, type) TRY(api_read_desc((to), sizeof(*(to)), (desc), #type))

#define API_CHECK(p, kind, what) TRY(api_check((p), (kind), (what)))
/* What the caller wants written: there, and zero where the function fails. */
#define API_OUT(out)                                                                               \
    do {                                                                                           \
        if (!(out))                                                                                \
            return api_error(RG_INVALID, #out " is NULL");                                         \
        memset((out), 0, sizeof(*(out)));                                                          \
    } while (0)

/* -- failed allocations ---------------------------------------------------------------------------
 * An API function that allocates is one call of the function that does the work, inside a guard:
 * when an allocation fails the guard returns RG_OUT_OF_MEMORY from the API function, after what was
 * owned through mem_own() is released. Guards do not nest: inside, the API's own functions are not
 * called. */

typedef struct api_guard {
    jmp_buf jump;
} api_guard;

void api_guard_begin(api_guard *g);
void api_guard_end(api_guard *g);
rg_status api_guard_failed(api_guard *g);

#define API_GUARDED(call)                                                                          \
    do {                                                                                           \
        api_guard guard_;                                                                          \
        api_guard_begin(&guard_);                                                                  \
        if (setjmp(guard_.jump))                                                                   \
            return api_guard_failed(&guard_);                                                      \
        rg_status status_ = (call);                                                                \
        api_guard_end(&guard_);                                                                    \
        return status_;                                                                            \
    } while (0)

/* -- objects ----------------------------------------------------------------------------------- */

struct rg_device {
    api_handle handle;
    const rt_device_table *table;
    rt_device *device;
    uint32_t ordinal;
    rg_allocator allocator;
    bool own_allocator; /* the caller's */
    struct api_program *programs; /* see api_program */
};

struct rg_queue {
    api_handle handle;
    rg_device *device;
    rt_queue *queue;
    struct rg_graph *recording; /* NULL: launches are done */
    struct rg_tape *tape;       /* that notes what is done, unless it is paused; NULL: none does */
    /* of something that could not report it: told by the next call that waits or launches */
    rg_status failed;
    char failed_text[256];
    uint32_t calls;           /* under way that launch, one inside the other */
    uint32_t cancels, heeded; /* calls of rg_queue_cancel: all, and those before the outermost call began */
};

struct rg_array {
    api_handle handle;
    rg_device *device;
    rg_dtype dtype;
    rt_layout layout; /* of the primal */
    char *name;       /* "" for none */
    void *plane[RG_PLANE_COUNT];
    uint32_t directions[RG_PLANE_COUNT]; /* that the plane holds; 0: none */
    bool side_by_side;                   /* [array][directions], else [directions][array] */
    bool owned[RG_PLANE_COUNT];
    void (*release)(void *user, void *data); /* of the caller's primal; may be NULL */
    void *user;
    struct api_reached *reached; /* planes that other devices reach; under a lock of their own */
    struct api_mapping *mapped[RG_PLANE_COUNT]; /* its copy on the host; NULL: not mapped, or no copy is needed */
    uint32_t open_maps; /* of the primal itself, where no copy is needed */
    bool open_to_write; /* one of them */
    uint64_t version; /* of the primal's contents; api_wrote changes it */
    uint64_t moves;   /* changes whenever a plane's address does */
};

/* One form of a kernel for one choice of active parameters, layouts and sharing, as IR for one kind of device. */
typedef struct api_variant {
    struct api_variant *next;
    const rt_device_table *table;
    struct rg_kernel *kernel;
    ir_module *module; /* NULL: not needed so far, there was code */
    ir_fn *fn;
    bool shared;       /* buffers may share adjoints */
    struct api_program *programs;
    char *label;   /* for messages */
    bool known;    /* what follows, before anybody launches it */
    bool can_fail; /* a budget can be exceeded after the first effect */
    bool grouped;  /* threads run side by side: their tape takes as many times the memory */
    uint8_t key[];
} api_variant;

/* ... ready to run on one device. Kernel and device both list it; whichever ends first releases it. The lists are changed
 * under one lock. */
typedef struct api_program {
    struct api_program *next_of_variant, *next_of_device;
    api_variant *variant;
    rg_device *device;
    rt_program *program;
} api_program;

/* How a form runs for arguments: in `blocks` launches, the first directions % blocks of which have
 * one direction more than the others. */
typedef struct api_choice {
    const api_program *wide, *narrow;
    uint32_t directions, blocks; /* blocks 0: not chosen yet */
    bool side_by_side;
} api_choice;

struct rg_kernel {
    api_handle handle;
    rg_module *module;
    ir_module *outline; /* what launches ask of it (api_outline.c) */
    ir_fn *fn;          /* the outline's */
    ir_module *ir;      /* inlined and simplified, results turned into outputs. NULL: nobody needed it so far */
    rg_str text;      /* as it was written, in the module's arena: what code is kept for */
    uint8_t digest[DIGEST_BYTES]; /* of the text */
    const char *file; /* path of the source file; may be NULL */
    uint32_t nparams;
    rg_param *params;
    uint32_t nextents; /* sum of the buffers' ranks */
    api_variant *variants;
    pthread_mutex_t compiling; /* who finds no program makes it alone; recursive */
    rg_kernel *next;
};

struct rg_module {
    api_handle handle;
    pthread_mutex_t lock; /* of what is listed and compiled on demand */
    arena *arena;
    const char *path, *source; /* of C, zero-terminated; NULL: the module came as IR */
    size_t source_len;
    rg_module_desc desc; /* everything in the arena */
    ir_module *ir;       /* NULL: C */
    bool on_disk;        /* path is that of a file */
    bool listed;
    size_t name_count, static_count;
    rg_str *names; /* static functions behind the others */
    rg_kernel *kernels;
};

/* One argument as set. */
typedef struct api_slot {
    bool set;
    uint64_t bits;
    rg_array *array; /* of an array parameter; the companion of a scalar. Holds a reference */
    uint64_t moves;  /* array->moves when it was packed */
} api_slot;

struct rg_args {
    api_handle handle;
    rg_kernel *kernel;
    rg_device *device;
    arena *memory; /* what follows but `saved` */
    api_slot *slots;
    rt_arg *packed;
    int64_t *extents; /* what the kernel demands: one for each axis of each buffer */
    uint8_t *key;     /* of the variant, see API_KEY_SIZE */
    rt_arg *block;    /* room for `packed` with planes moved on */
    bool changed;     /* since it was packed */
    bool shared;      /* some arguments have adjoints in common */
    bool clash;       /* they overlap in derivative planes, which only other forms than forward touch */
    api_choice chosen[RG_FORM_COUNT]; /* for the arguments as packed */
    bool began;                               /* the last launch: arrays may have other contents than before */
    char *saved;                              /* room for what a launch may have to put back */
    size_t saved_size;
};

/* -- graphs ------------------------------------------------------------------------------------ */

typedef enum api_node_kind { API_NODE_LAUNCH, API_NODE_FILL, API_NODE_COPY } api_node_kind;

/* One thing to do. Arrays are kept alive by the graph's uses. */
typedef struct api_node {
    api_node_kind what;
    rg_args *args; /* LAUNCH: the node's own */
    rg_form form;
    rg_array *to, *from;
    unsigned to_plane, from_plane;
    uint64_t element; /* FILL: its bytes */
} api_node;

/* An array that a graph holds a reference to. */
typedef struct api_use {
    rg_array *array;
    uint64_t moves; /* array->moves when it was recorded */
    bool written;   /* its primal */
} api_use;

struct rg_graph {
    api_handle handle;
    rg_queue *queue;
    rt_graph *graph; /* the device's; NULL: nodes are done one by one */
    vec(api_node) nodes;
    vec(api_use) uses;
};

/* A variant's key: form, sharing, whether directions lie side by side, whether threads
 * run one by one; how many each plane has; then for each parameter which planes
 * are there (bit p); then for each whether its primal is dense. */
enum { API_KEY_LAYOUT = 2, API_KEY_SINGLE = 3, API_KEY_DIRECTIONS = 4, API_KEY_PLANES = API_KEY_DIRECTIONS + RG_PLANE_COUNT };
#define API_KEY_SIZE(nparams) (API_KEY_PLANES + 2 * (size_t)(nparams))

/* -- logs -------------------------------------------------------------------------------------- */

/* What the environment asks for, of work for a module: what is said of the cache goes to its log if it has one. */
settings api_settings(const rg_module_desc *code);
/* Tells the log, or RG_DEBUG=cache, what was found or made since then. */
void api_tell(const settings *asked, rg_event_kind what, double since, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* -- between the files ------------------------------------------------------------------------- */

/* "cuda:1" gives the table of cuda and 1; an empty name the best device. RG_INVALID, RG_NOT_FOUND, RG_UNSUPPORTED: the message
 * is set. */
rg_status api_device_find(rg_str name, const rt_device_table **table, uint32_t *ordinal);
/* On a device that may be none of rt_device_find's. */
rg_status api_device_open(const rt_device_table *table, uint32_t ordinal, const rg_device_desc *desc, rg_device **device);
void api_device_release(void *device);
void api_queue_release(void *queue);
/* The end of a call that ran work in the queue of a graph or a tape: where the queue was destroyed, nobody else could wait. */
rg_status api_wait_for_closed(rg_queue *queue, rg_status status);
rg_status api_array_make(rg_queue *queue, const rg_array_desc *desc, rg_array **array); /* guarded */
rg_status api_args_make(rg_queue *queue, rg_kernel *kernel, rg_args **args);            /* guarded */
rg_status api_array_create(rg_queue *queue, const rg_array_desc *desc, rg_array **array);
void api_array_release(void *array);
/* The primal's contents may have changed. */
void api_wrote(rg_array *array);
rt_layout api_plane_layout(const rg_array *array, unsigned plane);
size_t api_plane_bytes(const rg_array *array, unsigned plane);
const char *api_plane_name(unsigned plane);
/* "array `x`", or "array": of a name only so much */
enum { API_SHOWN = 64 };
const char *api_shown(const rg_array *array, char *buffer, size_t n);
#define API_SHOWN_NAME(a) api_shown((a), (char[API_SHOWN + 16]){0}, API_SHOWN + 16)
/* Whether the host has a pointer to the primal itself, to write there. */
bool api_open_to_write(const rg_array *array);
/* A plane that is there, or RG_INVALID. */
rg_status api_check_there(const rg_array *array, unsigned plane);
/* Where a plane is for another device, without a copy; RG_UNSUPPORTED, with a text of the device's: it does not reach it. */
rg_status api_reach(rg_array *array, unsigned plane, rg_device *device, void **data, str *error);
/* The plane goes, or moves: first others' work with it ends. */
void api_reached_drop(rg_array *array, unsigned plane);
/* Waits for all that the device's queues were given. */
void api_settle(const rg_device *device);
/* Ends a mapping without copying anything back. */
void api_mapping_drop(rg_array *array, unsigned plane);
/* Whether kernels can use memory of the caller's. */
bool api_reaches(const rg_device *device, const void *data);
rt_place api_place(const rg_queue *queue);
/* RG_INVALID if the array is of another device than the queue. */
rg_status api_check_home(const rg_queue *queue, const rg_array *array);
/* What queue->failed holds, once; and the message of the last error kept for it. */
rg_status api_take_failure(rg_queue *queue);
void api_keep_failure(rg_queue *queue, rg_status status);
/* Around each call that launches: rg_queue_cancel ends it also where no launch runs, while it compiles or between two launches. */
void api_call_begin(rg_queue *queue);
void api_call_end(rg_queue *queue);
bool api_call_is_cancelled(const rg_queue *queue);
/* What the call does from now on is done in any case. */
void api_call_heed(rg_queue *queue);
void api_module_release(void *module);
/* Takes the IR module over. Of desc the options of code count. */
rg_status api_module_adopt(const rg_module_desc *desc, ir_module *ir, rg_module **module);
/* Does not own `source`. RG_COMPILE: diags say why. */
rg_status api_kernel_create(rg_module *module, const ir_fn *source, diag_list *diags,
                            rg_kernel **kernel);
/* As rg_kernel_find_param, also of a kernel that only arguments hold. */
rg_status api_param_find(const rg_kernel *kernel, rg_str name, uint32_t *index);
void api_kernel_free(void *kernel);
/* A kernel whose IR is not needed now, from what api_outline_write gave. false: not a valid outline. */
bool api_kernel_read(rg_module *module, rg_str text, rg_str outline, rg_kernel **kernel);
/* Its IR as pipeline_source gave it, made now if need be. The caller holds kernel->compiling. NULL: diags say why. */
const ir_fn *api_kernel_body(rg_kernel *kernel, diag_list *diags);
/* The same, a copy in a module of the caller's. */
ir_module *api_kernel_copy(rg_kernel *kernel, diag_list *diags);
/* The IR as it was written, once more. */
ir_module *api_module_source(const rg_module *module, const char *kernel, rg_str text, diag_list *diags);
ir_module *api_outline(const ir_fn *fn);
void api_outline_write(str *out, const rg_kernel *kernel);
/* NULL: it is none, or damaged. */
ir_module *api_outline_read(rg_str bytes, uint8_t digest[DIGEST_BYTES], rg_str *file, uint32_t *results);
/* Whether api_few_threads can know a value at kernel level of fn. */
bool api_follows_from_args(const ir_fn *fn, const ir_value *v);
/* Releases what the device has of all kernels. */
void api_programs_release(rg_device *device);
/* The program for a variant's key, made if there is none; `queue` (may be NULL) is to launch it. RG_COMPILE and others: the
 * message is set. */
rg_status api_program_get(rg_kernel *kernel, rg_device *device, const rg_queue *queue, const uint8_t *key,
                          const api_program **program);
/* Makes the variant's IR if it has none. The caller holds kernel->compiling. */
rg_status api_variant_need(api_variant *v, diag_list *diags);
/* Without IR and queue; in mem_scratch(). */
rt_program_desc api_program_desc(const api_variant *v);
/* rt_program_desc.code of an api_program: from the cache, or made and kept. */
rg_status api_code(void *program, unsigned wanted, str *code, bool *kept, diag_list *diags);
/* What an api_kernel's `text` is to be. */
rg_str api_code_text(rg_module *module, const ir_fn *source);
/* Evaluates the extents that the kernel fixes (rg_param.fixed) into args->extents; what the others get means nothing. */
void api_args_extents(rg_args *args);
/* Marks the scalars that extents give (rg_param.extent); k->params and k->nextents are there. */
void api_mark_extents(rg_kernel *k);
/* Parameter number `index`, which has to be an array, or a scalar; NULL where it fails. */
rg_status api_check_param(const rg_args *args, uint32_t index, bool array, const rg_param **param);
/* RG_INVALID if the scalars make an axis of a parameter negative. */
rg_status api_check_extent(const rg_kernel *kernel, uint32_t index, uint32_t axis, int64_t extent);
/* ... or if it is fixed and is not the one found. */
rg_status api_check_axis(const rg_kernel *kernel, uint32_t index, uint32_t axis, int64_t expected, int64_t found);
/* What is taken where nobody says: for an integer; for an axis that nothing fixes, the largest integer among the scalars that are
 * set (at most 2^20), else as for an integer. */
enum { API_DEFAULT_INTEGER = 8 };
int64_t api_likely_extent(const rg_kernel *kernel, const api_slot *slots);
/* Whether a launch with the arguments as packed has so few threads that groups of them do not pay. */
enum { API_FEW_THREADS = 4 };
bool api_few_threads(const rg_args *args);
/* Makes args->packed current: checks that everything is set, fits, and does not overlap in what a launch of that form touches. */
rg_status api_args_pack(rg_args *args, rg_form form);
/* The directions of each plane in a launch of that form, and how many launches they take. */
rg_status api_count_directions(const rg_args *args, rg_form form,
                               uint32_t of[RG_PLANE_COUNT], bool *side_by_side);
rg_status api_count_blocks(const rg_args *args, rg_form form, const uint32_t *of,
                           api_choice *choice);
/* The arguments as packed, for the block that begins with direction `first`. */
void api_block_args(const rg_args *args, const uint32_t *of, uint32_t first, rt_arg *block);

/* Forms that write primals. */
bool api_has_effects(rg_form form);
/* Packs and launches, in a guard of its own; what is recorded is compiled, and done by devices that record themselves. */
rg_status api_run(rg_queue *queue, rg_args *args, rg_form form);
/* Arguments of their own that stand as these do; api_args_free frees them. */
rg_args *api_args_copy(const rg_args *args);
void api_args_free(void *args);
/* rg_array_fill with an element, and rg_array_copy, of planes that are there and fit, in guards of their own. */
rg_status api_array_fill(rg_queue *queue, rg_array *array, unsigned plane, uint64_t element);
rg_status api_array_copy(rg_queue *queue, rg_array *to, unsigned to_plane, rg_array *from, unsigned from_plane);
/* The primal's elements, whatever the device has them for, once it has done all that it was given; `dense` has room for them. */
rg_status api_array_elements(const rg_array *array, void *dense, str *text);

/* While a graph is recorded. RG_INVALID, with the function's name, for what cannot be. */
rg_status api_refuse_recording(const rg_queue *queue, const char *what);
/* The arguments that a launch is recorded with; after it the graph takes them over. */
rg_status api_record_args(rg_queue *queue, rg_args *args, rg_args **own);
void api_record_launch(rg_queue *queue, rg_args *own, rg_form form);
rg_status api_record_fill(rg_queue *queue, rg_array *to, unsigned plane, uint64_t element);
rg_status api_record_copy(rg_queue *queue, rg_array *to, unsigned to_plane, rg_array *from, unsigned from_plane);
/* Gives up what is being recorded. */
void api_graph_drop(rg_queue *queue);

/* Whether a tape notes what is done in the queue. Then these do it, of arguments that are right, primals all of them. */
bool api_tape_records(const rg_queue *queue);
rg_status api_tape_launch(rg_queue *queue, rg_args *args, rg_form form);
rg_status api_tape_fill(rg_queue *queue, rg_array *array, double value, uint64_t element);
rg_status api_tape_write(rg_queue *queue, rg_array *array, const void *data, size_t bytes);
rg_status api_tape_copy(rg_queue *queue, rg_array *to, rg_array *from, unsigned from_plane);
/* RG_INVALID, with the function's name, if so. */
rg_status api_tape_refuse(const rg_queue *queue, const char *what);

#endif

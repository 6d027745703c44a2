/* What stands between the API and a device: one table of functions. SPDX-License-Identifier:
 * Apache-2.0
 *
 * Argument checks, caches, versions and messages about arguments stand above it, once. A device without a
 * table for memory shares the host's and is synchronous; others may return from a launch before it has ended, keep the
 * order of what they are given, and report what went wrong at the next call that waits. */
#ifndef RT_DEVICE_H
#define RT_DEVICE_H

#include "ir/ir.h"
#include "rt/cpu/cpu.h"

typedef struct rt_device rt_device;   /* an open device: any threads may use it at once */
typedef struct rt_queue rt_queue;     /* what is done in order: one thread uses it at a time */
typedef struct rt_program rt_program; /* one form of a kernel, ready to launch in any queue of its device */

typedef struct rt_queue_desc {
    uint64_t tape_budget; /* bytes; 0: the device's choice */
    uint32_t num_threads; /* 0: the device's choice */
    void *stream;         /* the caller's, in which everything is done (a CUstream or hipStream_t); NULL: the queue's own */
    rt_sink sink;         /* of prints */
} rt_queue_desc;

/* What rg_device_info says. */
typedef struct rt_device_facts {
    char model[96], code[32];
    uint8_t uuid[16]; /* of a GPU, whoever drives it; zeros: unknown */
    uint64_t memory, memory_free;
    uint32_t processors, threads;
} rt_device_facts;

/* What code is wanted: for launches of one thread alone; made now, where what was kept could not be used. */
enum { RT_CODE_ALONE = 1, RT_CODE_ANEW = 2 };

/* A kernel in one form, at the table's stage. The module stays alive as long as the program. Tables with `make` do without:
 * fn is NULL then, and `code` gives them what make gave, now or in an earlier process. */
typedef struct rt_program_desc {
    ir_module *module;
    ir_fn *fn;
    /* any time while the program lives; *kept: it was not made now */
    rg_status (*code)(void *user, unsigned wanted, str *code, bool *kept, diag_list *diags);
    void *user;       /* of `code` */
    uint32_t nparams; /* without fn: how many parameters it has, and its file, which may be NULL */
    const char *file;
    bool races;   /* a forward kernel's: two threads of a parallel loop at one element, and not atomically, are a fault (where a
                   * device can tell: the interpreter) */
    bool deterministic; /* results have the same bits for any number of threads */
    bool native_math; /* the platform's math functions instead of our own */
    bool fast_math;   /* approximate ones of the GPU */
    bool apart;       /* LLVM runs in a process of its own (compiler/process.h) */
    bool noalias; /* no two buffers (of any plane) that one of them writes share memory */
    /* by parameter: which planes are there (bit p) and which not; the primal of a buffer is
     * row-major without gaps */
    const uint8_t *present, *absent;
    const bool *dense;
    rt_queue *queue;   /* that needs it first; NULL: it is made ahead of launches */
    const char *label; /* for messages: "kernel `relax` (vjp)"; NULL: the function's name. Lives as long as the module */
} rt_program_desc;

/* An allocation, for a device of another table on the same GPU. */
typedef struct rt_shared {
    uint8_t uuid[16]; /* of the GPU */
    int file;         /* which is whose who has this, until it is adopted or closed */
    uint64_t bytes, offset; /* of the allocation; of the memory in it */
    bool dedicated;   /* the allocation was made for one buffer alone, which both drivers have to know */
} rt_shared;

/* What has become of it there. */
typedef struct rt_adopted {
    void *handle;
    uint64_t base; /* the address of the allocation */
} rt_adopted;

/* Memory that is not the host's: addresses are the device's. What takes a queue is done in its order. `write` has
 * read all of `host` when it returns, `fill` its element. While launches are recorded (rt_graph_table) only `copy` and
 * `fill` are asked for, and are recorded too. */
typedef struct rt_memory_table {
    rg_status (*allocate)(rt_queue *queue, size_t bytes, void **memory, str *error); /* zeroed */
    void (*release)(rt_device *device, void *memory, size_t bytes); /* when all queues have done what they were given */
    rg_status (*write)(rt_queue *queue, void *to, const void *host, size_t bytes, str *error);
    rg_status (*read)(rt_queue *queue, void *host, const void *from, size_t bytes, str *error); /* waits */
    rg_status (*copy)(rt_queue *queue, void *to, const void *from, size_t bytes, str *error);
    rg_status (*fill)(rt_queue *queue, void *to, const void *element, uint32_t size, size_t count, str *error);
    /* From another device of the same table: behind all that its queues were given, before what they are given later. */
    rg_status (*copy_across)(rt_queue *queue, void *to, rt_device *other, const void *from, size_t bytes, str *error);
    bool (*reaches)(rt_device *device, const void *memory); /* whether kernels can use memory of the caller's */
    /* What others need to reach memory of `allocate`, by `adopt` of their device; RG_UNSUPPORTED: they cannot. adopt takes over the file in
     * any case; abandon waits for all work of the device. NULL: no device of the table shares, or none adopts. */
    rg_status (*share)(rt_device *device, const void *memory, rt_shared *shared, str *error);
    rg_status (*adopt)(rt_device *device, const rt_shared *shared, rt_adopted *adopted, str *error);
    void (*abandon)(rt_device *device, const rt_adopted *adopted);
    /* Memory of the host's that copies are fastest with; NULL: there is none, or so few bytes do not need it. `write` from
     * it returns at once, and reads until it is given back. Both functions may be NULL; give_pinned may be called by
     * another thread than the queue's. */
    void *(*take_pinned)(rt_queue *queue, size_t bytes);
    void (*give_pinned)(rt_queue *queue, void *memory);
} rt_memory_table;

/* Launches (copies, fills) that are recorded and later done again, as a whole. */
typedef struct rt_graph rt_graph;
typedef struct rt_graph_table {
    rg_status (*begin)(rt_queue *queue, str *error);
    rg_status (*end)(rt_queue *queue, rt_graph **graph, str *error); /* graph NULL: drop what was recorded */
    rg_status (*launch)(rt_graph *graph, str *error); /* in the queue that recorded it */
    void (*release)(rt_graph *graph);
} rt_graph_table;

/* Queues that do not end what they are given before they return. */
typedef struct rt_stream_table {
    rg_status (*sync)(rt_queue *queue, str *error); /* waits; what went wrong since the last time */
    rg_status (*wait)(rt_queue *queue, rt_queue *other, str *error); /* from now on behind what `other` has been given */
    rg_status (*set_stream)(rt_queue *queue, void *stream, str *error);
    void (*settle)(rt_device *device); /* waits until all queues have done what they were given; reports nothing */
} rt_stream_table;

typedef struct rt_device_table {
    const char *name;
    ir_stage stage; /* of the IR it runs */
    const target *target; /* that kernels are made for; NULL: this machine's CPU */
    /* Of a device that need not be open. RG_NOT_FOUND: there is none of that number. */
    rg_status (*look)(uint32_t ordinal, rt_device_facts *facts, str *error);
    rg_status (*open)(uint32_t ordinal, rt_device **device, str *error);
    void (*close)(rt_device *device); /* its queues are closed, its programs released */
    rg_status (*open_queue)(rt_device *device, const rt_queue_desc *desc, rt_queue **queue, str *error);
    void (*close_queue)(rt_queue *queue); /* waits for what it was given */
    rg_status (*compile)(rt_device *device, const rt_program_desc *desc, rt_program **program,
                         diag_list *diags);
    /* From IR to code as bytes, for compile on devices that are described alike; NULL: compile takes IR. describe adds what
     * code depends on beside the program's description; false: nothing is known, so code must not be kept. */
    rg_status (*make)(rt_device *device, const rt_program_desc *desc, unsigned wanted, str *code, diag_list *diags);
    bool (*describe)(rt_device *device, const rt_program_desc *desc, str *key);
    void (*release)(rt_program *program);
    /* RG_BUDGET, RG_ASSERT, RG_OUT_OF_MEMORY with the place in `error`. After RG_BUDGET arrays hold
     * whatever the launch had written by then, unless `restores`. A device with `streams` may tell of an earlier launch,
     * here and wherever it waits, and then does not do this one: its texts begin with the label of the program that failed,
     * "LABEL: FILE:LINE: ...". Without `streams` the fault is that of this launch, and the caller puts the label there. */
    rg_status (*launch)(rt_queue *queue, rt_program *program, const rt_arg *args, str *error);
    /* Ends what runs in the queue, and what waits behind it, within a tenth of a second: RG_CANCELLED. Has no effect where
     * nothing runs. From any thread or signal handler. */
    void (*cancel)(rt_queue *queue);
    bool restores; /* the device itself puts arrays back when a budget is exceeded */
    /* NULL: the host's memory; launches end before they return; no graphs */
    const rt_memory_table *memory;
    const rt_stream_table *streams;
    const rt_graph_table *graphs;
    uint64_t (*tape_peak)(rt_queue *queue); /* the most bytes of its pool that a launch has had in use; NULL: not counted */
} rt_device_table;

extern const rt_device_table rt_device_interp;
#if RG_HAVE_LLVM
extern const rt_device_table rt_device_cpu;
extern const rt_device_table rt_device_cuda;
extern const rt_device_table rt_device_amd;
extern const rt_device_table rt_device_simt; /* a GPU that is played, for tests */
extern const rt_device_table rt_device_segments; /* the same, with launches in segments */
extern const rt_device_table rt_device_vulkan;
extern const rt_device_table rt_device_metal;
#endif

/* What compile does on devices with `make`: takes the code that there is, or makes it. */
static inline rg_status
rt_program_code(const rt_device_table *table, rt_device *device, const rt_program_desc *desc, unsigned wanted, str *code,
                bool *kept, diag_list *diags)
{
    *kept = false;
    return desc->code ? desc->code(desc->user, wanted, code, kept, diags) : table->make(device, desc, wanted, code, diags);
}
/* What messages call it. */
static inline const char *
rt_program_label(const rt_program_desc *desc)
{
    return desc->label ? desc->label : desc->fn->name;
}
static inline uint32_t
rt_program_params(const rt_program_desc *desc)
{
    return desc->fn ? desc->fn->body->nparams : desc->nparams;
}
/* The file that the kernel stands in; NULL: not known. */
static inline const char *
rt_program_file(const rt_program_desc *desc)
{
    const ir_fn *fn = desc->fn;
    return !fn ? desc->file : fn->loc.file < fn->module->files.n ? fn->module->files.at[fn->loc.file].path : NULL;
}

/* NULL: none of that name. An empty name: the best there is. */
const rt_device_table *rt_device_find(rg_str name);
bool rt_device_is_left_out(rg_str name); /* another build has it */
/* The tables in their order, the best first; NULL behind the last. */
const rt_device_table *rt_device_at(size_t index);
/* rt_device_table.look of devices that are this machine's processor: there is one. */
rg_status rt_host_look(uint32_t ordinal, rt_device_facts *facts, str *error);
/* Names of the devices of this build, separated by ", ". */
void rt_device_names(str *out);

#endif

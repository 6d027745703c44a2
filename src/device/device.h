/* What stands between the API and a device: one table of functions. SPDX-License-Identifier:
 * Apache-2.0
 *
 * Argument checks, caches, versions and messages about arguments stand above it, once. A device without a
 * table for memory shares the host's and is synchronous; others may return from a launch before it has ended, keep the
 * order of what they are given, and report what went wrong at the next call that waits. */
#ifndef RT_DEVICE_H
#define RT_DEVICE_H

#include "ir/ir.h"
#include "rt/abi.h"

typedef struct rt_device rt_device;   /* an open device */
typedef struct rt_program rt_program; /* one form of a kernel, ready to launch */

typedef struct rt_device_desc {
    uint64_t tape_budget; /* bytes; 0, with a memory of its own only: the device's choice */
    uint32_t num_threads; /* 0: the device's choice */
    bool native_math;     /* the platform's math functions instead of our own */
    bool fast_math;       /* approximate ones of the GPU */
    void *stream;         /* the caller's, in which everything is done (CUDA: a CUstream); NULL: the device's own */
    uint32_t ordinal;     /* which of several GPUs */
} rt_device_desc;

/* A kernel in one form, at the table's stage. The module stays alive as long as the program. */
typedef struct rt_program_desc {
    ir_module *module;
    ir_fn *fn;
    bool races;   /* a forward kernel's: two threads of a parallel loop at one element, and not atomically, are a fault (where a
                   * device can tell: the interpreter) */
    bool noalias; /* no two buffers (of any plane) that one of them writes share memory */
    /* by parameter: which planes are there (bit p) and which not; the primal of a buffer is
     * row-major without gaps */
    const uint8_t *present, *absent;
    const bool *dense;
    const char *label; /* for messages: "kernel `relax` (vjp)"; NULL: the function's name. Lives as long as the module */
} rt_program_desc;

/* Memory that is not the host's: addresses are the device's. Everything happens in the order of launches. `write` has
 * read all of `host` when it returns, `fill` its element. While launches are recorded (rt_graph_table) only `copy` and
 * `fill` are asked for, and are recorded too. */
typedef struct rt_memory_table {
    rg_status (*allocate)(rt_device *device, size_t bytes, void **memory, str *error); /* zeroed */
    void (*release)(rt_device *device, void *memory, size_t bytes);
    rg_status (*write)(rt_device *device, void *to, const void *host, size_t bytes, str *error);
    rg_status (*read)(rt_device *device, void *host, const void *from, size_t bytes, str *error); /* waits */
    rg_status (*copy)(rt_device *device, void *to, const void *from, size_t bytes, str *error);
    rg_status (*fill)(rt_device *device, void *to, const void *element, uint32_t size, size_t count, str *error);
    bool (*reaches)(rt_device *device, const void *memory); /* whether kernels can use memory of the caller's */
    /* Memory of the host's that copies are fastest with; NULL: there is none, or so few bytes do not need it. `write` from
     * it returns at once, and reads until it is given back. Both functions may be NULL. */
    void *(*take_pinned)(rt_device *device, size_t bytes);
    void (*give_pinned)(rt_device *device, void *memory);
} rt_memory_table;

/* Launches (copies, fills) that are recorded and later done again, as a whole. */
typedef struct rt_graph rt_graph;
typedef struct rt_graph_table {
    rg_status (*begin)(rt_device *device, str *error);
    rg_status (*end)(rt_device *device, rt_graph **graph, str *error); /* graph NULL: drop what was recorded */
    rg_status (*launch)(rt_graph *graph, str *error);
    void (*release)(rt_graph *graph);
} rt_graph_table;

typedef struct rt_device_table {
    const char *name;
    ir_stage stage; /* of the IR it runs */
    rg_status (*open)(const rt_device_desc *desc, rt_device **device, str *error);
    void (*close)(rt_device *device);
    rg_status (*compile)(rt_device *device, const rt_program_desc *desc, rt_program **program,
                         diag_list *diags);
    void (*release)(rt_program *program);
    /* RG_BUDGET, RG_ASSERT, RG_OUT_OF_MEMORY with the place in `error`. After RG_BUDGET arrays hold
     * whatever the launch had written by then, unless `restores`. A device with `sync` may tell of an earlier launch,
     * here and wherever it waits, and then does not do this one: its texts begin with the label of the program that failed,
     * "LABEL: FILE:LINE: ...". Without `sync` the fault is that of this launch, and the caller puts the label there. */
    rg_status (*launch)(rt_program *program, const rt_arg *args, str *error);
    bool restores; /* the device itself puts arrays back when a budget is exceeded */
    const target *target; /* that kernels are made for; NULL: this machine's CPU */
    /* NULL: the host's memory; launches end before they return; no graphs */
    const rt_memory_table *memory;
    rg_status (*sync)(rt_device *device, str *error); /* waits; what went wrong since the last time */
    const rt_graph_table *graphs;
    uint64_t (*tape_peak)(rt_device *device); /* the most bytes of its pool that a launch has had in use; NULL: not counted */
} rt_device_table;

extern const rt_device_table rt_device_interp;
#if RG_HAVE_LLVM
extern const rt_device_table rt_device_cpu;
extern const rt_device_table rt_device_cuda;
extern const rt_device_table rt_device_simt; /* a GPU that is played, for tests */
#endif

/* NULL: none of that name. An empty name: the best there is. */
const rt_device_table *rt_device_find(rg_str name);
/* Names of the devices of this build, separated by ", ". */
void rt_device_names(str *out);

#endif

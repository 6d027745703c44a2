/* Inside device "metal": what its files share. SPDX-License-Identifier: Apache-2.0
 *
 * The GPU shares the host's memory. Arrays lie in buffers, and their addresses are the host's: copies are the host's, and a launch gets the
 * GPU's addresses in their place. A launch has ended when the call returns, so a queue has one at most, and nobody waits for one.
 *
 *     control    an rt_vulkan_launch: faults are read there, and the word that ends launches is written there
 *     scratch    record, workers, partial results, arguments, counts of groups
 *     pages      pages of tapes, temporary arrays
 *     prints     an rt_gpu_prints, which is read when a launch has ended
 *
 * The steps that are expected are one command buffer, of one encoder that runs them one after the other; then the host looks how they
 * went (device/segments). Objects that calls give without owning them live in a pool, which each entry (mtl_enter) has for itself. */
#ifndef DEVICE_METAL_METAL_H
#define DEVICE_METAL_METAL_H

#include "base/settings.h"
#include "codegen/metal/msl.h"
#include "device/metal/api.h"
#include "device/segments/segments.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct mtl_buffer {
    mtl_id buffer; /* NULL: there is none */
    char *data;
    uint64_t bytes, address; /* the GPU's */
} mtl_buffer;

typedef struct mtl_facts {
    char model[96], system[96];
    uint64_t memory, allocated, piece; /* bytes: that should be used at most, that are in use, of one buffer at most */
    bool fits;                         /* it is of a family that kernels run on */
} mtl_facts;

struct rt_device {
    mtl_api api;
    mtl_id device;
    mtl_facts facts;
    settings settings;
    spirv_features features; /* with what the trial has shown */
    unsigned forks;         /* that this process had behind it when the device was opened */
    pthread_mutex_t lock;   /* of what follows */
    vec(mtl_buffer) pieces; /* memory that was allocated, by address of the host */
    const char *lost;       /* why nothing works any more; NULL: it does */
    char lost_text[256];
};

struct rt_queue {
    rt_device *device;
    mtl_id queue;
    mtl_buffer control, scratch, pages, prints;
    atomic_bool running; /* a launch is under way */
    atomic_bool stopped; /* it is to end */
    uint64_t budget, peak;
    rt_sink sink;
};

struct rt_program {
    rt_device *device;
    const char *label, *file;
    uint32_t nparams;
    spirv_code code; /* without words */
    const char *text; /* in MSL; the code's */
    rt_needs needs;
    mtl_id *pipelines; /* by entry; NULL: not made */
    uint32_t *expected; /* by step, of rt_segments_run */
};

/* -- device.c */

rg_status mtl_look(uint32_t ordinal, rt_device_facts *facts, str *error);
rg_status mtl_open(uint32_t ordinal, rt_device **device, str *error);
void mtl_close(rt_device *d);
/* With a pool of objects up to mtl_leave, which is called in any case. RG_DEVICE: the device is lost, or another process's. */
typedef struct mtl_entry {
    rt_device *device;
    void *pool;
    mem_owner leaves;
} mtl_entry;
rg_status mtl_enter(mtl_entry *entry, rt_device *d, str *error);
void mtl_leave(mtl_entry *entry);
bool mtl_is_fork(const rt_device *d);
void mtl_lose(rt_device *d, const char *why);

/* -- memory.c */

/* Contents are unspecified. RG_OUT_OF_MEMORY */
rg_status mtl_make_buffer(rt_device *d, uint64_t bytes, mtl_buffer *buffer, str *error);
void mtl_free_buffer(rt_device *d, mtl_buffer *buffer);
/* The piece that an address lies in; false: none. */
bool mtl_find_piece(rt_device *d, const void *memory, mtl_buffer *piece);
extern const rt_memory_table mtl_memory;

/* -- program.c */

/* Of the entries of a text, each NULL at first. The caller releases what there is, in any case. */
rg_status mtl_make_pipelines(rt_device *d, const char *msl, uint32_t entries, mtl_id *pipelines, str *error);
rg_status mtl_make(rt_device *d, const rt_program_desc *desc, unsigned wanted, str *code, diag_list *diags);
bool mtl_describe(rt_device *d, const rt_program_desc *desc, str *key);
rg_status mtl_compile(rt_device *d, const rt_program_desc *desc, rt_program **program, diag_list *diags);
void mtl_release_program(rt_program *p);

/* -- launch.c */

rg_status mtl_open_queue(rt_device *d, const rt_queue_desc *desc, rt_queue **queue, str *error);
void mtl_close_queue(rt_queue *q);
rg_status mtl_launch(rt_queue *q, rt_program *p, const rt_arg *args, str *error);
void mtl_cancel(rt_queue *q);
uint64_t mtl_tape_peak(rt_queue *q);
/* In so many threadgroups; waits. `buffer`: what it reaches */
rg_status mtl_run_shader(rt_device *d, mtl_id pipeline, const rt_shader_push *push, mtl_id buffer, uint32_t groups, str *error);

/* -- trial.c */

rg_status mtl_make_shader(rt_device *d, const rt_shader *shader, mtl_id *pipeline, str *error);
rg_status mtl_trial(rt_device *d, str *error);

#endif

/* Inside device "vulkan": what its files share. SPDX-License-Identifier: Apache-2.0
 *
 * All that a queue does is recorded in command buffers, each of which begins behind all that the queue was given before, and is
 * submitted at once. The queue's timeline semaphore counts them. Launches find what they share in memory of the queue's:
 *
 *     slots      one rt_vulkan_launch for each launch under way, in memory that the host sees: what went wrong is read there
 *                when the launch has ended, and the word that ends launches is written there
 *     scratch    record, workers, partial results and arguments of the launch that runs
 *     pool       pages of tapes, temporary arrays
 *
 * Locks, in this order: device.queues_lock, queue.lock, device.lock. A queue's is held while something is done with it, by its own
 * thread, or by one that releases a program. The device's guards submissions and lists, and nothing is waited for meanwhile
 * but vkDeviceWaitIdle, which Vulkan wants so. */
#ifndef DEVICE_VULKAN_VULKAN_H
#define DEVICE_VULKAN_VULKAN_H

#include "base/settings.h"
#include "device/segments/segments.h"
#include "device/vulkan/api.h"

#include <pthread.h>
#include <stdatomic.h>

/* What one gives that the other takes are memory, commands and what goes on between them: all of Vulkan that is used. */
typedef struct vk_api {
    void *library;
    void *(*symbol)(vk_instance instance, const char *name);
#define VK_CALL(level, name, symbol, result, parameters) result(*name) parameters;
#include "device/vulkan/calls.def"
#undef VK_CALL
} vk_api;

/* What a device says of itself. */
typedef struct vk_facts {
    char model[256], driver[256], driver_info[256];
    uint32_t api, vendor, device, driver_version, type;
    uint8_t cache_uuid[16], uuid[16]; /* uuid: the GPU's */
    uint64_t allocation; /* bytes of one at most */
    uint64_t space;      /* bytes of a buffer of several at most, no more than a heap; 0: there are none */
    uint32_t family, lanes; /* queues that compute: their family, how many */
    uint32_t binds;         /* the family of those that bind buffers of several allocations */
    spirv_features features; /* without those that only a test shows */
    bool timeline, float16, int8, int16, atomic_float, subgroup_control, subgroup_extension, budget, full_subgroups, uniform_control,
        buffer_limit, exports, dedicates; /* exports: other drivers can reach memory, if (dedicates) it is a buffer's alone */
    vk_memory_properties memory;
} vk_facts;

/* Bytes of the largest heap that is the device's own. */
uint64_t vk_heap(const vk_facts *facts);
/* Bytes of one buffer at most. */
static inline uint64_t
vk_most(const vk_facts *facts)
{
    return facts->space > facts->allocation ? facts->space : facts->allocation;
}

/* A buffer with memory of its own. */
typedef struct vk_buffer {
    vk_handle buffer, memory;
    vk_handle *parts; /* NULL: `memory` is all; else allocations, one behind the other, up to a 0 */
    uint64_t address, bytes;
    uint64_t shared; /* bytes of `memory`, which other drivers can reach; 0: they cannot */
    char *data; /* as the host sees it; NULL: it does not */
} vk_buffer;

/* Memory that queues may still use; freed when all submissions up to this one have ended. */
typedef struct vk_garbage {
    vk_buffer buffer;
    uint64_t stamp;
} vk_garbage;

struct rt_device {
    vk_api api;
    vk_physical physical;
    vk_logical logical;
    vk_facts facts;
    spirv_features features; /* with what the test has shown */
    settings settings;
    unsigned forks;    /* that this process had behind it when the device was opened */
    vk_lane lanes[8];
    unsigned nlanes, next_lane;
    vk_lane binder;            /* binds buffers of several allocations; NULL: there are none */
    vk_handle bound;           /* a semaphore: how many were bound */
    vk_handle layout; /* of all pipelines */
    pthread_mutex_t queues_lock; /* no queue comes or goes */
    pthread_mutex_t lock; /* of what follows */
    vec(rt_queue *) queues;      /* changes under both locks */
    vec(vk_buffer) pieces;       /* memory that was allocated, by address */
    vec(vk_garbage) garbage;     /* room for all pieces */
    vec(rt_program *) programs;  /* by number; NULL: free */
    uint64_t submissions, bindings;
    const char *lost;            /* why nothing works any more; NULL: it does */
    char lost_text[512];
    rt_queue *own; /* for tests and for copies to other devices */
};

enum { VK_COMMANDS = 32, VK_SLOTS = 32, VK_STAGES = 2, VK_WAITS = 8 };

/* Commands that were submitted. */
typedef struct vk_batch {
    vk_commands commands;
    uint64_t value, stamp; /* of the queue's semaphore, when they have ended; of the device's submissions */
} vk_batch;

struct rt_queue {
    rt_device *device;
    pthread_mutex_t lock;
    vk_lane lane;
    vk_handle semaphore, pool;
    uint64_t value;              /* that the semaphore will have when all has ended */
    vk_batch batches[VK_COMMANDS];
    unsigned next_batch;
    bool recording;              /* the next batch is */
    struct { rt_queue *queue; uint64_t value; } awaited; /* by the next submission; NULL: nothing */
    vk_buffer stage[VK_STAGES], back; /* of what the host writes, and reads */
    uint64_t staged[VK_STAGES];  /* the semaphore's value when they may be filled again */
    size_t stage_used;
    unsigned stage_now;
    vk_buffer slots, scratch, pages, prints;
    uint64_t slot_values[VK_SLOTS]; /* 0: free */
    unsigned next_slot;
    atomic_bool running;         /* launches are under way */
    atomic_bool stopped;         /* they are to end */
    uint64_t budget, peak;
    rt_sink sink;
    rg_status failed;            /* of an earlier launch, not told yet */
    str failure;
};

struct rt_program {
    rt_device *device;
    const char *label, *file;
    uint32_t number, nparams;
    bool numbered;
    spirv_code code;
    rt_needs needs;
    vk_handle shader;
    vk_handle *pipelines; /* by entry */
    uint32_t *expected;   /* by step, of rt_segments_run */
};

/* -- loader.c */

/* The loader at `path` (NULL: libvulkan.so.1), and the process's instance of it, which stays. RG_DEVICE: there is none, or too old a
 * one. */
RG_MUST_CHECK rg_status vk_load(vk_api *api, const char *path, vk_instance *instance, str *error);
void vk_load_device(vk_api *api, vk_logical logical);
const char *vk_name(int32_t code);

/* -- facts.c */

/* RG_NOT_FOUND: there is none of that number */
rg_status vk_find(const vk_api *api, vk_instance instance, uint32_t ordinal, vk_physical *physical, str *error);
void vk_facts_read(const vk_api *api, vk_physical physical, vk_facts *facts);
/* RG_UNSUPPORTED: what it lacks */
rg_status vk_facts_need(const vk_facts *facts, str *error);
rg_status vk_create_logical(vk_api *api, vk_physical physical, const vk_facts *facts, vk_logical *logical, str *error);
void vk_identify(const vk_facts *facts, str *key); /* the device and its driver */
rg_status vk_look(uint32_t ordinal, rt_device_facts *facts, str *error);

/* -- device.c */

rg_status vk_open(uint32_t ordinal, rt_device **device, str *error);
void vk_close(rt_device *d);
/* code >= 0: RG_OK. Else adds "cannot DOING: NAME", and remembers it if the device is lost. */
rg_status vk_check(rt_device *d, int32_t code, const char *doing, str *error);
/* RG_DEVICE: it is lost, or another process's */
rg_status vk_usable(rt_device *d, str *error);
bool vk_is_fork(const rt_device *d);

/* -- trial.c: what a driver must be seen to do. RG_UNSUPPORTED: it does not */
rg_status vk_trial(rt_device *d, str *error);
rg_status vk_make_pipeline(rt_device *d, const rt_shader *shader, vk_handle *pipeline, str *error);

/* -- memory.c */

/* VK_USE_ARRAY: as VK_USE_DEVICE, and within reach of other drivers where that can be had */
typedef enum vk_use { VK_USE_DEVICE, VK_USE_ARRAY, VK_USE_SHARED, VK_USE_WRITE, VK_USE_READ } vk_use;
/* Contents are unspecified. RG_OUT_OF_MEMORY. Small pieces may be taken while a lock is held. */
rg_status vk_buffer_make(rt_device *d, uint64_t bytes, vk_use use, vk_buffer *buffer, str *error);
void vk_buffer_free(rt_device *d, vk_buffer *buffer);
void vk_sweep(rt_device *d); /* garbage that nobody uses any more. Nobody holds the lock */
extern const rt_memory_table vk_memory;
rg_status vk_fill_zero(rt_queue *q, const vk_buffer *buffer, uint64_t from, uint64_t bytes, str *error);

/* -- queue.c */

rg_status vk_open_queue(rt_device *d, const rt_queue_desc *desc, rt_queue **queue, str *error);
void vk_close_queue(rt_queue *q);
typedef struct vk_entry {
    rt_queue *queue;
    mem_owner leaves;
} vk_entry;
/* The queue is nobody else's until vk_leave, which is called in any case. RG_DEVICE: the device is lost. */
rg_status vk_enter(vk_entry *entry, rt_queue *q, str *error);
void vk_leave(vk_entry *entry);
/* Commands that begin behind all that came before. */
rg_status vk_begin(rt_queue *q, vk_commands *commands, str *error);
void vk_barrier_all(rt_queue *q, vk_commands commands);
rg_status vk_submit(rt_queue *q, str *error);
rg_status vk_wait_for(rt_queue *q, uint64_t value, str *error);
rg_status vk_ended(rt_queue *q, uint64_t *value, str *error);
extern const rt_stream_table vk_streams;

/* -- program.c */

rg_status vk_make(rt_device *d, const rt_program_desc *desc, unsigned wanted, str *code, diag_list *diags);
bool vk_describe(rt_device *d, const rt_program_desc *desc, str *key);
rg_status vk_compile(rt_device *d, const rt_program_desc *desc, rt_program **program, diag_list *diags);
void vk_release(rt_program *p);

/* -- launch.c */

rg_status vk_launch(rt_queue *q, rt_program *p, const rt_arg *args, str *error);

/* -- report.c */

/* What launches have left that have ended by now; prints only where all have. The first fault is kept. */
void vk_collect(rt_queue *q, uint64_t ended);
/* Waits for all; what went wrong since the last time. */
rg_status vk_wait(rt_queue *q, str *error);
/* the same, kept for the next call that can tell */
void vk_settle(rt_queue *q);
rg_status vk_tell(rt_queue *q, str *error);
void vk_cancel(rt_queue *q);
uint64_t vk_tape_peak(rt_queue *q);
rg_status vk_prints_open(rt_queue *q, str *error);

#endif

/* What is used of Vulkan's binary interface: numbers and layouts of the public specification, under names of our own.
 * SPDX-License-Identifier: Apache-2.0
 *
 * No header of Vulkan's is needed to build. Every structure that has one begins with its kind and a pointer to the next of
 * its chain (vk_head). Handles are pointers or 64-bit numbers; both are uint64_t here where they are not "dispatchable". */
#ifndef DEVICE_VULKAN_API_H
#define DEVICE_VULKAN_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct vk_instance_ *vk_instance;
typedef struct vk_physical_ *vk_physical;
typedef struct vk_logical_ *vk_logical;
typedef struct vk_lane_ *vk_lane; /* VkQueue: the API's queues are rt_queue */
typedef struct vk_commands_ *vk_commands;
typedef uint64_t vk_handle; /* of all else */

enum {
    VK_OK = 0,
    VK_TIMED_OUT = 2,
    VK_PARTIAL = 5,
    VK_NO_HOST_MEMORY = -1,
    VK_NO_DEVICE_MEMORY = -2,
    VK_LOST = -4,

    VK_1_2 = 1 << 22 | 2 << 12,

    VK_BUFFER_SOURCE = 1,
    VK_BUFFER_TARGET = 2,
    VK_BUFFER_STORAGE = 0x20,
    VK_BUFFER_INDIRECT = 0x100,
    VK_BUFFER_ADDRESS = 0x20000,
    VK_BUFFER_ALL = VK_BUFFER_SOURCE | VK_BUFFER_TARGET | VK_BUFFER_STORAGE | VK_BUFFER_INDIRECT | VK_BUFFER_ADDRESS,
    VK_BUFFER_SPARSE = 1, /* a flag: memory is bound by a queue, in parts */
    VK_ALLOCATE_ADDRESS = 2,

    VK_MEMORY_LOCAL = 1,
    VK_MEMORY_VISIBLE = 2,
    VK_MEMORY_COHERENT = 4,
    VK_MEMORY_CACHED = 8,
    VK_FILE = 1, /* memory as a file that only drivers understand */
    VK_NEEDS_DEDICATION = 1, /* of memory that is to be such a file */
    VK_CAN_EXPORT = 2,

    VK_LANE_COMPUTE = 2, /* of a queue family */
    VK_LANE_SPARSE = 8,
    VK_POOL_RESETS = 2,  /* command buffers begin anew each by itself */
    VK_BEGIN_ONCE = 1,
    VK_BIND_COMPUTE = 1,
    VK_STAGE_COMPUTE = 0x20,     /* of shaders */
    VK_AT_INDIRECT = 2,          /* stages of a barrier */
    VK_AT_COMPUTE = 0x800,
    VK_AT_TRANSFER = 0x1000,
    VK_AT_HOST = 0x4000,
    VK_AT_ALL = 0x10000,
    VK_MAY_READ_INDIRECT = 1,
    VK_MAY_READ = 0x8000,
    VK_MAY_WRITE = 0x10000,
    VK_MAY_READ_HOST = 0x2000,
    VK_SUBGROUPS_FULL = 2, /* of a shader's stage */
    VK_TIMELINE = 1,
    VK_KIND_CPU = 4, /* of a device */
};

/* kinds of structures */
enum {
    VK_S_APPLICATION = 0,
    VK_S_INSTANCE = 1,
    VK_S_LANE = 2,
    VK_S_LOGICAL = 3,
    VK_S_SUBMIT = 4,
    VK_S_ALLOCATE = 5,
    VK_S_BIND = 7,
    VK_S_BUFFER = 12,
    VK_S_SHADER = 16,
    VK_S_CACHE = 17,
    VK_S_STAGE = 18,
    VK_S_COMPUTE = 29,
    VK_S_LAYOUT = 30,
    VK_S_SEMAPHORE = 9,
    VK_S_POOL = 39,
    VK_S_COMMANDS = 40,
    VK_S_BEGIN = 42,
    VK_S_BARRIER = 46,
    VK_S_FEATURES_1_1 = 49,
    VK_S_FEATURES_1_2 = 51,
    VK_S_PROPERTIES_1_2 = 52,
    VK_S_PROPERTIES_1_1 = 50,
    VK_S_FEATURES = 1000059000,
    VK_S_PROPERTIES = 1000059001,
    VK_S_MEMORY = 1000059006,
    VK_S_ALLOCATE_FLAGS = 1000060000,
    VK_S_EXTERNAL_BUFFER_DESC = 1000071002,
    VK_S_EXTERNAL_BUFFER = 1000071003,
    VK_S_BUFFER_SHARED = 1000072000,
    VK_S_ALLOCATE_SHARED = 1000072002,
    VK_S_FILE = 1000074002,
    VK_S_DEDICATED = 1000127001,
    VK_S_TIMELINE_TYPE = 1000207002,
    VK_S_TIMELINE_SUBMIT = 1000207003,
    VK_S_TIMELINE_WAIT = 1000207004,
    VK_S_PROPERTIES_SUBGROUP_SIZE = 1000225000,
    VK_S_REQUIRED_SUBGROUP_SIZE = 1000225001,
    VK_S_FEATURES_SUBGROUP_SIZE = 1000225002,
    VK_S_MEMORY_BUDGET = 1000237000,
    VK_S_BUFFER_ADDRESS = 1000244001,
    VK_S_FEATURES_ATOMIC_FLOAT = 1000260000,
    VK_S_FEATURES_UNIFORM_CONTROL = 1000323000,
    VK_S_PROPERTIES_BUFFER = 1000413001,
};

/* -- instance and devices -- */
typedef struct vk_head {
    uint32_t kind;
    void *next;
} vk_head;
typedef struct vk_application {
    vk_head head;
    const char *name;
    uint32_t version;
    const char *engine;
    uint32_t engine_version, api;
} vk_application;
typedef struct vk_instance_desc {
    vk_head head;
    uint32_t flags;
    const vk_application *application;
    uint32_t nlayers;
    const char *const *layers;
    uint32_t nextensions;
    const char *const *extensions;
} vk_instance_desc;
typedef struct vk_lane_desc {
    vk_head head;
    uint32_t flags, family, count;
    const float *priorities;
} vk_lane_desc;
typedef struct vk_logical_desc {
    vk_head head;
    uint32_t flags, nlanes;
    const vk_lane_desc *lanes;
    uint32_t nlayers;
    const char *const *layers;
    uint32_t nextensions;
    const char *const *extensions;
    const void *features;
} vk_logical_desc;
typedef struct vk_extension {
    char name[256];
    uint32_t version;
} vk_extension;
typedef struct vk_family {
    uint32_t flags, count, timestamp_bits, granularity[3];
} vk_family;
typedef struct vk_memory_properties {
    vk_head head;
    uint32_t ntypes;
    struct {
        uint32_t flags, heap;
    } types[32];
    uint32_t nheaps;
    struct {
        uint64_t bytes;
        uint32_t flags;
    } heaps[16];
} vk_memory_properties;
typedef struct vk_memory_budget {
    vk_head head;
    uint64_t budget[16], usage[16];
} vk_memory_budget;

/* The limits, of which few are read, are one list in the specification's order. */
typedef struct vk_properties {
    vk_head head;
    uint32_t api, driver, vendor, device, type;
    char name[256];
    uint8_t cache_uuid[16];
    struct {
        uint32_t before[12];
        uint64_t granularity, sparse; /* sparse: bytes of addresses that sparse buffers may have */
        uint32_t others[38];
        uint32_t shared_memory, groups[3], invocations, group_size[3];
        uint32_t behind[14];
        size_t map_alignment;
        uint64_t rest[24];
    } limits;
    uint32_t sparse[5];
} vk_properties;
typedef struct vk_properties_1_1 {
    vk_head head;
    uint8_t device_uuid[16], driver_uuid[16], luid[8];
    uint32_t node_mask, luid_valid, subgroup, subgroup_stages, subgroup_operations, quad, point_clipping, views, view_index,
        protected, per_set;
    uint64_t allocation; /* bytes at most */
} vk_properties_1_1;
typedef struct vk_properties_1_2 {
    vk_head head;
    uint32_t driver_id;
    char driver_name[256], driver_info[256];
    uint8_t conformance[4];
    uint32_t denorm_independence, rounding_independence;
    uint32_t preserve[3];           /* of signed zeros, infinities and NaNs: f16, f32, f64 */
    uint32_t denorm_preserve[3], denorm_flush[3], round_even[3], round_zero[3];
    uint32_t descriptors[23], resolve[4], minmax[2];
    uint64_t timeline_difference;
    uint32_t framebuffer_samples;
} vk_properties_1_2;
typedef struct vk_properties_buffer {
    vk_head head;
    uint64_t most; /* bytes of a buffer */
} vk_properties_buffer;
typedef struct vk_properties_subgroup_size {
    vk_head head;
    uint32_t least, most, groups, stages;
} vk_properties_subgroup_size;

/* -- features: lists of VkBool32 -- */
typedef struct vk_features {
    vk_head head;
    uint32_t before[39], float64, int64, int16, residency, least_lod, sparse_binding, behind[10];
} vk_features;
typedef struct vk_features_1_1 {
    vk_head head;
    uint32_t storage16, uniform_storage16, push16, inout16, others[8];
} vk_features_1_1;
typedef struct vk_features_1_2 {
    vk_head head;
    uint32_t others[2], storage8, uniform_storage8, push8, buffer_atomics64, shared_atomics64, float16, int8, indexing[21],
        minmax, scalar_layout, imageless, uniform_layout, extended_subgroup, separate_depth, host_reset, timeline,
        buffer_address, address_replay, address_devices, memory_model, memory_model_device, memory_model_chains, viewport[4];
} vk_features_1_2;
typedef struct vk_features_subgroup_size {
    vk_head head;
    uint32_t control, full;
} vk_features_subgroup_size;
typedef struct vk_features_uniform_control {
    vk_head head;
    uint32_t uniform;
} vk_features_uniform_control;
typedef struct vk_features_atomic_float {
    vk_head head;
    uint32_t buffer32, buffer32_add, buffer64, buffer64_add, shared32, shared32_add, shared64, shared64_add, images[4];
} vk_features_atomic_float;

/* -- memory -- */
typedef struct vk_buffer_desc {
    vk_head head;
    uint32_t flags;
    uint64_t bytes;
    uint32_t usage, sharing, nfamilies;
    const uint32_t *families;
} vk_buffer_desc;
typedef struct vk_requirements {
    uint64_t bytes, alignment;
    uint32_t types; /* a bit for each */
} vk_requirements;
typedef struct vk_allocate_desc {
    vk_head head;
    uint64_t bytes;
    uint32_t type;
} vk_allocate_desc;
typedef struct vk_allocate_flags {
    vk_head head;
    uint32_t flags, mask;
} vk_allocate_flags;
typedef struct vk_external_buffer_desc {
    vk_head head;
    uint32_t flags, usage, kind;
} vk_external_buffer_desc;
typedef struct vk_external_buffer {
    vk_head head;
    uint32_t features, from, compatible;
} vk_external_buffer;
typedef struct vk_shared_as { /* of a buffer, of an allocation */
    vk_head head;
    uint32_t kinds;
} vk_shared_as;
typedef struct vk_dedicated {
    vk_head head;
    vk_handle image, buffer;
} vk_dedicated;
typedef struct vk_file_desc {
    vk_head head;
    vk_handle memory;
    uint32_t kind;
} vk_file_desc;
typedef struct vk_bind {
    uint64_t at, bytes; /* of the buffer */
    vk_handle memory;
    uint64_t offset;
    uint32_t flags;
} vk_bind;
typedef struct vk_buffer_binds {
    vk_handle buffer;
    uint32_t count;
    const vk_bind *binds;
} vk_buffer_binds;
typedef struct vk_bind_desc {
    vk_head head;
    uint32_t nwaits;
    const vk_handle *waits;
    uint32_t nbuffers;
    const vk_buffer_binds *buffers;
    uint32_t nopaque;
    const void *opaque;
    uint32_t nimages;
    const void *images;
    uint32_t nsignals;
    const vk_handle *signals;
} vk_bind_desc;
typedef struct vk_address_desc {
    vk_head head;
    vk_handle buffer;
} vk_address_desc;

/* -- pipelines -- */
typedef struct vk_shader_desc {
    vk_head head;
    uint32_t flags;
    size_t bytes;
    const uint32_t *words;
} vk_shader_desc;
typedef struct vk_cache_desc {
    vk_head head;
    uint32_t flags;
    size_t bytes;
    const void *data;
} vk_cache_desc;
typedef struct vk_push_range {
    uint32_t stages, offset, bytes;
} vk_push_range;
typedef struct vk_layout_desc {
    vk_head head;
    uint32_t flags, nsets;
    const vk_handle *sets;
    uint32_t nranges;
    const vk_push_range *ranges;
} vk_layout_desc;
typedef struct vk_stage {
    vk_head head;
    uint32_t flags, stage;
    vk_handle shader;
    const char *entry;
    const void *constants;
} vk_stage;
typedef struct vk_required_subgroup_size {
    vk_head head;
    uint32_t size;
} vk_required_subgroup_size;
typedef struct vk_compute_desc {
    vk_head head;
    uint32_t flags;
    vk_stage stage;
    vk_handle layout, base;
    int32_t base_index;
} vk_compute_desc;

/* -- commands -- */
typedef struct vk_pool_desc {
    vk_head head;
    uint32_t flags, family;
} vk_pool_desc;
typedef struct vk_commands_desc {
    vk_head head;
    vk_handle pool;
    uint32_t level, count;
} vk_commands_desc;
typedef struct vk_begin_desc {
    vk_head head;
    uint32_t flags;
    const void *inheritance;
} vk_begin_desc;
typedef struct vk_barrier {
    vk_head head;
    uint32_t from, to;
} vk_barrier;
typedef struct vk_copy {
    uint64_t from, to, bytes;
} vk_copy;
typedef struct vk_semaphore_desc {
    vk_head head;
    uint32_t flags;
} vk_semaphore_desc;
typedef struct vk_timeline_type {
    vk_head head;
    uint32_t type;
    uint64_t value;
} vk_timeline_type;
typedef struct vk_timeline_submit {
    vk_head head;
    uint32_t nwaits;
    const uint64_t *waits;
    uint32_t nsignals;
    const uint64_t *signals;
} vk_timeline_submit;
typedef struct vk_submit_desc {
    vk_head head;
    uint32_t nwaits;
    const vk_handle *waits;
    const uint32_t *wait_stages;
    uint32_t ncommands;
    const vk_commands *commands;
    uint32_t nsignals;
    const vk_handle *signals;
} vk_submit_desc;
typedef struct vk_timeline_wait {
    vk_head head;
    uint32_t flags, count;
    const vk_handle *semaphores;
    const uint64_t *values;
} vk_timeline_wait;

#endif

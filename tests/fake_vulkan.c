/* See fake_vulkan.h: stands in for libvulkan.so.1. SPDX-License-Identifier: Apache-2.0 */
#include "fake_vulkan.h"

#include "base/base.h"
#include "device/vulkan/api.h"

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
EXPORT fake_vulkan fake = {.devices = 1, .version = 1 << 22 | 3 << 12, .rounds = 1, .memory = 256 << 20, .space = 1 << 30,
                           .shares = 1};
enum { ALLOCATION = 64 << 20, BLOCK = 4096 /* of what is bound in parts */ };

#define VK_CALL(level, name, symbol, result, parameters) static result fake_##name parameters;
#include "device/vulkan/calls.def"
#undef VK_CALL
static const struct {
    const char *symbol;
    void *function;
} calls[] = {
#define VK_CALL(level, name, symbol, result, parameters) {symbol, (void *)(uintptr_t)fake_##name},
#include "device/vulkan/calls.def"
#undef VK_CALL
};
static const char *const symbols[] = {
#define VK_CALL(level, name, symbol, result, parameters) symbol,
#include "device/vulkan/calls.def"
#undef VK_CALL
};
enum {
#define VK_CALL(level, name, symbol, result, parameters) NUMBER_##name,
#include "device/vulkan/calls.def"
#undef VK_CALL
};

EXPORT void *vkGetInstanceProcAddr(vk_instance instance, const char *name);
void *
vkGetInstanceProcAddr(vk_instance instance, const char *name)
{
    for (size_t i = 0; i < countof(calls); i++)
        if (strcmp(calls[i].symbol, name) == 0)
            return calls[i].function;
    return NULL;
}
static void *
fake_device_symbol(vk_logical device, const char *name)
{
    return vkGetInstanceProcAddr(NULL, name);
}

#define ADD(what, n) __atomic_add_fetch(&fake.what, (n), __ATOMIC_RELAXED)

static int32_t
step(int number)
{
    long call = ADD(calls, 1);
    if (fake.lost)
        return fake.lost;
    if (call != fake.fails_at)
        return VK_OK;
    snprintf(fake.failed, sizeof(fake.failed), "%s", symbols[number]);
    fake.lost = fake.fails_with == VK_LOST ? VK_LOST : 0;
    return fake.fails_with;
}
#define STEP(name)                               \
    do {                                         \
        int32_t code_ = step(NUMBER_##name);     \
        if (code_)                               \
            return code_;                        \
    } while (0)

/* -- instance and device ------------------------------------------------------------------------------------------- */

static char object, binder; /* what handles point to; the queue that binds */

static int32_t
fake_instance_version(uint32_t *version)
{
    STEP(instance_version);
    *version = 1 << 22 | 3 << 12;
    return VK_OK;
}
static int32_t
fake_create_instance(const vk_instance_desc *desc, const void *allocator, vk_instance *instance)
{
    STEP(create_instance);
    ADD(instances, 1);
    *instance = (vk_instance)&object;
    return VK_OK;
}
static void
fake_destroy_instance(vk_instance instance, const void *allocator)
{
    ADD(instances, -1);
}
static int32_t
fake_enumerate(vk_instance instance, uint32_t *count, vk_physical *devices)
{
    STEP(enumerate);
    *count = fake.devices;
    for (uint32_t i = 0; i < fake.devices; i++)
        devices[i] = (vk_physical)&object;
    return VK_OK;
}
static void
fake_properties(vk_physical device, vk_properties *p)
{
    p->api = fake.version;
    p->type = VK_KIND_CPU;
    p->limits.sparse = fake.space;
    snprintf(p->name, sizeof p->name, "a GPU that is not there");
    for (vk_head *next = p->head.next; next; next = next->next) {
        if (next->kind == VK_S_PROPERTIES_1_1) {
            ((vk_properties_1_1 *)next)->allocation = ALLOCATION;
            memset(((vk_properties_1_1 *)next)->device_uuid, 'g' + fake.gpu, 16);
        }
        if (next->kind == VK_S_PROPERTIES_1_2)
            snprintf(((vk_properties_1_2 *)next)->driver_name, 16, "fake");
    }
}
static void
fake_features(vk_physical device, vk_features *f)
{
    const char *lacks = fake.lacks ? fake.lacks : "";
    f->int64 = strcmp(lacks, "shaderInt64") != 0;
    f->float64 = 1;
    f->sparse_binding = fake.space > 0;
    for (vk_head *next = f->head.next; next; next = next->next)
        if (next->kind == VK_S_FEATURES_1_2) {
            vk_features_1_2 *f12 = (vk_features_1_2 *)next;
            f12->buffer_address = strcmp(lacks, "bufferDeviceAddress") != 0;
            f12->timeline = strcmp(lacks, "timelineSemaphore") != 0;
            f12->memory_model = f12->memory_model_device = strcmp(lacks, "vulkanMemoryModel") != 0;
        }
}
static void
fake_memory_properties(vk_physical device, vk_memory_properties *p)
{
    p->ntypes = p->nheaps = 1;
    p->types[0].flags = VK_MEMORY_LOCAL | VK_MEMORY_VISIBLE | VK_MEMORY_COHERENT | VK_MEMORY_CACHED;
    p->types[0].heap = 0;
    p->heaps[0].bytes = fake.memory;
    p->heaps[0].flags = 1;
}
static void
fake_families(vk_physical device, uint32_t *count, vk_family *families)
{
    *count = fake.apart ? 2 : 1;
    families[0] = (vk_family){.flags = VK_LANE_COMPUTE | (fake.space && !fake.apart ? VK_LANE_SPARSE : 0), .count = 2};
    if (fake.apart)
        families[1] = (vk_family){.flags = VK_LANE_SPARSE, .count = 1};
}
static int32_t
fake_extensions(vk_physical device, const char *layer, uint32_t *count, vk_extension *extensions)
{
    STEP(extensions);
    *count = fake.shares > 0;
    if (extensions && fake.shares)
        strcpy(extensions[0].name, "VK_KHR_external_memory_fd");
    return VK_OK;
}
static void
fake_external_buffer(vk_physical device, const vk_external_buffer_desc *desc, vk_external_buffer *buffer)
{
    buffer->features = VK_CAN_EXPORT | (fake.shares > 1 ? VK_NEEDS_DEDICATION : 0);
}
static int32_t
fake_create_device(vk_physical device, const vk_logical_desc *desc, const void *allocator, vk_logical *logical)
{
    STEP(create_device);
    ADD(unsafe, ((const vk_features *)desc->head.next)->sparse_binding != (fake.space > 0) || desc->nlanes != (fake.apart ? 2 : 1));
    ADD(unsafe, desc->nextensions > (fake.shares > 0));
    ADD(alive, 1);
    *logical = (vk_logical)&object;
    return VK_OK;
}
static void
fake_destroy_device(vk_logical device, const void *allocator)
{
    ADD(alive, -1);
}
static void
fake_get_lane(vk_logical device, uint32_t family, uint32_t index, vk_lane *lane)
{
    ADD(unsafe, family > (uint32_t)fake.apart || index > 1 - family);
    *lane = family == (uint32_t)fake.apart ? (vk_lane)&binder : (vk_lane)&object;
}
static int32_t
fake_wait_idle(vk_logical device)
{
    STEP(wait_idle);
    return VK_OK;
}

/* -- memory -------------------------------------------------------------------------------------------------------- */

typedef struct buffer {
    uint64_t bytes;
    char *memory;
    uint64_t room; /* of one that is bound in parts: bytes of its addresses; 0: it is not */
    bool shared;
} buffer;

/* A file without a name, which can be seen at several addresses. */
typedef struct allocation {
    uint64_t bytes;
    int file;
    char *seen;
    bool shared;
} allocation;

/* NULL: it is not there */
static const void *
link_of(const void *chain, uint32_t kind)
{
    const vk_head *next = chain;
    while (next && next->kind != kind)
        next = next->next;
    return next;
}
static bool
is_shared(const void *chain, uint32_t kind)
{
    const vk_shared_as *as = link_of(chain, kind);
    return as && as->kinds == VK_FILE;
}

static void *make_object(size_t bytes);
static void drop_object(vk_handle handle);

static int
open_file(void)
{
#ifdef __linux__
    return memfd_create("fake", MFD_CLOEXEC);
#else
    char name[] = "/tmp/fake-XXXXXX";
    int file = mkstemp(name);
    unlink(name);
    return file;
#endif
}

/* Of any content, but never by chance of zeros. */
static int32_t
fake_allocate(vk_logical device, const vk_allocate_desc *desc, const void *allocator, vk_handle *memory)
{
    STEP(allocate);
    allocation a = {.bytes = (desc->bytes + BLOCK - 1) / BLOCK * BLOCK, .shared = is_shared(desc->head.next, VK_S_ALLOCATE_SHARED)};
    const vk_dedicated *alone = link_of(desc->head.next, VK_S_DEDICATED);
    ADD(unsafe, a.shared && fake.shares == 2 ? !alone || !alone->buffer : alone != NULL);
    if (desc->bytes > ALLOCATION || ADD(taken, a.bytes) > fake.memory) {
        ADD(taken, desc->bytes > ALLOCATION ? 0 : -a.bytes);
        return VK_NO_DEVICE_MEMORY;
    }
    a.file = open_file();
    a.seen = ftruncate(a.file, (off_t)a.bytes) ? MAP_FAILED : mmap(NULL, a.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, a.file, 0);
    if (a.seen == MAP_FAILED)
        abort();
    memset(a.seen, 0xa5, a.bytes);
    allocation *made = make_object(sizeof *made);
    *made = a;
    *memory = (uintptr_t)made;
    return VK_OK;
}
static void
fake_free(vk_logical device, vk_handle memory, const void *allocator)
{
    allocation *a = (allocation *)(uintptr_t)memory;
    ADD(taken, -a->bytes);
    munmap(a->seen, a->bytes);
    close(a->file);
    drop_object(memory);
}
static int32_t
fake_map(vk_logical device, vk_handle memory, uint64_t offset, uint64_t bytes, uint32_t flags, void **data)
{
    STEP(map);
    *data = ((allocation *)(uintptr_t)memory)->seen + offset;
    return VK_OK;
}
static void *
make_object(size_t bytes)
{
    ADD(alive, 1);
    return calloc(1, bytes);
}
static void
drop_object(vk_handle handle)
{
    ADD(alive, -1);
    free((void *)(uintptr_t)handle);
}
static int32_t
fake_create_buffer(vk_logical device, const vk_buffer_desc *desc, const void *allocator, vk_handle *made)
{
    STEP(create_buffer);
    buffer *b = make_object(sizeof *b);
    b->bytes = desc->bytes;
    b->shared = is_shared(desc->head.next, VK_S_BUFFER_SHARED);
    if (desc->flags == VK_BUFFER_SPARSE) { /* nothing is behind its addresses */
        b->room = (b->bytes + BLOCK - 1) / BLOCK * BLOCK;
        b->memory = mmap(NULL, b->room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (b->memory == MAP_FAILED)
            abort();
    }
    ADD(unsafe, b->bytes > (b->room ? fake.space : ALLOCATION));
    *made = (uintptr_t)b;
    return VK_OK;
}
static void
fake_destroy_buffer(vk_logical device, vk_handle handle, const void *allocator)
{
    const buffer *b = (const buffer *)(uintptr_t)handle;
    if (b->room)
        munmap(b->memory, b->room);
    drop_object(handle);
}
static int32_t
fake_bind_buffer(vk_logical device, vk_handle handle, vk_handle memory, uint64_t offset)
{
    STEP(bind_buffer);
    buffer *b = (buffer *)(uintptr_t)handle;
    const allocation *a = (const allocation *)(uintptr_t)memory;
    ADD(unsafe, b->room || offset + b->bytes > a->bytes || b->shared != a->shared);
    b->memory = a->seen + offset;
    return VK_OK;
}
static int32_t
fake_get_file(vk_logical device, const vk_file_desc *desc, int *file)
{
    STEP(get_file);
    const allocation *a = (const allocation *)(uintptr_t)desc->memory;
    ADD(unsafe, !a->shared || desc->kind != VK_FILE);
    *file = dup(a->file);
    return VK_OK;
}
static uint64_t *value_of(vk_handle semaphore);
static int32_t
fake_bind(vk_lane lane, uint32_t count, const vk_bind_desc *desc, vk_handle fence)
{
    STEP(bind);
    const vk_timeline_submit *times = desc->head.next;
    ADD(unsafe, lane != (vk_lane)&binder || count != 1 || *value_of(*desc->waits) < *times->waits);
    for (uint32_t i = 0; i < desc->nbuffers; i++)
        for (uint32_t k = 0; k < desc->buffers[i].count; k++) {
            const buffer *b = (const buffer *)(uintptr_t)desc->buffers[i].buffer;
            const vk_bind *bind = &desc->buffers[i].binds[k];
            const allocation *a = (const allocation *)(uintptr_t)bind->memory;
            bool fits = bind->at % BLOCK == 0 && bind->bytes && bind->bytes % BLOCK == 0 && bind->at + bind->bytes <= b->room &&
                        bind->offset % BLOCK == 0 && bind->offset + bind->bytes <= a->bytes;
            ADD(unsafe, !fits);
            if (fits && mmap(b->memory + bind->at, bind->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, a->file,
                             (off_t)bind->offset) == MAP_FAILED)
                abort();
        }
    __atomic_store_n(value_of(*desc->signals), *times->signals, __ATOMIC_RELEASE);
    return VK_OK;
}
static void
fake_requirements(vk_logical device, vk_handle handle, vk_requirements *requirements)
{
    const buffer *b = (const buffer *)(uintptr_t)handle;
    *requirements = b->room ? (vk_requirements){b->room, BLOCK, 1} : (vk_requirements){b->bytes, 64, 1};
}
static uint64_t
fake_address(vk_logical device, const vk_address_desc *desc)
{
    return (uintptr_t)((buffer *)(uintptr_t)desc->buffer)->memory;
}

/* -- pipelines ----------------------------------------------------------------------------------------------------- */

typedef struct shader {
    size_t nwords;
    uint32_t words[];
} shader;
typedef struct pipeline {
    uint32_t entry, size; /* the function's id; invocations of a workgroup */
    size_t nwords;
    uint32_t words[];
} pipeline;

static int32_t
fake_create_shader(vk_logical device, const vk_shader_desc *desc, const void *allocator, vk_handle *made)
{
    STEP(create_shader);
    shader *s = make_object(sizeof *s + desc->bytes);
    s->nwords = desc->bytes / 4;
    memcpy(s->words, desc->words, desc->bytes);
    *made = (uintptr_t)s;
    return VK_OK;
}
static void
fake_destroy_shader(vk_logical device, vk_handle handle, const void *allocator)
{
    drop_object(handle);
}
static int32_t
fake_create_cache(vk_logical device, const vk_cache_desc *desc, const void *allocator, vk_handle *made)
{
    STEP(create_cache);
    *made = (uintptr_t)make_object(1);
    return VK_OK;
}
static void
fake_destroy_cache(vk_logical device, vk_handle handle, const void *allocator)
{
    drop_object(handle);
}
static int32_t
fake_cache_data(vk_logical device, vk_handle cache, size_t *bytes, void *data)
{
    STEP(cache_data);
    *bytes = 4;
    if (data)
        memcpy(data, "kept", 4);
    return VK_OK;
}
static int32_t
fake_create_layout(vk_logical device, const vk_layout_desc *desc, const void *allocator, vk_handle *made)
{
    STEP(create_layout);
    *made = (uintptr_t)make_object(1);
    return VK_OK;
}
static void
fake_destroy_layout(vk_logical device, vk_handle handle, const void *allocator)
{
    drop_object(handle);
}
static int32_t
fake_create_pipeline(vk_logical device, vk_handle cache, uint32_t count, const vk_compute_desc *descs, const void *allocator, vk_handle *made)
{
    STEP(create_pipeline);
    const shader *s = (const shader *)(uintptr_t)descs->stage.shader;
    pipeline *p = make_object(sizeof *p + s->nwords * 4);
    p->nwords = s->nwords;
    memcpy(p->words, s->words, s->nwords * 4);
    for (size_t at = 5; at < s->nwords; at += s->words[at] >> 16) {
        const uint32_t *w = s->words + at;
        if ((w[0] & 0xffff) == 15 && strcmp((const char *)(w + 3), descs->stage.entry) == 0)
            p->entry = w[2];
        if ((w[0] & 0xffff) == 16 && w[1] == p->entry)
            p->size = w[3];
    }
    ADD(unsafe, p->entry == 0);
    ADD(pipelines, 1);
    *made = (uintptr_t)p;
    return VK_OK;
}
static void
fake_destroy_pipeline(vk_logical device, vk_handle handle, const void *allocator)
{
    drop_object(handle);
}

/* -- shaders, one invocation after the other ----------------------------------------------------------------------- */

typedef struct machine {
    const pipeline *p;
    uint64_t *values;     /* by id; of a pointer or vector an address */
    uint32_t *widths;     /* by id of a type: bits; of anything else its type */
    size_t *labels;       /* by id: where it stands */
    const char *push;
    uint32_t group[3], local[3];
    uint32_t loops;
} machine;

static uint64_t
load(uint64_t from, uint32_t bits)
{
    uint64_t v = 0;
    if (bits == 96)
        return from;
    memcpy(&v, (const void *)(uintptr_t)from, bits / 8);
    return v;
}
static double
number(uint64_t v, uint32_t bits)
{
    float f;
    double d;
    memcpy(&f, &v, 4);
    memcpy(&d, &v, 8);
    return bits == 32 ? (double)f : d;
}
static uint64_t
float_bits(double d, uint32_t bits)
{
    float f = (float)d;
    uint64_t v = 0;
    memcpy(&v, bits == 32 ? (void *)&f : (void *)&d, bits / 8);
    return v;
}

/* Of f32 a quotient, a root or a product and sum of doubles may be rounded twice: their own functions are called. */
static uint64_t
compute_float(const machine *m, uint32_t code, const uint32_t *w)
{
    uint32_t bits = m->widths[w[1]];
    const uint64_t *v = m->values;
    if (code == 136) {
        double a = number(v[w[3]], bits), b = number(v[w[4]], bits);
        uint64_t q = bits == 32 ? float_bits((double)((float)a / (float)b), 32) : float_bits(a / b, 64);
        return fake.rounds ? q : q + 1;
    }
    double a = number(v[w[5]], bits);
    if (w[4] == 31)
        return bits == 32 ? float_bits((double)sqrtf((float)a), 32) : float_bits(sqrt(a), 64);
    double b = number(v[w[6]], bits), c = number(v[w[7]], bits);
    return bits == 32 ? float_bits((double)fmaf((float)a, (float)b, (float)c), 32) : float_bits(fma(a, b, c), 64);
}

/* The value of an instruction that has one, and depends on values alone. */
static bool
compute(const machine *m, uint32_t code, const uint32_t *w, uint64_t *out)
{
    const uint64_t *v = m->values;
    uint64_t mask = m->widths[w[1]] == 32 ? UINT32_MAX : UINT64_MAX;
    switch (code) {
    case 81: *out = load(v[w[3]] + 4 * w[4], 32); return true;
    case 113: case 120: *out = v[w[3]]; return true;
    case 128: *out = (v[w[3]] + v[w[4]]) & mask; return true;
    case 132: *out = (v[w[3]] * v[w[4]]) & mask; return true;
    case 12: case 136: *out = compute_float(m, code, w); return true;
    case 167: *out = v[w[3]] && v[w[4]]; return true;
    case 169: *out = v[w[3]] ? v[w[4]] : v[w[5]]; return true;
    case 170: *out = v[w[3]] == v[w[4]]; return true;
    case 171: *out = v[w[3]] != v[w[4]]; return true;
    case 174: *out = v[w[3]] >= v[w[4]]; return true;
    case 176: *out = v[w[3]] < v[w[4]]; return true;
    case 194: *out = v[w[3]] >> v[w[4]]; return true;
    case 199: *out = v[w[3]] & v[w[4]]; return true;
    default: return false;
    }
}

/* All that stands before the functions; where the entry begins. */
static size_t
declare(machine *m)
{
    size_t entry = 0;
    for (size_t at = 5; at < m->p->nwords; at += m->p->words[at] >> 16) {
        const uint32_t *w = m->p->words + at, code = w[0] & 0xffff;
        if (code == 21 || code == 22)
            m->widths[w[1]] = w[2];
        if (code == 23)
            m->widths[w[1]] = 96;
        if (code == 71 && w[2] == 11)
            m->values[w[1]] = (uintptr_t)(w[3] == 26 ? m->group : m->local);
        if (code == 59 && w[3] == 9)
            m->values[w[2]] = (uintptr_t)m->push;
        if (code == 43)
            m->values[w[2]] = w[3] | (w[0] >> 16 > 4 ? (uint64_t)w[4] << 32 : 0);
        if (code == 248)
            m->labels[w[1]] = at;
        if (code == 54 && w[2] == m->p->entry)
            entry = at;
    }
    return entry;
}

/* Members of what was pushed lie one after the other: their offsets are looked up. */
static uint64_t
member(const machine *m, uint64_t index)
{
    for (size_t at = 5; at < m->p->nwords; at += m->p->words[at] >> 16) {
        const uint32_t *w = m->p->words + at;
        if ((w[0] & 0xffff) == 72 && w[2] == index)
            return w[4];
    }
    return 0;
}

/* phis at a block's beginning are read all at once */
static size_t
enter(machine *m, uint32_t label, uint32_t from)
{
    uint64_t taken[8];
    size_t at = m->labels[label] + 2, first = at, n = 0;
    for (; (m->p->words[at] & 0xffff) == 245; at += m->p->words[at] >> 16, n++)
        for (uint32_t k = 3; k < m->p->words[at] >> 16; k += 2)
            if (m->p->words[at + k + 1] == from)
                taken[n] = m->values[m->p->words[at + k]];
    for (size_t i = 0; i < n; i++, first += m->p->words[first] >> 16)
        m->values[m->p->words[first + 2]] = taken[i];
    return at;
}

static void
invoke(machine *m, size_t at)
{
    uint32_t block = 0;
    while (at < m->p->nwords) {
        const uint32_t *w = m->p->words + at, code = w[0] & 0xffff;
        uint64_t value, to;
        at += w[0] >> 16;
        switch (code) {
        case 248: block = w[1]; break;
        case 54: case 246: case 247: break;
        case 65: m->values[w[2]] = m->values[w[3]] + member(m, m->values[w[4]]); break;
        case 61: case 227: m->values[w[2]] = load(m->values[w[3]], m->widths[w[1]]); m->widths[w[2]] = m->widths[w[1]]; break;
        case 62: to = m->values[w[1]], value = m->values[w[2]]; memcpy((void *)(uintptr_t)to, &value, w[4] == 8 ? 8 : 4); break;
        case 249: case 250: {
            uint32_t next = code == 249 ? w[1] : m->values[w[1]] ? w[2] : w[3];
            bool back = m->labels[next] < m->labels[block];
            if (back && fake.loops && ++m->loops > fake.loops)
                return;
            at = enter(m, next, block);
            block = next;
            break;
        }
        case 253: return;
        default:
            if (!compute(m, code, w, &value)) {
                ADD(unsafe, 1);
                return;
            }
            m->values[w[2]] = value;
        }
    }
}

static void
run_groups(const pipeline *p, const char *push, uint32_t groups)
{
    uint32_t bound = p->words[3];
    machine m = {.p = p, .push = push, .values = calloc(bound, 8), .widths = calloc(bound, 4), .labels = calloc(bound, sizeof(size_t))};
    size_t entry = declare(&m);
    ADD(dispatches, 1);
    for (uint32_t g = 0; g < groups; g++)
        for (uint32_t l = 0; l < p->size; l++) {
            m.group[0] = g;
            m.local[0] = l;
            m.loops = 0;
            invoke(&m, entry);
        }
    free(m.values);
    free(m.widths);
    free(m.labels);
}

/* -- commands ------------------------------------------------------------------------------------------------------ */

typedef struct command {
    enum { RUN, RUN_COUNTED, COPY, FILL, UPDATE } kind;
    const pipeline *pipeline;
    char push[64];
    uint32_t groups, word;
    const buffer *from, *to;
    vk_copy region;
    char *data;
} command;
struct vk_commands_ {
    command *list;
    size_t n, room;
    const pipeline *bound;
    char push[64];
};
typedef struct pool {
    struct vk_commands_ *commands;
    uint32_t count;
} pool;

static void
empty(struct vk_commands_ *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->list[i].data);
    c->n = 0;
}
static int32_t
fake_create_pool(vk_logical device, const vk_pool_desc *desc, const void *allocator, vk_handle *made)
{
    STEP(create_pool);
    *made = (uintptr_t)make_object(sizeof(pool));
    return VK_OK;
}
static void
fake_destroy_pool(vk_logical device, vk_handle handle, const void *allocator)
{
    pool *p = (pool *)(uintptr_t)handle;
    for (uint32_t i = 0; i < p->count; i++) {
        empty(&p->commands[i]);
        free(p->commands[i].list);
    }
    free(p->commands);
    drop_object(handle);
}
static int32_t
fake_allocate_commands(vk_logical device, const vk_commands_desc *desc, vk_commands *commands)
{
    STEP(allocate_commands);
    pool *p = (pool *)(uintptr_t)desc->pool;
    p->commands = calloc(desc->count, sizeof *p->commands);
    p->count = desc->count;
    for (uint32_t i = 0; i < desc->count; i++)
        commands[i] = &p->commands[i];
    return VK_OK;
}
static int32_t
fake_begin(vk_commands c, const vk_begin_desc *desc)
{
    STEP(begin);
    empty(c);
    return VK_OK;
}
static int32_t
fake_end(vk_commands c)
{
    STEP(end);
    return VK_OK;
}
static command *
add(vk_commands c, int kind)
{
    if (c->n == c->room)
        c->list = realloc(c->list, (c->room = c->room * 2 + 8) * sizeof *c->list);
    command *it = &c->list[c->n++];
    *it = (command){.kind = kind, .pipeline = c->bound};
    memcpy(it->push, c->push, sizeof it->push);
    return it;
}
static void
fake_bind_pipeline(vk_commands c, uint32_t point, vk_handle handle)
{
    c->bound = (const pipeline *)(uintptr_t)handle;
}
static void
fake_push(vk_commands c, vk_handle layout, uint32_t stages, uint32_t offset, uint32_t bytes, const void *data)
{
    memcpy(c->push + offset, data, bytes);
}
static void
fake_dispatch(vk_commands c, uint32_t x, uint32_t y, uint32_t z)
{
    add(c, RUN)->groups = x;
}
static void
fake_dispatch_indirect(vk_commands c, vk_handle handle, uint64_t offset)
{
    command *it = add(c, RUN_COUNTED);
    it->from = (const buffer *)(uintptr_t)handle;
    it->region.from = offset;
}
static void
fake_barrier(vk_commands c, uint32_t from, uint32_t to, uint32_t flags, uint32_t nmemory, const vk_barrier *memory, uint32_t nbuffers,
             const void *buffers, uint32_t nimages, const void *images)
{
}
static void
fake_copy(vk_commands c, vk_handle from, vk_handle to, uint32_t count, const vk_copy *regions)
{
    for (uint32_t i = 0; i < count; i++) {
        command *it = add(c, COPY);
        it->from = (const buffer *)(uintptr_t)from;
        it->to = (const buffer *)(uintptr_t)to;
        it->region = regions[i];
        ADD(unsafe, regions[i].from + regions[i].bytes > it->from->bytes || regions[i].to + regions[i].bytes > it->to->bytes);
    }
}
static void
fake_fill(vk_commands c, vk_handle handle, uint64_t offset, uint64_t bytes, uint32_t word)
{
    command *it = add(c, FILL);
    it->to = (const buffer *)(uintptr_t)handle;
    it->region = (vk_copy){0, offset, bytes};
    it->word = word;
    ADD(unsafe, offset % 4 || bytes % 4 || !bytes || offset + bytes > it->to->bytes);
}
static void
fake_update(vk_commands c, vk_handle handle, uint64_t offset, uint64_t bytes, const void *data)
{
    command *it = add(c, UPDATE);
    it->to = (const buffer *)(uintptr_t)handle;
    it->region = (vk_copy){0, offset, bytes};
    it->data = memcpy(malloc(bytes), data, bytes);
    ADD(unsafe, offset % 4 || bytes % 4 || bytes > 65536 || offset + bytes > it->to->bytes);
}

static void
execute(const command *c)
{
    uint32_t counts[3];
    switch (c->kind) {
    case RUN:
        run_groups(c->pipeline, c->push, c->groups);
        break;
    case RUN_COUNTED:
        memcpy(counts, c->from->memory + c->region.from, sizeof counts);
        run_groups(c->pipeline, c->push, counts[0]);
        break;
    case COPY:
        memcpy(c->to->memory + c->region.to, c->from->memory + c->region.from, c->region.bytes);
        break;
    case FILL:
        for (uint64_t i = 0; i < c->region.bytes; i += 4)
            memcpy(c->to->memory + c->region.to + i, &c->word, 4);
        break;
    case UPDATE:
        memcpy(c->to->memory + c->region.to, c->data, c->region.bytes);
        break;
    }
}

/* -- submitting ---------------------------------------------------------------------------------------------------- */

static int32_t
fake_create_semaphore(vk_logical device, const vk_semaphore_desc *desc, const void *allocator, vk_handle *made)
{
    STEP(create_semaphore);
    *made = (uintptr_t)make_object(sizeof(uint64_t));
    return VK_OK;
}
static void
fake_destroy_semaphore(vk_logical device, vk_handle handle, const void *allocator)
{
    drop_object(handle);
}
static uint64_t *
value_of(vk_handle semaphore)
{
    return (uint64_t *)(uintptr_t)semaphore;
}
static int32_t
fake_submit(vk_lane lane, uint32_t count, const vk_submit_desc *s, vk_handle fence)
{
    STEP(submit);
    const vk_timeline_submit *times = s->head.next;
    for (uint32_t i = 0; i < s->nwaits; i++)
        ADD(unsafe, *value_of(s->waits[i]) < times->waits[i]);
    for (uint32_t k = 0; k < s->ncommands; k++)
        for (size_t i = 0; i < s->commands[k]->n; i++)
            execute(&s->commands[k]->list[i]);
    for (uint32_t i = 0; i < s->nsignals; i++)
        __atomic_store_n(value_of(s->signals[i]), times->signals[i], __ATOMIC_RELEASE);
    return VK_OK;
}
static int32_t
fake_wait_semaphores(vk_logical device, const vk_timeline_wait *wait, uint64_t nanoseconds)
{
    STEP(wait_semaphores);
    for (uint32_t i = 0; i < wait->count; i++)
        ADD(unsafe, *value_of(wait->semaphores[i]) < wait->values[i]);
    return VK_OK;
}
static int32_t
fake_semaphore_value(vk_logical device, vk_handle semaphore, uint64_t *value)
{
    STEP(semaphore_value);
    *value = *value_of(semaphore);
    return VK_OK;
}

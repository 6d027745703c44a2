/* Memory of a device: buffers with addresses, and what is copied between them and the host. SPDX-License-Identifier: Apache-2.0
 *
 * Each piece that is allocated is a buffer with memory of its own: one allocation, or where that is too small several, which a queue
 * binds to its addresses. Commands name buffers, everyone else addresses: pieces are kept by address. What the host writes goes
 * through two stages, of which one is filled while the other is read; what it reads comes through a third. */
#include "device/vulkan/vulkan.h"

enum {
    STAGE = 1 << 22,
    APART = 64,          /* between pieces, so that none begins where another ends */
    REGIONS = 64,        /* of one command */
    ALIGN = 16
};

/* -- buffers ------------------------------------------------------------------------------------------------------- */

/* Wanted properties, best first, up to a 0. */
static const uint32_t wanted[][4] = {
    [VK_USE_DEVICE] = {VK_MEMORY_LOCAL},
    [VK_USE_ARRAY] = {VK_MEMORY_LOCAL},
    [VK_USE_SHARED] = {VK_MEMORY_LOCAL | VK_MEMORY_VISIBLE | VK_MEMORY_COHERENT, VK_MEMORY_VISIBLE | VK_MEMORY_COHERENT},
    [VK_USE_WRITE] = {VK_MEMORY_VISIBLE | VK_MEMORY_COHERENT},
    [VK_USE_READ] = {VK_MEMORY_VISIBLE | VK_MEMORY_COHERENT | VK_MEMORY_CACHED, VK_MEMORY_VISIBLE | VK_MEMORY_COHERENT},
};

/* The next type from `from` on that the buffer can have, with all of these properties; the number of types: there is none. */
static uint32_t
next_type(const vk_memory_properties *memory, uint32_t bits, uint32_t properties, uint32_t from)
{
    while (from < memory->ntypes && (!(bits >> from & 1) || (memory->types[from].flags & properties) != properties))
        from++;
    return from;
}

/* shared: the buffer that it is for, if other drivers are to reach it; else 0. */
static int32_t
allocate_part(rt_device *d, vk_use use, vk_handle shared, uint64_t bytes, uint32_t types, vk_handle *memory)
{
    vk_dedicated alone = {.head = {VK_S_DEDICATED}, .buffer = shared};
    vk_shared_as file = {.head = {VK_S_ALLOCATE_SHARED, d->facts.dedicates ? &alone : NULL}, .kinds = VK_FILE};
    vk_allocate_flags flags = {.head = {VK_S_ALLOCATE_FLAGS, shared ? &file : NULL}, .flags = VK_ALLOCATE_ADDRESS};
    int32_t code = VK_NO_DEVICE_MEMORY;
    for (size_t k = 0; k < countof(wanted[use]) && wanted[use][k] && code < 0; k++)
        for (uint32_t type = 0; code < 0; type++) {
            type = next_type(&d->facts.memory, types, wanted[use][k], type);
            if (type >= d->facts.memory.ntypes)
                break;
            vk_allocate_desc desc = {.head = {VK_S_ALLOCATE, &flags}, .bytes = bytes, .type = type};
            code = d->api.allocate(d->logical, &desc, NULL, memory);
            *memory = code < 0 ? 0 : *memory;
        }
    return code;
}

/* All that queues were given has ended. */
static void
idle(rt_device *d)
{
    pthread_mutex_lock(&d->lock);
    d->api.wait_idle(d->logical);
    pthread_mutex_unlock(&d->lock);
}

/* Each binding comes behind the one before, as the semaphore counts them. */
static int32_t
bind_now(rt_device *d, const vk_buffer_binds *binds)
{
    pthread_mutex_lock(&d->lock);
    uint64_t before = d->bindings, value = before + 1;
    vk_timeline_submit times = {.head = {VK_S_TIMELINE_SUBMIT}, .nwaits = 1, .waits = &before, .nsignals = 1, .signals = &value};
    vk_bind_desc desc = {.head = {VK_S_BIND, &times}, .nwaits = 1, .waits = &d->bound, .nbuffers = 1, .buffers = binds, .nsignals = 1,
                         .signals = &d->bound};
    int32_t code = d->api.bind(d->binder, 1, &desc, 0);
    if (code >= 0)
        d->bindings = value;
    pthread_mutex_unlock(&d->lock);
    if (code < 0)
        return code;
    vk_timeline_wait wait = {.head = {VK_S_TIMELINE_WAIT}, .count = 1, .semaphores = &d->bound, .values = &value};
    code = d->api.wait_semaphores(d->logical, &wait, UINT64_MAX);
    if (code < 0)
        idle(d);
    return code;
}

typedef struct making {
    rt_device *device;
    vk_buffer *buffer;
} making;

static void
unmake(void *object)
{
    making *m = object;
    vk_buffer_free(m->device, m->buffer);
}

static int32_t
bind_parts(rt_device *d, vk_use use, const vk_requirements *need, vk_buffer *b)
{
    uint64_t most = d->facts.allocation / need->alignment * need->alignment, n = most ? (need->bytes + most - 1) / most : 0;
    int32_t code = n ? VK_OK : VK_NO_DEVICE_MEMORY;
    making now = {d, b};
    mem_owner owns;
    mem_own(&owns, unmake, &now);
    vk_bind *binds = arena_new_n(mem_scratch(), vk_bind, n + 1);
    b->parts = mem_zalloc((n + 1) * sizeof(*b->parts));
    mem_disown(&owns);
    for (uint64_t i = 0; i < n && code >= 0; i++) {
        uint64_t at = i * most, bytes = need->bytes - at < most ? need->bytes - at : most;
        code = allocate_part(d, use, 0, bytes, need->types, &b->parts[i]);
        binds[i] = (vk_bind){.at = at, .bytes = bytes, .memory = b->parts[i]};
    }
    return code < 0 ? code : bind_now(d, &(vk_buffer_binds){b->buffer, (uint32_t)n, binds});
}

static int32_t
bind_memory(rt_device *d, vk_use use, bool sparse, bool shared, vk_buffer *b)
{
    vk_requirements need;
    d->api.requirements(d->logical, b->buffer, &need);
    if (sparse)
        return bind_parts(d, use, &need, b);
    b->shared = shared ? need.bytes : 0;
    int32_t code = allocate_part(d, use, shared ? b->buffer : 0, need.bytes, need.types, &b->memory);
    return code < 0 ? code : d->api.bind_buffer(d->logical, b->buffer, b->memory, 0);
}

static bool
may_be_large(vk_use use)
{
    return use == VK_USE_DEVICE || use == VK_USE_ARRAY;
}

static int32_t
make_buffer(rt_device *d, uint64_t bytes, vk_use use, vk_buffer *b)
{
    bool sparse = may_be_large(use) && bytes > d->facts.allocation, shared = use == VK_USE_ARRAY && d->facts.exports && !sparse;
    vk_shared_as file = {.head = {VK_S_BUFFER_SHARED}, .kinds = VK_FILE};
    vk_buffer_desc desc = {.head = {VK_S_BUFFER, shared ? &file : NULL}, .flags = sparse ? VK_BUFFER_SPARSE : 0, .bytes = bytes,
                           .usage = VK_BUFFER_ALL};
    void *data = NULL;
    *b = (vk_buffer){.bytes = bytes};
    int32_t code = d->api.create_buffer(d->logical, &desc, NULL, &b->buffer);
    if (code >= 0)
        code = bind_memory(d, use, sparse, shared, b);
    if (code >= 0 && !may_be_large(use))
        code = d->api.map(d->logical, b->memory, 0, UINT64_MAX, 0, &data);
    b->data = data;
    if (code >= 0)
        b->address = d->api.address(d->logical, &(vk_address_desc){.head = {VK_S_BUFFER_ADDRESS}, .buffer = b->buffer});
    if (code < 0)
        vk_buffer_free(d, b);
    return code;
}

rg_status
vk_buffer_make(rt_device *d, uint64_t bytes, vk_use use, vk_buffer *b, str *error)
{
    *b = (vk_buffer){0};
    if (may_be_large(use) && bytes > vk_most(&d->facts)) {
        str_addf(error, "%llu bytes are more than %s takes in one piece: %llu%s", (unsigned long long)bytes, d->facts.model,
                 (unsigned long long)vk_most(&d->facts), d->facts.space ? "" : "; for more it would need sparseBinding");
        return RG_OUT_OF_MEMORY;
    }
    int32_t code = make_buffer(d, bytes, use, b);
    if (code == VK_NO_DEVICE_MEMORY || code == VK_NO_HOST_MEMORY) { /* what is no longer used may do, or what nobody shares */
        idle(d);
        vk_sweep(d);
        code = make_buffer(d, bytes, use == VK_USE_ARRAY ? VK_USE_DEVICE : use, b);
    }
    if (code != VK_NO_DEVICE_MEMORY && code != VK_NO_HOST_MEMORY)
        return vk_check(d, code, "allocate memory", error);
    str_addf(error, "out of memory: %llu bytes more are needed", (unsigned long long)bytes);
    return RG_OUT_OF_MEMORY;
}

void
vk_buffer_free(rt_device *d, vk_buffer *b)
{
    if (b->buffer)
        d->api.destroy_buffer(d->logical, b->buffer, NULL);
    if (b->memory)
        d->api.free(d->logical, b->memory, NULL);
    for (size_t i = 0; b->parts && b->parts[i]; i++)
        d->api.free(d->logical, b->parts[i], NULL);
    mem_free(b->parts);
    *b = (vk_buffer){0};
}

/* -- pieces -------------------------------------------------------------------------------------------------------- */

/* the number of the piece that begins at or below this address; -1: there is none */
static ptrdiff_t
piece_at(const rt_device *d, uint64_t address)
{
    size_t lo = 0, hi = d->pieces.n;
    while (lo < hi) {
        size_t middle = (lo + hi) / 2;
        if (d->pieces.at[middle].address <= address)
            lo = middle + 1;
        else
            hi = middle;
    }
    return (ptrdiff_t)lo - 1;
}

/* The piece that these bytes lie in. */
static bool
find_piece(rt_device *d, const void *memory, size_t bytes, vk_buffer *piece)
{
    pthread_mutex_lock(&d->lock);
    ptrdiff_t i = piece_at(d, map_ptr(memory));
    bool found = i >= 0 && map_ptr(memory) - d->pieces.at[i].address + bytes <= d->pieces.at[i].bytes;
    if (found)
        *piece = d->pieces.at[i];
    pthread_mutex_unlock(&d->lock);
    return found;
}

static bool
reaches(rt_device *d, const void *memory)
{
    vk_buffer piece;
    return find_piece(d, memory, 0, &piece);
}

/* Room in the lists, for the piece and for when it goes. */
static void
reserve_piece(rt_device *d)
{
    mem_owner locks;
    pthread_mutex_lock(&d->lock);
    mem_own(&locks, mem_release_mutex, &d->lock);
    vec_reserve(&d->garbage, d->garbage.n + d->pieces.n + 2);
    vec_reserve(&d->pieces, d->pieces.n + 1);
    mem_disown(&locks);
    pthread_mutex_unlock(&d->lock);
}

/* There may be no room left where another thread was faster: false. */
static bool
add_piece(rt_device *d, const vk_buffer *piece)
{
    pthread_mutex_lock(&d->lock);
    bool room = d->pieces.n < d->pieces.cap && d->garbage.n + d->pieces.n < d->garbage.cap;
    if (room) {
        size_t at = (size_t)(piece_at(d, piece->address) + 1);
        memmove(d->pieces.at + at + 1, d->pieces.at + at, (d->pieces.n - at) * sizeof(*piece));
        d->pieces.at[at] = *piece;
        d->pieces.n++;
    }
    pthread_mutex_unlock(&d->lock);
    return room;
}

static rg_status
allocate_here(rt_queue *q, size_t bytes, void **memory, str *error)
{
    rt_device *d = q->device;
    vk_buffer piece;
    bytes = (bytes + APART + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    vk_sweep(d);
    reserve_piece(d);
    TRY(vk_buffer_make(d, bytes, VK_USE_ARRAY, &piece, error));
    rg_status status = vk_fill_zero(q, &piece, 0, bytes, error);
    while (!status && !add_piece(d, &piece))
        reserve_piece(d);
    if (status) {
        idle(d);
        vk_buffer_free(d, &piece);
    } else {
        *memory = (void *)(uintptr_t)piece.address;
    }
    return status;
}

static rg_status
memory_allocate(rt_queue *q, size_t bytes, void **memory, str *error)
{
    vk_entry entry;
    rg_status status = vk_enter(&entry, q, error);
    if (!status)
        status = allocate_here(q, bytes, memory, error);
    vk_leave(&entry);
    return status;
}

/* It goes when all that was submitted by now has ended. */
static void
release(rt_device *d, void *memory, size_t bytes)
{
    (void)bytes;
    if (!memory || vk_is_fork(d))
        return;
    pthread_mutex_lock(&d->lock);
    ptrdiff_t i = piece_at(d, map_ptr(memory));
    assert(i >= 0 && d->pieces.at[i].address == map_ptr(memory) && "memory of the device's");
    d->garbage.at[d->garbage.n++] = (vk_garbage){d->pieces.at[i], d->submissions};
    memmove(d->pieces.at + i, d->pieces.at + i + 1, (d->pieces.n - (size_t)i - 1) * sizeof(vk_buffer));
    d->pieces.n--;
    pthread_mutex_unlock(&d->lock);
}

/* The first submission of the queue's that may not have ended; UINT64_MAX: none. The caller holds the lock. */
static uint64_t
oldest(rt_queue *q)
{
    uint64_t value = 0, stamp = UINT64_MAX;
    if (q->device->api.semaphore_value(q->device->logical, q->semaphore, &value) < 0)
        return q->device->lost ? UINT64_MAX : 0;
    for (unsigned i = 0; i < VK_COMMANDS; i++)
        if (q->batches[i].value > value && q->batches[i].stamp < stamp)
            stamp = q->batches[i].stamp;
    return stamp;
}

void
vk_sweep(rt_device *d)
{
    uint64_t first = UINT64_MAX;
    pthread_mutex_lock(&d->lock);
    for (size_t i = 0; i < d->queues.n && d->garbage.n; i++) {
        uint64_t stamp = oldest(d->queues.at[i]);
        first = stamp < first ? stamp : first;
    }
    size_t kept = 0;
    for (size_t i = 0; i < d->garbage.n; i++)
        if (d->garbage.at[i].stamp < first)
            vk_buffer_free(d, &d->garbage.at[i].buffer);
        else
            d->garbage.at[kept++] = d->garbage.at[i];
    d->garbage.n = kept;
    pthread_mutex_unlock(&d->lock);
}

static rg_status
share_piece(rt_device *d, const void *memory, rt_shared *shared, str *error)
{
    vk_buffer piece = {0};
    int file = -1;
    TRY(vk_usable(d, error));
    if (!find_piece(d, memory, 0, &piece) || !piece.shared) {
        str_addz(error, piece.parts        ? "it has several allocations"
                        : d->facts.exports ? "it was allocated when memory was short"
                                           : "its driver does not share it (VK_KHR_external_memory_fd)");
        return RG_UNSUPPORTED;
    }
    const vk_file_desc desc = {.head = {VK_S_FILE}, .memory = piece.memory, .kind = VK_FILE};
    TRY(vk_check(d, d->api.get_file(d->logical, &desc, &file), "share memory", error));
    *shared = (rt_shared){.file = file, .bytes = piece.shared, .offset = map_ptr(memory) - piece.address,
                            .dedicated = d->facts.dedicates};
    memcpy(shared->uuid, d->facts.uuid, sizeof(shared->uuid));
    return RG_OK;
}

/* -- copies -------------------------------------------------------------------------------------------------------- */

static rg_status
need_piece(rt_queue *q, const void *memory, size_t bytes, vk_buffer *piece, uint64_t *at, str *error)
{
    if (!find_piece(q->device, memory, bytes, piece)) {
        str_addf(error, "%zu bytes at %p are not in the memory of the device", bytes, memory);
        return RG_DEVICE;
    }
    *at = map_ptr(memory) - piece->address;
    return RG_OK;
}

rg_status
vk_fill_zero(rt_queue *q, const vk_buffer *buffer, uint64_t from, uint64_t bytes, str *error)
{
    vk_commands commands;
    TRY(vk_begin(q, &commands, error));
    q->device->api.fill(commands, buffer->buffer, from, bytes, 0);
    return vk_submit(q, error);
}

/* The stage that is filled, with room for some bytes; *bytes: how many. */
static rg_status
open_stage(rt_queue *q, size_t *bytes, vk_buffer **stage, str *error)
{
    if (q->stage_used + *bytes > STAGE && q->stage_used > STAGE / 2) {
        q->staged[q->stage_now] = q->value;
        q->stage_now = (q->stage_now + 1) % VK_STAGES;
        q->stage_used = 0;
        TRY(vk_wait_for(q, q->staged[q->stage_now], error));
    }
    *stage = &q->stage[q->stage_now];
    if (!(*stage)->buffer)
        TRY(vk_buffer_make(q->device, STAGE, VK_USE_WRITE, *stage, error));
    if (*bytes > STAGE - q->stage_used)
        *bytes = STAGE - q->stage_used;
    return RG_OK;
}

static rg_status
write_here(rt_queue *q, void *to, const char *host, size_t bytes, str *error)
{
    vk_buffer piece, *stage;
    vk_commands commands;
    uint64_t at;
    TRY(need_piece(q, to, bytes, &piece, &at, error));
    while (bytes) {
        size_t n = bytes;
        TRY(open_stage(q, &n, &stage, error));
        memcpy(stage->data + q->stage_used, host, n);
        TRY(vk_begin(q, &commands, error));
        q->device->api.copy(commands, stage->buffer, piece.buffer, 1, &(vk_copy){q->stage_used, at, n});
        TRY(vk_submit(q, error));
        q->stage_used = (q->stage_used + n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
        host += n;
        at += n;
        bytes -= n;
    }
    return RG_OK;
}

static rg_status
write(rt_queue *q, void *to, const void *host, size_t bytes, str *error)
{
    vk_entry entry;
    rg_status status = vk_enter(&entry, q, error);
    if (!status && bytes)
        status = write_here(q, to, host, bytes, error);
    vk_leave(&entry);
    return status;
}

static rg_status
read_here(rt_queue *q, char *host, const void *from, size_t bytes, str *error)
{
    vk_buffer piece;
    vk_commands commands;
    uint64_t at;
    TRY(need_piece(q, from, bytes, &piece, &at, error));
    if (!q->back.buffer)
        TRY(vk_buffer_make(q->device, STAGE, VK_USE_READ, &q->back, error));
    while (bytes) {
        size_t n = bytes < STAGE ? bytes : STAGE;
        TRY(vk_begin(q, &commands, error));
        q->device->api.copy(commands, piece.buffer, q->back.buffer, 1, &(vk_copy){at, 0, n});
        TRY(vk_submit(q, error));
        TRY(vk_wait_for(q, q->value, error));
        memcpy(host, q->back.data, n);
        host += n;
        at += n;
        bytes -= n;
    }
    return RG_OK;
}

static rg_status
read(rt_queue *q, void *host, const void *from, size_t bytes, str *error)
{
    vk_entry entry;
    rg_status status = vk_enter(&entry, q, error);
    if (!status && bytes)
        status = read_here(q, host, from, bytes, error);
    if (!status)
        status = vk_wait(q, error);
    vk_leave(&entry);
    return status;
}

static rg_status
copy_here(rt_queue *q, void *to, const void *from, size_t bytes, str *error)
{
    vk_buffer target, source;
    uint64_t there, here;
    vk_commands commands;
    TRY(need_piece(q, to, bytes, &target, &there, error));
    TRY(need_piece(q, from, bytes, &source, &here, error));
    TRY(vk_begin(q, &commands, error));
    q->device->api.copy(commands, source.buffer, target.buffer, 1, &(vk_copy){here, there, bytes});
    return vk_submit(q, error);
}

static rg_status
copy(rt_queue *q, void *to, const void *from, size_t bytes, str *error)
{
    vk_entry entry;
    rg_status status = vk_enter(&entry, q, error);
    if (!status && bytes && to != from)
        status = copy_here(q, to, from, bytes, error);
    vk_leave(&entry);
    return status;
}

/* By way of the host. */
static rg_status
copy_by_host(rt_queue *q, void *to, rt_device *other, const void *from, size_t bytes, str *error)
{
    char *host = arena_raw(mem_scratch(), bytes + 1);
    TRY(read(other->own, host, from, bytes, error));
    return write(q, to, host, bytes, error);
}

/* Whether the element is the same word again and again, which a command of its own fills with. */
static bool
is_word(const void *element, uint32_t size, uint32_t *word)
{
    char bytes[8];
    if (size > sizeof(bytes) || sizeof(bytes) % size)
        return false;
    for (size_t i = 0; i < sizeof(bytes); i += size)
        memcpy(bytes + i, element, size);
    memcpy(word, bytes, sizeof(*word));
    return memcmp(bytes, bytes + 4, 4) == 0;
}

/* Else a tile is copied as often as it takes. */
static rg_status
fill_tiles(rt_queue *q, const vk_buffer *piece, uint64_t at, const void *element, uint32_t size, uint64_t bytes, str *error)
{
    vk_buffer *stage;
    vk_commands commands;
    size_t tile = bytes < STAGE / 64 ? (size_t)bytes : STAGE / 64 / size * size, room = tile;
    TRY(open_stage(q, &room, &stage, error));
    tile = room / size * size;
    for (size_t i = 0; i < tile; i += size)
        memcpy(stage->data + q->stage_used + i, element, size);
    TRY(vk_begin(q, &commands, error));
    while (bytes) {
        vk_copy regions[REGIONS];
        uint32_t n = 0;
        for (; bytes && n < REGIONS; n++) {
            uint64_t part = bytes < tile ? bytes : tile;
            regions[n] = (vk_copy){q->stage_used, at, part};
            at += part;
            bytes -= part;
        }
        q->device->api.copy(commands, stage->buffer, piece->buffer, n, regions);
    }
    q->stage_used = (q->stage_used + tile + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    return vk_submit(q, error);
}

static rg_status
fill_here(rt_queue *q, void *to, const void *element, uint32_t size, uint64_t bytes, str *error)
{
    vk_buffer piece;
    vk_commands commands;
    uint64_t at;
    uint32_t word;
    TRY(need_piece(q, to, bytes, &piece, &at, error));
    if (at % 4 || bytes % 4 || !is_word(element, size, &word))
        return fill_tiles(q, &piece, at, element, size, bytes, error);
    TRY(vk_begin(q, &commands, error));
    q->device->api.fill(commands, piece.buffer, at, bytes, word);
    return vk_submit(q, error);
}

static rg_status
fill(rt_queue *q, void *to, const void *element, uint32_t size, size_t count, str *error)
{
    vk_entry entry;
    rg_status status = vk_enter(&entry, q, error);
    if (!status && count)
        status = fill_here(q, to, element, size, (uint64_t)size * count, error);
    vk_leave(&entry);
    return status;
}

const rt_memory_table vk_memory = {
    .allocate = memory_allocate,
    .release = release,
    .write = write,
    .read = read,
    .copy = copy,
    .fill = fill,
    .copy_across = copy_by_host,
    .reaches = reaches,
    .share = share_piece,
};

/* Memory of a device: buffers that the host sees, too. SPDX-License-Identifier: Apache-2.0 */
#include "device/metal/metal.h"

enum {
    APART = 64, /* between pieces, so that none begins where another ends */
    ALIGN = 16
};

/* -- buffers ------------------------------------------------------------------------------------------------------- */

rg_status
mtl_make_buffer(rt_device *d, uint64_t bytes, mtl_buffer *b, str *error)
{
    *b = (mtl_buffer){0};
    if (bytes > d->facts.piece) {
        str_addf(error, "%llu bytes are more than %s takes in one piece: %llu", (unsigned long long)bytes, d->facts.model,
                 (unsigned long long)d->facts.piece);
        return RG_OUT_OF_MEMORY;
    }
    mtl_id buffer = mtl_new_buffer(&d->api, d->device, bytes, MTL_SHARED);
    if (!buffer) {
        str_addf(error, "out of memory: %llu bytes more are needed", (unsigned long long)bytes);
        return RG_OUT_OF_MEMORY;
    }
    *b = (mtl_buffer){buffer, mtl_contents(&d->api, buffer), bytes, mtl_address(&d->api, buffer)};
    return RG_OK;
}

void
mtl_free_buffer(rt_device *d, mtl_buffer *b)
{
    if (!mtl_is_fork(d))
        mtl_release(&d->api, b->buffer);
    *b = (mtl_buffer){0};
}

/* -- pieces -------------------------------------------------------------------------------------------------------- */

/* how many pieces begin at or below this address */
static size_t
pieces_up_to(const rt_device *d, const void *memory)
{
    size_t lo = 0, hi = d->pieces.n;
    while (lo < hi) {
        size_t middle = (lo + hi) / 2;
        if ((uintptr_t)d->pieces.at[middle].data <= (uintptr_t)memory)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

bool
mtl_find_piece(rt_device *d, const void *memory, mtl_buffer *piece)
{
    pthread_mutex_lock(&d->lock);
    size_t n = pieces_up_to(d, memory);
    if (n)
        *piece = d->pieces.at[n - 1];
    pthread_mutex_unlock(&d->lock);
    return n && (uintptr_t)memory - (uintptr_t)piece->data < piece->bytes;
}

static bool
reaches(rt_device *d, const void *memory)
{
    mtl_buffer piece;
    return mtl_find_piece(d, memory, &piece);
}

typedef struct owned_piece {
    rt_device *device;
    mtl_buffer buffer;
} owned_piece;

static void
free_piece(void *piece)
{
    owned_piece *p = piece;
    mtl_free_buffer(p->device, &p->buffer);
}

static void
add_piece(rt_device *d, const mtl_buffer *piece)
{
    mem_owner locks;
    pthread_mutex_lock(&d->lock);
    mem_own(&locks, mem_release_mutex, &d->lock);
    vec_reserve(&d->pieces, d->pieces.n + 1);
    mem_disown(&locks);
    size_t at = pieces_up_to(d, piece->data);
    memmove(d->pieces.at + at + 1, d->pieces.at + at, (d->pieces.n - at) * sizeof(*piece));
    d->pieces.at[at] = *piece;
    d->pieces.n++;
    pthread_mutex_unlock(&d->lock);
}

static rg_status
allocate_here(rt_device *d, size_t bytes, void **memory, str *error)
{
    owned_piece piece = {.device = d};
    mem_owner owns;
    TRY(mtl_make_buffer(d, (bytes + APART + ALIGN - 1) & ~(size_t)(ALIGN - 1), &piece.buffer, error));
    mem_own(&owns, free_piece, &piece);
    memset(piece.buffer.data, 0, piece.buffer.bytes);
    add_piece(d, &piece.buffer);
    mem_disown(&owns);
    *memory = piece.buffer.data;
    return RG_OK;
}

static rg_status
allocate_piece(rt_queue *q, size_t bytes, void **memory, str *error)
{
    mtl_entry entry;
    rg_status status = mtl_enter(&entry, q->device, error);
    if (!status)
        status = allocate_here(q->device, bytes, memory, error);
    mtl_leave(&entry);
    return status;
}

static void
release(rt_device *d, void *memory, size_t bytes)
{
    if (!memory)
        return;
    pthread_mutex_lock(&d->lock);
    size_t at = pieces_up_to(d, memory) - 1;
    assert(at < d->pieces.n && d->pieces.at[at].data == memory && "memory of the device's");
    mtl_buffer piece = d->pieces.at[at];
    memmove(d->pieces.at + at, d->pieces.at + at + 1, (d->pieces.n - at - 1) * sizeof(piece));
    d->pieces.n--;
    pthread_mutex_unlock(&d->lock);
    mtl_free_buffer(d, &piece);
}

/* -- copies: launches have ended ------------------------------------------------------------------------------------- */

static rg_status
write(rt_queue *q, void *to, const void *host, size_t bytes, str *error)
{
    memcpy(to, host, bytes);
    return RG_OK;
}

static rg_status
read(rt_queue *q, void *host, const void *from, size_t bytes, str *error)
{
    memcpy(host, from, bytes);
    return RG_OK;
}

static rg_status
copy(rt_queue *q, void *to, const void *from, size_t bytes, str *error)
{
    memmove(to, from, bytes);
    return RG_OK;
}

static rg_status
copy_from_other(rt_queue *q, void *to, rt_device *other, const void *from, size_t bytes, str *error)
{
    return copy(q, to, from, bytes, error);
}

static rg_status
fill(rt_queue *q, void *to, const void *element, uint32_t size, size_t count, str *error)
{
    for (size_t i = 0; i < count; i++)
        memcpy((char *)to + i * size, element, size);
    return RG_OK;
}

const rt_memory_table mtl_memory = {
    .allocate = allocate_piece,
    .release = release,
    .write = write,
    .read = read,
    .copy = copy,
    .fill = fill,
    .copy_across = copy_from_other,
    .reaches = reaches,
};

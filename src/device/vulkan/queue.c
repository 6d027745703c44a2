/* Queues: command buffers, one after the other, and what waits for them. SPDX-License-Identifier: Apache-2.0 */
#include "device/vulkan/vulkan.h"

/* -- entering ------------------------------------------------------------------------------------------------------ */

static void
unlock(void *entry)
{
    vk_entry *e = entry;
    if (e->queue)
        pthread_mutex_unlock(&e->queue->lock);
    e->queue = NULL;
}

rg_status
vk_enter(vk_entry *entry, rt_queue *q, str *error)
{
    *entry = (vk_entry){.queue = vk_is_fork(q->device) ? NULL : q}; /* a lock of before the fork may never be given back */
    if (entry->queue)
        pthread_mutex_lock(&q->lock);
    mem_own(&entry->leaves, unlock, entry);
    return vk_usable(q->device, error);
}

void
vk_leave(vk_entry *entry)
{
    mem_disown(&entry->leaves);
    unlock(entry);
}

/* -- commands ------------------------------------------------------------------------------------------------------ */

void
vk_barrier_all(rt_queue *q, vk_commands commands)
{
    const vk_barrier all = {.head = {VK_S_BARRIER}, .from = VK_MAY_WRITE, .to = VK_MAY_READ | VK_MAY_WRITE};
    q->device->api.barrier(commands, VK_AT_ALL, VK_AT_ALL, 0, 1, &all, 0, NULL, 0, NULL);
}

rg_status
vk_wait_for(rt_queue *q, uint64_t value, str *error)
{
    vk_timeline_wait wait = {.head = {VK_S_TIMELINE_WAIT}, .count = 1, .semaphores = &q->semaphore, .values = &value};
    if (!value)
        return RG_OK;
    return vk_check(q->device, q->device->api.wait_semaphores(q->device->logical, &wait, UINT64_MAX), "wait for the device", error);
}

rg_status
vk_ended(rt_queue *q, uint64_t *value, str *error)
{
    return vk_check(q->device, q->device->api.semaphore_value(q->device->logical, q->semaphore, value), "ask the device", error);
}

rg_status
vk_begin(rt_queue *q, vk_commands *commands, str *error)
{
    vk_batch *batch = &q->batches[q->next_batch];
    vk_begin_desc once = {.head = {VK_S_BEGIN}, .flags = VK_BEGIN_ONCE};
    TRY(vk_wait_for(q, batch->value, error));
    TRY(vk_check(q->device, q->device->api.begin(batch->commands, &once), "record commands", error));
    *commands = batch->commands;
    vk_barrier_all(q, *commands);
    return RG_OK;
}

/* What the device has written is the host's to read, when the semaphore says so. */
static void
show_host(rt_queue *q, vk_commands commands)
{
    const vk_barrier host = {.head = {VK_S_BARRIER}, .from = VK_MAY_WRITE, .to = VK_MAY_READ_HOST};
    q->device->api.barrier(commands, VK_AT_ALL, VK_AT_HOST, 0, 1, &host, 0, NULL, 0, NULL);
}

rg_status
vk_submit(rt_queue *q, str *error)
{
    rt_device *d = q->device;
    vk_batch *batch = &q->batches[q->next_batch];
    uint64_t value = q->value + 1;
    const uint32_t stage = VK_AT_ALL;
    bool waits = q->awaited.queue;
    show_host(q, batch->commands);
    TRY(vk_check(d, d->api.end(batch->commands), "record commands", error));
    vk_timeline_submit times = {.head = {VK_S_TIMELINE_SUBMIT}, .nwaits = waits, .waits = &q->awaited.value, .nsignals = 1,
                                .signals = &value};
    vk_submit_desc desc = {.head = {VK_S_SUBMIT, &times}, .nwaits = waits, .waits = waits ? &q->awaited.queue->semaphore : NULL,
                           .wait_stages = &stage, .ncommands = 1, .commands = &batch->commands, .nsignals = 1, .signals = &q->semaphore};
    pthread_mutex_lock(&d->lock);
    int32_t code = d->api.submit(q->lane, 1, &desc, 0);
    if (code >= 0) {
        batch->value = value;
        batch->stamp = ++d->submissions;
        __atomic_store_n(&q->value, value, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&d->lock);
    if (code >= 0) {
        q->next_batch = (q->next_batch + 1) % VK_COMMANDS;
        q->awaited.queue = NULL;
    }
    return vk_check(d, code, "submit commands", error);
}

/* -- opening and closing ------------------------------------------------------------------------------------------- */

static rg_status
open_commands(rt_queue *q, str *error)
{
    rt_device *d = q->device;
    vk_commands commands[VK_COMMANDS] = {0};
    vk_pool_desc pool = {.head = {VK_S_POOL}, .flags = VK_POOL_RESETS, .family = d->facts.family};
    TRY(vk_check(d, d->api.create_pool(d->logical, &pool, NULL, &q->pool), "make a pool of commands", error));
    vk_commands_desc desc = {.head = {VK_S_COMMANDS}, .pool = q->pool, .count = VK_COMMANDS};
    TRY(vk_check(d, d->api.allocate_commands(d->logical, &desc, commands), "make commands", error));
    for (unsigned i = 0; i < VK_COMMANDS; i++)
        q->batches[i].commands = commands[i];
    vk_timeline_type type = {.head = {VK_S_TIMELINE_TYPE}, .type = VK_TIMELINE};
    vk_semaphore_desc semaphore = {.head = {VK_S_SEMAPHORE, &type}};
    return vk_check(d, d->api.create_semaphore(d->logical, &semaphore, NULL, &q->semaphore), "make a semaphore", error);
}

static rg_status
open_all(rt_queue *q, str *error)
{
    TRY(vk_usable(q->device, error));
    TRY(open_commands(q, error));
    TRY(vk_buffer_make(q->device, sizeof(rt_vulkan_launch) * VK_SLOTS, VK_USE_SHARED, &q->slots, error));
    memset(q->slots.data, 0, q->slots.bytes);
    return RG_OK;
}

static void
close_queue(void *queue)
{
    vk_close_queue(queue);
}

static void
enlist(rt_queue *q)
{
    rt_device *d = q->device;
    mem_owner outer, locks;
    pthread_mutex_lock(&d->queues_lock);
    mem_own(&outer, mem_release_mutex, &d->queues_lock);
    pthread_mutex_lock(&d->lock);
    mem_own(&locks, mem_release_mutex, &d->lock);
    vec_push(&d->queues, q);
    q->lane = d->lanes[d->next_lane++ % d->nlanes];
    mem_disown(&locks);
    pthread_mutex_unlock(&d->lock);
    mem_disown(&outer);
    pthread_mutex_unlock(&d->queues_lock);
}

rg_status
vk_open_queue(rt_device *d, const rt_queue_desc *desc, rt_queue **queue, str *error)
{
    if (desc->stream) {
        str_addz(error, "it has no streams of callers");
        return RG_INVALID;
    }
    rt_queue *q = mem_zalloc(sizeof(*q));
    mem_owner owns;
    q->device = d;
    q->sink = desc->sink;
    uint64_t memory = vk_heap(&d->facts), most = vk_most(&d->facts);
    q->budget = rt_segments_budget(desc->tape_budget, memory, most < memory ? most : memory);
    pthread_mutex_init(&q->lock, NULL);
    mem_own(&owns, close_queue, q);
    rg_status status = open_all(q, error);
    if (!status)
        enlist(q);
    mem_disown(&owns);
    if (status)
        vk_close_queue(q);
    else
        *queue = q;
    return status;
}

static void
delist(rt_queue *q)
{
    rt_device *d = q->device;
    pthread_mutex_lock(&d->queues_lock);
    pthread_mutex_lock(&d->lock);
    for (size_t i = 0; i < d->queues.n; i++)
        if (d->queues.at[i] == q)
            d->queues.at[i] = vec_pop(&d->queues);
    pthread_mutex_unlock(&d->lock);
    pthread_mutex_unlock(&d->queues_lock);
}

/* Others may wait for its semaphore, and with them it would go too early. */
static void
end_all(rt_queue *q)
{
    vk_entry entry;
    if (!vk_enter(&entry, q, NULL) && q->semaphore)
        vk_settle(q);
    vk_leave(&entry);
    rt_device *d = q->device;
    pthread_mutex_lock(&d->lock);
    if (d->logical && !vk_is_fork(d))
        d->api.wait_idle(d->logical);
    pthread_mutex_unlock(&d->lock);
}

void
vk_close_queue(rt_queue *q)
{
    rt_device *d = q->device;
    if (!vk_is_fork(d)) {
        vk_buffer *buffers[] = {&q->stage[0], &q->stage[1], &q->back, &q->slots, &q->scratch, &q->pages, &q->prints};
        end_all(q);
        delist(q);
        for (size_t i = 0; i < countof(buffers); i++)
            vk_buffer_free(d, buffers[i]);
        if (q->semaphore)
            d->api.destroy_semaphore(d->logical, q->semaphore, NULL);
        if (q->pool)
            d->api.destroy_pool(d->logical, q->pool, NULL);
        vk_sweep(d);
    }
    str_free(&q->failure);
    pthread_mutex_destroy(&q->lock);
    mem_free(q);
}

/* -- streams ------------------------------------------------------------------------------------------------------- */

static rg_status
sync_queue(rt_queue *q, str *error)
{
    vk_entry entry;
    rg_status status = vk_enter(&entry, q, error);
    if (!status)
        status = vk_wait(q, error);
    vk_leave(&entry);
    return status;
}

/* An empty submission that waits: all behind it does, too. */
static rg_status
wait_queue(rt_queue *q, rt_queue *other, str *error)
{
    vk_entry entry;
    vk_commands commands;
    rg_status status = vk_enter(&entry, q, error);
    if (!status && q != other) {
        q->awaited.value = __atomic_load_n(&other->value, __ATOMIC_ACQUIRE);
        q->awaited.queue = q->awaited.value ? other : NULL;
        if (q->awaited.queue)
            status = vk_begin(q, &commands, error);
        if (!status && q->awaited.queue)
            status = vk_submit(q, error);
        q->awaited.queue = NULL;
    }
    vk_leave(&entry);
    return status;
}

static rg_status
refuse_stream(rt_queue *q, void *stream, str *error)
{
    (void)q;
    if (stream)
        str_addz(error, "it has no streams of callers");
    return stream ? RG_INVALID : RG_OK;
}

static void
settle_all(rt_device *d)
{
    if (vk_is_fork(d))
        return;
    pthread_mutex_lock(&d->queues_lock);
    for (size_t i = 0; i < d->queues.n; i++) {
        vk_entry entry;
        if (!vk_enter(&entry, d->queues.at[i], NULL))
            vk_settle(d->queues.at[i]);
        vk_leave(&entry);
    }
    pthread_mutex_unlock(&d->queues_lock);
}

const rt_stream_table vk_streams = {.sync = sync_queue, .wait = wait_queue, .set_stream = refuse_stream, .settle = settle_all};

/* What launches leave for the host: faults, prints. SPDX-License-Identifier: Apache-2.0 */
#include "device/vulkan/vulkan.h"

#include <setjmp.h>

#include "device/explain.h"

rg_status
vk_prints_open(rt_queue *q, str *error)
{
    if (q->prints.buffer)
        return RG_OK;
    TRY(vk_buffer_make(q->device, sizeof(rt_gpu_prints) + RT_PRINT_CELLS * sizeof(uint64_t), VK_USE_READ, &q->prints, error));
    memset(q->prints.data, 0, q->prints.bytes);
    ((rt_gpu_prints *)q->prints.data)->room = RT_PRINT_CELLS;
    return RG_OK;
}

/* NULL: none of that number, or not any more */
static const rt_program *
program_of(rt_device *d, uint32_t number)
{
    pthread_mutex_lock(&d->lock);
    const rt_program *p = number < d->programs.n ? d->programs.at[number] : NULL;
    pthread_mutex_unlock(&d->lock);
    return p;
}

static const ll_place *
find_place(void *device, uint32_t program, uint32_t place)
{
    const rt_program *p = program_of(device, program);
    return p && place < p->code.info.places.n ? &p->code.info.places.at[place] : NULL;
}

static void
explain(rt_queue *q, const rt_vulkan_launch *launch)
{
    const rt_program *p = program_of(q->device, launch->program);
    q->failure.len = 0;
    q->failed = rt_segments_explain(launch, p ? &p->code.info : NULL, p ? p->label : "a kernel that is no more", p ? p->file : NULL,
                                    &q->failure);
}

void
vk_collect(rt_queue *q, uint64_t ended)
{
    bool left = false;
    for (unsigned i = 0; i < VK_SLOTS; i++) {
        unsigned s = (q->next_slot + i) % VK_SLOTS;
        left |= q->slot_values[s] > ended;
        if (!q->slot_values[s] || q->slot_values[s] > ended)
            continue;
        const rt_vulkan_launch *launch = &((const rt_vulkan_launch *)q->slots.data)[s];
        if (launch->fault && !q->failed)
            explain(q, launch);
        uint64_t bytes = rt_segments_used(launch);
        if (bytes > q->peak)
            __atomic_store_n(&q->peak, bytes, __ATOMIC_RELAXED);
        q->slot_values[s] = 0;
    }
    if (left)
        return;
    rt_explain_prints(&q->sink, (rt_gpu_prints *)q->prints.data, find_place, q->device);
    atomic_store_explicit(&q->running, false, memory_order_relaxed);
    atomic_store_explicit(&q->stopped, false, memory_order_relaxed);
}

rg_status
vk_tell(rt_queue *q, str *error)
{
    rg_status status = q->failed;
    if (!status)
        return RG_OK;
    str_add(error, str_view(&q->failure));
    str_free(&q->failure);
    q->failure = (str){0};
    q->failed = RG_OK;
    return status;
}

rg_status
vk_wait(rt_queue *q, str *error)
{
    rg_status status = vk_wait_for(q, q->value, error);
    if (!status)
        vk_collect(q, q->value);
    return status ? status : vk_tell(q, error);
}

static void
settle(rt_queue *q)
{
    if (!vk_wait_for(q, q->value, NULL))
        vk_collect(q, q->value);
}

static void
leave_without(void *jump, size_t bytes)
{
    (void)bytes;
    longjmp(*(jmp_buf *)jump, 1);
}

/* Objects are destroyed outside of any guard: where there is no memory for what the queue has to say, that is what it says. */
void
vk_settle(rt_queue *q)
{
    jmp_buf jump;
    if (mem_is_guarded()) {
        settle(q);
        return;
    }
    mem_set_handler(leave_without, &jump);
    if (setjmp(jump)) {
        q->failed = RG_OUT_OF_MEMORY;
        memset(q->slot_values, 0, sizeof(q->slot_values));
    } else {
        settle(q);
    }
    mem_set_handler(NULL, NULL);
}

/* Kernels read the word where it lies; the host does, between what it submits. */
void
vk_cancel(rt_queue *q)
{
    rt_vulkan_launch *slots = (rt_vulkan_launch *)q->slots.data;
    if (!atomic_load(&q->running))
        return;
    atomic_store(&q->stopped, true);
    for (unsigned i = 0; i < VK_SLOTS; i++)
        __atomic_store_n(&slots[i].stop, 1, __ATOMIC_RELAXED);
}

uint64_t
vk_tape_peak(rt_queue *q)
{
    return __atomic_load_n(&q->peak, __ATOMIC_RELAXED);
}

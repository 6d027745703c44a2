/* Launches: how large the grid is, what memory it finds, what is looked at before. SPDX-License-Identifier: Apache-2.0 */
#include "device/driver/memory.h"

enum { PAGES_FIRST = 16, BYTES_FIRST = 1 << 28 };

/* So much that few loops have to drop frames, or all of the budget where a launch that finds too little could not go on. */
static uint64_t
tape_bytes(const rt_queue *q, const rt_program *p, uint32_t warps)
{
    uint64_t budget = q->tape.budget, first = (uint64_t)warps * PAGES_FIRST * RT_GPU_PAGE;
    if (!p->info.has_tape)
        return 0;
    first = first > BYTES_FIRST ? first : BYTES_FIRST;
    return p->needs.tape == RT_TAPE_ALL || first > budget ? budget : first;
}

/* Of partial results. What pieces leave is in powers of two, the largest less than twice the most that one task leaves, and
 * smaller ones before it. */
static uint64_t
sum_bytes(const rt_program *p)
{
    if (p->info.is_fixed)
        return 4 * sizeof(uint64_t) * RT_GPU_FIXED_PIECES * p->needs.sums +
               (p->info.has_rows ? 2 * sizeof(double) * RT_GPU_FIXED_ROOM : 0);
    uint64_t sums = p->needs.sums > RT_GPU_CELLS ? 4 * sizeof(uint64_t) * p->needs.sums * p->resident : 0;
    return sums + (p->info.has_rows ? (uint64_t)RT_GPU_ROWS * RT_GPU_ROW_MAX * sizeof(double) : 0);
}

/* Room in the pool: for tapes, temporary arrays, partial results beyond what there is for all. */
static rg_status
provide(rt_queue *q, const rt_program *p, rt_need need, str *error)
{
    uint64_t tape = tape_bytes(q, p, need.warps);
    uint64_t sums = sum_bytes(p);
    uint64_t heap = (need.temps == UINT64_MAX ? q->tape.budget : need.temps) + sums;
    if (!tape && !heap)
        return RG_OK;
    rg_status status = rt_driver_tape_grow(q, tape + heap + RT_GPU_PAGE, error);
    return status ? status : rt_driver_tape_follow(q, error);
}

/* With a tape about as many as have a page each: blocks are whole, and who finds none waits for one. */
static uint32_t
most_warps(const rt_queue *q, const rt_program *p)
{
    uint64_t pages = q->tape.budget / RT_GPU_PAGE;
    if (!p->info.has_tape || pages >= p->resident)
        return p->resident;
    return pages > RT_GPU_PARTS ? (uint32_t)pages / RT_GPU_PARTS * RT_GPU_PARTS : RT_GPU_PARTS;
}

/* Few warps are spread over multiprocessors, in fours. */
static uint32_t
warps_of_block(const rt_program *p, uint32_t warps)
{
    uint32_t each = (warps + p->device->processors - 1) / p->device->processors;
    each = (each + RT_GPU_PARTS - 1) / RT_GPU_PARTS * RT_GPU_PARTS;
    return each < p->block ? each : p->block;
}

/* What an earlier launch did wrong is told by now, and what programs print does not run into each other. */
static rg_status
look_back(rt_queue *q, const rt_program *p, str *error)
{
    if (q->recording)
        return RG_OK;
    if (rt_driver_has_news(q) || (p->info.prints && q->printing))
        return rt_driver_wait(q, error);
    return RG_OK;
}

/* Arguments that no parameters have room for: launches run one after the other, and so share one copy; what is recorded
 * has its own. */
static rg_status
pass_args(rt_queue *q, const rt_program *p, const rt_arg *args, uint64_t *address, str *error)
{
    rt_device *d = q->device;
    size_t bytes = p->nparams * sizeof(rt_arg);
    if (!q->recording)
        return rt_driver_write(q, *address, (const char *)args, bytes, error);
    int mode = RT_CAPTURE_RELAXED;
    rt_driver_make_room(d, 1);
    rt_driver_watch(d, &mode);
    rg_status status = rt_driver_take(q, bytes, q->side, address, error);
    if (status)
        rt_driver_give_room(d, 1);
    if (!status) {
        rt_driver_give_args(d, *address);
        int code = d->driver.write(*address, args, bytes, q->side);
        status = rt_driver_check(d, code ? code : d->driver.stream_wait(q->side), "write device memory", error);
    }
    rt_driver_watch(d, &mode);
    return status;
}

static rg_status
start(rt_queue *q, const rt_program *p, rt_seat seat, const rt_arg *args, uint32_t warps, str *error)
{
    rt_device *d = q->device;
    uint32_t each = warps_of_block(p, warps), blocks = (warps + each - 1) / each, threads = each * d->wave;
    void *parameters[] = {&seat.record, seat.args ? (void *)&seat.args : (void *)(uintptr_t)args};
    bool together = p->info.waits && blocks > 1; /* one block is there at once in any case */
    if (together && q->recording && !d->driver.maker->records_together) {
        str_addz(error, "this driver does not record launches whose blocks wait for each other");
        return RG_UNSUPPORTED;
    }
    TRY(seat.args ? pass_args(q, p, args, &seat.args, error) : RG_OK);
    atomic_store_explicit(&q->pending, true, memory_order_relaxed);
    int code = together
                   ? d->driver.launch_together(p->function, blocks, 1, 1, threads, 1, 1, 0, q->stream, parameters)
                   : d->driver.launch(p->function, blocks, 1, 1, threads, 1, 1, 0, q->stream, parameters, NULL);
    if (!code && q->stream != q->own && q->recording)
        __atomic_store_n(&d->captured, true, __ATOMIC_RELAXED);
    else if (!code && q->stream != q->own)
        code = d->driver.event_record(q->launched, q->stream);
    rt_driver_note_launch(d, p->label);
    q->printing |= p->info.prints;
    return rt_driver_check(d, code, "launch", error);
}

/* What this launch failed with, and not an earlier one, names its kernel. */
static rg_status
name_kernel(const rt_program *p, rg_status status, str *error)
{
    if (!status || rt_driver_is_lost(p->device))
        return status;
    str text = {.in = mem_scratch()};
    str_addf(&text, "%s: %s", p->label, error->ptr ? error->ptr : "it was not launched");
    str_free(error);
    str_add(error, str_view(&text));
    return status;
}

static rg_status
launch_here(rt_queue *q, rt_program *p, const rt_arg *args, rt_need need, str *error)
{
    rt_seat seat;
    rg_status status = rt_driver_take_seat(q, p, &seat, error);
    if (!status)
        status = provide(q, p, need, error);
    return name_kernel(p, status ? status : start(q, p, seat, args, need.warps, error), error);
}

rg_status
rt_driver_launch(rt_queue *q, rt_program *p, const rt_arg *args, str *error)
{
    rt_entry entry;
    rt_need need = rt_needs_of(&p->needs, args, most_warps(q, p));
    rt_driver_catch_up(q->device);
    rg_status status = rt_driver_enter(&entry, q, error);
    if (!status)
        status = look_back(q, p, error);
    if (!status)
        status = launch_here(q, p, args, need, error);
    rt_driver_leave(&entry);
    return status;
}

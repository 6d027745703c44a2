/* The memory of a launch, how it ends. SPDX-License-Identifier: Apache-2.0 */
#include "device/segments/segments.h"

#include "device/explain.h"

enum {
    ALIGN = 256,
    PAGES_EACH = 4, /* of a tape, that there should be for each group; what finds too few runs again, with fewer groups */
    PAGES_KEPT = 8  /* where tapes outlive a task, whose groups cannot be fewer then */
};

static uint64_t
up(uint64_t n)
{
    return (n + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
}

static uint32_t
most_groups(const spirv_code *code, const rt_segments_limits *limits)
{
    uint64_t fit = limits->budget / RT_GPU_PAGE / (code->keeps ? PAGES_KEPT : PAGES_EACH);
    if (!code->info.has_tape)
        return limits->groups;
    fit = fit < RT_VULKAN_TAPES ? fit : RT_VULKAN_TAPES;
    return fit > limits->groups ? limits->groups : fit ? (uint32_t)fit : 1;
}

/* Tapes may take all of the budget; the kernel level's arrays lie beside it. Where only the device knows how large these are, they may
 * be as large again, or what one piece of memory has room for. */
static void
measure_pages(rt_segments_room *room, uint64_t temps, const rt_segments_limits *limits)
{
    uint64_t most = limits->piece - room->tape - 4 * RT_GPU_PAGE;
    if (temps == UINT64_MAX)
        temps = limits->budget < most ? limits->budget : most;
    if (room->tape + temps)
        room->pages = room->tape + temps + 2 * RT_GPU_PAGE;
}

rt_segments_room
rt_segments_measure(const spirv_code *code, const rt_needs *needs, const rt_arg *args, uint32_t nparams, const rt_segments_limits *limits)
{
    uint32_t most = most_groups(code, limits);
    rt_need need = rt_needs_of(needs, args, code->fixed ? RT_VULKAN_FIXED : most);
    rt_segments_room room = {.rows = need.warps, .tape = code->info.has_tape ? limits->budget : 0};
    room.groups = room.rows < most ? room.rows : most;
    room.workers = up(code->info.record);
    room.task = room.workers + up(((uint64_t)room.rows + 1) * sizeof(rt_vulkan_worker));
    room.partials = room.task + up(sizeof(rt_vulkan_task));
    room.row = !code->info.has_rows ? 0 : RT_VULKAN_CELLS / room.rows < RT_VULKAN_ROW ? RT_VULKAN_CELLS / room.rows : RT_VULKAN_ROW;
    room.sums = room.partials + up((uint64_t)room.rows * code->cells * 8);
    room.lane_sums = room.sums + up((uint64_t)room.rows * room.row * 8);
    room.args = room.lane_sums + up((uint64_t)room.rows * code->lane_cells * RT_WARP * 8);
    room.counts = room.args + up((uint64_t)nparams * sizeof(rt_arg));
    room.end = room.counts + up(sizeof(rt_vulkan_counts));
    measure_pages(&room, need.temps, limits);
    return room;
}

void
rt_segments_place(const rt_segments_room *room, uint64_t first, uint64_t second, uint64_t budget, rt_vulkan_launch *launch)
{
    launch->record = first + room->record;
    launch->workers = first + room->workers;
    launch->task = first + room->task;
    launch->lane_sums = first + room->lane_sums;
    launch->partials = first + room->partials;
    launch->sums = first + room->sums;
    launch->counts = first + room->counts;
    launch->row = room->row;
    launch->rows = room->rows;
    launch->groups = room->groups;
    launch->budget = budget;
    launch->pool = (second + RT_GPU_PAGE - 1) & ~(uint64_t)(RT_GPU_PAGE - 1);
    launch->pages = room->pages ? (uint32_t)(room->pages / RT_GPU_PAGE) - 1 : 0;
    launch->tape_pages = (uint32_t)(room->tape / RT_GPU_PAGE);
}

rt_vulkan_counts
rt_segments_all(const rt_segments_room *room)
{
    return (rt_vulkan_counts){{1, 1, 1}, {room->groups, 1, 1}};
}

uint64_t
rt_segments_count_of(const rt_segments_room *room, const segments_step *s)
{
    if (s->kind == SEGMENTS_AGAIN)
        return room->task + offsetof(rt_vulkan_task, groups);
    return room->counts + (s->kind == SEGMENTS_TASK ? offsetof(rt_vulkan_counts, task) : offsetof(rt_vulkan_counts, run));
}

uint64_t
rt_segments_budget(uint64_t asked, uint64_t memory, uint64_t piece)
{
    uint64_t usual = (uint64_t)1 << 30, budget = asked ? asked : usual < memory / 4 ? usual : memory / 4;
    if (piece && budget > piece / 2 - 2 * RT_GPU_PAGE) /* temporary arrays may take as much, in the same piece */
        budget = piece / 2 - 2 * RT_GPU_PAGE;
    const uint64_t most = (uint64_t)UINT32_MAX * 8; /* rt_vulkan_launch.taped counts units of 8 bytes in 32 bits */
    return budget < most ? budget : most;
}

void
rt_segments_cancel(rt_vulkan_launch *launch, const ll_gpu_info *info, uint32_t at)
{
    launch->fault = RT_FAULT_CANCELLED;
    launch->place = segments_place_before(info->steps.at, info->steps.n, at);
}

rg_status
rt_segments_explain(const rt_vulkan_launch *launch, const ll_gpu_info *info, const char *label, const char *file, str *error)
{
    const rt_gpu_report report = {.fault = launch->fault, .place = launch->place, .program = launch->program, .needed = launch->needed,
                                  .budget = launch->limit};
    const ll_place *place = info && launch->place < info->places.n ? &info->places.at[launch->place] : NULL;
    return rt_explain_gpu(&report, place, label, file, error);
}

uint64_t
rt_segments_used(const rt_vulkan_launch *launch)
{
    uint32_t taken = launch->top > launch->reached ? launch->top : launch->reached;
    return ((uint64_t)(taken < launch->tape_pages ? taken : launch->tape_pages) + launch->most) * RT_GPU_PAGE;
}

/* What devices share whose launches are segments of one spirv_code (Vulkan, Metal): what a driver is tried for, the memory of a launch,
 * the order of its steps, how it ends. SPDX-License-Identifier: Apache-2.0
 *
 * Kernel-level control is the host's. Where a launch has any, the host records the steps that it expects: loops go on, as often as
 * the last time, ifs go the way they went. The segment that writes a condition compares it with what was expected (rt_vulkan_ask), and
 * where it differs empties the group counts of all dispatches behind it. The host then goes on from there. */
#ifndef DEVICE_SEGMENTS_SEGMENTS_H
#define DEVICE_SEGMENTS_SEGMENTS_H

#include "base/settings.h"
#include "codegen/spirv/spirv.h"
#include "device/device.h"
#include "device/driver/needs.h"
#include "rt/vulkan/launch.h"

#include <stdatomic.h>

/* -- shaders.c: modules with one entry, "e0", which takes an rt_shader_push */

typedef struct rt_shader {
    const uint32_t *words;
    uint32_t nwords;
} rt_shader;
typedef struct rt_shader_push {
    uint64_t at; /* an address */
    uint32_t first, number;
} rt_shader_push;
extern const rt_shader rt_count_shader, rt_f32_shader, rt_f64_shader;

/* -- trial.c */

typedef struct rt_trial_memory {
    char *data; /* as the host sees it */
    uint64_t address;
    void *buffer; /* the device's own */
} rt_trial_memory;
typedef struct rt_trial {
    const settings *settings;
    rg_str driver;            /* says which one it is */
    const char *name, *remedy; /* in the message, where it ends loops early */
    bool has_f64;
    bool small; /* quotients and roots of numbers below the normal range have to be right, too: no mode of the code's asks for that */
    rg_status (*open)(rt_device *d, uint64_t bytes, rt_trial_memory *memory, str *error);
    void (*close)(rt_device *d, rt_trial_memory *memory);
    /* A shader, in so many workgroups; waits. */
    rg_status (*run)(rt_device *d, const rt_shader *shader, const rt_shader_push *push, const rt_trial_memory *memory, uint32_t groups,
                     str *error);
} rt_trial;
/* Adds to the features what the driver was seen to do, now or in another process: SPIRV_EXACT32 and the like. RG_UNSUPPORTED: it ends
 * loops early. */
rg_status rt_segments_try(rt_device *d, const rt_trial *t, spirv_features *features, str *error);

/* -- program.c: code as bytes */

/* spirv_make, or msl_make */
typedef rg_status rt_segments_maker(const ir_fn *fn, const spirv_options *options, str *bytes, diag_list *diags);
rg_status rt_segments_make(rt_segments_maker *make, const rt_program_desc *desc, spirv_features features, str *code, diag_list *diags);
/* Code that was kept, or is made; what was kept and `take` refuses is made anew. */
typedef bool rt_segments_taker(rt_program *p, rg_str bytes);
rg_status rt_segments_load(const rt_device_table *table, rt_device *d, const rt_program_desc *desc, rt_segments_taker *take, rt_program *p,
                           diag_list *diags);
/* false: it is damaged. `needs` is freed first and has an owner; *made is what the maker gave, in `bytes`. */
bool rt_segments_read(rg_str bytes, uint32_t nparams, rt_needs *needs, rg_str *made);

/* -- launch.c */

typedef struct rt_segments_limits {
    uint32_t groups; /* workgroups of a task at most */
    uint64_t budget; /* of tapes, bytes */
    uint64_t piece;  /* bytes of one piece of memory at most */
} rt_segments_limits;

/* Memory of a launch: two pieces. Offsets in the first one, of which what stands before `partials` is zero at first. */
typedef struct rt_segments_room {
    uint64_t record, workers, task, partials, sums, lane_sums, args, counts, end;
    uint64_t pages, tape; /* bytes of the second one, whose address is any; 0: none is needed. Of these for tapes */
    uint32_t groups, rows, row; /* row: cells for sums, of each row of pieces */
} rt_segments_room;
rt_segments_room rt_segments_measure(const spirv_code *code, const rt_needs *needs, const rt_arg *args, uint32_t nparams,
                                     const rt_segments_limits *limits);
/* The part of a launch that tells where its memory lies: device addresses of the two pieces. */
void rt_segments_place(const rt_segments_room *room, uint64_t first, uint64_t second, uint64_t budget, rt_vulkan_launch *launch);
/* Where a step's count of groups lies in the first piece, for steps behind a condition, and what is there at first; of an AGAIN,
 * which the device counts. */
rt_vulkan_counts rt_segments_all(const rt_segments_room *room);
uint64_t rt_segments_count_of(const rt_segments_room *room, const segments_step *s);
/* A queue's budget for tapes, of a device with so much memory; piece: as above, 0: not known. */
uint64_t rt_segments_budget(uint64_t asked, uint64_t memory, uint64_t piece);

/* The launch ends without the rest of its steps, in the loop around step `at`. */
void rt_segments_cancel(rt_vulkan_launch *launch, const ll_gpu_info *info, uint32_t at);
/* What an ended launch says, as rt_explain_gpu. info NULL: the program is no more */
rg_status rt_segments_explain(const rt_vulkan_launch *launch, const ll_gpu_info *info, const char *label, const char *file, str *error);
uint64_t rt_segments_used(const rt_vulkan_launch *launch); /* bytes of its pool */

/* -- steps.c */

/* How a device records commands, of which each sees what those before it have written. `run` is its own. */
typedef struct rt_segments_recorder {
    rg_status (*begin)(void *run, bool asks, str *error); /* asks: counts are whole then */
    /* Groups by number, or (`counted`) as many as the counts say by then. An AGAIN is one grid, counted. */
    void (*step)(void *run, const segments_step *s, bool counted, rt_vulkan_ask ask);
    rg_status (*submit)(void *run, bool waits, str *error); /* until the commands have ended */
} rt_segments_recorder;
typedef struct rt_segments_run {
    const rt_segments_recorder *how;
    void *run;
    const ll_gpu_info *info;
    uint32_t *expected;     /* the program's, for each step: what launches did; behind them, whether the last one did what was expected. A
                             * guess, all zero at first */
    rt_vulkan_launch *launch; /* as the host sees it */
    const atomic_bool *stopped; /* the launch is to end */
} rt_segments_run;
/* All steps. What it waits for are conditions; else a launch may be under way behind it. */
rg_status rt_segments_steps(const rt_segments_run *r, arena *in, str *error);

#endif

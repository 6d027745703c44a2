/* What devices share whose launches are segments of one spirv_code (Vulkan, Metal): the memory of a launch, how it ends.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DEVICE_SEGMENTS_SEGMENTS_H
#define DEVICE_SEGMENTS_SEGMENTS_H

#include "codegen/spirv/spirv.h"
#include "device/device.h"
#include "device/driver/needs.h"
#include "rt/vulkan/launch.h"

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
    uint64_t record, workers, partials, sums, args, end;
    uint64_t pages, tape; /* bytes of the second one, whose address is any; 0: none is needed. Of these for tapes */
    uint32_t groups, row; /* row: cells for sums, of each workgroup */
} rt_segments_room;
rt_segments_room rt_segments_measure(const spirv_code *code, const rt_needs *needs, const rt_arg *args, uint32_t nparams,
                                     const rt_segments_limits *limits);
/* The part of a launch that tells where its memory lies: device addresses of the two pieces. */
void rt_segments_place(const rt_segments_room *room, uint64_t first, uint64_t second, uint64_t budget, rt_vulkan_launch *launch);
/* A queue's budget for tapes, of a device with so much memory; piece: as above, 0: not known. */
uint64_t rt_segments_budget(uint64_t asked, uint64_t memory, uint64_t piece);

/* The launch ends without the rest of its steps, in the loop around step `at`. */
void rt_segments_cancel(rt_vulkan_launch *launch, const ll_gpu_info *info, uint32_t at);
/* What an ended launch says, as rt_explain_gpu. info NULL: the program is no more */
rg_status rt_segments_explain(const rt_vulkan_launch *launch, const ll_gpu_info *info, const char *label, const char *file, str *error);
uint64_t rt_segments_used(const rt_vulkan_launch *launch); /* bytes of its pool */

#endif

/* What stands between the API and a device: one table of functions. SPDX-License-Identifier:
 * Apache-2.0
 *
 * Argument checks, caches, versions and messages about arguments stand above it, once. Devices here
 * share the host's memory and are synchronous. */
#ifndef RT_DEVICE_H
#define RT_DEVICE_H

#include "ir/ir.h"
#include "rt/abi.h"

typedef struct rt_device rt_device;   /* an open device */
typedef struct rt_program rt_program; /* one form of a kernel, ready to launch */

typedef struct rt_device_desc {
    uint64_t tape_budget; /* bytes; not 0 */
    uint32_t num_threads; /* 0: the device's choice */
    bool native_math;     /* the platform's math functions instead of our own */
} rt_device_desc;

/* A kernel in one form, at the table's stage. The module stays alive as long as the program. */
typedef struct rt_program_desc {
    ir_module *module;
    ir_fn *fn;
    bool noalias; /* no two buffers (of any plane) that one of them writes share memory */
    /* by parameter: which planes are there (bit p) and which not; the primal of a buffer is
     * row-major without gaps */
    const uint8_t *present, *absent;
    const bool *dense;
} rt_program_desc;

typedef struct rt_device_table {
    const char *name;
    ir_stage stage; /* of the IR it runs */
    rg_status (*open)(const rt_device_desc *desc, rt_device **device, str *error);
    void (*close)(rt_device *device);
    rg_status (*compile)(rt_device *device, const rt_program_desc *desc, rt_program **program,
                         diag_list *diags);
    void (*release)(rt_program *program);
    /* RG_BUDGET, RG_ASSERT, RG_OUT_OF_MEMORY with the place in `error`. After RG_BUDGET arrays hold
     * whatever the launch had written by then, unless `restores`. */
    rg_status (*launch)(rt_program *program, const rt_arg *args, str *error);
    bool restores; /* the device itself puts arrays back when a budget is exceeded */
} rt_device_table;

extern const rt_device_table rt_device_interp;
#if RG_HAVE_LLVM
extern const rt_device_table rt_device_cpu;
#endif

/* NULL: none of that name. An empty name: the best there is. */
const rt_device_table *rt_device_find(rg_str name);
/* Names of the devices of this build, separated by ", ". */
void rt_device_names(str *out);

#endif

/* What differs between the makers of GPUs: one table for each. SPDX-License-Identifier: Apache-2.0
 *
 * Both drivers have the same calls with the same parameters, but for a few. Their names are in driver.def, numbers that differ in
 * attributes.def; what is done otherwise is a function here, and nobody else asks who made a GPU. */
#ifndef RT_DRIVER_MAKER_H
#define RT_DRIVER_MAKER_H

#include "codegen/llvm/ll.h"
#include "device/device.h"
#include "device/driver/driver.h"

typedef struct rt_entry rt_entry; /* gpu.h */

struct rt_maker {
    const rt_device_table *table;

    /* finding the driver */
    const char *owner, *system;   /* what messages call it: "NVIDIA's driver", of versions of "CUDA" */
    const char *const *libraries; /* the first that there is; NULL behind the last */
    size_t path;                  /* where `settings` has the path of another one */
    const char *const *symbols;   /* by row of driver.def */
    int oldest, major, minor;     /* versions as numbers: the oldest that will do, one step of each */

    /* numbers of its interface */
    struct {
#define RT_DRIVER_ATTRIBUTE(name, cuda, hip) int name;
#include "device/driver/attributes.def"
#undef RT_DRIVER_ATTRIBUTE
    } attributes;
    unsigned shared;         /* flags of the host's memory that a running kernel and the host look at */
    const int *log_options;  /* of a load: the log, its size, how much it says; NULL: there is none */
    const int *lost, *no_handle; /* errors, 0 behind the last */
    int wrong_code;          /* the error of code that is not for this GPU */
    const char *code_advice; /* then, behind the version of the driver */

    bool keeps_image;     /* modules use the code they were loaded from as long as they live */
    bool records_together; /* cooperative launches can be recorded */

    /* What the code of the GPU is called, and what the maker has to know of it. RG_DEVICE: it is too old. */
    rg_status (*identify)(rt_device *d, uint32_t ordinal, str *error);
    rg_status (*open)(rt_device *d, str *error);
    void (*close)(rt_device *d); /* of one that was opened */
    /* The GPU is the calling thread's between these two; the driver's code. */
    int (*enter)(rt_entry *entry);
    void (*leave)(rt_entry *entry); /* if it had another one */
    bool (*is_awake)(rt_device *d); /* whether the calling thread uses it already, so that asking for its memory wakes nobody */
    int (*owns)(const rt_device *d, void *stream, bool *owned);
    int (*copy_across)(const rt_device *d, uint64_t to, const rt_device *other, uint64_t from, size_t bytes, void *stream);

    /* Code for the GPU. `describe` adds to the key what it depends on beside d->code; false: it must not be kept. */
    rg_status (*emit)(const rt_device *d, const rt_program_desc *desc, const char *name, str *code, ll_gpu_info *info, diag_list *diags);
    bool (*by_value)(const ir_fn *fn); /* its entry takes rt_arg args[] by value */
    bool (*describe)(const rt_device *d, const rt_program_desc *desc, str *key);
};

extern const rt_maker rt_maker_cuda, rt_maker_hip;

#endif

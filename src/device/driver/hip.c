/* GPUs of AMD's: HIP, and code objects. SPDX-License-Identifier: Apache-2.0
 *
 * HIP has no contexts to speak of: each thread has a current device. A code object is for one kind of GPU, by its name in LLVM:
 * there is no compiler in the driver. Before ROCm 7 an access outside of all memory ends the process. */
#include "compiler/process.h"
#include "device/driver/gpu.h"

enum {
    OLDEST_DRIVER = 60000000, /* pointer_attribute tells the host's memory from the device's as CUDA does */
    COHERENT = 0x40000000,    /* of the host's memory: what one side writes the other sees at once */
    PROPERTIES = 4096, NAME_AT = 1160, /* more than what device_properties fills; where the name of the GPU's code is there */
};

/* "gfx90a:sramecc+:xnack-": code that names no features runs with and without them. */
static rg_status
hip_identify(rt_device *d, uint32_t ordinal, str *error)
{
    _Alignas(16) char properties[PROPERTIES] = {0};
    rg_status status = rt_driver_check(d, d->driver.device_properties(properties, d->device), "ask the GPU what it is", error);
    const char *name = properties + NAME_AT;
    if (status)
        return status;
    if (!ll_makes_hsaco()) {
        str_addz(error, "this build makes no code for AMD's GPUs; device \"cpu\" works without a GPU");
        return RG_UNSUPPORTED;
    }
    snprintf(d->code, sizeof(d->code), "%.*s", (int)strcspn(name, ":"), name);
    d->wave = ll_amd_wave(d->code);
    if (strncmp(d->code, "gfx", 3) == 0)
        return RG_OK;
    str_addf(error, "GPU %u (%s) does not say what code it runs; device \"cpu\" works without a GPU", ordinal, d->model);
    return RG_DEVICE;
}

static rg_status
hip_open(rt_device *d, str *error)
{
    return RG_OK;
}

static void
hip_close(rt_device *d)
{
}

static int
hip_enter(rt_entry *entry)
{
    rt_device *d = entry->device;
    int code = d->driver.device_current(&entry->before);
    if (code || entry->before == d->device)
        return code;
    code = d->driver.device_set(d->device);
    entry->changed = !code;
    return code;
}

static void
hip_leave(rt_entry *entry)
{
    entry->device->driver.device_set(entry->before);
}

static bool
hip_is_awake(rt_device *d)
{
    int current;
    return !d->driver.device_current(&current) && current == d->device;
}

static int
hip_owns(const rt_device *d, void *stream, bool *owned)
{
    int device = d->device, code = d->driver.stream_device(stream, &device);
    *owned = device == d->device;
    return code;
}

static int
hip_copy_across(const rt_device *d, uint64_t to, const rt_device *other, uint64_t from, size_t bytes, void *stream)
{
    return d->driver.copy_device(to, d->device, from, other->device, bytes, stream);
}

static rg_status
hip_emit(const rt_device *d, const rt_program_desc *desc, const char *name, str *code, ll_gpu_info *info, diag_list *diags)
{
    const ir_fn *fn = desc->fn;
    ll_options options = {
        .present = desc->present,
        .absent = desc->absent,
        .contiguous = desc->dense,
        .noalias = desc->noalias,
        .deterministic = desc->deterministic,
        .native_math = desc->native_math,
        .fast_math = desc->fast_math,
        .triple = "amdgcn-amd-amdhsa",
        .cpu = d->code,
    };
    return desc->apart ? process_emit_hsaco_entries(&fn, &name, 1, &options, rt_program_label(desc), code, info, diags)
                       : ll_emit_hsaco_entries(&fn, &name, 1, &options, code, info, diags);
}

static bool
hip_describe(const rt_device *d, const rt_program_desc *desc, str *key)
{
    return true;
}

/* The first may be there already with torch, or another library that brings its own. */
static const char *const libraries[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so", "/opt/rocm/lib/libamdhip64.so", NULL};

static const char *const symbols[] = {
#define NONE NULL
#define RT_DRIVER_CALL(name, cuda, hip, needed, parameters) hip,
#include "device/driver/driver.def"
#undef RT_DRIVER_CALL
};

static const int no_handle[] = {400, 709 /* a stream that is no more */, 0};

static const int lost[] = {
    4,   /* deinitialized */
    214, /* memory error that could not be corrected */
    700, /* illegal address */
    702, /* timeout */
    710, /* assert of the device's own */
    719, /* launch failed: an exception of the device's (ROCm 7) */
    0,
};

const rt_maker rt_maker_hip = {
    .table = &rt_device_amd,
    .owner = "AMD's HIP library (ROCm)",
    .system = "ROCm",
    .libraries = libraries,
    .path = offsetof(settings, amd_driver),
    .symbols = symbols,
    .oldest = OLDEST_DRIVER,
    .major = 10000000,
    .minor = 100000,
    .attributes = {
#define RT_DRIVER_ATTRIBUTE(name, cuda, hip) .name = hip,
#include "device/driver/attributes.def"
#undef RT_DRIVER_ATTRIBUTE
    },
    .shared = RT_HOST_ANYWHERE | RT_HOST_MAPPED | COHERENT,
    .lost = lost,
    .no_handle = no_handle,
    .wrong_code = 209,
    .code_advice = "the code is for another kind of GPU",
    .keeps_image = true,
    .identify = hip_identify,
    .open = hip_open,
    .close = hip_close,
    .enter = hip_enter,
    .leave = hip_leave,
    .is_awake = hip_is_awake,
    .owns = hip_owns,
    .copy_across = hip_copy_across,
    .emit = hip_emit,
    .by_value = ll_amd_by_value,
    .describe = hip_describe,
};

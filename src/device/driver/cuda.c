/* GPUs of NVIDIA's: CUDA's driver, and PTX. SPDX-License-Identifier: Apache-2.0 */
#include "compiler/process.h"
#include "device/driver/gpu.h"

#include <sys/stat.h>
#include <unistd.h>

enum {
    OLDEST_DRIVER = 12010, /* kernels with more than 4 KB of parameters load since then */
    OLDEST_GPU = 70,
    KNOWN = 90, /* to every LLVM that is used */
    MAJOR = 75, MINOR = 76, /* attributes: of the GPU's generation */
};

/* generations that code is made for, newest first; the driver makes what runs on later ones of it */
static const int generations[] = {120, 103, 100, 90, 89, 87, 86, 80, 75, 72, 70};

/* -- the GPU ------------------------------------------------------------------------------------------------------- */

static rg_status
cuda_identify(rt_device *d, uint32_t ordinal, str *error)
{
    int major = 0, minor = 0, code = d->driver.device_attribute(&major, MAJOR, d->device);
    if (!code)
        code = d->driver.device_attribute(&minor, MINOR, d->device);
    if (code)
        return rt_driver_check(d, code, "ask the GPU what it is", error);
    d->wave = RT_WARP;
    d->generation = 10 * major + minor;
    snprintf(d->code, sizeof(d->code), "sm_%d", d->generation);
    if (d->generation >= OLDEST_GPU)
        return RG_OK;
    str_addf(error, "GPU %u (%s) is %s; sm_%d or newer is needed; device \"cpu\" works without a GPU", ordinal, d->model, d->code,
             OLDEST_GPU);
    return RG_DEVICE;
}

/* NVIDIA's own math functions come with its toolkit; nothing else of it is needed. */
static void
find_libdevice(rt_device *d)
{
    const char *const roots[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda"};
    if (d->settings.libdevice)
        str_addz(&d->libdevice, d->settings.libdevice);
    for (size_t i = 0; i < countof(roots) && !d->libdevice.len; i++) {
        if (!roots[i] || !*roots[i])
            continue;
        str_addf(&d->libdevice, "%s/nvvm/libdevice/libdevice.10.bc", roots[i]);
        if (access(d->libdevice.ptr, R_OK))
            d->libdevice.len = 0;
    }
}

static rg_status
cuda_open(rt_device *d, str *error)
{
    find_libdevice(d);
    return rt_driver_check(d, d->driver.context_retain(&d->context, d->device), "make a context", error);
}

static void
cuda_close(rt_device *d)
{
    d->driver.context_release(d->device);
}

static int
cuda_enter(rt_entry *entry)
{
    rt_device *d = entry->device;
    void *current = NULL;
    if (!d->driver.context_current(&current) && current == d->context)
        return 0;
    int code = d->driver.context_push(d->context);
    entry->changed = !code;
    return code;
}

static void
cuda_leave(rt_entry *entry)
{
    void *context;
    entry->device->driver.context_pop(&context);
}

/* Of several GPUs the current context may be another one's. */
static bool
cuda_is_awake(rt_device *d)
{
    int count = 0;
    return !d->driver.context_current(&d->context) && d->context && !d->driver.device_count(&count) && count == 1;
}

static int
cuda_owns(const rt_device *d, void *stream, bool *owned)
{
    void *context = d->context;
    int code = d->driver.stream_context(stream, &context);
    *owned = context == d->context;
    return code;
}

static int
cuda_copy_across(const rt_device *d, uint64_t to, const rt_device *other, uint64_t from, size_t bytes, void *stream)
{
    return d->driver.copy_peer(to, d->context, from, other->context, bytes, stream);
}

/* -- code ---------------------------------------------------------------------------------------------------------- */

/* PTX for the GPU's generation, or the nearest one before it that this LLVM knows */
static rg_status
cuda_emit(const rt_device *d, const rt_program_desc *desc, const char *name, str *ptx, ll_gpu_info *info, diag_list *diags)
{
    char cpu[16];
    const ir_fn *fn = desc->fn;
    ll_options options = {
        .present = desc->present,
        .absent = desc->absent,
        .contiguous = desc->dense,
        .noalias = desc->noalias,
        .deterministic = desc->deterministic,
        .native_math = desc->native_math,
        .fast_math = desc->fast_math,
        .libdevice = d->libdevice.len ? d->libdevice.ptr : NULL,
        .triple = "nvptx64-nvidia-cuda",
        .cpu = cpu,
    };
    rg_status status = RG_UNSUPPORTED;
    for (size_t i = 0; i < countof(generations) && status == RG_UNSUPPORTED; i++) {
        if (generations[i] > d->generation)
            continue;
        diag_free(diags);
        ll_gpu_info_free(info);
        ptx->len = 0;
        snprintf(cpu, sizeof(cpu), "sm_%d", generations[i]);
        status = desc->apart ? process_emit_ptx_entries(&fn, &name, 1, &options, rt_program_label(desc), ptx, info, diags)
                             : ll_emit_ptx(fn, name, &options, ptx, info, diags);
        if (generations[i] <= KNOWN)
            break;
    }
    return status;
}

/* PTX is for a generation; which one a newer GPU gets follows from the LLVM that the key names. NVIDIA's functions, where
 * they are taken in, are those of a file. */
static bool
cuda_describe(const rt_device *d, const rt_program_desc *desc, str *key)
{
    struct stat st;
    if (!desc->native_math)
        return true;
    if (!d->libdevice.len || stat(d->libdevice.ptr, &st))
        return false;
    str_addf(key, " %s %lld %lld", d->libdevice.ptr, (long long)st.st_mtime, (long long)st.st_size);
    return true;
}

/* -- the table ----------------------------------------------------------------------------------------------------- */

static const char *const libraries[] = {"libcuda.so.1", NULL};

static const char *const symbols[] = {
#define NONE NULL
#define RT_DRIVER_CALL(name, cuda, hip, needed, parameters) cuda,
#include "device/driver/driver.def"
#undef RT_DRIVER_CALL
};

static const int log_options[] = {5, 6, 7};

static const int no_handle[] = {400, 0};

static const int lost[] = {
    4,   /* deinitialized */
    46,  /* device unavailable */
    214, /* memory error that could not be corrected */
    220, /* the same of a link */
    226, /* contained */
    700, /* illegal address */
    702, /* timeout */
    709, /* context destroyed */
    710, /* assert of the device's own */
    714, /* stack */
    715, /* illegal instruction */
    716, /* misaligned address */
    717, /* address space */
    718, /* program counter */
    719, /* launch failed */
    721, /* tensor memory leak */
    999, /* unknown */
    0,
};

const rt_maker rt_maker_cuda = {
    .table = &rt_device_cuda,
    .owner = "NVIDIA's driver",
    .system = "CUDA",
    .libraries = libraries,
    .path = offsetof(settings, cuda_driver),
    .symbols = symbols,
    .oldest = OLDEST_DRIVER,
    .major = 1000,
    .minor = 10,
    .attributes = {
#define RT_DRIVER_ATTRIBUTE(name, cuda, hip) .name = cuda,
#include "device/driver/attributes.def"
#undef RT_DRIVER_ATTRIBUTE
    },
    .shared = RT_HOST_ANYWHERE | RT_HOST_MAPPED,
    .log_options = log_options,
    .lost = lost,
    .no_handle = no_handle,
    .wrong_code = 222,
    .code_advice = "this GPU needs a newer one",
    .records_together = true,
    .identify = cuda_identify,
    .open = cuda_open,
    .close = cuda_close,
    .enter = cuda_enter,
    .leave = cuda_leave,
    .is_awake = cuda_is_awake,
    .owns = cuda_owns,
    .copy_across = cuda_copy_across,
    .emit = cuda_emit,
    .by_value = ll_ptx_by_value,
    .describe = cuda_describe,
};

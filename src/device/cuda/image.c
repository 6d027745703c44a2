/* From PTX to the GPU's own code. SPDX-License-Identifier: Apache-2.0
 *
 * The driver's compiler makes it. A kernel with a tape has slow paths beside it, functions of their own: the driver's linker
 * compiles all of them side by side, and what it gives is kept with the kernel. A kernel without a tape is one function: it is
 * loaded as text, and the driver keeps what it makes of that. */
#include "device/cuda/memory.h"

enum { LOG = 8192, BEST = 4 /* level of optimisation */, ALL_PROCESSORS = 0 };

/* a call of the driver's compiler: `log` is what it said */
static rg_status
refused(rt_device *d, const char *label, int code, const char *doing, const char *log, diag_list *diags)
{
    str text = {.in = mem_scratch()};
    rt_cuda_check(d, code, doing, &text);
    if (code == RT_DRIVER_OLD_FOR_CODE && !*log)
        str_addf(&text, "\nthe driver is for CUDA %d.%d: this GPU needs a newer one", d->driver.number / 1000,
                 d->driver.number % 1000 / 10);
    diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "%s: %s%s%s", label, text.ptr, *log ? "\n" : "", log);
    return code == RT_DRIVER_OUT_OF_MEMORY ? RG_OUT_OF_MEMORY : rt_cuda_is_lost(d) ? RG_DEVICE : RG_COMPILE;
}

rg_status
rt_cuda_load_image(rt_device *d, rg_str image, const char *label, void **module, diag_list *diags)
{
    char log[LOG] = "";
    const int options[] = {RT_JIT_LOG, RT_JIT_LOG_SIZE, RT_JIT_LEVEL};
    void *values[] = {log, (void *)(uintptr_t)(LOG - 1), (void *)(uintptr_t)BEST};
    /* aligned, and with a 0 behind it */
    uint64_t *whole = arena_new_n(mem_scratch(), uint64_t, image.len / sizeof(uint64_t) + 1);
    whole[image.len / sizeof(uint64_t)] = 0;
    memcpy(whole, image.ptr, image.len);
    int code = d->driver.module_load(module, whole, countof(options), options, values);
    return code ? refused(d, label, code, "load the code on the GPU", log, diags) : RG_OK;
}

/* -- the linker ---------------------------------------------------------------------------------------------------- */

typedef struct link {
    rt_device *device;
    void *state;
} link;

static void
release_link(void *object)
{
    link *l = object;
    if (l->state)
        l->device->driver.link_destroy(l->state);
    l->state = NULL;
}

bool
rt_cuda_links(const rt_device *d, const ll_gpu_info *info)
{
    return info->has_tape && d->driver.number >= RT_DRIVER_SPLITS;
}

rg_status
rt_cuda_link(rt_device *d, const str *ptx, const char *label, str *image, diag_list *diags)
{
    char log[LOG] = "";
    const int options[] = {RT_JIT_LOG, RT_JIT_LOG_SIZE, RT_JIT_LEVEL, RT_JIT_SPLIT};
    void *values[] = {log, (void *)(uintptr_t)(LOG - 1), (void *)(uintptr_t)BEST, (void *)(uintptr_t)ALL_PROCESSORS};
    link l = {.device = d};
    mem_owner owns;
    void *bytes;
    size_t n;
    mem_own(&owns, release_link, &l);
    int code = d->driver.link_create(countof(options), options, values, &l.state);
    if (!code)
        code = d->driver.link_add(l.state, RT_LINK_PTX, ptx->ptr, ptx->len + 1, label, 0, NULL, NULL);
    if (!code)
        code = d->driver.link_complete(l.state, &bytes, &n);
    if (!code)
        str_add(image, (rg_str){bytes, n});
    mem_disown(&owns);
    release_link(&l);
    return code ? refused(d, label, code, "compile the code for the GPU", log, diags) : RG_OK;
}

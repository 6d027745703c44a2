/* Programs: code from IR, pipelines from code. SPDX-License-Identifier: Apache-2.0 */
#include "device/vulkan/vulkan.h"

#include "cache/cache.h"

enum { PROGRAMS = 1 << 16, NAME = 16, CACHED = 64 << 20 };

/* -- code ---------------------------------------------------------------------------------------------------------- */

rg_status
vk_make(rt_device *d, const rt_program_desc *desc, unsigned wanted, str *code, diag_list *diags)
{
    return rt_segments_make(spirv_make, desc, d->features, code, diags);
}

bool
vk_describe(rt_device *d, const rt_program_desc *desc, str *key)
{
    str_addf(key, "vulkan %08x", d->features);
    return true;
}

/* false: it is damaged, or for a device that can do more */
static bool
read_code(rt_program *p, rg_str bytes)
{
    rg_str spirv;
    spirv_code_free(&p->code);
    return rt_segments_read(bytes, p->nparams, &p->needs, &spirv) && spirv_read(spirv, &p->code) && !(p->code.uses & ~p->device->features);
}

/* -- pipelines ----------------------------------------------------------------------------------------------------- */

static void
refuse(const rt_program *p, diag_list *diags, const char *what, rg_status status, const str *why)
{
    (void)status;
    diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "%s: %s: %s", p->label, what, why->ptr ? why->ptr : "an error");
}

/* What the driver has made of these words before, in this process or another. */
static rg_status
open_cache(rt_program *p, rg_str key, vk_handle *cache, bool *kept, str *error)
{
    rt_device *d = p->device;
    rg_str data = {0};
    *kept = cache_get(&d->settings, key, &data);
    vk_cache_desc desc = {.head = {VK_S_CACHE}, .bytes = *kept ? data.len : 0, .data = data.ptr};
    return vk_check(d, d->api.create_cache(d->logical, &desc, NULL, cache), "make a cache of pipelines", error);
}

static void
keep_cache(rt_program *p, rg_str key, vk_handle cache)
{
    rt_device *d = p->device;
    size_t bytes = 0;
    if (d->api.cache_data(d->logical, cache, &bytes, NULL) < 0 || !bytes || bytes > CACHED)
        return;
    char *data = arena_raw(mem_scratch(), bytes);
    if (d->api.cache_data(d->logical, cache, &bytes, data) == VK_OK)
        cache_put(&d->settings, key, (rg_str){data, bytes});
}

static int32_t
make_part(rt_program *p, uint32_t entry, vk_handle cache)
{
    rt_device *d = p->device;
    char name[NAME];
    snprintf(name, sizeof(name), "e%u", entry);
    vk_required_subgroup_size size = {.head = {VK_S_REQUIRED_SUBGROUP_SIZE}, .size = RT_WARP};
    bool groups = p->code.uses & SPIRV_SUBGROUPS;
    vk_compute_desc desc = {.head = {VK_S_COMPUTE}, .layout = d->layout,
                            .stage = {.head = {VK_S_STAGE, groups ? &size : NULL}, .flags = groups ? VK_SUBGROUPS_FULL : 0,
                                      .stage = VK_STAGE_COMPUTE, .shader = p->shader, .entry = name}};
    int32_t code = d->api.create_pipeline(d->logical, cache, 1, &desc, NULL, &p->pipelines[entry]);
    if (code < 0)
        p->pipelines[entry] = 0;
    return code;
}

static rg_status
make_all_parts(rt_program *p, vk_handle cache, diag_list *diags)
{
    for (uint32_t i = 0; i < p->code.entries; i++) {
        str why = {.in = mem_scratch()};
        char what[64];
        rg_status status = vk_check(p->device, make_part(p, i, cache), "make a pipeline", &why);
        snprintf(what, sizeof(what), "part %u of %u", i + 1, p->code.entries);
        if (status)
            refuse(p, diags, what, status, &why);
        TRY(status);
    }
    return RG_OK;
}

/* RG_DEBUG=gpu */
static void
show(const rt_program *p, bool kept, double since)
{
    if (p->device->settings.gpu)
        fprintf(stderr, "gpu: %s: %u parts, %u words%s, %s in %.1f ms\n", p->label, p->code.entries, p->code.nwords,
                p->code.info.has_tape ? ", tape" : "", kept ? "loaded" : "compiled", clock_ms() - since);
}

static rg_status
load(rt_program *p, diag_list *diags)
{
    rt_device *d = p->device;
    double since = clock_ms();
    size_t bytes = p->code.nwords * sizeof(uint32_t);
    str key = {.in = mem_scratch()}, why = {.in = mem_scratch()};
    vk_shader_desc desc = {.head = {VK_S_SHADER}, .bytes = bytes, .words = p->code.words};
    vk_handle cache = 0;
    bool kept = false;
    p->pipelines = mem_zalloc((p->code.entries + 1) * sizeof(*p->pipelines));
    p->expected = mem_zalloc((p->code.info.steps.n + 1) * sizeof(*p->expected));
    str_addz(&key, "vulkan pipelines\n");
    vk_identify(&d->facts, &key);
    str_add(&key, (rg_str){(const char *)p->code.words, bytes});
    rg_status status = vk_check(d, d->api.create_shader(d->logical, &desc, NULL, &p->shader), "load the code", &why);
    if (!status)
        status = open_cache(p, str_view(&key), &cache, &kept, &why);
    if (status)
        refuse(p, diags, "the device", status, &why);
    else
        status = make_all_parts(p, cache, diags);
    if (!status && !kept)
        keep_cache(p, str_view(&key), cache);
    if (cache)
        d->api.destroy_cache(d->logical, cache, NULL);
    if (!status)
        show(p, kept, since);
    return status;
}

/* -- making and releasing ------------------------------------------------------------------------------------------ */

/* The first free number: records of prints have 16 bits for it. */
static rg_status
take_number(rt_program *p, diag_list *diags)
{
    rt_device *d = p->device;
    size_t n = 0;
    mem_owner locks;
    pthread_mutex_lock(&d->lock);
    mem_own(&locks, mem_release_mutex, &d->lock);
    while (n < d->programs.n && d->programs.at[n])
        n++;
    if (n < PROGRAMS && n == d->programs.n)
        vec_push(&d->programs, p);
    if (n < PROGRAMS) {
        d->programs.at[n] = p;
        p->number = (uint32_t)n;
        p->numbered = true;
    }
    mem_disown(&locks);
    pthread_mutex_unlock(&d->lock);
    if (!p->numbered)
        diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "the device has %d compiled kernels: it takes no more", PROGRAMS);
    return p->numbered ? RG_OK : RG_UNSUPPORTED;
}

static rg_status
build(rt_program *p, const rt_program_desc *desc, diag_list *diags)
{
    TRY(take_number(p, diags));
    TRY(rt_segments_load(&rt_device_vulkan, p->device, desc, read_code, p, diags));
    return load(p, diags);
}

static void
release_program(void *program)
{
    vk_release(program);
}

rg_status
vk_compile(rt_device *d, const rt_program_desc *desc, rt_program **program, diag_list *diags)
{
    str error = {.in = mem_scratch()};
    rg_status status = vk_usable(d, &error);
    if (status) {
        diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "%s", error.ptr);
        return status;
    }
    rt_program *p = mem_zalloc(sizeof(*p));
    mem_owner owns;
    mem_own(&owns, release_program, p);
    p->device = d;
    p->label = rt_program_label(desc);
    p->file = rt_program_file(desc);
    p->nparams = rt_program_params(desc);
    status = build(p, desc, diags);
    mem_disown(&owns);
    if (status)
        vk_release(p);
    else
        *program = p;
    return status;
}

/* Its launches have ended, and what they have to say is read while its places are known. */
static void
give_number(rt_program *p)
{
    rt_device *d = p->device;
    if (p->pipelines)
        vk_streams.settle(d);
    pthread_mutex_lock(&d->lock);
    d->programs.at[p->number] = NULL;
    pthread_mutex_unlock(&d->lock);
}

void
vk_release(rt_program *p)
{
    rt_device *d = p->device;
    bool works = !vk_is_fork(d);
    if (p->numbered)
        give_number(p);
    for (uint32_t i = 0; p->pipelines && works && i < p->code.entries; i++)
        if (p->pipelines[i])
            d->api.destroy_pipeline(d->logical, p->pipelines[i], NULL);
    if (p->shader && works)
        d->api.destroy_shader(d->logical, p->shader, NULL);
    mem_free(p->pipelines);
    mem_free(p->expected);
    rt_needs_free(&p->needs);
    spirv_code_free(&p->code);
    mem_free(p);
}

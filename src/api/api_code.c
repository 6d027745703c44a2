/* The code of a kernel's variants, made now or found in the cache. SPDX-License-Identifier: Apache-2.0
 *
 * The key of an entry has a digest of the kernel as it was written (IR as text, with the places that messages name), what is asked of
 * it, and what the device says of itself. So a hit needs neither the passes nor LLVM. Whatever decides about code belongs
 * into it: each field of pipeline_options and of rt_program_desc, each setting of the environment. */
#include "api/api.h"

#include "cache/cache.h"
#include "cache/version.h"

enum { CAN_FAIL = 1, GROUPED = 2 };

rg_str
api_code_text(rg_module *module, const ir_fn *source)
{
    str text = {.in = module->arena};
    ir_module *alone = ir_module_new();
    mem_owner owns;
    mem_own(&owns, ir_module_release, alone);
    ir_fn_clone_with_calls(alone, source, source->name);
    ir_print_module(&text, alone);
    mem_disown(&owns);
    ir_module_free(alone);
    return str_view(&text);
}

/* Whoever looks at passes wants to see them run. */
static bool
may_look(const settings *s)
{
    str folder;
    return !s->verify && !s->time && !s->print && s->stop < 0 && cache_folder(s, &folder);
}

static void
put_text(str *key, const char *text)
{
    bytes_put(key, text ? rg_str_of(text) : (rg_str){NULL, 0});
}

/* false: code must not be kept */
static bool
make_key(const settings *s, const api_program *p, const rt_program_desc *desc, unsigned wanted, str *key)
{
    const rg_kernel *k = p->variant->kernel;
    const rt_device_table *table = p->variant->table;
    bytes_put(key, rg_str_of("code"));
    put_text(key, cache_version());
    put_text(key, table->name);
    bytes_put_u32(key, wanted & RT_CODE_ALONE);
    bytes_put_u32(key, k->module->desc.no_contraction | k->module->desc.native_math << 1 | k->module->desc.fast_math << 2 |
                           k->module->desc.checked << 3 | k->module->desc.deterministic << 4);
    put_text(key, s->plan);
    put_text(key, s->lanes);
    put_text(key, s->interp);
    put_text(key, s->math);
    put_text(key, s->libdevice);
    bytes_put_u32(key, s->gpu_registers);
    bytes_put(key, (rg_str){(const char *)p->variant->key, API_KEY_SIZE(k->nparams)});
    put_text(key, k->fn->name);
    bytes_put(key, (rg_str){(const char *)k->digest, sizeof k->digest});
    return table->describe(p->device->device, desc, key);
}

static bool
kept_code(api_variant *v, rg_str content, str *code)
{
    bytes_reader r = bytes_of(content);
    uint32_t flags = bytes_u32(&r);
    rg_str bytes = bytes_str(&r);
    if (!bytes_done(&r) || !bytes.ptr)
        return false;
    if (!v->known) {
        v->can_fail = flags & CAN_FAIL;
        v->grouped = flags & GROUPED;
        v->known = true;
    }
    if (!code->len && code->in == mem_scratch()) /* where it lies already */
        *code = (str){.ptr = (char *)bytes.ptr, .len = bytes.len, .cap = bytes.len, .in = code->in};
    else
        str_add(code, bytes);
    return true;
}

static rg_status
make_code(const api_program *p, rt_program_desc *desc, unsigned wanted, str *code, diag_list *diags)
{
    TRY(api_variant_need(p->variant, diags));
    desc->module = p->variant->module;
    desc->fn = p->variant->fn;
    return p->variant->table->make(p->device->device, desc, wanted, code, diags);
}

static rg_status
code_of_variant(const api_program *p, unsigned wanted, str *code, bool *kept, diag_list *diags)
{
    api_variant *v = p->variant;
    settings s = api_settings(&v->kernel->module->desc);
    rt_program_desc desc = api_program_desc(v);
    str key = {.in = mem_scratch()}, content = {.in = mem_scratch()};
    rg_str found;
    double since = clock_ms();
    bool keeps = may_look(&s) && make_key(&s, p, &desc, wanted, &key);
    *kept = keeps && !(wanted & RT_CODE_ANEW) && cache_get(&s, str_view(&key), &found) && kept_code(v, found, code);
    if (!*kept)
        TRY(make_code(p, &desc, wanted, code, diags));
    if (keeps || s.told)
        api_tell(&s, *kept ? RG_EVENT_FOUND : RG_EVENT_MADE, since, "code of %s for %s", v->label, v->table->name);
    if (!keeps || *kept)
        return RG_OK;
    bytes_put_u32(&content, (v->can_fail ? CAN_FAIL : 0) | (v->grouped ? GROUPED : 0));
    bytes_put(&content, str_view(code));
    cache_put(&s, str_view(&key), str_view(&content));
    return RG_OK;
}

rg_status
api_code(void *program, unsigned wanted, str *code, bool *kept, diag_list *diags)
{
    const api_program *p = program;
    rg_kernel *k = p->variant->kernel;
    mem_owner owns;
    pthread_mutex_lock(&k->compiling);
    mem_own(&owns, mem_release_mutex, &k->compiling);
    rg_status status = code_of_variant(p, wanted, code, kept, diags);
    mem_disown(&owns);
    pthread_mutex_unlock(&k->compiling);
    return status;
}

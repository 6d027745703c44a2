/* Code in memory. SPDX-License-Identifier: Apache-2.0
 *
 * This file needs no LLVM: what it made once, maybe in another process, is loaded without it. */
#include "codegen/llvm/ll.h"

#include "rt/load/object.h"
#include "rt/load/symbols.h"

struct ll_code {
    rt_object *object;
    ll_gpu_info gpu;
};

static void
release_code(void *code)
{
    ll_code_free(code);
}

ll_code *
ll_load(rg_str bytes, str *error)
{
    ll_code *code = mem_zalloc(sizeof *code);
    mem_owner owns;
    mem_own(&owns, release_code, code);
    bytes_reader r = bytes_of(bytes);
    ll_gpu_info_read(&r, &code->gpu);
    rg_str object = bytes_str(&r);
    if (bytes_done(&r))
        code->object = rt_object_load(object, ll_entry_name, rt_symbol_find, error);
    else
        str_addz(error, "the code is damaged");
    mem_disown(&owns);
    if (code->object)
        return code;
    ll_code_free(code);
    return NULL;
}

ll_entry *
ll_code_entry(const ll_code *code)
{
    void *address = rt_object_entry(code->object);
    ll_entry *entry;
    memcpy(&entry, &address, sizeof entry);
    return entry;
}

const ll_gpu_info *
ll_code_gpu(const ll_code *code)
{
    return &code->gpu;
}

void
ll_code_free(ll_code *code)
{
    if (!code)
        return;
    rt_object_free(code->object);
    ll_gpu_info_free(&code->gpu);
    mem_free(code);
}

rg_status
ll_compile(ll_jit *jit, const ir_fn *fn, const ll_options *options, ll_code **out, diag_list *diags)
{
    str bytes = {0}, error = {.in = mem_scratch()};
    mem_owner owns;
    *out = NULL;
    mem_own(&owns, mem_release_str, &bytes);
    rg_status status = ll_make(jit, fn, options, &bytes, diags);
    if (!status && !(*out = ll_load(str_view(&bytes), &error))) {
        diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "loading: %s", error.ptr);
        status = RG_COMPILE;
    }
    mem_disown(&owns);
    str_free(&bytes);
    return status;
}

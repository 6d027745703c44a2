/* The builder's beginning and end in the public API. SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

#include "analysis/races.h"
#include "opt/pass.h"

/* what the builder keeps for its end */
typedef struct asked {
    rg_module_desc desc;
    bool in_order;
    char cache[]; /* desc.cache */
} asked;

static rg_status
builder_create(const rg_module_desc *desc, rg_builder **builder)
{
    asked *kept = mem_zalloc(sizeof(*kept) + desc->cache.len + 1);
    mem_owner owns;
    mem_own(&owns, mem_free, kept);
    kept->desc = *desc;
    kept->desc.cache.ptr = kept->cache;
    if (desc->cache.len)
        memcpy(kept->cache, desc->cache.ptr, desc->cache.len);
    *builder = ir_builder_new();
    mem_disown(&owns);
    ir_builder_attach(*builder, kept, mem_free);
    return RG_OK;
}

rg_status
rg_builder_create(const rg_module_desc *desc, rg_builder **builder)
{
    rg_module_desc d;
    API_OUT(builder);
    API_READ_DESC(&d, desc, rg_module_desc);
    API_GUARDED(builder_create(&d, builder));
}

void
rg_build_in_order(rg_builder *b, bool wanted)
{
    asked *a = ir_builder_attached(b);
    a->in_order = wanted;
}

static bool
order_races(ir_module *ir, diag_list *diags)
{
    pass_context c;
    pass_context_init(&c, diags);
    PASS_RUN(ir, lower_races, IR_STAGE_SOURCE, &c);
    pass_context_finish(&c);
    return !diags->errors;
}

static rg_status
builder_finish(rg_builder *builder, rg_module **module)
{
    if (ir_builder_is_lost(builder))
        return api_error(RG_OUT_OF_MEMORY, "out of memory while the module was built");
    diag_list diags = {.text.in = mem_scratch()};
    const asked *a = ir_builder_attached(builder);
    ir_module *ir = ir_builder_take(builder, &diags);
    bool sound = ir != NULL;
    mem_owner owns;
    mem_own(&owns, ir_module_release, ir);
    if (ir && a->in_order)
        sound = order_races(ir, &diags);
    for (const ir_fn *fn = ir && !a->in_order ? ir->first : NULL; fn; fn = fn->next)
        sound = ir_check_races(fn, &diags) && sound;
    mem_disown(&owns);
    if (ir && !sound)
        ir_module_free(ir);
    if (!sound)
        return api_error_text(RG_COMPILE, str_view(&diags.text));
    return api_module_adopt(&a->desc, ir, module);
}

rg_status
rg_builder_finish(rg_builder *builder, rg_module **module)
{
    API_OUT(module);
    if (!builder)
        return api_error(RG_INVALID, "builder is NULL");
    API_GUARDED(builder_finish(builder, module));
}

rg_status
rg_op_find(rg_str name, rg_op *op)
{
    API_OUT(op);
    for (int code = 0; code < RG_OP_COUNT; code++)
        if (str_eq(name, rg_str_of(ir_ops[code].text))) {
            *op = (rg_op)code;
            return RG_OK;
        }
    return api_error(RG_NOT_FOUND, "there is no operation `%.*s`", (int)name.len, name.ptr);
}

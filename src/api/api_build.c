/* The builder's beginning and end in the public API. SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

static void
release_context(void *context)
{
    api_context_release(context);
}

static rg_status
builder_create(rg_context *context, rg_builder **builder)
{
    *builder = ir_builder_new();
    ir_builder_attach(*builder, context, release_context);
    context->handle.refs++;
    return RG_OK;
}

rg_status
rg_builder_create(rg_context *context, rg_builder **builder)
{
    if (!builder)
        return api_error(RG_INVALID, "builder is NULL");
    *builder = NULL;
    API_CHECK(context, API_CONTEXT, "context");
    API_GUARDED(builder_create(context, builder));
}

static void
release_diags(void *diags)
{
    diag_free(diags);
}

static rg_status
builder_finish(rg_builder *builder, rg_module **module)
{
    diag_list diags = {0};
    mem_owner owns;
    mem_own(&owns, release_diags, &diags);
    ir_module *ir = ir_builder_take(builder, &diags);
    mem_disown(&owns);
    rg_status status = RG_COMPILE;
    if (!ir)
        api_error_text(RG_COMPILE, str_view(&diags.text));
    diag_free(&diags);
    if (ir)
        status = api_module_adopt(ir_builder_attached(builder), ir, module);
    return status;
}

rg_status
rg_builder_finish(rg_builder *builder, rg_module **module)
{
    if (!module)
        return api_error(RG_INVALID, "module is NULL");
    *module = NULL;
    if (!builder)
        return api_error(RG_INVALID, "builder is NULL");
    API_GUARDED(builder_finish(builder, module));
}

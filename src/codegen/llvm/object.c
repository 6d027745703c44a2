/* Object files and text. SPDX-License-Identifier: Apache-2.0 */
#include "codegen/llvm/unit.h"

#include <llvm-c/Linker.h>

static void
add_object_bytes(str *out, LLVMMemoryBufferRef buffer)
{
    str_add(out, (rg_str){LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer)});
    LLVMDisposeMemoryBuffer(buffer);
}

/* Each kernel is generated into the first one's context and linked to its module. */
bool
unit_add_kernel(unit *u, const ir_fn *fn, const char *name)
{
    LLVMModuleRef whole = u->g.module;
    gen next = {.options = u->g.options,
                .target = u->g.target,
                .settings = u->g.settings,
                .context = u->g.context,
                .b = u->g.b,
                .ir = fn,
                .symbol = name,
                .libm_names = u->g.libm_names,
                .native_math = u->g.native_math,
                .kind = u->g.kind,
                .math = u->g.math,
                .gpu = u->g.gpu,
                .inline_room = u->g.inline_room,
                .scratch = u->g.scratch};
    next.module = LLVMModuleCreateWithNameInContext(name, next.context);
    u->g = next;
    bool ok = unit_generate(u);
    u->g.module = whole;
    if (ok && !LLVMLinkModules2(whole, next.module))
        return true;
    if (!ok)
        LLVMDisposeModule(next.module);
    return false;
}

static LLVMValueRef
made_text(const gen *g, const char *text)
{
    LLVMValueRef bytes = LLVMConstStringInContext2(g->context, text, strlen(text), false);
    LLVMValueRef at = LLVMAddGlobal(g->module, LLVMTypeOf(bytes), "");
    LLVMSetInitializer(at, bytes);
    LLVMSetLinkage(at, LLVMPrivateLinkage);
    LLVMSetGlobalConstant(at, true);
    return at;
}

/* rt_made of the object: it refers to the runtime's symbol. */
static void
add_made(const gen *g)
{
    char name[32];
    snprintf(name, sizeof name, "rt_abi_%d", RT_ABI);
    LLVMValueRef abi = LLVMAddGlobal(g->module, LLVMInt8TypeInContext(g->context), name);
    LLVMValueRef fields[3] = {abi, made_text(g, g->options->needs), LLVMConstInt(g->i32, 0, false)};
    LLVMValueRef whole = LLVMConstStructInContext(g->context, fields, countof(fields), false);
    LLVMSetInitializer(LLVMAddGlobal(g->module, LLVMTypeOf(whole), g->options->made), whole);
}

rg_status
ll_emit_object(const ir_fn *const *fns, const char *const *names, uint32_t n,
               const ll_options *options, str *out, diag_list *diags)
{
    unit u;
    LLVMMemoryBufferRef object = NULL;
    unit_begin(&u, fns[0], options, names[0]);
    u.g.libm_names = true;
    for (uint32_t i = 1; i < n; i++)
        if (unit_effort(fns[i]) > u.effort)
            u.effort = unit_effort(fns[i]);
    if (!machine_create(u.g.options, u.effort, &u.machine, &u.error)) {
        unit_end(&u);
        (void)unit_failed(&u, diags);
        return RG_UNSUPPORTED;
    }
    bool made = unit_generate(&u);
    for (uint32_t i = 1; made && i < n; i++)
        made = unit_add_kernel(&u, fns[i], names[i]);
    if (made && options->made)
        add_made(&u.g);
    made = made && unit_optimize(&u) && unit_emit(&u, options->assembly ? LLVMAssemblyFile : LLVMObjectFile, &object);
    unit_end(&u);
    if (!made)
        return unit_failed(&u, diags);
    add_object_bytes(out, object);
    return RG_OK;
}

rg_status
ll_print(const ir_fn *fn, const ll_options *options, ll_stage stage, str *out, diag_list *diags)
{
    unit u;
    LLVMMemoryBufferRef text = NULL;
    if (options && fn->module->target->warp && options->cpu)
        return gpu_print(fn, options, stage, out, diags);
    unit_begin(&u, fn, options, fn->name);
    bool made = machine_create(u.g.options, u.effort, &u.machine, &u.error) && unit_generate(&u) &&
                (stage == LL_STAGE_RAW || unit_optimize(&u));
    if (made && stage == LL_STAGE_ASSEMBLY) {
        made = unit_emit(&u, LLVMAssemblyFile, &text);
        if (made)
            add_object_bytes(out, text);
    } else if (made) {
        char *printed = LLVMPrintModuleToString(u.g.module);
        str_addz(out, printed);
        LLVMDisposeMessage(printed);
    }
    unit_end(&u);
    return made ? RG_OK : unit_failed(&u, diags);
}

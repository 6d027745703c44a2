/* PTX: kernels for NVIDIA's GPUs. SPDX-License-Identifier: Apache-2.0
 *
 * A kernel's module, the same as for rt/simt, takes in what it calls of the runtime on the device (bitcode that was made
 * when this was built) and becomes one entry with all of it in place, but for slow paths. The entry has its arguments
 * by value, in the space of constants, where they fit. */
#include "codegen/llvm/nvidia.h"
#include "codegen/llvm/unit.h"
#include "rt/gpu/gpu.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <llvm/Config/llvm-config.h>

extern const unsigned char gpu_nvptx_bitcode[];
extern const size_t gpu_nvptx_bitcode_size;

enum { KERNEL_CONVENTION = 71, ARGUMENT_BYTES = 32764 - sizeof(void *) };

static void
add_string_attribute(unit *u, LLVMValueRef fn, unsigned where, const char *name, const char *value)
{
    unsigned length = (unsigned)strlen(name);
    LLVMAddAttributeAtIndex(fn, where, LLVMCreateStringAttribute(u->g.context, name, length, value, (unsigned)strlen(value)));
}

static unsigned
attribute_kind(const char *name)
{
    return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

/* -- what others made ---------------------------------------------------------------------------------------------- */

/* Takes the buffer over. What the kernel does not call is not even read. */
static bool
take_in(unit *u, LLVMMemoryBufferRef bitcode)
{
    LLVMModuleRef part;
    if (LLVMGetBitcodeModuleInContext2(u->g.context, bitcode, &part)) {
        str_addz(&u->error, "this is no bitcode that LLVM reads");
        return false;
    }
    LLVMSetTarget(part, LLVMGetTarget(u->g.module));
    LLVMSetDataLayout(part, LLVMGetDataLayoutStr(u->g.module));
    return !LLVMLinkModules2(u->g.module, part);
}

static bool
take_in_runtime(unit *u)
{
    u->stage = "the runtime on the device";
    if (!gpu_nvptx_bitcode_size) {
        str_addz(&u->error, "this build was made without a compiler for it (clang of LLVM's version)");
        return false;
    }
    return take_in(u, LLVMCreateMemoryBufferWithMemoryRangeCopy((const char *)gpu_nvptx_bitcode, gpu_nvptx_bitcode_size, "runtime"));
}

static bool
take_in_libdevice(unit *u)
{
    LLVMMemoryBufferRef bitcode;
    char *message = NULL;
    str path = {0};
    u->stage = "libdevice";
    bool found = nvidia_libdevice(u->g.options->libdevice, &path);
    bool read = found && !LLVMCreateMemoryBufferWithContentsOfFile(path.ptr, &bitcode, &message);
    if (!found)
        str_addz(&u->error, "NVIDIA's math functions are not found; CUDA_PATH names the folder of a CUDA toolkit");
    else if (!read)
        str_addf(&u->error, "%s: %s", path.ptr, message);
    LLVMDisposeMessage(message);
    str_free(&path);
    return read && take_in(u, bitcode);
}

/* A name that nothing defines the driver would refuse, much later. */
static bool
all_is_there(unit *u)
{
    u->stage = "linking";
    for (LLVMValueRef fn = LLVMGetFirstFunction(u->g.module); fn; fn = LLVMGetNextFunction(fn)) {
        size_t n;
        const char *name = LLVMGetValueName2(fn, &n);
        if (!LLVMIsDeclaration(fn) || LLVMGetIntrinsicID(fn) || !LLVMGetFirstUse(fn) || strcmp(name, "__nvvm_reflect") == 0)
            continue;
        str_addf(&u->error, "there is no function %s on the GPU", name);
        return false;
    }
    return true;
}

/* -- what we made -------------------------------------------------------------------------------------------------- */

static uint32_t
arguments_of(const ir_fn *fn)
{
    const ir_op *yield = ir_terminator(fn->body);
    uint32_t n = fn->body->nparams + (yield ? yield->nargs : 0);
    return n ? n : 1;
}

static void
pass_by_value(unit *u, LLVMValueRef entry, uint32_t n)
{
    LLVMTypeRef all = LLVMArrayType2(u->g.arg_type, n);
    LLVMAddAttributeAtIndex(entry, 2, LLVMCreateTypeAttribute(u->g.context, attribute_kind("byval"), all));
    LLVMAddAttributeAtIndex(entry, 2, LLVMCreateEnumAttribute(u->g.context, attribute_kind("align"), _Alignof(rt_arg)));
    add_string_attribute(u, entry, 2, "nvvm.grid_constant", "");
}

#if LLVM_VERSION_MAJOR >= 20
/* Nobody but the device looks on while a launch runs. */
static void
narrow_atomics(LLVMValueRef fn, unsigned scope)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(fn); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsAtomic(i))
                LLVMSetAtomicSyncScopeID(i, scope);
}
#endif

/* All that it calls stays inside; tasks run in place. */
static void
make_entry(unit *u, const ir_fn *fn, LLVMValueRef entry)
{
    char threads[32];
    snprintf(threads, sizeof threads, "%d,1,1", RT_GPU_BLOCK);
    LLVMSetFunctionCallConv(entry, KERNEL_CONVENTION);
    add_string_attribute(u, entry, LLVMAttributeFunctionIndex, "nvvm.maxntid", threads);
    if (ll_ptx_by_value(fn))
        pass_by_value(u, entry, arguments_of(fn));
    unsigned never = attribute_kind("noinline"), always = attribute_kind("alwaysinline");
#if LLVM_VERSION_MAJOR >= 20
    unsigned scope = LLVMGetSyncScopeID(u->g.context, "device", 6);
    for (LLVMValueRef f = LLVMGetFirstFunction(u->g.module); f; f = LLVMGetNextFunction(f))
        narrow_atomics(f, scope);
#endif
    for (LLVMValueRef f = LLVMGetFirstFunction(u->g.module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f) || f == entry)
            continue;
        LLVMSetLinkage(f, LLVMInternalLinkage);
        if (!LLVMGetEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, never))
            LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(u->g.context, always, 0));
    }
}

static void
keep_inside(unit *u)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(u->g.module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && LLVMGetFunctionCallConv(f) != KERNEL_CONVENTION)
            LLVMSetLinkage(f, LLVMInternalLinkage);
}

/* -- all together -------------------------------------------------------------------------------------------------- */

bool
ll_ptx_by_value(const ir_fn *fn)
{
    return arguments_of(fn) * sizeof(rt_arg) <= ARGUMENT_BYTES;
}

/* false: no such GPU */
static bool
options_for(const ll_options *options, ll_options *o, str *error)
{
    *o = options ? *options : unit_no_options;
    o->simt = true;
    o->triple = NVIDIA_TRIPLE;
    o->cpu = o->cpu ? o->cpu : NVIDIA_OLDEST;
    o->features = nvidia_features(o->cpu);
    if (!o->features)
        str_addf(error, "there is no GPU `%s`: %s to %s", o->cpu, NVIDIA_OLDEST, NVIDIA_NEWEST);
    return o->features != NULL;
}

/* LLVM's IR with all that belongs to it, not optimised */
static bool
complete(unit *u)
{
    make_entry(u, u->g.ir, LLVMGetNamedFunction(u->g.module, u->g.symbol));
    bool whole = take_in_runtime(u) && (!u->g.native_math || take_in_libdevice(u));
    keep_inside(u);
    return whole && all_is_there(u);
}

static void
add_text(str *out, LLVMMemoryBufferRef buffer)
{
    str_add(out, (rg_str){LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer)});
    LLVMDisposeMemoryBuffer(buffer);
}

static bool
run(unit *u, ll_stage stage, str *out)
{
    LLVMMemoryBufferRef text = NULL;
    if (!unit_generate(u))
        return false;
    if (stage != LL_STAGE_RAW && !(complete(u) && unit_optimize(u)))
        return false;
    if (stage == LL_STAGE_ASSEMBLY) {
        if (!unit_emit(u, LLVMAssemblyFile, &text))
            return false;
        add_text(out, text);
        return true;
    }
    char *printed = LLVMPrintModuleToString(u->g.module);
    str_addz(out, printed);
    LLVMDisposeMessage(printed);
    return true;
}

static rg_status
emit(const ir_fn *fn, const char *name, const ll_options *options, ll_stage stage, str *out, ll_gpu_info *info,
     diag_list *diags)
{
    unit u;
    ll_options o;
    str error = {0};
    bool known = options_for(options, &o, &error);
    unit_begin(&u, fn, &o, name);
    u.error = error;
    bool can = known && machine_create(&o, u.effort, &u.machine, &u.error);
    bool made = can && run(&u, stage, out);
    if (made && info) {
        *info = u.gpu;
        u.gpu = (ll_gpu_info){0};
    }
    unit_end(&u);
    if (made)
        return RG_OK;
    (void)unit_failed(&u, diags);
    return can ? RG_COMPILE : RG_UNSUPPORTED;
}

rg_status
ll_emit_ptx(const ir_fn *fn, const char *name, const ll_options *options, str *ptx, ll_gpu_info *info, diag_list *diags)
{
    *info = (ll_gpu_info){0};
    return emit(fn, name, options, LL_STAGE_ASSEMBLY, ptx, info, diags);
}

rg_status
ptx_print(const ir_fn *fn, const ll_options *options, ll_stage stage, str *out, diag_list *diags)
{
    return emit(fn, fn->name, options, stage, out, NULL, diags);
}

/* Kernels for GPUs. SPDX-License-Identifier: Apache-2.0
 *
 * A kernel's module, the same as for rt/simt, takes in what it calls of the runtime on the device (bitcode that was made
 * when this was built) and becomes one entry with all of it in place, but for slow paths. What differs between kinds of GPUs is in
 * their tables (gpu.h): nvptx.c, amdgcn.c. */
#include "codegen/llvm/gpu.h"
#include "rt/gpu/gpu.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <llvm/Config/llvm-config.h>

void
gpu_add_attribute(unit *u, LLVMValueRef fn, unsigned where, const char *name, const char *value)
{
    unsigned length = (unsigned)strlen(name);
    LLVMAddAttributeAtIndex(fn, where, LLVMCreateStringAttribute(u->g.context, name, length, value, (unsigned)strlen(value)));
}

unsigned
gpu_attribute_kind(const char *name)
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
    const gpu_kind *kind = u->g.kind;
    if (!*kind->runtime_size) {
        str_addz(&u->error, "this build was made without a compiler for it (clang of LLVM's version)");
        return false;
    }
    return take_in(u, LLVMCreateMemoryBufferWithMemoryRangeCopy((const char *)kind->runtime, *kind->runtime_size, "runtime"));
}

static bool
take_in_library(unit *u)
{
    LLVMMemoryBufferRef bitcode = u->g.kind->library(u);
    return bitcode && take_in(u, bitcode);
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

#if LLVM_VERSION_MAJOR >= 20
/* Nobody but the device looks on while a launch runs. */
static void
narrow_atomics(unit *u, LLVMValueRef fn, unsigned scope)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(fn); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsAtomic(i)) {
                LLVMSetAtomicSyncScopeID(i, scope);
                if (u->g.kind->mark_atomic)
                    u->g.kind->mark_atomic(u, i);
            }
}
#endif

/* of the module as generated: nothing of the runtime is in it yet */
static void
put_tasks_in_place(unit *u)
{
    const gpu_kind *kind = u->g.kind;
    unsigned never = gpu_attribute_kind("noinline"), always = gpu_attribute_kind("alwaysinline");
#if LLVM_VERSION_MAJOR >= 20
    unsigned scope = LLVMGetSyncScopeID(u->g.context, kind->scope, strlen(kind->scope));
#endif
    for (LLVMValueRef f = LLVMGetFirstFunction(u->g.module); f; f = LLVMGetNextFunction(f)) {
#if LLVM_VERSION_MAJOR >= 20
        narrow_atomics(u, f, scope);
#endif
        bool stays = LLVMIsDeclaration(f) || LLVMGetFunctionCallConv(f) == kind->convention;
        if (!stays && !LLVMGetEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, never))
            LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(u->g.context, always, 0));
    }
}

/* -- all together -------------------------------------------------------------------------------------------------- */

/* false: no such GPU */
static bool
options_for(const gpu_kind *kind, const ll_options *options, ll_options *o, str *error)
{
    *o = options ? *options : unit_no_options;
    o->triple = kind->triple;
    o->cpu = o->cpu ? o->cpu : kind->oldest;
    o->features = kind->features(o->cpu);
    if (!o->features)
        str_addf(error, "there is no GPU `%s`: %s to %s", o->cpu, kind->oldest, kind->newest);
    return o->features != NULL;
}

/* What is made: kernels, and of them LLVM's IR, the assembly, or what is loaded. */
typedef struct product {
    const gpu_kind *kind;
    const ir_fn *const *fns;
    const char *const *names;
    uint32_t n;
    ll_stage stage;
    bool loaded;        /* LL_STAGE_ASSEMBLY: for the GPU, not for people */
    ll_gpu_info *infos; /* NULL: nobody asks */
} product;

/* what the generator found out about one of them; the places it goes on numbering */
static void
take_info(unit *u, const product *p, uint32_t i)
{
    if (p->infos)
        p->infos[i] = (ll_gpu_info){.waits = u->gpu.waits, .has_tape = u->gpu.has_tape, .prints = u->gpu.prints};
    u->gpu.waits = u->gpu.has_tape = u->gpu.prints = false;
}

static bool
generate_product(unit *u, const product *p)
{
    bool made = unit_generate(u), kernel_worker = u->g.kernel_worker;
    take_info(u, p, 0);
    for (uint32_t i = 1; made && i < p->n; i++) {
        made = unit_add_kernel(u, p->fns[i], p->names[i]);
        kernel_worker |= u->g.kernel_worker;
        take_info(u, p, i);
    }
    u->g.kernel_worker = kernel_worker; /* they share the runtime */
    return made;
}

void
gpu_set_constant(unit *u, const char *name, int value)
{
    LLVMValueRef at = LLVMGetNamedGlobal(u->g.module, name);
    if (!at)
        return;
    LLVMSetInitializer(at, LLVMConstInt(u->g.i32, (unsigned)value, true));
    LLVMSetLinkage(at, LLVMInternalLinkage);
}

/* LLVM's IR with all that belongs to it, not optimised */
static bool
complete(unit *u, const product *p)
{
    const gpu_kind *kind = p->kind;
    for (uint32_t i = 0; i < p->n; i++)
        kind->make_entry(u, p->fns[i], LLVMGetNamedFunction(u->g.module, p->names[i]));
    put_tasks_in_place(u);
    bool whole = take_in_runtime(u) && (!u->g.native_math || take_in_library(u));
    if (kind->begin)
        kind->begin(u);
    gpu_set_constant(u, "rt_gpu_kernel_worker", u->g.kernel_worker);
    gpu_set_constant(u, "rt_gpu_may_be_cut", u->g.target->segments);
    /* All that entries call. */
    for (LLVMValueRef f = LLVMGetFirstFunction(u->g.module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && LLVMGetFunctionCallConv(f) != kind->convention)
            LLVMSetLinkage(f, LLVMInternalLinkage);
    return whole && all_is_there(u);
}

static bool
emit_code(unit *u, const product *p, str *out)
{
    LLVMMemoryBufferRef bytes = NULL;
    bool links = p->loaded && p->kind->link;
    if (p->kind->finish)
        p->kind->finish(u->g.module);
    if (!unit_emit(u, links ? LLVMObjectFile : LLVMAssemblyFile, &bytes))
        return false;
    rg_str made = {LLVMGetBufferStart(bytes), LLVMGetBufferSize(bytes)};
    u->stage = "the linker";
    bool linked = !links || p->kind->link(made, out, &u->error);
    if (!links)
        str_add(out, made);
    LLVMDisposeMemoryBuffer(bytes);
    return linked;
}

static bool
make_product(unit *u, const product *p, str *out)
{
    if (!generate_product(u, p))
        return false;
    if (p->stage != LL_STAGE_RAW && !(complete(u, p) && unit_optimize(u)))
        return false;
    if (p->stage == LL_STAGE_ASSEMBLY)
        return emit_code(u, p, out);
    char *printed = LLVMPrintModuleToString(u->g.module);
    str_addz(out, printed);
    LLVMDisposeMessage(printed);
    return true;
}

static rg_status
emit_product(const product *p, const ll_options *options, str *out, diag_list *diags)
{
    unit u;
    ll_options o;
    str error = {0};
    bool known = options_for(p->kind, options, &o, &error);
    unit_begin(&u, p->fns[0], &o, p->names[0]);
    u.g.kind = p->kind;
    u.g.native_math &= p->kind->library != NULL;
    u.error = error;
    u.stage = "the target";
    for (uint32_t i = 1; i < p->n; i++)
        if (unit_effort(p->fns[i]) > u.effort)
            u.effort = unit_effort(p->fns[i]);
    if (p->kind->never_quick && u.effort == MACHINE_QUICK)
        u.effort = MACHINE_SHORT;
    bool can = known && machine_create(&o, u.effort, &u.machine, &u.error);
    bool made = can && make_product(&u, p, out);
    if (made && p->infos) {
        ll_gpu_info first = u.gpu;
        first.waits = p->infos[0].waits;
        first.has_tape = p->infos[0].has_tape;
        first.prints = p->infos[0].prints;
        p->infos[0] = first;
        u.gpu = (ll_gpu_info){0};
    }
    unit_end(&u);
    if (made)
        return RG_OK;
    (void)unit_failed(&u, diags);
    return can ? RG_COMPILE : RG_UNSUPPORTED;
}

rg_status
gpu_emit_entries(const gpu_kind *kind, const ir_fn *const *fns, const char *const *names, uint32_t n, const ll_options *options, str *out,
                 ll_gpu_info *infos, diag_list *diags)
{
    product p = {kind, fns, names, n, LL_STAGE_ASSEMBLY, true, infos};
    memset(infos, 0, n * sizeof *infos);
    return emit_product(&p, options, out, diags);
}

rg_status
gpu_print(const ir_fn *fn, const ll_options *options, ll_stage stage, str *out, diag_list *diags)
{
    const char *name = fn->name;
    product p = {fn->module->target == gpu_amd.target ? &gpu_amd : &gpu_nvidia, &fn, &name, 1, stage, false, NULL};
    return emit_product(&p, options, out, diags);
}

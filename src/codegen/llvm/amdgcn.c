/* Code objects: kernels for AMD's GPUs. SPDX-License-Identifier: Apache-2.0
 *
 * A thread's own memory and constants have address spaces of their own there, and arguments by value come in the latter. So the
 * generated function is called by an entry, which the lanes of no warp leave (rt/gpu/amdgpu.c):
 *
 *     amdgpu_kernel name(launch, arguments)  { if (lane < RT_WARP) name.body(launch, &arguments); }
 */
#include "codegen/amd/link.h"
#include "codegen/llvm/gpu.h"
#include "rt/gpu/gpu.h"

extern const unsigned char gpu_amdgpu_bitcode[];
extern const size_t gpu_amdgpu_bitcode_size;

enum { AMDGPU_KERNEL = 91, AMD_CONSTANT = 4 };
/* as "amdhsa_code_object_version": generic targets exist since version 6; what newer drivers alone take else nobody needs */
enum { OBJECT_VERSION = 500, OBJECT_VERSION_GENERIC = 600 };

/* Processors, by their LLVM names: all that have what the runtime takes for granted, flat addresses and
 * instructions for global memory. */
static const char known[] = " gfx900 gfx906 gfx908 gfx90a gfx942 gfx950 gfx9-generic gfx9-4-generic "
                            "gfx1010 gfx1011 gfx1012 gfx10-1-generic "
                            "gfx1030 gfx1031 gfx1032 gfx1034 gfx1035 gfx1036 gfx10-3-generic "
                            "gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153 gfx11-generic "
                            "gfx1200 gfx1201 gfx12-generic ";

static bool
is_generic(const char *cpu)
{
    return strstr(cpu, "-generic") != NULL;
}

static const char *
amd_features(const char *cpu)
{
    char word[32];
    int n = snprintf(word, sizeof word, " %s ", cpu);
    if (n >= (int)sizeof word || strchr(cpu, ' ') || !strstr(known, word))
        return NULL;
    return ll_amd_wave(cpu) == RT_WARP ? "+wavefrontsize32" : "";
}

/* of the module with all that it takes in, none of which calls itself */
static void
begin_code_object(unit *u)
{
    static const char name[] = "amdhsa_code_object_version";
    int version = is_generic(u->g.options->cpu) ? OBJECT_VERSION_GENERIC : OBJECT_VERSION;
    LLVMMetadataRef value = LLVMValueAsMetadata(LLVMConstInt(u->g.i32, (unsigned)version, false));
    LLVMAddModuleFlag(u->g.module, LLVMModuleFlagBehaviorError, name, sizeof name - 1, value);
    gpu_set_constant(u, "rt_amd_wave", (int)ll_amd_wave(u->g.options->cpu));
    /* else nobody knows how long stacks are */
    for (LLVMValueRef f = LLVMGetFirstFunction(u->g.module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex,
                                    LLVMCreateEnumAttribute(u->g.context, gpu_attribute_kind("norecurse"), 0));
}

/* -- entries ------------------------------------------------------------------------------------------------------- */

static LLVMValueRef
declare_entry(unit *u, const ir_fn *fn, LLVMValueRef body)
{
    size_t n;
    const char *symbol = LLVMGetValueName2(body, &n);
    str name = {0}, inside = {0};
    str_add(&name, (rg_str){symbol, n});
    str_addf(&inside, "%s.body", name.ptr);
    LLVMSetValueName2(body, inside.ptr, inside.len);
    LLVMTypeRef constant = LLVMPointerTypeInContext(u->g.context, AMD_CONSTANT);
    LLVMTypeRef params[2] = {u->g.ptr, ll_amd_by_value(fn) ? constant : u->g.ptr};
    LLVMValueRef entry = LLVMAddFunction(u->g.module, name.ptr, LLVMFunctionType(u->g.nothing, params, 2, false));
    LLVMSetFunctionCallConv(entry, AMDGPU_KERNEL);
    LLVMSetVisibility(entry, LLVMProtectedVisibility);
    str_free(&inside);
    str_free(&name);
    return entry;
}

static void
describe_entry(unit *u, const ir_fn *fn, LLVMValueRef entry)
{
    char threads[32];
    snprintf(threads, sizeof threads, "%d,%d", 2 * RT_WARP, LL_AMD_BLOCK);
    gpu_add_attribute(u, entry, LLVMAttributeFunctionIndex, "amdgpu-flat-work-group-size", threads);
    gpu_add_attribute(u, entry, LLVMAttributeFunctionIndex, "uniform-work-group-size", "true");
    const char *const marks[] = {"convergent", "nounwind"};
    for (size_t i = 0; i < countof(marks); i++)
        LLVMAddAttributeAtIndex(entry, LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(u->g.context, gpu_attribute_kind(marks[i]), 0));
    if (ll_amd_by_value(fn)) {
        LLVMTypeRef all = LLVMArrayType2(u->g.arg_type, ll_ptx_arguments(fn));
        LLVMAddAttributeAtIndex(entry, 2, LLVMCreateTypeAttribute(u->g.context, gpu_attribute_kind("byref"), all));
        LLVMAddAttributeAtIndex(entry, 2, LLVMCreateEnumAttribute(u->g.context, gpu_attribute_kind("align"), _Alignof(rt_arg)));
    }
}

static void
make_amd_entry(unit *u, const ir_fn *fn, LLVMValueRef body)
{
    LLVMBuilderRef b = u->g.b;
    LLVMValueRef entry = declare_entry(u, fn, body), lane = LLVMGetNamedFunction(u->g.module, "rt_warp_lane");
    LLVMTypeRef asks = LLVMFunctionType(u->g.i32, NULL, 0, false);
    describe_entry(u, fn, entry);
    lane = lane ? lane : LLVMAddFunction(u->g.module, "rt_warp_lane", asks);
    LLVMBasicBlockRef first = LLVMAppendBasicBlockInContext(u->g.context, entry, "");
    LLVMBasicBlockRef runs = LLVMAppendBasicBlockInContext(u->g.context, entry, "runs");
    LLVMBasicBlockRef ends = LLVMAppendBasicBlockInContext(u->g.context, entry, "ends");
    LLVMPositionBuilderAtEnd(b, first);
    LLVMValueRef number = LLVMBuildCall2(b, asks, lane, NULL, 0, "");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, number, LLVMConstInt(u->g.i32, RT_WARP, false), ""), runs, ends);
    LLVMPositionBuilderAtEnd(b, runs);
    LLVMValueRef args[2] = {LLVMGetParam(entry, 0), LLVMGetParam(entry, 1)};
    if (ll_amd_by_value(fn))
        args[1] = LLVMBuildAddrSpaceCast(b, args[1], u->g.ptr, "");
    LLVMBuildCall2(b, LLVMGlobalGetValueType(body), body, args, 2, "");
    LLVMBuildBr(b, ends);
    LLVMPositionBuilderAtEnd(b, ends);
    LLVMBuildRetVoid(b);
}

/* -- the rest ------------------------------------------------------------------------------------------------------ */

/* Arrays are in the device's own memory: there the hardware adds floats, which elsewhere it may drop. What is added is below the
 * normal range as it is anywhere, or 0. */
static void
mark_amd_atomic(unit *u, LLVMValueRef instruction)
{
    static const char *const names[] = {"amdgpu.no.fine.grained.memory", "amdgpu.no.remote.memory", "amdgpu.ignore.denormal.mode"};
    if (!LLVMIsAAtomicRMWInst(instruction))
        return;
    bool adds = LLVMGetAtomicRMWBinOp(instruction) == LLVMAtomicRMWBinOpFAdd;
    LLVMValueRef nothing = LLVMMetadataAsValue(u->g.context, LLVMMDNodeInContext2(u->g.context, NULL, 0));
    for (size_t i = 0; i < (adds ? countof(names) : countof(names) - 1); i++)
        LLVMSetMetadata(instruction, LLVMGetMDKindIDInContext(u->g.context, names[i], (unsigned)strlen(names[i])), nothing);
}

const gpu_kind gpu_amd = {
    .target = &target_amd,
    .triple = "amdgcn-amd-amdhsa",
    .oldest = "gfx900",
    .newest = "gfx1201",
    .scope = "agent",
    .convention = AMDGPU_KERNEL,
    .constants = AMD_CONSTANT,
    .runtime = gpu_amdgpu_bitcode,
    .runtime_size = &gpu_amdgpu_bitcode_size,
    .features = amd_features,
    .begin = begin_code_object,
    .make_entry = make_amd_entry,
    .mark_atomic = mark_amd_atomic,
    .finish = machine_hold_joins,
    .never_quick = true,
    .link = amd_link,
};

rg_status
ll_emit_hsaco_entries(const ir_fn *const *fns, const char *const *names, uint32_t n, const ll_options *options, str *hsaco,
                      ll_gpu_info *infos, diag_list *diags)
{
    return gpu_emit_entries(&gpu_amd, fns, names, n, options, hsaco, infos, diags);
}

/* PTX: kernels for NVIDIA's GPUs. SPDX-License-Identifier: Apache-2.0
 *
 * The entry has its arguments by value, in the space of constants, where they fit. */
#include "codegen/llvm/gpu.h"
#include "codegen/llvm/nvidia.h"
#include "rt/gpu/gpu.h"

extern const unsigned char gpu_nvptx_bitcode[];
extern const size_t gpu_nvptx_bitcode_size;

enum { PTX_KERNEL = 71 };

static LLVMMemoryBufferRef
read_libdevice(unit *u)
{
    LLVMMemoryBufferRef bitcode = NULL;
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
    return read ? bitcode : NULL;
}

static void
make_ptx_entry(unit *u, const ir_fn *fn, LLVMValueRef entry)
{
    char number[32];
    LLVMSetFunctionCallConv(entry, PTX_KERNEL);
    snprintf(number, sizeof number, "%d,1,1", RT_GPU_BLOCK);
    gpu_add_attribute(u, entry, LLVMAttributeFunctionIndex, "nvvm.maxntid", number);
    snprintf(number, sizeof number, "%u", ll_ptx_registers(fn, u->g.settings.gpu_registers));
    gpu_add_attribute(u, entry, LLVMAttributeFunctionIndex, "nvvm.maxnreg", number);
    if (ll_ptx_by_value(fn)) {
        LLVMTypeRef all = LLVMArrayType2(u->g.arg_type, ll_ptx_arguments(fn));
        LLVMAddAttributeAtIndex(entry, 2, LLVMCreateTypeAttribute(u->g.context, gpu_attribute_kind("byval"), all));
        LLVMAddAttributeAtIndex(entry, 2, LLVMCreateEnumAttribute(u->g.context, gpu_attribute_kind("align"), _Alignof(rt_arg)));
        gpu_add_attribute(u, entry, 2, "nvvm.grid_constant", "");
    }
}

const gpu_kind gpu_nvidia = {
    .target = &target_nvidia,
    .triple = NVIDIA_TRIPLE,
    .oldest = NVIDIA_OLDEST,
    .newest = NVIDIA_NEWEST,
    .scope = "device",
    .convention = PTX_KERNEL,
    .runtime = gpu_nvptx_bitcode,
    .runtime_size = &gpu_nvptx_bitcode_size,
    .features = nvidia_features,
    .make_entry = make_ptx_entry,
    .library = read_libdevice,
    .finish = nvidia_hide_counters,
};

rg_status
ll_emit_ptx_entries(const ir_fn *const *fns, const char *const *names, uint32_t n, const ll_options *options, str *ptx,
                    ll_gpu_info *infos, diag_list *diags)
{
    return gpu_emit_entries(&gpu_nvidia, fns, names, n, options, ptx, infos, diags);
}

rg_status
ll_emit_ptx(const ir_fn *fn, const char *name, const ll_options *options, str *ptx, ll_gpu_info *info, diag_list *diags)
{
    return ll_emit_ptx_entries(&fn, &name, 1, options, ptx, info, diags);
}

/* Machine code through LLVM. SPDX-License-Identifier: Apache-2.0
 *
 * Input is a kernel at IR_STAGE_SLOTS, or, where the target has `segments`, at IR_STAGE_SEGMENTS; it is only read. Where its module's
 * target has warps the code is for a GPU, or, without a triple, for rt/simt, which runs such code on this machine: values with lanes are one number in each thread of a
 * warp (rt/gpu/gpu.h), and all parallel loops are in groups of RT_WARP or of none. Every function here may be called from any
 * thread at any time; a jit serves any number of threads at once. */
#ifndef CODEGEN_LLVM_LL_H
#define CODEGEN_LLVM_LL_H

#include "codegen/llvm/code.h"
#include "ir/ir.h"

/* What compilations share: one for each context. */
typedef struct ll_jit ll_jit;
RG_MUST_CHECK rg_status ll_jit_create(ll_jit **out, diag_list *diags);
void ll_jit_destroy(ll_jit *jit); /* takes NULL */

/* What is known about the launches that the code is for. All zero: nothing. Arrays have an entry
 * for each parameter and then one for each result; NULL: nothing is known of any. */
typedef struct ll_options {
    const uint8_t *present; /* bit p: plane p is there (plane 0 always is) */
    const uint8_t *absent;  /* bit p: plane p is NULL: reads of it are 0, writes nothing */
    const bool *contiguous; /* plane 0 is dense and row-major: strides follow from the extents */
    bool noalias;           /* no two planes of any parameters share memory */
    bool alone;             /* launches use one thread: nothing needs to be atomic */
    bool native_math;       /* the platform's math functions, not our own */
    bool deterministic;     /* results have the same bits for any number of threads */
    bool fast_math;         /* GPUs: approximate instructions for division, roots, sin, exp, ... of f32 */
    const char *libdevice;  /* NVPTX with native_math: path of NVIDIA's library in LLVM's bitcode */
    /* ahead of time: NULL is this machine. features as LLVM writes them: "+avx2,+fma" */
    const char *triple, *cpu, *features;
    bool assembly;            /* object files: their text instead */
    const char *made, *needs; /* object files: a symbol with an rt_made of these needs (rt/cpu/cpu.h) */
} ll_options;

/* Code as bytes, for ll_load. RG_COMPILE: LLVM reports an error (in diags). */
RG_MUST_CHECK rg_status ll_make(ll_jit *jit, const ir_fn *fn, const ll_options *options, str *bytes, diag_list *diags);
/* Both at once. */
RG_MUST_CHECK rg_status ll_compile(ll_jit *jit, const ir_fn *fn, const ll_options *options,
                                   ll_code **out, diag_list *diags);

/* An object file, or its assembly, with one function names[i] for each kernel, of the type ll_entry; it is linked
 * with librgrt, libm and pthreads. RG_UNSUPPORTED: this LLVM does not know the target. */
RG_MUST_CHECK rg_status ll_emit_object(const ir_fn *const *fns, const char *const *names,
                                       uint32_t n, const ll_options *options, str *out,
                                       diag_list *diags);

/* Whether LLVM knows triple, processor and features and can compile for them; false: the error says what not. A child process
 * finds out, which ends before this returns. */
bool ll_has_target(const ll_options *options, diag_list *diags);

/* Whether the entry of PTX takes rt_arg args[] by value: they are the kernel's second parameter, else their address is. */
bool ll_ptx_by_value(const ir_fn *fn);
uint32_t ll_ptx_arguments(const ir_fn *fn); /* how many rt_arg that are, at least one */
/* Of a thread; asked: RG_GPU_REGISTERS, 0: what suits the kernel. */
uint32_t ll_ptx_registers(const ir_fn *fn, uint32_t asked);
/* Threads of a block that fits a multiprocessor with any of the entries. */
unsigned ll_ptx_block(const ir_fn *const *fns, uint32_t n);
/* The same with several entries. infos[i] is the ith one's; the places of all are those of infos[0]. */
RG_MUST_CHECK rg_status ll_emit_ptx_entries(const ir_fn *const *fns, const char *const *names, uint32_t n,
                                            const ll_options *options, str *ptx, ll_gpu_info *infos, diag_list *diags);
/* PTX with one entry `name` for options->cpu ("sm_70" to "sm_120"; NULL: sm_70). RG_UNSUPPORTED: this LLVM does not
 * know the target. */
RG_MUST_CHECK rg_status ll_emit_ptx(const ir_fn *fn, const char *name, const ll_options *options, str *ptx,
                                    ll_gpu_info *info, diag_list *diags);

/* The same for AMD's GPUs: code objects for the kind of GPU that options->cpu names ("gfx942"). A warp is one wave, of ll_amd_wave
 * threads of the hardware. RG_UNSUPPORTED: this build makes none, or not for this GPU. */
enum { LL_AMD_BLOCK = 256 }; /* threads of the hardware in a block, at most */
bool ll_makes_hsaco(void);
bool ll_amd_by_value(const ir_fn *fn);
uint32_t ll_amd_wave(const char *cpu);
RG_MUST_CHECK rg_status ll_emit_hsaco_entries(const ir_fn *const *fns, const char *const *names, uint32_t n,
                                              const ll_options *options, str *hsaco, ll_gpu_info *infos, diag_list *diags);

/* For people: LLVM's IR before or after its passes, or the assembly. */
typedef enum ll_stage { LL_STAGE_RAW, LL_STAGE_OPTIMIZED, LL_STAGE_ASSEMBLY } ll_stage;
RG_MUST_CHECK rg_status ll_print(const ir_fn *fn, const ll_options *options, ll_stage stage,
                                 str *out, diag_list *diags);

/* Milliseconds that the last ll_compile of this thread spent: making IR, LLVM's passes, making
 * code. */
typedef struct ll_times {
    double build, passes, code;
} ll_times;
ll_times ll_last_times(void);

#endif

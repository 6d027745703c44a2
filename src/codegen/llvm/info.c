/* What the host has to know of code in warps, and of any code. SPDX-License-Identifier: Apache-2.0 */
#include "codegen/llvm/ll.h"

#include "base/settings.h"
#include "codegen/nvidia/pressure.h"
#include "rt/gpu/gpu.h"

const char ll_entry_name[] = "rg_kernel";

enum { WAITS = 1, HAS_TAPE = 2, HAS_ROWS = 4, PRINTS = 8, IS_FIXED = 16, IS_CUT = 32 };

void
ll_gpu_info_write(str *out, const ll_gpu_info *info)
{
    bytes_put_u32(out, (info->waits ? WAITS : 0) | (info->has_tape ? HAS_TAPE : 0) | (info->has_rows ? HAS_ROWS : 0) |
                           (info->prints ? PRINTS : 0) | (info->is_fixed ? IS_FIXED : 0) | (info->is_cut ? IS_CUT : 0));
    bytes_put_u32(out, (uint32_t)info->places.n);
    for (size_t i = 0; i < info->places.n; i++) {
        const ll_place *p = &info->places.at[i];
        bytes_put(out, p->text ? rg_str_of(p->text) : (rg_str){NULL, 0});
        bytes_put(out, p->file ? rg_str_of(p->file) : (rg_str){NULL, 0});
        bytes_put(out, p->dtypes ? (rg_str){p->dtypes, p->values} : (rg_str){NULL, 0});
        bytes_put_u32(out, p->line);
        bytes_put_u32(out, p->values);
    }
    bytes_put_u32(out, info->record);
    bytes_put_u32(out, (uint32_t)info->steps.n);
    for (size_t i = 0; i < info->steps.n; i++) {
        const segments_step *s = &info->steps.at[i];
        bytes_put_u32(out, s->kind);
        bytes_put_u32(out, s->entry);
        bytes_put_u32(out, s->place);
        bytes_put_u32(out, s->to);
    }
}

/* Whoever follows the steps stays among them, and in the record. */
static void
read_steps(bytes_reader *r, ll_gpu_info *info)
{
    info->record = bytes_u32(r);
    uint32_t n = bytes_count(r, 4 * 4);
    info->steps.in = info->texts;
    for (uint32_t i = 0; i < n; i++) {
        segments_step s = {.kind = bytes_u32(r)};
        s.entry = bytes_u32(r);
        s.place = bytes_u32(r);
        s.to = bytes_u32(r);
        bool reads = s.kind == SEGMENTS_EXIT_IF || s.kind == SEGMENTS_IF;
        r->damaged |= s.kind > SEGMENTS_AGAIN || s.to >= n || (s.kind == SEGMENTS_LOOP && s.entry >= info->places.n) ||
                      (reads && (s.place % 4 || s.place + 4ull > info->record));
        vec_push(&info->steps, s);
    }
}

static ll_place
read_place(bytes_reader *r, arena *in)
{
    ll_place p = {.text = bytes_text(r, in), .file = bytes_text(r, in)};
    rg_str dtypes = bytes_str(r);
    p.dtypes = dtypes.ptr ? arena_str(in, dtypes) : NULL;
    p.line = bytes_u32(r);
    p.values = bytes_u32(r);
    r->damaged |= dtypes.ptr ? dtypes.len != p.values : p.values != 0;
    return p;
}

void
ll_gpu_info_read(bytes_reader *r, ll_gpu_info *info)
{
    *info = (ll_gpu_info){.texts = arena_new()};
    uint32_t flags = bytes_u32(r), n = bytes_count(r, 3 * 8 + 2 * 4);
    info->waits = flags & WAITS;
    info->has_tape = flags & HAS_TAPE;
    info->has_rows = flags & HAS_ROWS;
    info->prints = flags & PRINTS;
    info->is_fixed = flags & IS_FIXED;
    info->is_cut = flags & IS_CUT;
    info->places.in = info->texts;
    for (uint32_t i = 0; i < n; i++)
        vec_push(&info->places, read_place(r, info->texts));
    read_steps(r, info);
}

void
ll_gpu_info_free(ll_gpu_info *info)
{
    for (size_t i = 0; i < info->places.n && !info->texts; i++)
        mem_free((void *)info->places.at[i].dtypes);
    vec_free(&info->places);
    vec_free(&info->steps);
    arena_free(info->texts);
    *info = (ll_gpu_info){0};
}

/* -- arguments of PTX ---------------------------------------------------------------------------------------------- */

enum { ARGUMENT_BYTES = 32764 - sizeof(void *) };

uint32_t
ll_ptx_arguments(const ir_fn *fn)
{
    const ir_op *yield = ir_terminator(fn->body);
    uint32_t n = fn->body->nparams + (yield ? yield->nargs : 0);
    return n ? n : 1;
}

bool
ll_ptx_by_value(const ir_fn *fn)
{
    return ll_ptx_arguments(fn) * sizeof(rt_arg) <= ARGUMENT_BYTES;
}

/* -- AMD's GPUs ---------------------------------------------------------------------------------------------------- */

/* All drivers take 4 KB; the launch and what the driver adds go off that. */
enum { AMD_ARGUMENT_BYTES = 4096 - 256 - sizeof(void *) };

bool
ll_makes_hsaco(void)
{
#if RG_HAVE_AMD
    return true;
#else
    return false;
#endif
}

bool
ll_amd_by_value(const ir_fn *fn)
{
    return ll_ptx_arguments(fn) * sizeof(rt_arg) <= AMD_ARGUMENT_BYTES;
}

/* CDNA and what was before it has waves of 64 lanes. */
uint32_t
ll_amd_wave(const char *cpu)
{
    return strncmp(cpu, "gfx9", 4) == 0 ? 2 * RT_WARP : RT_WARP;
}

/* -- blocks of PTX ------------------------------------------------------------------------------------------------- */

/* With 96 registers for each thread 640 run at a time on a multiprocessor. On an H200 that is within 4 % of the best for
 * recurrences and the kernels of bench/gpu: with 80, and 768 threads, recurrences of little state are 2 to 4 % faster and others 3
 * to 5 % slower. Threads that hold many values (nvidia/pressure.h) take 128, and 512 run: then fewer are spilled, which is waited
 * for. Of bench/gpu/unseen LSTM takes 0.86 of the time and its gradient 0.64, GRU 0.75 and 0.70, gradients of MPM 0.87, ray march
 * 0.81, orbits 0.74. With 168 only the gradient of LSTM is faster by more than 3 %. Eight are given at a time. */
enum { REGISTERS = 96, REGISTERS_OF_MANY = 128, MANY = 50, REGISTERS_EACH = 8, REGISTERS_OF_ALL = 65536 };

uint32_t
ll_ptx_registers(const ir_fn *fn, uint32_t asked)
{
    if (asked)
        return asked / REGISTERS_EACH * REGISTERS_EACH;
    return nvidia_pressure(fn) > MANY ? REGISTERS_OF_MANY : REGISTERS;
}

unsigned
ll_ptx_block(const ir_fn *const *fns, uint32_t n)
{
    const unsigned step = RT_GPU_PARTS * RT_WARP;
    settings asked = settings_read();
    unsigned least = RT_GPU_BLOCK;
    for (uint32_t i = 0; i < n; i++) {
        unsigned threads = REGISTERS_OF_ALL / ll_ptx_registers(fns[i], asked.gpu_registers) / step * step;
        least = threads < least ? threads : least;
    }
    return least;
}

/* See device.h. A launch has three threadgroups for each task, and memory for tapes as the host part of device vulkan makes it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "metal/device.h"

#include <dlfcn.h>
#include <unistd.h>

#include "device/explain.h"
#include "rt/vulkan/launch.h"

enum { GROUPS = 3, PAGES = 2048, ALIGN = 256 };

typedef void run_fn(unsigned entry, unsigned groups, const void *push);

struct rt_device {
    char unused;
};

struct rt_queue {
    rt_queue_desc desc;
};

struct rt_program {
    spirv_code code;
    void *library;
    run_fn *run;
    const char *label, *file;
    uint32_t nparams;
};

bool
msl_compile(const str *text, const char *output)
{
    char path[] = "/tmp/msl_XXXXXX.cpp";
    int file = mkstemps(path, 4);
    str command = {0};
    str_addf(&command, TEST_CLANGXX " -std=c++17 -fno-strict-aliasing -ffp-contract=off -Wall -Werror"
                       " -Wno-unknown-attributes -Wno-unknown-pragmas"
                       " -Wno-uninitialized -Wno-unused-variable -Wno-unused-but-set-variable -Wno-sometimes-uninitialized -I '%s' %s",
             TEST_METAL,
             *output ? "-O1 -shared -fPIC" : "-fsyntax-only");
    if (*output)
        str_addf(&command, " -o '%s'", output);
    str_addf(&command, " %s", path);
    bool good = file >= 0 && close(file) == 0 && file_write(path, text->ptr, text->len) == 0 && system(command.ptr) == 0;
    str_free(&command);
    if (good || !getenv("MSL_KEEP"))
        unlink(path);
    return good;
}

/* -- programs -------------------------------------------------------------------------------------------------------------- */

static void
add_caller(str *text, uint32_t entries)
{
    str_addz(text, "extern \"C\" void run(unsigned entry, unsigned groups, const void *push)\n{\n    switch (entry) {\n");
    for (uint32_t i = 0; i < entries; i++)
        str_addf(text, "    case %u:\n        dispatch(e%u, push, groups);\n        break;\n", i, i);
    str_addz(text, "    }\n}\n");
}

static bool
load_text(rt_program *p, const str *text)
{
    char library[] = "/tmp/msl_XXXXXX.so";
    int file = mkstemps(library, 3);
    if (file < 0 || close(file) || !msl_compile(text, library))
        return false;
    p->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    unlink(library);
    void *run = p->library ? dlsym(p->library, "run") : NULL;
    memcpy(&p->run, &run, sizeof run);
    return run != NULL;
}

static rg_status
make_program(rt_program *p, const rt_program_desc *desc, diag_list *diags)
{
    str text = {.in = mem_scratch()};
    spirv_options options = {.present = desc->present, .absent = desc->absent, .contiguous = desc->dense, .noalias = desc->noalias,
                             .deterministic = desc->deterministic, .features = getenv("MSL_PLAIN") ? MSL_PLAIN : MSL_FEATURES | SPIRV_FUSED32};
    TRY(msl_make(desc->fn, &options, &p->code, &text, diags));
    add_caller(&text, p->code.entries);
    if (load_text(p, &text))
        return RG_OK;
    diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "%s: the C++ compiler refuses the MSL", rt_program_label(desc));
    return RG_COMPILE;
}

static void
release(rt_program *p)
{
    if (p->library)
        dlclose(p->library);
    if (p->code.in)
        spirv_code_free(&p->code);
    mem_free(p);
}

static rg_status
compile(rt_device *device, const rt_program_desc *desc, rt_program **program, diag_list *diags)
{
    rt_program *p = mem_zalloc(sizeof(*p));
    p->label = rt_program_label(desc);
    p->file = rt_program_file(desc);
    p->nparams = rt_program_params(desc);
    rg_status status = make_program(p, desc, diags);
    if (status)
        release(p);
    else
        *program = p;
    return status;
}

/* -- launches -------------------------------------------------------------------------------------------------------------- */

static uint64_t
memory_of(arena *in, size_t bytes)
{
    uint64_t at = (uintptr_t)arena_raw(in, bytes + ALIGN);
    return (at + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
}

static void
follow_steps(const rt_program *p, const rt_vulkan_launch *launch, const rt_arg *args)
{
    const rt_vulkan_push push = {(uintptr_t)launch, (uintptr_t)args};
    const char *record = (const char *)(uintptr_t)launch->record;
    const segments_step *steps = p->code.info.steps.at;
    for (uint32_t at = 0; at < p->code.info.steps.n && !launch->fault;) {
        const segments_step *s = &steps[at];
        uint32_t holds = 0;
        if (s->kind == SEGMENTS_RUN || s->kind == SEGMENTS_TASK)
            p->run(s->entry, s->kind == SEGMENTS_TASK ? GROUPS : 1, &push);
        else if (s->kind == SEGMENTS_IF || s->kind == SEGMENTS_EXIT_IF)
            memcpy(&holds, record + s->place, sizeof holds);
        at = segments_behind(steps, at, holds);
    }
}

static rg_status
report(const rt_program *p, const rt_vulkan_launch *launch, str *error)
{
    const rt_gpu_report told = {.fault = launch->fault, .place = launch->place, .needed = launch->needed, .budget = launch->limit};
    const ll_place *place = launch->place < p->code.info.places.n ? &p->code.info.places.at[launch->place] : NULL;
    return rt_explain_gpu(&told, place, p->label, p->file, error);
}

static rg_status
launch(rt_queue *queue, rt_program *p, const rt_arg *args, str *error)
{
    arena *in = mem_scratch();
    size_t workers = (GROUPS + 1) * sizeof(rt_vulkan_worker);
    rt_vulkan_launch here = {.pages = PAGES, .tape_pages = PAGES / 2, .groups = GROUPS, .budget = (uint64_t)PAGES / 2 * RT_GPU_PAGE};
    void *pool = aligned_alloc(RT_GPU_PAGE, (size_t)PAGES * RT_GPU_PAGE);
    if (!pool)
        return RG_OUT_OF_MEMORY;
    here.pool = (uintptr_t)pool;
    here.record = memory_of(in, p->code.info.record);
    here.workers = memory_of(in, workers);
    here.partials = memory_of(in, (size_t)GROUPS * p->code.cells * 8);
    here.row = p->code.info.has_rows ? RT_VULKAN_ROW : 0;
    here.sums = memory_of(in, (size_t)GROUPS * here.row * 8);
    memset((void *)(uintptr_t)here.record, 0, p->code.info.record);
    memset((void *)(uintptr_t)here.workers, 0, workers);
    follow_steps(p, &here, args);
    free(pool);
    return here.fault ? report(p, &here, error) : RG_OK;
}

/* -- the table --------------------------------------------------------------------------------------------------------------- */

static rg_status
open(uint32_t ordinal, rt_device **device, str *error)
{
    *device = mem_zalloc(sizeof(**device));
    return RG_OK;
}

static void
close_device(rt_device *device)
{
    mem_free(device);
}

static rg_status
open_queue(rt_device *device, const rt_queue_desc *desc, rt_queue **queue, str *error)
{
    *queue = mem_zalloc(sizeof(**queue));
    (*queue)->desc = *desc;
    return RG_OK;
}

static void
close_queue(rt_queue *queue)
{
    mem_free(queue);
}

static void
cancel(rt_queue *queue)
{
}

const rt_device_table msl_device = {
    .name = "msl",
    .stage = IR_STAGE_SEGMENTS,
    .target = &target_segments,
    .look = rt_host_look,
    .open = open,
    .close = close_device,
    .open_queue = open_queue,
    .close_queue = close_queue,
    .compile = compile,
    .release = release,
    .launch = launch,
    .cancel = cancel,
};

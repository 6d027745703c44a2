/* Kernels that a fake driver runs: where a device would make code for its GPU, code for this machine's processor is made, and
 * rt/simt runs it with the launch's own record, grid and arguments. So programs of tests run on devices "cuda" and "amd" with all that
 * these do but for the GPU. Linked into a program with --wrap. SPDX-License-Identifier: Apache-2.0
 *
 *   RG_FAKE=DRIVER    the library of fake_driver.c, from the environment; without it kernels do not run */
#include "fake_driver.h"

#include "codegen/llvm/ll.h"
#include "rt/simt/grid.h"

#include <dlfcn.h>
#include <unistd.h>

/* The image: this, then what ll_make made. */
typedef struct head {
    uint64_t bytes, by_value;
} head;

typedef struct loaded {
    ll_code *code;
    bool by_value;
} loaded;

static fake_driver *fake;

static void
destroy_jit(void *jit)
{
    ll_jit_destroy(jit);
}

static void
free_code(void *code)
{
    ll_code_free(code);
}

static rg_status
make_bytes(const ir_fn *fn, const ll_options *options, str *bytes, diag_list *diags)
{
    ll_jit *jit = NULL;
    ll_options here = *options;
    mem_owner owns;
    here.triple = here.cpu = here.libdevice = NULL;
    TRY(ll_jit_create(&jit, diags));
    mem_own(&owns, destroy_jit, jit);
    rg_status status = ll_make(jit, fn, &here, bytes, diags);
    mem_disown(&owns);
    ll_jit_destroy(jit);
    return status;
}

static rg_status
make(const ir_fn *fn, const ll_options *options, bool by_value, str *image, ll_gpu_info *info, diag_list *diags)
{
    str bytes = {.in = mem_scratch()}, text = {.in = mem_scratch()}, error = {.in = mem_scratch()};
    mem_owner owns;
    TRY(make_bytes(fn, options, &bytes, diags));
    ll_code *code = ll_load(str_view(&bytes), &error);
    if (!code) {
        diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "%s", error.ptr);
        return RG_OUT_OF_MEMORY;
    }
    mem_own(&owns, free_code, code);
    ll_gpu_info_write(&text, ll_code_gpu(code));
    mem_disown(&owns);
    ll_code_free(code);
    bytes_reader r = bytes_of(str_view(&text));
    ll_gpu_info_read(&r, info);
    head first = {bytes.len, by_value};
    str_add(image, (rg_str){(const char *)&first, sizeof(first)});
    str_add(image, str_view(&bytes));
    return RG_OK;
}

bool __wrap_ll_makes_hsaco(void);
rg_status __wrap_ll_emit_ptx(const ir_fn *fn, const char *name, const ll_options *options, str *ptx, ll_gpu_info *info, diag_list *diags);
rg_status __wrap_ll_emit_hsaco_entries(const ir_fn *const *fns, const char *const *names, uint32_t n, const ll_options *options,
                                       str *hsaco, ll_gpu_info *infos, diag_list *diags);

rg_status
__wrap_ll_emit_ptx(const ir_fn *fn, const char *name, const ll_options *options, str *ptx, ll_gpu_info *info, diag_list *diags)
{
    return make(fn, options, ll_ptx_by_value(fn), ptx, info, diags);
}

bool
__wrap_ll_makes_hsaco(void)
{
    return true;
}

rg_status
__wrap_ll_emit_hsaco_entries(const ir_fn *const *fns, const char *const *names, uint32_t n, const ll_options *options, str *hsaco,
                             ll_gpu_info *infos, diag_list *diags)
{
    return make(fns[0], options, ll_amd_by_value(fns[0]), hsaco, &infos[0], diags);
}

static void *
load(const void *image)
{
    head first;
    str error = {0};
    memcpy(&first, image, sizeof(first));
    loaded *l = malloc(sizeof(*l));
    *l = (loaded){ll_load((rg_str){(const char *)image + sizeof(first), first.bytes}, &error), first.by_value};
    if (!l->code)
        abort();
    return l;
}

static void
unload(void *code)
{
    loaded *l = code;
    ll_code_free(l->code);
    free(l);
}

/* The pool, the report, prints and rows are those that the record names: of rt/simt only its fibers are used. */
static void
play(void *code, unsigned grid, unsigned block, void *record, void *parameter)
{
    loaded *l = code;
    unsigned wave = strcmp(fake->kind, "amd") == 0 ? ll_amd_wave(fake->code) : RT_WARP;
    rt_simt *simt = rt_simt_create(&(rt_simt_desc){.budget = RT_GPU_PAGE, .blocks = grid, .warps = block / wave});
    ll_entry *entry = ll_code_entry(l->code);
    rt_simt_kernel *kernel;
    if (!simt || block % wave)
        abort();
    memcpy(&kernel, &entry, sizeof(kernel));
    rt_gpu_launch own = simt->launch, *launch = record;
    simt->launch = *launch;
    const char *trouble = rt_simt_launch(simt, kernel, l->by_value ? parameter : *(void *const *)parameter, launch->program);
    if (trouble) {
        fprintf(stderr, "%s\n", trouble);
        abort();
    }
    *launch = simt->launch;
    simt->launch = own;
    rt_simt_destroy(simt);
}

static void __attribute__((constructor))
begin(void)
{
    const char *path = getenv("RG_FAKE");
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) : NULL;
    fake = library ? dlsym(library, "fake") : NULL;
    if (!fake)
        return;
    fake->load = load;
    fake->unload = unload;
    fake->play = play;
    fake->devices = 1;
    fake->used = 0;
    fake->free = (size_t)1 << 31;
    setenv(fake->path, path, 1);
    setenv("RG_CACHE", "off", 1); /* this is no code for others */
}

static void __attribute__((destructor))
end(void)
{
    if (!fake || (fake->launches > 0 && fake->alive == 0 && fake->unsafe == 0 && fake->contexts == 0))
        return;
    fprintf(stderr, "the driver: %ld launches, %ld objects alive, %ld calls that are not safe, %d contexts\n", fake->launches, fake->alive,
            fake->unsafe, fake->contexts);
    _exit(1);
}

/* Source files as IR, for the subcommands that look at it. SPDX-License-Identifier: Apache-2.0 */
#include "cli/source.h"

#include "device/device.h"

#if RG_HAVE_CLANG
#include "front/c/front_c.h"
#endif

/* GPUs that --target names by the beginning of its word, and the one that is taken where it names none: of NVIDIA's the oldest, whose
 * PTX is right for all newer ones too. */
static const struct {
    const char *device, *begins, *usual, *like, *ending;
    const target *target;
} gpus[] = {
    {"cuda", "sm_", "sm_70", "an NVIDIA GPU as sm_90", "ptx", &target_nvidia},
    {"amd", "gfx", "gfx942", "an AMD GPU as gfx1100", "hsaco", &target_amd},
};

static ir_module *
from_text(const char *path, diag_list *diags)
{
    str text;
    ir_module *m = NULL;
    if (file_read(path, &text))
        diag_add(diags, DIAG_ERROR, 0, (diag_place){.path = path}, "cannot be read");
    else
        m = ir_parse(str_view(&text), path, diags);
    if (m && !ir_verify(m, ir_stage_of(m), NULL, diags)) {
        ir_module_free(m);
        m = NULL;
    }
    return m;
}

#if RG_HAVE_CLANG
static front_c_source
c_source(const cli_source *source, const char *path, const char *kernel)
{
    return (front_c_source){
        .path = path,
        .kernel = kernel,
        .option_count = (uint32_t)source->options.n,
        .options = source->options.at,
        .on_disk = true,
    };
}
#endif

static ir_module *
from_c(const cli_source *source, const char *path, const char *kernel, cli_ir *out)
{
#if RG_HAVE_CLANG
    front_c_source c = c_source(source, path, kernel);
    front_c_file *files = arena_new_n(mem_scratch(), front_c_file, source->with.n);
    for (size_t i = 0; i < source->with.n; i++)
        files[i].path = source->with.at[i];
    c.files = files;
    c.file_count = (uint32_t)source->with.n;
    c.unknown = &out->unknown;
    return front_c_compile(&c, &out->diags);
#else
    diag_add(&out->diags, DIAG_ERROR, 0, (diag_place){.path = path},
             "this build has no C front end: it was made without libclang");
    return NULL;
#endif
}

static bool
is_text(const char *path)
{
    return str_ends(rg_str_of(path), ".ir") || str_ends(rg_str_of(path), ".rg");
}

bool
cli_compile_module(cli_ir *out, const cli_source *source, const char *path, const char *kernel)
{
    *out = (cli_ir){.path = path, .contraction = source->contract.n == 0, .diags.text.in = mem_scratch()};
    out->module = is_text(path) ? from_text(path, &out->diags) : from_c(source, path, kernel, out);
    return out->module != NULL;
}

bool
cli_find_names(const cli_source *source, const char *path, cli_names *names)
{
    bool ok = false;
#if RG_HAVE_CLANG
    front_c_source c = c_source(source, path, NULL);
    front_c_names found;
    diag_list diags = {.text.in = mem_scratch()};
    ok = !is_text(path) && front_c_list(&c, &found, &diags);
    for (uint32_t i = 0; ok && i < (found.count ? found.count : found.statics); i++)
        vec_push(names, found.names[i]);
#endif
    return ok;
}

static void
add_names(str *out, const cli_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        str_addf(out, "%s%s", i ? ", " : "", names->at[i]);
}

static _Noreturn void
fail_no_kernel(const char *path, const char *kernel, const cli_names *names)
{
    str there = {.in = mem_scratch()};
    add_names(&there, names);
    cli_fail("%s: there is no kernel `%s`%s%s%s", path, kernel, there.len ? " (there is " : "", there.len ? there.ptr : "",
             there.len ? ")" : "");
}

void
cli_names_kernel(const cli_command *command, const cli_source *source, const cli_words *words, bool more)
{
    cli_names names = {.in = mem_scratch()};
    str there = {.in = mem_scratch()};
    if (words->n == 0)
        cli_usage_error(command, "FILE and KERNEL are missing");
    if (words->n == 1) {
        (void)cli_find_names(source, words->at[0], &names);
        add_names(&there, &names);
        cli_usage_error(command, "KERNEL is missing%s%s%s%s", there.len ? ": " : "", there.len ? words->at[0] : "",
                        there.len ? " has " : "", there.len ? there.ptr : "");
    }
    if (words->n > 2 && !more)
        cli_usage_error(command, "it takes FILE and KERNEL only, not `%s`", words->at[2]);
}

cli_ir
cli_compile(const cli_source *source, const char *path, const char *kernel)
{
    cli_ir ir;
    cli_names names = {.in = mem_scratch()};
    if (!cli_compile_module(&ir, source, path, kernel)) { /* its own errors, or there is none of that name */
        if (ir.unknown && cli_find_names(source, path, &names))
            fail_no_kernel(path, kernel, &names);
        cli_fail_diags(&ir);
    }
    ir.kernel = ir_fn_find(ir.module, rg_str_of(kernel));
    if (!ir.kernel || !ir.kernel->kernel) {
        for (const ir_fn *fn = ir.module->first; fn; fn = fn->next)
            if (fn->kernel)
                vec_push(&names, fn->name);
        fail_no_kernel(path, kernel, &names);
    }
    return ir;
}

uint8_t *
cli_planes(const ir_fn *fn, const cli_words *constant)
{
    uint32_t count = fn->body->nparams;
    uint8_t *planes = memset(arena_raw(mem_scratch(), count + 1), RG_ADJOINT | RG_TANGENT, count + 1);
    for (size_t k = 0; k < constant->n; k++) {
        uint32_t i = 0;
        while (i < count && strcmp(fn->body->params[i]->name, constant->at[k]) != 0)
            i++;
        if (i == count)
            cli_fail("%s has no parameter `%s`", fn->name, constant->at[k]);
        planes[i] = 0;
    }
    return planes;
}

cli_machine
cli_find_machine(const cli_command *command, const cli_words *device, const cli_words *target)
{
    const char *gpu = target ? cli_last(target, NULL) : NULL;
    if (gpu && strcmp(gpu, "metal") == 0 && !device->n)
        return (cli_machine){gpu, &target_segments, NULL};
    size_t named = 0, of = 0;
    while (named < countof(gpus) && !(gpu && strncmp(gpu, gpus[named].begins, strlen(gpus[named].begins)) == 0))
        named++;
    bool is_gpu = named < countof(gpus);
    const char *name = cli_last(device, is_gpu ? gpus[named].device : "");
    const rt_device_table *table = rt_device_find(rg_str_of(name));
    if (!table && device->n) {
        str names = {.in = mem_scratch()};
        rt_device_names(&names);
        cli_fail("there is no device \"%s\" (there is %s)", name, names.ptr);
    }
    name = table ? table->name : name;
    while (of < countof(gpus) && strcmp(gpus[of].device, name) != 0)
        of++;
    if (is_gpu && of != named)
        cli_usage_error(command, "--target %s is for --device %s, not %s", gpu, gpus[named].device, name);
    if (of == countof(gpus))
        return (cli_machine){name, table ? table->target : NULL, NULL, NULL};
    if (gpu && !is_gpu)
        cli_usage_error(command, "--target of --device %s is %s, not %s", name, gpus[of].like, gpu);
    return (cli_machine){name, gpus[of].target, gpu ? gpu : gpus[of].usual, gpus[of].ending};
}

void
cli_fail_diags(const cli_ir *ir)
{
    fputs(ir->diags.text.len ? ir->diags.text.ptr : "rgc: error: cannot be compiled\n", stderr);
    exit(CLI_FAILED);
}

bool
cli_find_form(const char *name, rg_form *form)
{
    for (int f = 0; f < RG_FORM_COUNT; f++)
        if (strcmp(name, pipeline_form_name((rg_form)f)) == 0) {
            *form = (rg_form)f;
            return true;
        }
    return false;
}

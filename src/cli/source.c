/* Source files as IR, for the subcommands that look at it. SPDX-License-Identifier: Apache-2.0 */
#include "cli/source.h"

#include "rt/device.h"

#if RG_HAVE_CLANG
#include "front/c/front_c.h"
#endif

static bool
ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

static ir_module *
from_text(const char *path, diag_list *diags)
{
    str text = {0};
    ir_module *m = NULL;
    if (file_read(path, &text))
        diag_add(diags, DIAG_ERROR, 0, (diag_place){.path = path}, "cannot be read");
    else
        m = ir_parse(str_view(&text), path, diags);
    str_free(&text);
    if (m && !ir_verify(m, ir_stage_of(m), NULL, diags)) {
        ir_module_free(m);
        m = NULL;
    }
    return m;
}

static ir_module *
from_c(const cli_source *source, const char *path, const char *kernel, diag_list *diags)
{
#if RG_HAVE_CLANG
    front_c_source c = {
        .path = path,
        .kernel = kernel,
        .option_count = (uint32_t)source->options.n,
        .options = source->options.at,
        .on_disk = true,
    };
    return front_c_compile(&c, diags);
#else
    diag_add(diags, DIAG_ERROR, 0, (diag_place){.path = path},
             "this build has no C front end: it was made without libclang");
    return NULL;
#endif
}

int
cli_compile(cli_ir *out, const cli_source *source, const char *path, const char *kernel)
{
    *out = (cli_ir){.path = path, .contraction = source->contract.n == 0};
    out->module = ends_with(path, ".ir") || ends_with(path, ".rg")
                      ? from_text(path, &out->diags)
                      : from_c(source, path, kernel, &out->diags);
    if (!out->module)
        return cli_fail_diags(out);
    out->kernel = ir_fn_find(out->module, rg_str_of(kernel));
    if (!out->kernel || !out->kernel->kernel)
        return cli_fail("%s: there is no kernel `%s`", path, kernel);
    return CLI_OK;
}

uint8_t *
cli_planes(const ir_fn *fn, const cli_words *constant)
{
    uint32_t count = fn->body->nparams;
    uint8_t *planes = mem_alloc(count + 1);
    memset(planes, RG_ADJOINT | RG_TANGENT, count + 1);
    for (size_t k = 0; k < constant->n; k++) {
        uint32_t i = 0;
        while (i < count && strcmp(fn->body->params[i]->name, constant->at[k]) != 0)
            i++;
        if (i == count) {
            cli_fail("%s has no parameter `%s`", fn->name, constant->at[k]);
            mem_free(planes);
            return NULL;
        }
        planes[i] = 0;
    }
    return planes;
}

int
cli_warps(const cli_words *device, bool *warps)
{
    const char *name = cli_last(device, "");
    const rt_device_table *table = rt_device_find(rg_str_of(name));
    str names = {0};
    *warps = table && table->simt;
    if (table)
        return CLI_OK;
    rt_device_names(&names);
    int code = cli_fail("there is no device \"%s\" (there is %s)", name, names.ptr);
    str_free(&names);
    return code;
}

int
cli_fail_diags(const cli_ir *ir)
{
    fputs(ir->diags.text.len ? ir->diags.text.ptr : "rgc: error: cannot be compiled\n", stderr);
    return CLI_FAILED;
}

void
cli_ir_free(cli_ir *ir)
{
    ir_module_free(ir->module);
    diag_free(&ir->diags);
}

bool
cli_find_form(const char *name, pipeline_form *form)
{
    for (int f = 0; f < PIPELINE_FORM_COUNT; f++)
        if (strcmp(name, pipeline_form_name((pipeline_form)f)) == 0) {
            *form = (pipeline_form)f;
            return true;
        }
    return false;
}

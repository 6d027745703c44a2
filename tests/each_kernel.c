/* The kernels of C files. SPDX-License-Identifier: Apache-2.0 */
#include "each_kernel.h"

#include "front/c/front_c.h"

#include <glob.h>

static void
fail(each_kernel *e, const char *path, const char *why)
{
    fprintf(stderr, "%s: %s\n", path, why);
    e->failures++;
}

static void
run_kernel(each_kernel *e, const char *path, const char *kernel)
{
    diag_list diags = {0};
    front_c_source c = {.path = path, .kernel = kernel};
    pipeline_options options = {.contraction = true};
    if (e->kernels++ % (e->every ? e->every : 1))
        return;
    ir_module *m = front_c_compile(&c, &diags);
    ir_module *source = m ? pipeline_source(ir_fn_find(m, rg_str_of(kernel)), &options, &diags) : NULL;
    for (int form = 0; source && form < RG_FORM_COUNT; form++)
        e->run(e->user, source->first, (rg_form)form, path);
    if (!source)
        fail(e, path, diags.text.ptr);
    ir_module_free(source);
    ir_module_free(m);
    diag_free(&diags);
}

static void
run_file(each_kernel *e, const char *path)
{
    diag_list diags = {0};
    front_c_names names;
    front_c_source c = {.path = path};
    if (!front_c_list(&c, &names, &diags))
        fail(e, path, diags.text.ptr);
    else
        for (uint32_t i = 0; i < names.count; i++)
            run_kernel(e, path, names.names[i]);
    diag_free(&diags);
}

void
each_kernel_of(each_kernel *e, const char *path)
{
    str pattern = {0};
    glob_t found;
    if (str_ends(rg_str_of(path), ".c")) {
        run_file(e, path);
        return;
    }
    str_addf(&pattern, "%s/*.c", path);
    if (glob(pattern.ptr, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            run_file(e, found.gl_pathv[i]);
        globfree(&found);
    } else {
        fail(e, path, "neither a file *.c nor a folder with any");
    }
    str_free(&pattern);
}

/* The math library as text of the IR, in a C array. SPDX-License-Identifier: Apache-2.0
 *
 *   rgmath_ir OUTPUT INCLUDE_PATH SOURCE.c...
 */
#include "front/c/front_c.h"
#include "math/flatten.h"
#include "pass/pass.h"

/* -- places and names are for people, who have the source -------------------------------------------- */
static void
forget_names(ir_value **values, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        values[i]->name = NULL;
}

static bool
forget_place(ir_op *op, void *user)
{
    op->loc = (ir_loc){0};
    forget_names(op->results, op->nresults);
    for (uint32_t i = 0; i < op->nregions; i++)
        forget_names(op->regions[i]->params, op->regions[i]->nparams);
    return true;
}

static void
forget(ir_module *m)
{
    for (ir_fn *fn = m->first; fn; fn = fn->next) {
        fn->loc = (ir_loc){0};
        for (uint32_t i = 0; i < fn->body->nparams; i++)
            fn->params[i].loc = (ir_loc){0};
        forget_names(fn->body->params, fn->body->nparams);
        ir_walk(fn->body, forget_place, NULL);
    }
}

static bool
add_source(const char *path, const char *include, str *out, diag_list *diags)
{
    str text = {0};
    if (file_read(path, &text)) {
        fprintf(stderr, "rgmath_ir: cannot read %s\n", path);
        return false;
    }
    front_c_source source = {
        .path = path, .text = {text.ptr, text.len}, .include_count = 1, .include_paths = &include};
    ir_module *m = front_c_library(&source, diags);
    if (m) {
        pass_simplify(m, IR_STAGE_SOURCE, diags);
        if (PASS_RUN(m, math_flatten, IR_STAGE_SOURCE, diags))
            pass_simplify(m, IR_STAGE_SOURCE, diags);
        forget(m);
        ir_print_module(out, m);
    }
    ir_module_free(m);
    str_free(&text);
    return !diags->errors;
}

/* as numbers: C promises no more than 4095 characters in a literal */
static bool
write_array(const char *path, const str *text)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    fprintf(file, "#include \"math/text.h\"\nconst unsigned char math_text[] = {");
    for (size_t i = 0; i < text->len; i++)
        fprintf(file, "%s%d,", i % 32 ? "" : "\n", (unsigned char)text->ptr[i]);
    fprintf(file, "\n0};\nconst size_t math_text_size = %zu;\n", text->len);
    return fclose(file) == 0;
}

int
main(int argc, char **argv)
{
    str text = {0};
    diag_list diags = {0};
    bool ok = argc > 2;
    for (int i = 3; ok && i < argc; i++)
        ok = add_source(argv[i], argv[2], &text, &diags);
    if (diags.text.len)
        fprintf(stderr, "%s\n", diags.text.ptr);
    ok = ok && write_array(argv[1], &text);
    str_free(&text);
    diag_free(&diags);
    return ok ? 0 : 1;
}

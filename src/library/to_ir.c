/* The math library as text of the IR, in a C array. SPDX-License-Identifier: Apache-2.0
 *
 *   rgmath_ir OUTPUT INCLUDE_PATH SOURCE.c...
 */
#include "front/c/front_c.h"
#include "library/flatten.h"
#include "opt/pass.h"

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

/* as numbers: C promises no more than 4095 characters in a literal */
static void
write_function(FILE *out, const ir_fn *fn)
{
    str text = {0};
    ir_print_fn(&text, fn);
    fprintf(out, "static const unsigned char %s_text[] = {", fn->name);
    for (size_t i = 0; i < text.len; i++)
        fprintf(out, "%s%d,", i % 32 ? "" : "\n", (unsigned char)text.ptr[i]);
    fprintf(out, "0};\n");
    str_free(&text);
}

static bool
add_source(FILE *out, const char *path, const char *include, str *rows, diag_list *diags)
{
    str text = {0};
    if (file_read(path, &text)) {
        fprintf(stderr, "rgmath_ir: cannot read %s\n", path);
        return false;
    }
    static const char *const own_headers = "-nostdinc";
    front_c_source source = {.path = path, .text = {text.ptr, text.len}, .include_count = 1, .include_paths = &include,
                             .option_count = 1, .options = &own_headers};
    ir_module *m = front_c_library(&source, diags);
    if (m) {
        pass_context c;
        pass_context_init(&c, diags);
        pass_simplify(m, IR_STAGE_SOURCE, &c);
        if (PASS_RUN(m, math_flatten, IR_STAGE_SOURCE, &c))
            pass_simplify(m, IR_STAGE_SOURCE, &c);
        pass_context_finish(&c);
        forget(m);
        for (const ir_fn *fn = m->first; fn; fn = fn->next) {
            write_function(out, fn);
            str_addf(rows, "    {\"%s\", %s_text, sizeof %s_text - 1},\n", fn->name, fn->name, fn->name);
        }
    }
    ir_module_free(m);
    str_free(&text);
    return !diags->errors;
}

int
main(int argc, char **argv)
{
    str rows = {0};
    diag_list diags = {0};
    FILE *out = argc > 2 ? fopen(argv[1], "w") : NULL;
    bool ok = out != NULL;
    if (ok)
        fprintf(out, "#include \"library/text.h\"\n");
    for (int i = 3; ok && i < argc; i++)
        ok = add_source(out, argv[i], argv[2], &rows, &diags);
    if (diags.text.len)
        fprintf(stderr, "%s\n", diags.text.ptr);
    if (out) {
        fprintf(out, "const math_text math_texts[] = {\n%s    {0}};\n", rows.ptr ? rows.ptr : "");
        ok = fclose(out) == 0 && ok;
    }
    str_free(&rows);
    diag_free(&diags);
    if (!ok)
        remove(argv[1]);
    return ok ? 0 : 1;
}

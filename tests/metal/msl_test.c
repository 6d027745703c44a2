/* msl_test [--every N] FILE.c|FOLDER...   SPDX-License-Identifier: Apache-2.0
 *
 * Every Nth of the kernels of the files, in every form, is printed as MSL. A C++ compiler takes the texts with metal_stdlib of this folder,
 * whose pointers to different address spaces are different types. What Metal lacks is refused, by a message that names it. Every
 * second form does without SIMD-group functions. */
#include "codegen/metal/msl.h"
#include "each_kernel.h"
#include "metal/compile.h"
#include "pipeline/pipeline.h"

enum { TEXT = 1 << 20 }; /* of one compilation, about */
/* Features without these: memory of threadgroups is used instead, and exchanges of words. */
enum { MSL_PLAIN = MSL_FEATURES & ~(SPIRV_SUBGROUPS | SPIRV_STORAGE8 | SPIRV_STORAGE16 | SPIRV_ATOMIC_ADD32) };

typedef struct tally {
    int printed, refused, compilations, failures;
    size_t bytes;
    str text;
} tally;

static void
fail(tally *t, const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    t->failures++;
}

static void
compile_texts(tally *t)
{
    if (t->text.len && !msl_compile(t->text.ptr, t->text.len, ""))
        fail(t, "MSL", "the compiler refuses it");
    t->compilations += t->text.len > 0;
    t->bytes += t->text.len;
    t->text.len = 0;
}

/* atomics of 64 bits: nothing else may be refused */
static bool
is_lack(const char *message)
{
    return strstr(message, "Metal: an atomic update of 64 bits") != NULL;
}

static rg_status
print_fn(const ir_fn *fn, spirv_features features, str *text, diag_list *diags)
{
    str bytes = {0};
    spirv_code code = {0};
    const char *msl;
    spirv_options options = {.noalias = true, .features = features};
    rg_status status = msl_make(fn, &options, &bytes, diags);
    if (!status && !msl_read(str_view(&bytes), &code, &msl))
        status = RG_COMPILE;
    if (!status)
        str_addz(text, msl);
    spirv_code_free(&code);
    str_free(&bytes);
    return status;
}

static void
run_form(void *user, const ir_fn *source, rg_form form, const char *path)
{
    tally *t = user;
    str text = {0};
    diag_list diags = {0};
    ir_fn *fn;
    (void)path;
    pipeline_options options = {.form = form, .contraction = true, .stage = IR_STAGE_SEGMENTS, .target = &target_segments};
    ir_module *m = pipeline_run(source, &options, &diags, &fn);
    rg_status status = m ? print_fn(fn, form % 2 ? MSL_PLAIN : MSL_FEATURES | SPIRV_FUSED32, &text, &diags) : RG_OK;
    if (m && !status)
        str_addf(&t->text, "#include <metal_stdlib>\nnamespace n%d { // %s %s\n%s}\n", t->printed++, fn->name,
                 pipeline_form_name(form), text.ptr);
    else if (m && status == RG_UNSUPPORTED && diags.text.ptr && is_lack(diags.text.ptr))
        t->refused++;
    else if (m)
        fail(t, fn->name, diags.text.ptr ? diags.text.ptr : "is not printed");
    if (t->text.len > TEXT)
        compile_texts(t);
    ir_module_free(m);
    diag_free(&diags);
    str_free(&text);
}

int
main(int argc, char **argv)
{
    tally t = {0};
    each_kernel each = {.run = run_form, .user = &t};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--every") == 0 && i + 1 < argc)
            each.every = atoi(argv[++i]);
        else
            each_kernel_of(&each, argv[i]);
    }
    compile_texts(&t);
    t.failures += each.failures;
    printf("%d texts of %zu bytes in %d compilations, %d refused, %d failures\n",
           t.printed, t.bytes, t.compilations, t.refused, t.failures);
    return t.failures != 0 || !t.printed;
}

/* C source: its kernels' names, their IR, and all that it takes to run a gradient of each. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/front_c.h"
#include "fuzz.h"
#include "pipeline/pipeline.h"

fuzz_change *const fuzz_mutate = fuzz_text;

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    setenv("CC", "", 1); /* nobody is asked for headers: the front end's own are there */
    setenv("LIBCLANG_NOTHREADS", "1", 1); /* a thread for each parse takes a fifth of the time */
    return 0;
}

enum { VERIFIER = 1 << 2 }; /* of diag_list.kinds: the IR breaks a rule, which is our fault whatever the source says */

/* Most changes of a text leave kernels as they were, or as another input had them: their derivatives have been looked at then.
 * A table that forgets: one hash in each place. */
static bool
is_new(const ir_module *m, arena *scratch)
{
    static uint64_t seen[1 << 16];
    str text = {.in = scratch};
    ir_print_plain(&text, m);
    uint64_t hash = hash_bytes(1, text.ptr, text.len), *place = &seen[hash % countof(seen)];
    bool known = *place == hash;
    *place = hash;
    return !known;
}

static void
differentiate(const ir_fn *kernel, arena *scratch)
{
    for (unsigned form = RG_FORWARD; form < RG_FORM_COUNT; form += RG_FORWARD_VJP) {
        diag_list diags = {.text.in = scratch};
        pipeline_options options = {.form = form, .contraction = true, .stage = IR_STAGE_SLOTS};
        ir_fn *fn;
        ir_module *source = pipeline_source(kernel, &options, &diags), *made = NULL;
        if (source)
            made = pipeline_run(source->first, &options, &diags, &fn);
        FUZZ_CHECK(made || diags.errors, "nothing is made, and there is no error");
        FUZZ_CHECK(!(diags.kinds & VERIFIER), "%s", diags.text.ptr);
        ir_module_free(made);
        ir_module_free(source);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    arena *scratch = mem_scratch();
    diag_list diags = {.text.in = scratch};
    front_c_names names;
    const char *options[] = {"-nostdinc"};
    const char *text = arena_str(scratch, (rg_str){(const char *)data, size});
    const char *path = strstr(text, "extern \"C\"") ? "fuzz.cpp" : "fuzz.c";
    front_c_source source = {.path = path, .text = {text, size}, .option_count = 1, .options = options};
    /* parsing takes longer than all the rest: once is enough for most */
    if (size % 8 || front_c_list(&source, &names, &diags)) {
        ir_module *m = front_c_compile(&source, &diags);
        FUZZ_CHECK(m || diags.errors, "no module, and no error");
        FUZZ_CHECK(!(diags.kinds & VERIFIER), "%s", diags.text.ptr);
        for (ir_fn *fn = m && is_new(m, scratch) ? m->first : NULL; fn; fn = fn->next)
            if (fn->kernel)
                differentiate(fn, scratch);
        ir_module_free(m);
    }
    fuzz_end();
    return 0;
}

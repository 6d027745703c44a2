/* IR text: what is read and verified prints, and reads back to the same; its values are shown as source.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ahead/expression.h"
#include "fuzz.h"
#include "ir/ir.h"

fuzz_change *const fuzz_mutate = fuzz_text;

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    return 0;
}

static bool
show(ir_op *op, void *scratch)
{
    str text = {.in = scratch};
    for (uint32_t i = 0; i < op->nargs; i++)
        expression_write(&text, op->args[i]);
    return true;
}

static void
read_back(const ir_module *m, arena *scratch)
{
    diag_list diags = {.text.in = scratch};
    str once = {.in = scratch}, twice = {.in = scratch};
    ir_print_module(&once, m);
    ir_module *back = ir_parse(str_view(&once), "printed", &diags);
    FUZZ_CHECK(back, "what was printed is refused:\n%s\n%s", once.ptr, diags.text.ptr);
    ir_print_module(&twice, back);
    FUZZ_CHECK(str_eq(str_view(&once), str_view(&twice)), "printed\n%s\nthen\n%s", once.ptr, twice.ptr);
    ir_module_free(back);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    arena *scratch = mem_scratch();
    diag_list diags = {.text.in = scratch};
    ir_module *m = ir_parse((rg_str){(const char *)data, size}, "fuzz.rg", &diags);
    if (m && ir_verify(m, ir_stage_of(m), NULL, &diags)) {
        for (ir_fn *fn = m->first; fn; fn = fn->next)
            ir_walk(fn->body, show, scratch);
        read_back(m, scratch);
    }
    ir_module_free(m);
    fuzz_end();
    return 0;
}

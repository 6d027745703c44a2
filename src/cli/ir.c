/* rgc ir: a kernel at any stage of the pipeline. SPDX-License-Identifier: Apache-2.0 */
#include "cli/source.h"

#if RG_HAVE_LLVM
#include "codegen/llvm/ll.h"
#include "codegen/metal/msl.h"
#endif

static const char help[] =
    "usage: rgc ir FILE KERNEL [--form FORM] [--stage STAGE] [--directions N] [--constant NAME]\n"
    "              [--device NAME] [--target GPU] [--fast-math] [--deterministic] [--no-places] [options]\n"
    "\n"
    "Prints a kernel as it stands at a stage of the pipeline.\n"
    "\n"
    "  --form FORM    forward (default), vjp, forward_vjp, jvp, jvp_vjp, jvp_forward_vjp\n"
    "  --stage STAGE  source     from the front end\n"
    "                 inline     calls replaced by bodies, results by outputs\n"
    "                 simplify   (default of forward)\n"
    "                 vjp, jvp   as the transform left it\n"
    "                 directions the same for several directions\n"
    "                 ad         simplified; what the interpreter runs (default of the others)\n"
    "                 plan       recorded values chosen\n"
    "                 tape       traces turned into frames\n"
    "                 arrays     local arrays turned into slots\n"
    "                 llvm       as the code generator makes it\n"
    "                 optimized  after LLVM's passes\n"
    "                 assembly\n"
    "  --directions N of the adjoints (of the tangents, where the form has any): 1 to "
    "64\n"
    "  --device NAME  cpu (default) or interp; cuda, amd: threads run in warps of 32, the assembly is PTX\n"
    "                 or that of AMD's GPUs;\n"
    "                 simt: the same code for this machine's processor\n"
    "  --target GPU   of cuda: sm_70 (default) to sm_121; of amd: gfx942 (default), gfx1100, ...\n"
    "                 metal, without --device: the assembly is Metal Shading Language\n"
    "  --fast-math    approximate functions of f32 there\n"
    "  --deterministic   the same bits in every run\n"
    "  --no-places    without the places in the source that ops come from\n" CLI_CONSTANT_HELP CLI_SOURCE_HELP;

static const char *const stages[] = {"source",   "inline", "simplify",  "vjp",    "jvp",
                                     "ad",       "plan",   "tape",      "arrays", "optimized",
                                     "assembly", "llvm",   "directions", "segments"};

/* The last module seen under the stage's name. */
typedef struct listing {
    const char *stage;
    bool plain; /* without source places */
    str text;
} listing;

static void
seen(void *user, const char *stage, const ir_module *m)
{
    listing *l = user;
    if (strcmp(stage, l->stage) != 0)
        return;
    l->text.len = 0;
    (l->plain ? ir_print_plain : ir_print_module)(&l->text, m);
}

static bool
is_metal(const cli_machine *machine)
{
    return strcmp(machine->device, "metal") == 0;
}

static void
print_code(const ir_fn *fn, const char *stage, const cli_machine *machine, bool fast, bool fixed, cli_ir *ir)
{
#if RG_HAVE_LLVM
    ll_stage which = strcmp(stage, "llvm") == 0        ? LL_STAGE_RAW
                     : strcmp(stage, "optimized") == 0 ? LL_STAGE_OPTIMIZED
                                                       : LL_STAGE_ASSEMBLY;
    uint32_t n = fn->body->nparams;
    bool *dense = arena_new_n(mem_scratch(), bool, n); /* as a launch's arrays are, with all planes */
    uint8_t *present = arena_new_n(mem_scratch(), uint8_t, n);
    for (uint32_t i = 0; i < n; i++) {
        dense[i] = !fn->params[i].record;
        present[i] = (1u << RG_PLANE_COUNT) - 1;
    }
    ll_options options = {.present = present, .contiguous = dense, .noalias = true,
                          .cpu = machine->gpu, .fast_math = fast, .deterministic = fixed};
    spirv_options in_segments = {.present = present, .contiguous = dense, .noalias = true, .deterministic = fixed,
                                 .features = MSL_FEATURES};
    spirv_code code = {0};
    const char *msl = NULL;
    str text = {.in = mem_scratch()};
    rg_status status = is_metal(machine) ? msl_make(fn, &in_segments, &text, &ir->diags) : ll_print(fn, &options, which, &text, &ir->diags);
    if (status)
        cli_fail_diags(ir);
    if (is_metal(machine) && !msl_read(str_view(&text), &code, &msl))
        cli_fail("the code is damaged");
    fputs(msl ? msl : text.ptr, stdout);
    spirv_code_free(&code);
#else
    cli_fail("this build was made without LLVM: there is no stage %s", stage);
#endif
}

static bool
is_code(const char *stage)
{
    return strcmp(stage, "llvm") == 0 || strcmp(stage, "optimized") == 0 ||
           strcmp(stage, "assembly") == 0;
}

static void
print_stage(cli_ir *ir, rg_form form, const char *stage, uint32_t n,
            const cli_words *constant, const cli_machine *machine, bool fast, bool fixed, bool plain)
{
    listing l = {.stage = stage, .plain = plain, .text.in = mem_scratch()};
    uint32_t directions[RG_PLANE_COUNT];
    pipeline_directions(form, n, directions);
    pipeline_options options = {.form = form,
                                .directions = directions,
                                .contraction = ir->contraction,
                                .target = machine->target,
                                .stage = strcmp(stage, "segments") == 0 || is_metal(machine) ? IR_STAGE_SEGMENTS : IR_STAGE_SLOTS,
                                .seen = seen,
                                .user = &l};
    ir_module *source = pipeline_source(ir->kernel, &options, &ir->diags);
    ir_module *made = NULL;
    ir_fn *fn = NULL;
    if (source)
        options.planes = cli_planes(source->first, constant);
    /* what comes later may be refused: that does not concern the stage asked for */
    if (source && !l.text.len)
        made = pipeline_run(source->first, &options, &ir->diags, &fn);
    if (l.text.len)
        fputs(l.text.ptr, stdout);
    else if (ir->diags.errors)
        cli_fail_diags(ir);
    else if (!is_code(stage))
        cli_fail("form %s has no stage %s", pipeline_form_name(form), stage);
    else
        print_code(fn, stage, machine, fast, fixed, ir);
    ir_module_free(made);
    ir_module_free(source);
    ir_module_free(ir->module);
}

static bool
is_stage(const char *name)
{
    for (size_t i = 0; i < countof(stages); i++)
        if (strcmp(stages[i], name) == 0)
            return true;
    return false;
}

static int
run(int argc, char **argv)
{
    cli_source source = {0};
    cli_words positional = {0}, form_words = {0}, stage_words = {0}, direction_words = {0},
              constant = {0}, device = {0}, target = {0}, fast = {0}, fixed = {0}, plain = {0};
    const cli_option options[] = {{"--form", false, &form_words},
                                  {"--directions", false, &direction_words},
                                  {"--stage", false, &stage_words},
                                  {"--constant", false, &constant},
                                  {"--device", false, &device},
                                  {"--target", false, &target},
                                  {"--fast-math", true, &fast},
                                  {"--deterministic", true, &fixed},
                                  {"--no-places", true, &plain},
                                  CLI_SOURCE_OPTIONS(source)};
    rg_form form = RG_FORWARD;
    uint64_t n = 0;
    cli_parse(&cli_ir_command, argc, argv, options, countof(options), &positional);
    const char *form_name = cli_last(&form_words, "forward");
    bool known = cli_find_form(form_name, &form);
    const char *stage = cli_last(&stage_words, form == RG_FORWARD ? "simplify" : "ad");
    cli_names_kernel(&cli_ir_command, &source, &positional, false);
    if (!known)
        cli_usage_error(&cli_ir_command, "there is no form `%s`", form_name);
    if (!is_stage(stage))
        cli_usage_error(&cli_ir_command, "there is no stage `%s`", stage);
    if (!cli_size(cli_last(&direction_words, "1"), &n) || !n || n > IR_DIRECTIONS)
        cli_usage_error(&cli_ir_command, "directions are a number from 1 to %d", IR_DIRECTIONS);
    cli_machine machine = cli_find_machine(&cli_ir_command, &device, &target);
    if (is_code(stage) && strcmp(machine.device, "vulkan") == 0)
        cli_usage_error(&cli_ir_command, "stage %s is LLVM's, which device vulkan does without: its last one is segments", stage);
    if (is_code(stage) && is_metal(&machine) && strcmp(stage, "assembly") != 0)
        cli_usage_error(&cli_ir_command, "stage %s is LLVM's, which target metal does without", stage);
    cli_ir ir = cli_compile(&source, positional.at[0], positional.at[1]);
    print_stage(&ir, form, stage, (uint32_t)n, &constant, &machine, fast.n > 0, fixed.n > 0, plain.n > 0);
    return CLI_OK;
}

const cli_command cli_ir_command = {"ir", "prints a kernel at any stage of the pipeline", help,
                                    run};

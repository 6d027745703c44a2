/* rgc build, rgc grad: kernels compiled ahead of time. SPDX-License-Identifier: Apache-2.0 */
#include "cli/source.h"

#define OPTIONS_HELP                                                                               \
    "\n"                                                                                           \
    "  -o FILE           the object file (default KERNEL.o, or KERNEL_grad.o; for GPUs .ptx, .hsaco)\n"    \
    "  --header FILE     the C header (default: the object's name with .h); of amd the description\n" \
    "                    of the code object (with .txt)\n"                                          \
    "                    -: the standard output\n"                                                  \
    "  -S                assembly instead of an object file (KERNEL.s)\n"                          \
    "  --device NAME     cpu (default); cuda: PTX instead of an object and a header; amd: a code\n" \
    "                    object and its description\n"                                              \
    "  --target TRIPLE   of cpu: another machine, as LLVM names it (default: this one); of cuda:\n" \
    "                    sm_70 (default) to sm_121, which says --device cuda by itself; of amd:\n"  \
    "                    gfx942 (default), gfx90a, gfx1100, gfx1201, gfx11-generic, ...\n"          \
    "  --fast-math       approximate functions of f32 on a GPU\n"                                   \
    "  --cpu NAME        its processor (default: this one's; with --target: generic)\n"            \
    "  --features LIST   of the processor: +avx2,+fma\n" CLI_SOURCE_HELP "\n"                      \
    "Link with the object file, librgrt.a, -pthread and -lm: no compiler is needed at run time.\n"

static const char build_help[] =
    "usage: rgc build FILE KERNEL [-o FILE.o] [--header FILE.h] [options]\n"
    "\n"
    "Compiles a kernel to an object file; the header declares KERNEL_forward().\n" OPTIONS_HELP;

static const char grad_help[] =
    "usage: rgc grad FILE KERNEL [-o FILE.o] [--header FILE.h] [options]\n"
    "\n"
    "Compiles a kernel and its gradient to an object file. The header declares KERNEL_forward(),\n"
    "KERNEL_forward_vjp() (both sweeps in one launch) and, where the kernel allows it, "
    "KERNEL_vjp() (the\n"
    "reverse after an earlier forward) and KERNEL_jvp() (with tangents). Every float parameter takes an\n"
    "adjoint, or a tangent; NULL leaves it out.\n" OPTIONS_HELP;

typedef struct build_options {
    cli_source source;
    cli_words positional, object, header, device, target, cpu, features, fast, assembly;
    cli_machine machine;
} build_options;

/* "-": to the standard output. */
static void
write_output(const char *path, rg_str data)
{
    if (strcmp(path, "-") != 0)
        cli_write_file(path, data);
    else if (fwrite(data.ptr, 1, data.len, stdout) != data.len || fflush(stdout) != 0)
        cli_fail("%s: cannot be written", path);
}

/* FILE.o gives FILE.h; of GPUs FILE.hsaco gives FILE.txt */
static void
header_beside(str *out, const char *object, const char *gpu)
{
    const char *const endings[] = {".o", ".s", ".hsaco"};
    size_t n = strlen(object);
    for (size_t i = 0; i < countof(endings); i++)
        if (n > strlen(endings[i]) && str_ends(rg_str_of(object), endings[i])) {
            n -= strlen(endings[i]);
            break;
        }
    str_addf(out, "%.*s.%s", (int)n, object, gpu ? "txt" : "h");
}

static void
build(const build_options *o, bool gradient)
{
    const char *kernel = o->positional.at[1], *gpu = o->machine.gpu;
    bool assembly = o->assembly.n > 0;
    str name = {.in = mem_scratch()}, header_name = {.in = mem_scratch()};
    str_addf(&name, "%s%s.%s", kernel, gradient ? "_grad" : "", gpu ? o->machine.ending : assembly ? "s" : "o");
    const char *path = cli_last(&o->object, name.ptr);
    header_beside(&header_name, path, gpu);
    rg_module_desc code = RG_DESC(rg_module_desc, .fast_math = o->fast.n > 0);
    /* what is refused is left out, but for the gradient in one launch */
    rg_object_desc desc = RG_DESC(rg_object_desc, .forms = 1u << RG_FORWARD | (gradient ? 1u << RG_FORWARD_VJP : 0),
                                  .also = gradient ? 1u << RG_VJP | 1u << RG_JVP : 0,
                                  .target = rg_str_of(gpu ? gpu : cli_last(&o->target, NULL)),
                                  .cpu = rg_str_of(cli_last(&o->cpu, NULL)), .features = rg_str_of(cli_last(&o->features, NULL)),
                                  .assembly = assembly);
    rg_object *object;
    rg_object_info made = RG_INIT(rg_object_info);
    cli_need(rg_kernel_build(cli_load(&code, &o->source, o->positional.at[0], kernel), &desc, &object));
    cli_need(rg_object_get_info(object, &made));
    write_output(path, made.code);
    if (made.header.len)
        write_output(cli_last(&o->header, header_name.ptr), made.header);
    rg_object_destroy(object);
}

static int
run(const cli_command *command, int argc, char **argv, bool gradient)
{
    build_options o = {0};
    const cli_option options[] = {
        {"-o", false, &o.object},           {"--header", false, &o.header},
        {"--target", false, &o.target},     {"--cpu", false, &o.cpu},
        {"--features", false, &o.features}, {"--fast-math", true, &o.fast},
        {"--device", false, &o.device},     {"-S", true, &o.assembly},
        CLI_SOURCE_OPTIONS(o.source),
    };
    cli_parse(command, argc, argv, options, countof(options), &o.positional);
    cli_names_kernel(command, &o.source, &o.positional, false);
    o.machine = cli_find_machine(command, &o.device, &o.target);
    const char *device = o.machine.device;
    bool gpu = o.machine.gpu != NULL;
    if ((o.device.n || gpu || strcmp(device, "metal") == 0) && strcmp(device, "cpu") != 0 && !gpu)
        cli_usage_error(command, "there is nothing to build for --device %s: it is for cpu, cuda or amd", device);
    if (gpu && (o.cpu.n || o.features.n))
        cli_usage_error(command, "--cpu and --features are for --device cpu; --target chooses the GPU");
    if (!gpu && strcmp(cli_last(&o.object, ""), "-") == 0 && !o.header.n)
        cli_usage_error(command, "with -o - the header needs a name: --header FILE");
    build(&o, gradient);
    return CLI_OK;
}

static int
run_build(int argc, char **argv)
{
    return run(&cli_build, argc, argv, false);
}

static int
run_grad(int argc, char **argv)
{
    return run(&cli_grad, argc, argv, true);
}

const cli_command cli_build = {"build", "compiles a kernel to an object file and a C header",
                               build_help, run_build};
const cli_command cli_grad = {
    "grad", "compiles a kernel and its gradient to an object and a header", grad_help, run_grad};

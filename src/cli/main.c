/* rgc: the command. SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

static const cli_command *const commands[] = {
    &cli_run, &cli_ir_command, &cli_check, &cli_build, &cli_grad, &cli_explain,
};

static void
print_help(FILE *to)
{
    fprintf(to, "rgc: kernels and their exact gradients\n\nusage: rgc COMMAND ...\n\n");
    for (size_t i = 0; i < countof(commands); i++)
        fprintf(to, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(to, "\n`rgc COMMAND --help` says more. RG_DEBUG=help lists debug switches.\n");
}

static bool
asks_for_help(int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

int
main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return CLI_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("rgc %s\n", RG_VERSION);
        return CLI_OK;
    }
    for (size_t i = 0; i < countof(commands); i++) {
        if (strcmp(argv[1], commands[i]->name) != 0)
            continue;
        if (asks_for_help(argc - 2, argv + 2)) {
            fputs(commands[i]->help, stdout);
            return CLI_OK;
        }
        return commands[i]->run(argc - 2, argv + 2);
    }
    fprintf(stderr, "rgc: there is no command `%s`\n", argv[1]);
    print_help(stderr);
    return CLI_USAGE;
}

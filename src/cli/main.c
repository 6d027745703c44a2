/* rgc: the command. SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

static const cli_command *const commands[] = {
    &cli_list, &cli_run, &cli_check, &cli_explain, &cli_build, &cli_grad, &cli_ir_command, &cli_cache,
};

static void
print_help(FILE *to)
{
    fprintf(to, "rgc: kernels and their exact gradients\n\nusage: rgc COMMAND ...\n\n");
    for (size_t i = 0; i < countof(commands); i++)
        fprintf(to, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(to, "  %-8s %s\n", "help", "shows the usage of a command");
    fprintf(to, "\n`rgc help COMMAND` says more. RG_DEBUG=help lists debug switches.\n");
}

static bool
asks_for_help(int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

static const cli_command *
find_command(const char *name)
{
    for (size_t i = 0; i < countof(commands); i++)
        if (strcmp(name, commands[i]->name) == 0)
            return commands[i];
    return NULL;
}

static int
fail_unknown(const char *name)
{
    fprintf(stderr, "rgc: there is no command `%s`\n", name);
    print_help(stderr);
    return CLI_USAGE;
}

static int
help(int argc, char **argv)
{
    const cli_command *command = argc ? find_command(argv[0]) : NULL;
    if (argc && !command)
        return fail_unknown(argv[0]);
    if (command)
        fputs(command->help, stdout);
    else
        print_help(stdout);
    return CLI_OK;
}

int
main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return help(0, NULL);
    if (strcmp(argv[1], "help") == 0)
        return help(argc - 2, argv + 2);
    if (strcmp(argv[1], "--version") == 0) {
        printf("rgc %s\n", RG_VERSION);
        return CLI_OK;
    }
    const cli_command *command = find_command(argv[1]);
    if (!command)
        return fail_unknown(argv[1]);
    if (asks_for_help(argc - 2, argv + 2))
        return help(1, argv + 1);
    return command->run(argc - 2, argv + 2);
}

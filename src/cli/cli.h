/* What the subcommands of rgc share. SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/base.h"
#include "retrograd/retrograd.h"

/* exit codes */
enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

typedef struct cli_command {
    const char *name, *summary, *help;
    int (*run)(int argc, char **argv); /* the words after the subcommand */
} cli_command;

extern const cli_command cli_list, cli_run, cli_ir_command, cli_check, cli_build, cli_grad, cli_explain, cli_cache;

/* -- options --------------------------------------------------------------------------------------
 * Each option says where its values go. A word without `--` is positional. */

typedef vec(const char *) cli_words;

typedef struct cli_option {
    const char *name;  /* "--out", "-I" */
    bool flag;         /* takes no value */
    cli_words *values; /* every value given; a flag adds its own name */
    enum {
        CLI_VALUES,
        CLI_WORDS, /* the words as they are */
        CLI_PREFIX /* every word that begins with the name, as it is */
    } takes;
} cli_option;

void cli_parse(const cli_command *command, int argc, char **argv, const cli_option *options, size_t noptions,
               cli_words *positional);
/* the last value given, or the default */
const char *cli_last(const cli_words *values, const char *otherwise);
/* A whole number with an optional suffix k, m, g (powers of 1024). false: not one */
bool cli_size(const char *text, uint64_t *value);

/* -- errors end the process ------------------------------------------------------------------------
 * Nothing is freed before: all that a command makes lives until then, in mem_scratch(). */

_Noreturn void cli_usage_error(const cli_command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "rgc: error: ..." */
_Noreturn void cli_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* with the message of the last failed API call */
_Noreturn void cli_fail_api(void);
/* unless it is RG_OK */
void cli_need(rg_status status);
rg_str cli_read_file(const char *path);
void cli_write_file(const char *path, rg_str data);

/* -- source files ---------------------------------------------------------------------------------
 * The options that every subcommand has that reads one. */

typedef struct cli_source {
    cli_words options;  /* of a C compiler, as given */
    cli_words with;     /* further files */
    cli_words contract; /* --no-fma was given */
} cli_source;

/* What a build line has is taken; what of it counts is known to the front end. */
#define CLI_SOURCE_OPTIONS(s)                                                                                          \
    {"--with", false, &(s).with}, {"--no-fma", true, &(s).contract},                                                   \
        {"-ffp-contract=off", true, &(s).contract},                                                                    \
        {"-I", false, &(s).options, CLI_WORDS}, {"-D", false, &(s).options, CLI_WORDS},                                \
        {"-U", false, &(s).options, CLI_WORDS}, {"-isystem", false, &(s).options, CLI_WORDS},                          \
        {"-iquote", false, &(s).options, CLI_WORDS}, {"-idirafter", false, &(s).options, CLI_WORDS},                   \
        {"-include", false, &(s).options, CLI_WORDS}, {"-imacros", false, &(s).options, CLI_WORDS},                    \
        {"-std=", true, &(s).options, CLI_PREFIX}, {"-W", true, &(s).options, CLI_PREFIX},                             \
        {"-f", true, &(s).options, CLI_PREFIX}, {"-O", true, &(s).options, CLI_PREFIX},                                \
        {"-g", true, &(s).options, CLI_PREFIX}, {"-m", true, &(s).options, CLI_PREFIX},                                \
        {"-MF", false, &(s).options, CLI_WORDS}, {"-MT", false, &(s).options, CLI_WORDS},                              \
        {"-MQ", false, &(s).options, CLI_WORDS}, {"-M", true, &(s).options, CLI_PREFIX},                               \
        {"-l", true, &(s).options, CLI_PREFIX}, {"-L", true, &(s).options, CLI_PREFIX},                                \
        {"-pedantic", true, &(s).options, CLI_PREFIX}, {"-ansi", true, &(s).options},                                  \
        {"-pthread", true, &(s).options}, {"-pipe", true, &(s).options}, {"-nostdinc", true, &(s).options},            \
        {"-nobuiltininc", true, &(s).options}, {"-undef", true, &(s).options},                                         \
        {"-trigraphs", true, &(s).options}, {"-c", true, &(s).options},                                                \
    {                                                                                                                  \
        "-w", true, &(s).options                                                                                       \
    }
#define CLI_SOURCE_HELP                                                                                                \
    "  -I DIR -D NAME[=VALUE] -U NAME -include FILE -std=... -f... and other options of C compilers: as there; those\n" \
    "                    without effect on what the text means are accepted (-O3, -Wall, -march=native, -lm, ...)\n"   \
    "  --with FILE|DIR   where functions and constants are defined that FILE does not define; a folder: all its\n"      \
    "                    .c files; may be given again\n"                                                              \
    "  --no-fma          keep a * b + c as two rounded operations (also -ffp-contract=off)\n"

/* `code` has the options of code alone. */
rg_kernel *cli_load(const rg_module_desc *code, const cli_source *source, const char *path, const char *kernel);
/* "cuda:1"; empty: the best there is */
rg_queue *cli_open_queue(const char *device, const rg_queue_desc *desc);

/* -- arguments of a kernel from NAME=VALUE words ----------------------------------------------- */

typedef struct cli_arguments {
    rg_queue *queue;
    rg_kernel *kernel;
    rg_args *args;
    uint32_t n;
    rg_param *params;
    const char **given; /* by parameter: its VALUE; NULL: none */
    const struct npy **files; /* by parameter: what --inputs has for it; NULL: none */
    const char *inputs;       /* that file */
    rg_array **arrays;  /* by parameter: its array, or the companion of a float scalar; NULL: none */
} cli_arguments;

void cli_arguments_begin(cli_arguments *a, rg_queue *queue, rg_kernel *kernel);
void cli_arguments_free(cli_arguments *a);
/* words: NAME=NUMBER, NAME=FILE.npy, NAME=zeros[:SHAPE], NAME=ones[:SHAPE], NAME=1,2,3. Only says what is given; the words
 * must outlive the arguments. */
void cli_arguments_take(cli_arguments *a, const cli_command *command, const cli_words *words);
/* The same of --inputs, whose values words go before; what no parameter is named as is said. */
struct npz;
void cli_arguments_take_inputs(cli_arguments *a, const struct npz *inputs);
void cli_warn_unused(const cli_arguments *a, const struct npz *inputs);
bool cli_is_given(const cli_arguments *a, uint32_t param);
/* An error that names all parameters that are not given, with the command line, argv, completed. After the scalars. */
void cli_arguments_need_all(cli_arguments *a, const cli_command *command, int argc, char **argv);
/* Makes what is given. Scalars first: extents that follow from them need no SHAPE. */
void cli_arguments_set_scalars(cli_arguments *a);
void cli_arguments_set_arrays(cli_arguments *a);
/* word: NAME=FILE.npy, NAME=zeros, NAME=ones, NAME=1,2,3 into a plane of an array or of a scalar's companion. Adjoints
 * only of what the kernel writes. */
void cli_arguments_set_plane(cli_arguments *a, const cli_command *command, const char *word,
                            unsigned plane);
/* Makes a plane for every float array, and for float scalars through companions. */
void cli_arguments_require(cli_arguments *a, unsigned plane);

#endif

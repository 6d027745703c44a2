/* Command lines: options, messages, source files. SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

/* -- messages ---------------------------------------------------------------------------------- */

void
cli_usage_error(const cli_command *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "rgc %s: ", command->name);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n`rgc %s --help` shows the usage\n", command->name);
    va_end(args);
    exit(CLI_USAGE);
}

void
cli_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("rgc: error: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(CLI_FAILED);
}

/* Lists of diagnostics stand as they are: they begin with their places. */
void
cli_fail_api(void)
{
    const char *text = rg_error_message();
    size_t n = strlen(text);
    if (strncmp(text, "error", 5) != 0 && !strstr(text, ": error"))
        cli_fail("%s", text);
    fprintf(stderr, "%s%s", text, n && text[n - 1] == '\n' ? "" : "\n");
    exit(CLI_FAILED);
}

void
cli_need(rg_status status)
{
    if (status)
        cli_fail_api();
}

/* -- files ------------------------------------------------------------------------------------- */

rg_str
cli_read_file(const char *path)
{
    str text;
    rg_status status = file_read(path, &text);
    if (status)
        cli_fail("%s: %s", path, status == RG_NOT_FOUND ? "no such file" : "cannot be read");
    return str_view(&text);
}

void
cli_write_file(const char *path, rg_str data)
{
    if (file_write(path, data.ptr, data.len))
        cli_fail("%s: cannot be written", path);
}

/* -- options ----------------------------------------------------------------------------------- */

/* -IDIR, --out=DIR: the value that hangs on the name; NULL: none */
static const char *
attached_value(const cli_option *o, const char *word)
{
    size_t n = strlen(o->name);
    if (o->takes == CLI_PREFIX || o->flag || strncmp(word, o->name, n) != 0)
        return NULL;
    if (o->name[1] != '-')
        return word[n] ? word + n : NULL;
    return word[n] == '=' ? word + n + 1 : NULL;
}

/* Number of words used; 0: not this option; -1: its value is missing. */
static int
take_option(const cli_option *o, int argc, char **argv)
{
    const char *value = attached_value(o, argv[0]);
    bool prefixed = o->takes == CLI_PREFIX && strncmp(argv[0], o->name, strlen(o->name)) == 0;
    if (value || prefixed) {
        vec_push(o->values, value && o->takes == CLI_VALUES ? value : argv[0]);
        return 1;
    }
    if (strcmp(argv[0], o->name) != 0)
        return 0;
    if (!o->flag && argc < 2)
        return -1;
    if (o->takes == CLI_WORDS)
        vec_push(o->values, argv[0]);
    vec_push(o->values, o->flag ? argv[0] : argv[1]);
    return o->flag ? 1 : 2;
}

/* -mode where --mode is meant: not to be taken for an option of C compilers, which may begin with -m. */
static bool
lacks_dash(const char *word, const cli_option *options, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (options[k].name[1] == '-' && strcmp(options[k].name + 1, word) == 0)
            return true;
    return false;
}

void
cli_parse(const cli_command *command, int argc, char **argv, const cli_option *options, size_t noptions,
          cli_words *positional)
{
    positional->in = mem_scratch();
    for (size_t k = 0; k < noptions; k++)
        options[k].values->in = mem_scratch();
    for (int i = 0; i < argc;) {
        if (argv[i][0] != '-' || argv[i][1] == 0) {
            vec_push(positional, argv[i]);
            i++;
            continue;
        }
        int used = 0;
        if (lacks_dash(argv[i], options, noptions))
            cli_usage_error(command, "unknown option `%s`; there is `-%s`", argv[i], argv[i]);
        for (size_t k = 0; k < noptions && used == 0; k++)
            used = take_option(&options[k], argc - i, argv + i);
        if (used == 0)
            cli_usage_error(command, "unknown option `%s`", argv[i]);
        if (used < 0)
            cli_usage_error(command, "option `%s` needs a value", argv[i]);
        i += used;
    }
}

const char *
cli_last(const cli_words *values, const char *otherwise)
{
    return values->n ? values->at[values->n - 1] : otherwise;
}

bool
cli_size(const char *text, uint64_t *value)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    uint64_t v = strtoull(text, &end, 10);
    unsigned shift = *end == 'k' || *end == 'K'   ? 10
                     : *end == 'm' || *end == 'M' ? 20
                     : *end == 'g' || *end == 'G' ? 30
                                                  : 0;
    end += shift != 0;
    if (*end || (v << shift) >> shift != v)
        return false;
    *value = v << shift;
    return true;
}

/* -- source files ------------------------------------------------------------------------------ */

rg_kernel *
cli_load(const rg_module_desc *code, const cli_source *source, const char *path, const char *name)
{
    rg_str *options = arena_new_n(mem_scratch(), rg_str, source->options.n);
    rg_module_file *files = arena_new_n(mem_scratch(), rg_module_file, source->with.n);
    for (size_t i = 0; i < source->options.n; i++)
        options[i] = rg_str_of(source->options.at[i]);
    for (size_t i = 0; i < source->with.n; i++)
        files[i].path = rg_str_of(source->with.at[i]);
    rg_module_desc desc = *code;
    desc.options = options;
    desc.option_count = source->options.n;
    desc.files = files;
    desc.file_count = source->with.n;
    desc.no_contraction |= source->contract.n > 0;
    rg_module *module;
    rg_kernel *kernel;
    cli_need(rg_module_load(rg_str_of(path), &desc, &module));
    cli_need(rg_module_get_kernel(module, rg_str_of(name), &kernel));
    return kernel; /* which ends with its module: with the process */
}

/* -- devices ----------------------------------------------------------------------------------- */

rg_queue *
cli_open_queue(const char *name, const rg_queue_desc *desc)
{
    rg_device *device;
    rg_queue *queue;
    rg_device_desc which = RG_DESC(rg_device_desc, .name = rg_str_of(name));
    cli_need(rg_device_open(&which, &device));
    cli_need(rg_queue_create(device, desc, &queue));
    return queue;
}

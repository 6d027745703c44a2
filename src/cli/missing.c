/* What a command line lacks, and one that has it. SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"
#include "cli/source.h"

/* A word as a shell takes it. */
static void
add_word(str *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./%@";
    if (*word && strspn(word, plain) == strlen(word)) {
        str_addz(out, word);
        return;
    }
    str_addc(out, '\'');
    for (; *word; word++)
        if (*word == '\'')
            str_addz(out, "'\\''");
        else
            str_addc(out, *word);
    str_addc(out, '\'');
}

static bool
is_missing(const cli_arguments *a, uint32_t i)
{
    return !a->params[i].result && !cli_is_given(a, i);
}

static void
add_scalar(str *out, const rg_param *p)
{
    if (p->dtype >= RG_F16)
        str_addz(out, "0.5");
    else if (p->dtype == RG_BOOL)
        str_addz(out, "true");
    else
        str_addf(out, "%d", API_DEFAULT_INTEGER);
}

/* What is only read is not zero; what is written may be added to. The shape where it does not follow. */
static void
add_array(str *out, const cli_arguments *a, uint32_t i)
{
    const rg_param *p = &a->params[i];
    int64_t shape[RG_MAX_RANK];
    str_addz(out, p->written ? "zeros" : "ones");
    if (p->fixed + 1 == 1u << p->rank)
        return;
    bool known = rg_args_get_shape(a->args, i, shape) == RG_OK;
    for (uint32_t k = 0; k < p->rank; k++)
        str_addf(out, "%c%lld", k ? ',' : ':',
                 (long long)(known && shape[k] >= 0 ? shape[k] : api_likely_extent(a->kernel, a->args->slots)));
}

static void
add_names(str *out, const cli_arguments *a)
{
    const char *between = "";
    for (uint32_t i = 0; i < a->n; i++) {
        if (!is_missing(a, i))
            continue;
        str_addf(out, "%s`%s` (", between, a->params[i].name.ptr);
        cli_add_type(out, a->kernel->fn, i);
        str_addc(out, ')');
        between = ", ";
    }
}

static void
add_line(str *out, const cli_arguments *a, const cli_command *command, int argc, char **argv)
{
    str_addf(out, "rgc %s", command->name);
    for (int i = 0; i < argc; i++) {
        str_addc(out, ' ');
        add_word(out, argv[i]);
    }
    for (uint32_t i = 0; i < a->n; i++) {
        if (!is_missing(a, i))
            continue;
        str_addf(out, " %s=", a->params[i].name.ptr);
        if (a->params[i].array)
            add_array(out, a, i);
        else
            add_scalar(out, &a->params[i]);
    }
}

void
cli_arguments_need_all(cli_arguments *a, const cli_command *command, int argc, char **argv)
{
    uint32_t first = 0;
    while (first < a->n && !is_missing(a, first))
        first++;
    if (first == a->n)
        return;
    for (uint32_t i = 0; i < a->n; i++) /* extents follow from scalars, given or suggested */
        if (is_missing(a, i) && !a->params[i].array && a->params[i].dtype < RG_F16)
            cli_need(rg_args_set_int_at(a->args, i, a->params[i].dtype == RG_BOOL ? 1 : API_DEFAULT_INTEGER));
    str names = {.in = mem_scratch()}, line = {.in = mem_scratch()};
    add_names(&names, a);
    add_line(&line, a, command, argc, argv);
    cli_fail("kernel `%s` has parameters that are not given: %s\n  = help: for example\n    %s", a->kernel->fn->name,
             names.ptr, line.ptr);
}

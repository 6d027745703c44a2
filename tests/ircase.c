/* Cases in IR text: reading, running, checking. SPDX-License-Identifier: Apache-2.0 */
#include "ircase.h"

#include <dirent.h>
#include <math.h>

const char *
ircase_line(const ircase *c, const char *word, size_t *at, size_t *len)
{
    size_t n = strlen(word);
    while (*at < c->text.len) {
        const char *line = c->text.ptr + *at, *end = strchr(line, '\n');
        size_t length = end ? (size_t)(end - line) : strlen(line);
        *at += length + 1;
        if (length > 2 + n && line[0] == ';' && strncmp(line + 2, word, n) == 0 &&
            line[2 + n] == ' ') {
            *len = length - 3 - n;
            return line + 3 + n;
        }
    }
    return NULL;
}

static const char *
first_line(const ircase *c, const char *word, size_t *len)
{
    size_t at = 0;
    return ircase_line(c, word, &at, len);
}

static unsigned
plane_of(const char *suffix)
{
    static const char *const names[] = {"", ".adj", ".tan", ".adj.tan", ".tan2"};
    for (unsigned k = 0; k < countof(names); k++)
        if (strcmp(suffix, names[k]) == 0)
            return k;
    return RT_PLANES;
}

/* One comment: NAME[EXTENTS].PLANE = VALUES */
typedef struct entry {
    uint32_t param;
    unsigned plane;
    rg_dtype dtype;
    uint32_t rank;
    int64_t extent[RT_RANK];
    const char *values, *end;
} entry;

static bool
find_param(const ircase *c, const char *name, entry *e)
{
    for (uint32_t k = 0; k < c->fn->body->nparams; k++) {
        if (strcmp(c->fn->params[k].name, name) == 0) {
            e->param = k;
            e->dtype = (rg_dtype)c->fn->body->params[k]->type.dtype;
            return true;
        }
    }
    const ir_op *yield = ir_terminator(c->fn->body);
    unsigned number = name[6] ? (unsigned)atoi(name + 6) : 0;
    if (strncmp(name, "return", 6) != 0 || number >= yield->nargs)
        return false;
    e->param = c->fn->body->nparams + number;
    e->dtype = (rg_dtype)yield->args[number]->type.dtype;
    return true;
}

static bool
parse_entry(const ircase *c, const char *line, size_t len, entry *e)
{
    char name[64], plane[32] = "";
    size_t n = strcspn(line, "[.= ");
    *e = (entry){.end = line + len};
    snprintf(name, sizeof name, "%.*s", (int)n, line);
    const char *p = line + n;
    if (*p == '[')
        do {
            char *after;
            e->extent[e->rank++] = strtoll(p + 1, &after, 10);
            p = after;
        } while (*p == ',');
    p += *p == ']';
    n = strcspn(p, "= ");
    snprintf(plane, sizeof plane, "%.*s", (int)n, p);
    e->plane = plane_of(plane);
    e->values = memchr(p, '=', (size_t)(e->end - p));
    if (!e->values || e->plane == RT_PLANES || !find_param(c, name, e)) {
        fprintf(stderr, "%s: cannot read: %.*s\n", c->path, (int)len, line);
        return false;
    }
    e->values++;
    return true;
}

/* The next value; the last one repeats. */
static uint64_t
next_value(entry *e, uint64_t last)
{
    char *after;
    while (e->values < e->end && *e->values == ' ')
        e->values++;
    if (e->values >= e->end)
        return last;
    uint64_t bits;
    if (ir_is_float(e->dtype))
        bits = ir_float_bits(e->dtype, strtod(e->values, &after));
    else
        bits = ir_wrap(e->dtype, *e->values == '-' ? (uint64_t)strtoll(e->values, &after, 0)
                                                   : strtoull(e->values, &after, 0));
    e->values = after;
    return bits;
}

static int64_t
count_elements(const ircase *c, uint32_t param)
{
    int64_t total = 1;
    const rt_arg *arg = &c->args[param];
    if (param < c->fn->body->nparams)
        for (unsigned k = 0; k < c->fn->body->params[param]->type.rank; k++)
            total *= arg->extent[k];
    return total;
}

static uint64_t
read_bits(rg_dtype d, const char *at)
{
    uint64_t bits = 0;
    memcpy(&bits, at, ir_bytes(d));
    return ir_is_float(d) ? bits : ir_wrap(d, bits);
}

static void
set_extents(ircase *c, const entry *e)
{
    rt_arg *arg = &c->args[e->param];
    int64_t stride = 1;
    for (unsigned k = e->rank; k-- > 0;) {
        arg->extent[k] = e->extent[k];
        arg->stride[k] = stride;
        stride *= e->extent[k];
    }
}

static void
fill(ircase *c, entry *e)
{
    rt_arg *arg = &c->args[e->param];
    bool scalar = e->param < c->fn->body->nparams &&
                  c->fn->body->params[e->param]->type.kind == IR_SCALAR && e->plane == 0;
    uint64_t bits = 0;
    if (scalar) {
        arg->bits = next_value(e, 0);
        return;
    }
    int64_t total = count_elements(c, e->param);
    arg->plane[e->plane] = mem_zalloc((size_t)total * 8 + 8);
    for (int64_t k = 0; k < total; k++) {
        bits = next_value(e, bits);
        memcpy((char *)arg->plane[e->plane] + k * ir_bytes(e->dtype), &bits, ir_bytes(e->dtype));
    }
}

static void
free_arguments(ircase *c)
{
    for (uint32_t k = 0; k < c->nargs; k++)
        for (unsigned plane = 0; plane < RT_PLANES; plane++)
            mem_free(c->args[k].plane[plane]);
    mem_free(c->args);
    c->args = NULL;
    c->nargs = 0;
}

bool
ircase_arguments(ircase *c)
{
    size_t at = 0, len;
    free_arguments(c);
    uint32_t nresults = ir_terminator(c->fn->body)->nargs;
    c->nargs = c->fn->body->nparams + nresults;
    c->args = mem_zalloc(sizeof *c->args * (c->nargs + 1));
    for (uint32_t k = 0; k < nresults; k++)
        c->args[c->fn->body->nparams + k].plane[0] = mem_zalloc(8);
    for (const char *line; (line = ircase_line(c, "arg", &at, &len));) {
        entry e;
        if (!parse_entry(c, line, len, &e))
            return false;
        if (e.rank)
            set_extents(c, &e);
        fill(c, &e);
    }
    return true;
}

bool
ircase_open(ircase *c, const char *path)
{
    size_t len;
    *c = (ircase){.path = path};
    if (file_read(path, &c->text) != RG_OK) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return false;
    }
    const char *stage = first_line(c, "stage", &len);
    if (!stage)
        stage = first_line(c, "stage:", &len);
    if (stage)
        c->stage = strncmp(stage, "ad", 2) == 0     ? IR_STAGE_AD
                   : strncmp(stage, "tape", 4) == 0 ? IR_STAGE_TAPE
                   : strncmp(stage, "slot", 4) == 0 ? IR_STAGE_SLOTS
                                                    : IR_STAGE_SOURCE;
    const char *tolerance = first_line(c, "tolerance", &len),
               *budget = first_line(c, "budget", &len);
    c->tolerance = tolerance ? strtod(tolerance, NULL) : 0;
    c->budget = budget ? atoll(budget) : 0;
    c->module = ir_parse(str_view(&c->text), path, &c->diags);
    for (ir_fn *fn = c->module ? c->module->first : NULL; fn; fn = fn->next)
        c->fn = fn->kernel ? fn : c->fn;
    if (c->fn)
        c->module->target = first_line(c, "simt", &len) ? &target_nvidia : c->module->target;
    if (!c->fn || !ir_verify(c->module, c->stage, NULL, &c->diags)) {
        fprintf(stderr, "%s: not valid\n%s\n", path, c->diags.text.ptr ? c->diags.text.ptr : "");
        return false;
    }
    return true;
}

void
ircase_close(ircase *c)
{
    free_arguments(c);
    ir_module_free(c->module);
    diag_free(&c->diags);
    str_free(&c->text);
    str_free(&c->printed);
}

static void
note_print(void *user, const char *text, size_t length)
{
    str_add(user, (rg_str){text, length});
}

void
ircase_run(ircase *c)
{
    c->printed.len = 0;
    c->fault = RT_FAULT_ASSERT;
    if (!ircase_arguments(c))
        return;
    interp_options options = {
        .step_limit = 1u << 24, .budget = c->budget, .sink = {note_print, &c->printed}};
    c->fault = interp_run(c->fn, c->args, &options, &c->report);
}

/* -- checking
 * ----------------------------------------------------------------------------------------- */

static bool
close_enough(rg_dtype d, uint64_t have, uint64_t want, double tolerance)
{
    if (have == want)
        return true;
    if (!ir_is_float(d))
        return false;
    double x = ir_bits_float(d, have), y = ir_bits_float(d, want);
    return (isnan(x) && isnan(y)) || fabs(x - y) <= tolerance * fmax(fabs(x), fabs(y));
}

static bool
check_entry(const ircase *c, entry *e, const char *when)
{
    const char *at = c->args[e->param].plane[e->plane];
    bool good = true;
    uint64_t want = 0;
    for (int64_t k = 0; at && good && k < count_elements(c, e->param); k++) {
        want = next_value(e, want);
        uint64_t have = read_bits(e->dtype, at + k * ir_bytes(e->dtype));
        good = close_enough(e->dtype, have, want, c->tolerance);
        if (!good && ir_is_float(e->dtype))
            fprintf(stderr, "%s: %s: element %lld is %.17g, not %.17g\n", c->path, when,
                    (long long)k, ir_bits_float(e->dtype, have), ir_bits_float(e->dtype, want));
        else if (!good)
            fprintf(stderr, "%s: %s: element %lld is %lld, not %lld\n", c->path, when, (long long)k,
                    (long long)have, (long long)want);
    }
    return good && at;
}

static bool
check_fault(const ircase *c, const char *when)
{
    size_t len;
    const char *text = first_line(c, "fault", &len);
    char want[256];
    snprintf(want, sizeof want, "%.*s", text ? (int)len : 0, text ? text : "");
    if (text ? c->fault != RT_OK && strstr(c->report.message, want) : c->fault == RT_OK)
        return true;
    fprintf(stderr, "%s: %s: fault %d: %s (line %u)\n", c->path, when, (int)c->fault,
            c->report.message, c->report.loc.line);
    return false;
}

static bool
check_print(const ircase *c, const char *when)
{
    size_t len, at = 0;
    str want = {0};
    const char *text = first_line(c, "print", &len);
    for (; text && at < len; at++) {
        bool newline = text[at] == '\\' && at + 1 < len && text[at + 1] == 'n';
        str_addc(&want, newline ? '\n' : text[at]);
        at += newline;
    }
    bool good = str_eq(str_view(&want), str_view(&c->printed));
    if (!good)
        fprintf(stderr, "%s: %s: printed \"%.*s\"\n", c->path, when, (int)c->printed.len,
                c->printed.ptr);
    str_free(&want);
    return good;
}

bool
ircase_check(ircase *c, const char *when)
{
    size_t at = 0, len;
    bool good = check_fault(c, when) && check_print(c, when);
    for (const char *line; good && (line = ircase_line(c, "want", &at, &len));) {
        entry e;
        good = parse_entry(c, line, len, &e) && check_entry(c, &e, when);
        if (!good)
            fprintf(stderr, "%s: %s: want %.*s\n", c->path, when, (int)len, line);
    }
    return good;
}

/* -- folders
 * ------------------------------------------------------------------------------------------- */

static int
is_case(const struct dirent *d)
{
    const char *dot = strrchr(d->d_name, '.');
    return dot && strcmp(dot, ".rg") == 0;
}

int
ircase_each(const char *folder, int (*each)(const char *path))
{
    struct dirent **files;
    int n = scandir(folder, &files, is_case, alphasort), sum = 0;
    if (n <= 0) {
        fprintf(stderr, "%s: no cases\n", folder);
        return 1;
    }
    for (int k = 0; k < n; k++) {
        str path = {0};
        str_addf(&path, "%s/%s", folder, files[k]->d_name);
        sum += each(path.ptr);
        str_free(&path);
        free(files[k]);
    }
    free(files);
    return sum;
}

/* See scan.h. SPDX-License-Identifier: Apache-2.0
 *
 * The library checks itself here: compiled code has the bits of the functions (math_test), and a double function that is
 * right to a few units is as good as the truth for float. What is found large is looked at again elsewhere. */
#include "scan.h"

#include "../queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char source[] =
    "#include \"math/rgm.h\"\n"
    "double scan(uint32_t first, int n) {\n"
    "    double worst = 0;\n"
    "    #pragma omp parallel for reduction(max: worst)\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        float x = rgm_from_bitsf(first + (uint32_t)i), y = FUNCTIONf(x);\n"
    "        double r = FUNCTION((double)x);\n"
    "        double unit = rgm_from_bits((rgm_bits(r) & 0x7ff0000000000000u) - 0x0170000000000000u);\n"
    "        double error = fabs((double)y - r) / (fabs(r) < 0x1p-126 ? 0x1p-149 : unit);\n"
    "        error = error == error ? error : INFINITY;\n"
    "        error = (float)r == y || (r != r && y != y) ? 0 : error;\n"
    "        worst = fmax(worst, error);\n"
    "    }\n"
    "    return worst;\n"
    "}\n";

struct scan {
    rg_queue *queue;
    rg_module *module;
    rg_kernel *kernel;
    rg_args *args;
    rg_array *result;
};

static char *
source_for(const char *name)
{
    static const char word[] = "FUNCTION";
    char *text = calloc(1, sizeof source + 4 * strlen(name));
    char *end = text;
    for (const char *p = source; *p;) {
        if (strncmp(p, word, sizeof word - 1) == 0) {
            end += sprintf(end, "%s", name);
            p += sizeof word - 1;
        } else {
            *end++ = *p++;
        }
    }
    return text;
}

static bool
prepare(scan *s, const char *name)
{
    char *text = source_for(name);
    rg_str include = rg_str_of(TEST_SOURCES);
    rg_module_desc desc = RG_DESC(rg_module_desc, .include_paths = &include, .include_count = 1);
    rg_array_desc result = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 0);
    bool ok = !queue_open("cpu", &RG_DESC(rg_queue_desc, .num_threads = 1), &s->queue) &&
              !rg_module_from_c(rg_str_of(text), &desc, &s->module) &&
              !rg_module_get_kernel(s->module, RG_STR("scan"), &s->kernel) && !rg_args_create(s->queue, s->kernel, &s->args) &&
              !rg_array_create(s->queue, &result, &s->result) &&
              !rg_args_set_array(s->args, RG_STR("return"), s->result);
    free(text);
    return ok;
}

scan *
scan_open(const char *name)
{
    scan *s = calloc(1, sizeof *s);
    setenv("RG_LANES", "16", 0);
    if (prepare(s, name))
        return s;
    fprintf(stderr, "%s: %s\n", name, rg_error_message());
    scan_close(s);
    return NULL;
}

void
scan_close(scan *s)
{
    if (!s)
        return;
    rg_array_destroy(s->result);
    rg_args_destroy(s->args);
    rg_module_destroy(s->module);
    rg_queue_destroy(s->queue);
    free(s);
}

double
scan_block(scan *s, uint32_t first, uint32_t count)
{
    double worst = 0;
    if (rg_args_set_int(s->args, RG_STR("first"), first) || rg_args_set_int(s->args, RG_STR("n"), count) ||
        rg_launch(s->queue, s->args, RG_FORWARD) || rg_array_read(s->queue, s->result, RG_PRIMAL, &worst, sizeof worst)) {
        fprintf(stderr, "%s\n", rg_error_message());
        abort();
    }
    return worst;
}

/* gpu_bench [--device NAME] [--only PART]... [--scale F] [--repeat N] [--kernels FILE] [--unseen FOLDER]
 * [--kernel NAME] [--math own|native|fast] [--hand LIBRARY] [--probes FOLDER]: Retrograd's gradients beside others, on a GPU
 * in one run. SPDX-License-Identifier: Apache-2.0
 *
 * Times are medians of the device's own time; on devices other than cuda they are the host's, of several launches one behind the
 * other. LIBRARY has the adjoints by hand (hand/hand.h), FOLDER what the probes printed, NAME.txt for each. The exit status says
 * whether all
 * results were right. */
#include "machine.h"
#include "parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    bool (*measure)(const settings *s);
} parts[] = {{"probes", part_probes},
             {"adjoints", part_adjoints},
             {"unseen", part_unseen},
             {"tape", part_tape},
             {"launches", part_launches},
             {"transfers", part_transfers},
             {"graph", part_graph},
             {"fixed", part_fixed},
             {"compile", part_compile}};
enum { PARTS = sizeof parts / sizeof *parts };

static int
usage(void)
{
    fprintf(stderr, "usage: gpu_bench [--device NAME] [--only PART]... [--scale F] [--repeat N] [--kernels FILE]\n"
                    "                 [--unseen FOLDER] [--kernel NAME] [--math own|native|fast] [--hand LIBRARY] [--probes FOLDER]\nparts:");
    for (unsigned k = 0; k < PARTS; k++)
        fprintf(stderr, " %s", parts[k].name);
    fprintf(stderr, "\n");
    return 2;
}

static bool
choose(const char *name, bool *chosen)
{
    for (unsigned k = 0; k < PARTS; k++)
        if (strcmp(parts[k].name, name) == 0)
            return chosen[k] = true;
    return false;
}

static bool
read_options(settings *s, bool *chosen, int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *name = argv[i], *value = argv[i + 1];
        if (strcmp(name, "--device") == 0)
            s->device = value;
        else if (strcmp(name, "--kernels") == 0)
            s->kernels = value;
        else if (strcmp(name, "--unseen") == 0)
            s->unseen = value;
        else if (strcmp(name, "--hand") == 0)
            s->hand = value;
        else if (strcmp(name, "--probes") == 0)
            s->probes = value;
        else if (strcmp(name, "--scale") == 0)
            s->scale = strtod(value, NULL);
        else if (strcmp(name, "--kernel") == 0)
            s->kernel = value;
        else if (strcmp(name, "--math") == 0)
            s->math = value;
        else if (strcmp(name, "--repeat") == 0)
            s->repeat = (unsigned)strtoul(value, NULL, 10);
        else if (strcmp(name, "--only") != 0 || !choose(value, chosen))
            return false;
    }
    return argc % 2 == 1 && s->scale > 0.0 && s->repeat > 0;
}

int
main(int argc, char **argv)
{
    setenv("RG_CACHE", "off", 0); /* what is compiled is compiled */
    settings s = {.device = "cuda", .kernels = GPU_KERNELS, .unseen = GPU_UNSEEN, .scale = 1.0, .repeat = 9};
    bool chosen[PARTS] = {false}, some = false, good = true;
    if (!read_options(&s, chosen, argc, argv))
        return usage();
    if (!machine_open(s.device))
        return 1;
    for (unsigned k = 0; k < PARTS; k++)
        some |= chosen[k];
    printf("%s; medians of %u\n", machine_name(), s.repeat);
    for (unsigned k = 0; k < PARTS; k++)
        if (!some || chosen[k]) {
            bool right = parts[k].measure(&s);
            if (!right)
                printf("%s: results are WRONG or missing\n", parts[k].name);
            fflush(stdout);
            good &= right;
        }
    machine_close();
    return good ? 0 : 1;
}

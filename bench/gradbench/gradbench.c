/* NAME INPUT.json FUNCTION: one function of one eval, as the suite's tools answer: the output as a
 * line of JSON, then a line for each timing. SPDX-License-Identifier: Apache-2.0
 *
 *     gradbench NAME INPUT.json FUNCTION    the same, under a name that is no eval's
 *     gradbench --compare FOLDER            against golden outputs
 *     gradbench --ratios [FOLDER] [--only NAME]   derivative over primal */
#include "modes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long long
nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

typedef struct timings {
    long long prepare, *evaluate;
    size_t count;
} timings;

/* Runs until both limits of the input are reached. */
static void
evaluate(eval *e, const eval_function *f, const json *input, timings *t)
{
    const json *runs = json_get(input, "min_runs"), *seconds = json_get(input, "min_seconds");
    long long least = runs ? (long long)runs->number : 1, spent = 0;
    double enough = seconds ? seconds->number : 0.0;
    while (t->count == 0 || (long long)t->count < least || 1e-9 * (double)spent < enough) {
        t->evaluate = realloc(t->evaluate, (t->count + 1) * sizeof *t->evaluate);
        long long start = nanoseconds();
        f->run(e);
        t->evaluate[t->count] = nanoseconds() - start;
        spent += t->evaluate[t->count++];
    }
}

static int
answer(const char *name, const char *path, const char *function)
{
    const eval_kind *kind = eval_find(name);
    const eval_function *f = kind ? eval_find_function(kind, function) : NULL;
    json input;
    if (!f) {
        fprintf(stderr,
                kind ? "gradbench: %s has no function %s\n" : "gradbench: no eval is called %s\n",
                name, function);
        return 2;
    }
    if (!json_read(path, &input)) {
        json_free(&input);
        return 1;
    }
    eval e;
    line out = {0};
    timings t = {0};
    long long start = nanoseconds();
    eval_open(&e, kind, &input);
    f->run(&e); /* compiles */
    t.prepare = nanoseconds() - start;
    evaluate(&e, f, &input, &t);
    f->print(&e, &out);
    printf("%s\n{\"name\": \"prepare\", \"nanoseconds\": %lld}\n", out.text, t.prepare);
    for (size_t k = 0; k < t.count; k++)
        printf("{\"name\": \"evaluate\", \"nanoseconds\": %lld}\n", t.evaluate[k]);
    free(t.evaluate);
    free(out.text);
    eval_close(&e);
    json_free(&input);
    return 0;
}

static int
show_ratios(int argc, char **argv)
{
    const char *folder = NULL, *only = NULL;
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            only = argv[++i];
        else
            folder = argv[i];
    return ratios_all(folder, only);
}

int
main(int argc, char **argv)
{
    setenv("RG_CACHE", "off", 0); /* what is compiled is compiled */
    const char *slash = strrchr(argv[0], '/'), *own = slash ? slash + 1 : argv[0];
    if (argc == 3 && eval_find(own))
        return answer(own, argv[1], argv[2]);
    if (argc == 3 && strcmp(argv[1], "--compare") == 0)
        return compare_all(argv[2]);
    if (argc >= 2 && strcmp(argv[1], "--ratios") == 0)
        return show_ratios(argc, argv);
    if (argc == 4)
        return answer(argv[1], argv[2], argv[3]);
    fprintf(stderr, "usage: NAME INPUT.json FUNCTION\n"
                    "       gradbench NAME INPUT.json FUNCTION\n"
                    "       gradbench --compare FOLDER\n"
                    "       gradbench --ratios [FOLDER] [--only NAME]\n");
    return 2;
}

/* gradbench EVAL INPUT.json FUNCTION: one function of one eval, as the suite's tools answer: the
 * output as a line of JSON, then a line for each timing. gradbench --compare FOLDER: every golden
 * output FOLDER/gold/EVAL_*.json of the five evals against what we compute from the input that it
 * names. SPDX-License-Identifier: Apache-2.0 */
#include "evals.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long
nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static bool
read_json(const char *path, json *out)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t size = 0, capacity = 0, fault;
    *out = (json){JSON_NULL};
    if (!file) {
        fprintf(stderr, "gradbench: cannot open %s\n", path);
        return false;
    }
    do {
        capacity = 2 * capacity + (1 << 16);
        text = realloc(text, capacity + 1);
        size += fread(text + size, 1, capacity - size, file);
    } while (size == capacity);
    text[size] = 0;
    fclose(file);
    bool good = json_parse(text, out, &fault);
    if (!good)
        fprintf(stderr, "gradbench: %s is not JSON at byte %zu\n", path, fault);
    free(text);
    return good;
}

static const eval_kind *
find_kind(const char *name)
{
    for (size_t k = 0; k < eval_kind_count; k++)
        if (strcmp(eval_kinds[k].name, name) == 0)
            return &eval_kinds[k];
    return NULL;
}

static int
run_one(const char *name, const char *path, const char *function)
{
    const eval_kind *kind = find_kind(name);
    json input;
    eval e;
    line out = {0};
    if (!kind) {
        fprintf(stderr, "gradbench: no eval is called %s\n", name);
        return 2;
    }
    bool gradient = strcmp(function, kind->gradient) == 0;
    if (!gradient && strcmp(function, kind->primal) != 0) {
        fprintf(stderr, "gradbench: %s has the functions %s and %s\n", name, kind->primal,
                kind->gradient);
        return 2;
    }
    if (!read_json(path, &input))
        return 1;
    const json *runs = json_get(&input, "min_runs"), *seconds = json_get(&input, "min_seconds");
    long long least = runs ? (long long)runs->number : 1, start = nanoseconds(), spent = 0;
    double enough = seconds ? seconds->number : 0.0;
    eval_open(&e, kind, &input, GRADBENCH_KERNELS);
    (gradient ? kind->run_gradient : kind->run_primal)(&e); /* compiles */
    long long prepared = nanoseconds() - start, *times = NULL;
    size_t count = 0;
    while (count == 0 || (long long)count < least || 1e-9 * (double)spent < enough) {
        times = realloc(times, (count + 1) * sizeof *times);
        start = nanoseconds();
        (gradient ? kind->run_gradient : kind->run_primal)(&e);
        times[count] = nanoseconds() - start;
        spent += times[count++];
    }
    (gradient ? kind->print_gradient : kind->print_primal)(&e, &out);
    printf("%s\n{\"name\": \"prepare\", \"nanoseconds\": %lld}\n", out.text, prepared);
    for (size_t k = 0; k < count; k++)
        printf("{\"name\": \"evaluate\", \"nanoseconds\": %lld}\n", times[k]);
    free(times);
    free(out.text);
    eval_close(&e);
    json_free(&input);
    return 0;
}

/* Worst relative difference of two trees of numbers; infinite where their shapes differ. Components
 * that are zero but for rounding are measured by the largest one beside them. */
static double
difference(const json *a, const json *b, double scale)
{
    double worst = 0.0, beside = 0.0;
    if (a->kind != b->kind)
        return INFINITY;
    if (a->kind == JSON_NUMBER) {
        double size = fmax(fmax(fabs(a->number), fabs(b->number)), 1e-6 * scale);
        return a->number == b->number ? 0.0 : fabs(a->number - b->number) / size;
    }
    if (a->count != b->count)
        return INFINITY;
    for (size_t i = 0; i < a->count; i++)
        if (a->items[i].kind == JSON_NUMBER)
            beside = fmax(beside, fabs(a->items[i].number));
    for (size_t i = 0; i < a->count; i++) {
        const json *other = a->kind == JSON_OBJECT ? json_get(b, a->keys[i]) : &b->items[i];
        double d = other ? difference(&a->items[i], other, fmax(scale, beside)) : INFINITY;
        worst = isnan(d) ? INFINITY : fmax(worst, d);
    }
    return worst;
}

/* -1: not one of ours; 0: agrees; 1: does not. */
static int
compare_one(const char *folder, const char *path)
{
    json gold, input, ours;
    size_t fault;
    char name[1024];
    line out = {0};
    if (!read_json(path, &gold))
        return 1;
    const json *which = json_get(&gold, "eval"), *file = json_get(&gold, "input");
    const json *function = json_get(&gold, "function"), *want = json_get(&gold, "output");
    const eval_kind *kind = which && which->string ? find_kind(which->string) : NULL;
    if (!kind || !file || !file->string || !function || !function->string || !want) {
        json_free(&gold);
        return -1;
    }
    snprintf(name, sizeof name, "%s/%s", folder, file->string);
    bool good = read_json(name, &input);
    double worst = INFINITY;
    if (good) {
        eval e;
        bool gradient = strcmp(function->string, kind->gradient) == 0;
        eval_open(&e, kind, &input, GRADBENCH_KERNELS);
        (gradient ? kind->run_gradient : kind->run_primal)(&e);
        (gradient ? kind->print_gradient : kind->print_primal)(&e, &out);
        if (json_parse(out.text, &ours, &fault))
            worst = difference(want, &ours, 0.0);
        json_free(&ours);
        eval_close(&e);
        free(out.text);
    }
    good = worst <= 1e-8;
    printf("%-8s %-10s %-24s %9.2e %s\n", kind->name, function->string, file->string, worst,
           good ? "" : "DIFFERS");
    json_free(&input);
    json_free(&gold);
    return !good;
}

static int
compare_all(const char *folder)
{
    char pattern[1024];
    glob_t files = {0};
    unsigned agree = 0, differ = 0;
    snprintf(pattern, sizeof pattern, "%s/gold/*.json", folder);
    glob(pattern, 0, NULL, &files);
    for (size_t k = 0; k < files.gl_pathc; k++) {
        int result = compare_one(folder, files.gl_pathv[k]);
        agree += result == 0;
        differ += result == 1;
    }
    globfree(&files);
    printf("%u agree to 1e-8, %u differ\n", agree, differ);
    return differ > 0 || agree == 0;
}

int
main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--compare") == 0)
        return compare_all(argv[2]);
    if (argc == 4)
        return run_one(argv[1], argv[2], argv[3]);
    fprintf(stderr,
            "usage: gradbench EVAL INPUT.json FUNCTION\n       gradbench --compare FOLDER\n");
    return 2;
}

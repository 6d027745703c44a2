/* Golden outputs: the files of FOLDER/gold each name an eval, an input and functions (a|b), and
 * hold what these give. SPDX-License-Identifier: Apache-2.0 */
#include "modes.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static double
difference_of(const eval_kind *kind, const eval_function *f, const json *input, const json *want)
{
    eval e;
    line out = {0};
    json ours;
    size_t fault;
    double worst = INFINITY;
    eval_open(&e, kind, input);
    f->run(&e);
    f->print(&e, &out);
    if (json_parse(out.text, &ours, &fault))
        worst = difference(want, &ours, 0.0);
    json_free(&ours);
    eval_close(&e);
    free(out.text);
    return worst;
}

typedef struct tally {
    unsigned agree, differ;
} tally;

/* All functions that the golden file names. */
static void
compare_with(const json *gold, const json *input, const eval_kind *kind, tally *t)
{
    char *names = strdup(json_get(gold, "function")->string), *rest = names, *name;
    while ((name = strsep(&rest, "|"))) {
        const eval_function *f = eval_find_function(kind, name);
        double worst = f ? difference_of(kind, f, input, json_get(gold, "output")) : INFINITY;
        bool good = worst <= 1e-8;
        t->agree += good;
        t->differ += !good;
        printf("%-8s %-10s %-24s %9.2e %s\n", kind->name, name, json_get(gold, "input")->string,
               worst, good ? "" : "DIFFERS");
        fflush(stdout);
    }
    free(names);
}

static void
compare_file(const char *folder, const char *path, tally *t)
{
    static const char *const keys[] = {"eval", "input", "function"};
    json gold, input = {JSON_NULL};
    char name[1024];
    bool good = json_read(path, &gold);
    for (unsigned k = 0; k < 3; k++) {
        const json *text = json_get(&gold, keys[k]);
        good = good && text && text->string;
    }
    const eval_kind *kind = good ? eval_find(json_get(&gold, "eval")->string) : NULL;
    if (kind && json_get(&gold, "output")) {
        snprintf(name, sizeof name, "%s/%s", folder, json_get(&gold, "input")->string);
        if (json_read(name, &input))
            compare_with(&gold, &input, kind, t);
        else
            t->differ++;
    } else {
        printf("%s: no golden output of an eval\n", path);
        t->differ++;
    }
    json_free(&input);
    json_free(&gold);
}

int
compare_all(const char *folder)
{
    char pattern[1024];
    glob_t files = {0};
    tally t = {0};
    snprintf(pattern, sizeof pattern, "%s/gold/*.json", folder);
    glob(pattern, 0, NULL, &files);
    for (size_t k = 0; k < files.gl_pathc; k++)
        compare_file(folder, files.gl_pathv[k], &t);
    globfree(&files);
    printf("%u agree to 1e-8, %u differ\n", t.agree, t.differ);
    return t.differ > 0 || t.agree == 0;
}

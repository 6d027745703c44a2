/* See whole_oracle.h. SPDX-License-Identifier: Apache-2.0 */
#include "whole_oracle.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool
oracle_compile(const str *text, const char *library)
{
    const char *compiler = getenv("CXX");
    str source = {0}, command = {0}, all = {0};
    str_addf(&source, "%s.cpp", library);
    str_addz(&all, "#include \"dual.h\"\n");
    str_add(&all, str_view(text));
    str_addf(&command,
             "%s -std=c++17 -O0 -w -shared -fPIC -fno-exceptions -fno-rtti -ffp-contract=off -I'" TEST_SOURCES
             "/../tests/gen' -o '%s' '%s'",
             compiler && *compiler ? compiler : "g++", library, source.ptr);
    bool good = !file_write(source.ptr, all.ptr, all.len) && system(command.ptr) == 0;
    if (good)
        unlink(source.ptr);
    str_free(&source);
    str_free(&command);
    str_free(&all);
    return good;
}

void *
oracle_load(const char *library)
{
    return dlopen(library, RTLD_NOW | RTLD_LOCAL);
}

double
oracle_direction(const input *p, size_t i, unsigned k)
{
    if (!p->seed)
        return 0.0;
    return k == 0 ? p->tangent[i] : hash_unit(p->name, i, 40 + k);
}

static void
fill(place *to, const input *p, double step)
{
    to->count = (int64_t)p->count;
    if (!dtype_is_float(p->param.dtype)) {
        to->whole = calloc(p->count + 1, sizeof *to->whole);
        for (size_t i = 0; i < p->count; i++)
            to->whole[i] = (int32_t)element_get(p->param.dtype, p->initial, i);
        return;
    }
    to->value = calloc(p->count + 1, sizeof(double));
    to->tangent = calloc(ORACLE_DIRECTIONS * p->count + 1, sizeof(double));
    for (size_t i = 0; i < p->count; i++) {
        to->value[i] = element_get(p->param.dtype, p->initial, i) + step * oracle_direction(p, i, 0);
        for (unsigned k = 0; k < ORACLE_DIRECTIONS; k++)
            to->tangent[k * p->count + i] = oracle_direction(p, i, k);
    }
}

static bool
tells(const place *p)
{
    const double large = 1e9;
    for (int64_t i = 0; p->value && i < p->count; i++)
        if (!(fabs(p->value[i]) < large))
            return false;
    for (int64_t i = 0; p->value && i < p->count * ORACLE_DIRECTIONS; i++)
        if (!(fabs(p->tangent[i]) < large))
            return false;
    return true;
}

bool
oracle_run(void *library, const whole_program *p, inputs *in, double step, double roundings, oracle *out)
{
    char name[48];
    void (*run)(const place *, double, double *);
    snprintf(name, sizeof name, "oracle_%llu", (unsigned long long)p->seed);
    void *symbol = library ? dlsym(library, name) : NULL;
    *out = (oracle){.count = p->count, .finite = true};
    if (!symbol)
        return false;
    for (uint32_t k = 0; k < p->count; k++) {
        input *q = inputs_find(in, p->params[k].name);
        if (q)
            fill(&out->at[k], q, step);
    }
    memcpy(&run, &symbol, sizeof run);
    run(out->at, roundings, &out->gap);
    for (uint32_t k = 0; k < p->count; k++)
        out->finite = out->finite && tells(&out->at[k]);
    return true;
}

void
oracle_free(oracle *o)
{
    for (uint32_t k = 0; k < o->count; k++) {
        free(o->at[k].value);
        free(o->at[k].tangent);
        free(o->at[k].whole);
    }
    *o = (oracle){0};
}

static double
moved_by(const double *was, const double *is, int64_t n)
{
    double size = 1.0, most = 0.0;
    for (int64_t i = 0; was && i < n; i++)
        size = fmax(size, fabs(was[i]));
    for (int64_t i = 0; was && i < n; i++)
        most = fmax(most, fabs(was[i] - is[i]));
    return most / size;
}

double
oracle_moved_by(void *library, const whole_program *p, inputs *in, const oracle *o, double roundings)
{
    oracle moved;
    double most = oracle_run(library, p, in, 0.0, roundings, &moved) && moved.finite ? 0.0 : INFINITY;
    for (uint32_t k = 0; k < o->count && isfinite(most); k++) {
        const place *was = &o->at[k], *is = &moved.at[k];
        if (p->params[k].loose)
            continue;
        most = fmax(most, moved_by(was->value, is->value, was->count));
        for (int64_t i = 0; was->whole && i < was->count; i++)
            most = was->whole[i] == is->whole[i] ? most : INFINITY;
        for (unsigned d = 0; was->tangent && d < ORACLE_DIRECTIONS; d++)
            most = fmax(most, moved_by(was->tangent + d * was->count, is->tangent + d * was->count, was->count));
    }
    oracle_free(&moved);
    return most;
}

double
oracle_product(const oracle *o, const whole_program *p, inputs *in, unsigned direction, double *size)
{
    double sum = 0.0;
    *size = 0.0;
    for (uint32_t k = 0; k < p->count; k++) {
        const input *q = inputs_find(in, p->params[k].name);
        for (size_t i = 0; q && q->seed && i < q->count; i++) {
            double term = q->seed[i] * o->at[k].tangent[direction * q->count + i];
            sum += term;
            *size += fabs(term);
        }
    }
    return sum;
}

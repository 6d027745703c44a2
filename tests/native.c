/* See native.h. SPDX-License-Identifier: Apache-2.0 */
#include "native.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *
load_with(const char *compiler, char *const *files, int count)
{
    static const char flags[] = "-shared -fPIC -O0 -fwrapv -ffp-contract=off -fopenmp -fno-builtin "
                                "-fexcess-precision=16 -w -I'" TEST_INCLUDE "' "
                                "-I'" TEST_SOURCES "'";
    const char *names = getenv("RG_MATH");
    bool own = !names || strcmp(names, "native") != 0;
    char library[64];
    size_t size = 512 + sizeof flags + sizeof TEST_SOURCES + sizeof TEST_MATH + strlen(compiler);
    for (int i = 0; i < count; i++)
        size += strlen(files[i]) + 3;
    char *command = malloc(size), *end = command;
    snprintf(library, sizeof library, "/tmp/rg-cases-%ld.so", (long)getpid());
    end += sprintf(end, "%s %s -o %s", compiler, flags, library);
    if (own)
        end += sprintf(end, " -include '" TEST_SOURCES "/../tests/native_math.h'");
    for (int i = 0; i < count; i++)
        end += sprintf(end, " '%s'", files[i]);
    sprintf(end, " %s -lm", own ? "'" TEST_MATH "'" : "");
    void *handle = system(command) == 0 ? dlopen(library, RTLD_NOW | RTLD_LOCAL) : NULL;
    free(command);
    unlink(library);
    return handle;
}

/* $CC may be a clang that came without an OpenMP runtime. */
void *
native_load(char *const *files, int count)
{
    const char *compiler = getenv("CC");
    void *handle = compiler && *compiler ? load_with(compiler, files, count) : NULL;
    return handle ? handle : load_with("cc", files, count);
}

void
native_close(void *library)
{
    if (library)
        dlclose(library);
}

/* Sums over threads in thread order, like the one thread that small launches get. */
static void
one_thread(void *library)
{
    void (*set)(int);
    void *symbol = dlsym(library, "omp_set_num_threads");
    memcpy(&set, &symbol, sizeof set);
    if (set)
        set(1);
}

enum { WORDS = 24, REALS = 8 };

/* A call by the calling conventions of x86-64 and AArch64: integers and pointers take integer
 * registers and then the stack in order, the first eight floats have registers of their own. So any
 * kernel is called through a type that has the integers first. */
static bool
call(void *symbol, const int64_t *w, const double *x, rg_dtype result, void *out)
{
#define ARGUMENTS                                                                                  \
    w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13], w[14], \
        w[15], w[16], w[17], w[18], w[19], w[20], w[21], w[22], w[23], x[0], x[1], x[2], x[3],     \
        x[4], x[5], x[6], x[7]
#define W8    int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t
#define TYPES W8, W8, W8, double, double, double, double, double, double, double, double
    double (*real)(TYPES);
    float (*single)(TYPES);
    int64_t (*whole)(TYPES);
    memcpy(&real, &symbol, sizeof real);
    memcpy(&single, &symbol, sizeof single);
    memcpy(&whole, &symbol, sizeof whole);
    if (result == RG_F64) {
        *(double *)out = real(ARGUMENTS);
    } else if (result == RG_F32) {
        *(float *)out = single(ARGUMENTS);
    } else {
        int64_t v = whole(ARGUMENTS);
        memcpy(out, &v, result ? rg_dtype_size(result) : 8);
    }
    return true;
}

static char *
exchange(const char *variable, const char *value)
{
    const char *was = getenv(variable);
    char *kept = was ? strdup(was) : NULL;
    if (value)
        setenv(variable, value, 1);
    else
        unsetenv(variable);
    return kept;
}

rg_status
native_run(subject *s, const inputs *in)
{
    char *lanes = exchange("RG_LANES", "1");
    rg_status status = subject_reset(s, in);
    if (!status)
        status = subject_run(s, FORWARD);
    free(exchange("RG_LANES", lanes));
    free(lanes);
    return status;
}

static void
copy_field(const input *p, char *record, void *dense, bool in)
{
    size_t size = rg_dtype_size(p->param.dtype), inner = 1;
    for (uint32_t a = p->rank - p->param.inner_axes; a < p->rank; a++)
        inner *= (size_t)p->shape[a];
    for (size_t i = 0; i < p->count; i++) {
        char *field = record + i / inner * p->param.record_size + p->param.field_offset + i % inner * size;
        char *element = (char *)dense + i * size;
        memcpy(in ? field : element, in ? element : field, size);
    }
}

bool
native_compare(void *library, const char *kernel, const inputs *in, const subject *s, bool loose,
               report *r)
{
    void *memory[SUBJECT_PARAMS] = {0}, *records[SUBJECT_PARAMS] = {0},
         *symbol = dlsym(library, kernel);
    int64_t words[WORDS + 1] = {0};
    double reals[REALS + 1] = {0};
    unsigned nwords = 0, nreals = 0;
    rg_dtype result = RG_NONE;
    int64_t value = 0;
    bool good = true;
    if (!symbol)
        return complain(r, "gcc: no symbol %s", kernel);
    one_thread(library);
    for (uint32_t k = 0; k < in->count; k++) {
        const input *p = &in->at[k];
        size_t bytes = p->count * 8 + 8;
        memory[k] = memcpy(calloc(1, bytes), p->initial, p->count * rg_dtype_size(p->param.dtype));
        if (p->param.result)
            result = p->param.dtype;
        else if (p->param.record) {
            bool first = k == 0 || in->at[k - 1].param.record != p->param.record;
            records[k] = first ? calloc(p->count + 1, p->param.record_size) : records[k - 1];
            copy_field(p, records[k], memory[k], true);
            if (first)
                words[nwords++] = (int64_t)(intptr_t)records[k];
        } else if (p->param.array) {
            words[nwords++] = (int64_t)(intptr_t)memory[k];
        } else if (dtype_is_float(p->param.dtype)) {
            memcpy(&reals[nreals++], p->initial, rg_dtype_size(p->param.dtype));
        } else {
            words[nwords] = (int64_t)element_get(p->param.dtype, p->initial, 0);
            if (p->param.dtype == RG_I64 || p->param.dtype == RG_U64)
                memcpy(&words[nwords], p->initial, 8);
            nwords++;
        }
        if (nwords > WORDS || nreals > REALS)
            good = complain(r, "gcc: too many parameters");
    }
    good = good && call(symbol, words, reals, result, &value);
    for (uint32_t k = 0; k < in->count; k++) {
        const input *p = &in->at[k];
        void *ours = calloc(p->count + 1, 8);
        if (p->param.record)
            copy_field(p, records[k], memory[k], false);
        if (p->param.result)
            memcpy(memory[k], &value, rg_dtype_size(result));
        if (good && subject_read_raw(s, in, k, RG_PRIMAL, ours))
            good = (loose ? check_near : check_bits)(p, memory[k], ours,
                                                     "the C compiler's result and ours", r);
        free(ours);
    }
    for (uint32_t k = 0; k < in->count; k++) {
        if (records[k] && (k == 0 || records[k - 1] != records[k]))
            free(records[k]);
        free(memory[k]);
    }
    return good;
}

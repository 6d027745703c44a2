/* A kernel under test: its arguments with seeds and tangents, on one device, through the public
 * API. SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SUBJECT_H
#define TESTS_SUBJECT_H

#include <retrograd/retrograd.h>

enum { SUBJECT_PARAMS = 48 };

/* One parameter of the kernel and what it starts with. */
typedef struct input {
    rg_param param;
    char name[64];
    int64_t shape[RG_MAX_RANK];
    uint32_t rank;
    size_t count;    /* elements; 1 for a scalar */
    void *initial;   /* in the parameter's dtype, dense */
    double *seed;    /* adjoint of the memory after the kernel; NULL: integers */
    double *tangent; /* of the memory before it */
} input;

typedef struct inputs {
    uint32_t count;
    input at[SUBJECT_PARAMS];
} inputs;

/* Fills in the parameters' descriptions; the caller then calls inputs_shape for each. */
rg_status inputs_describe(inputs *in, const rg_kernel *kernel);
/* Allocates: initial zeroed, seeds and tangents random (the same for the same name). */
void inputs_shape(input *p, uint32_t rank, const int64_t *shape);
void inputs_free(inputs *in);
input *inputs_find(inputs *in, const char *name);
/* Element i from text or from a number, wrapped to the dtype; as a double. */
void input_set_text(input *p, size_t i, const char *text);
void input_set(input *p, size_t i, double value);
double element_get(rg_dtype dtype, const void *data, size_t i);
void element_set(rg_dtype dtype, void *data, size_t i, double value);
bool dtype_is_float(rg_dtype dtype);
/* A number in -1..1 that depends on its arguments alone. */
double hash_unit(const char *name, size_t i, unsigned salt);

/* How code is made of a source: float and _Float16 become double; rg_module_desc's checked, no_contraction and
 * deterministic. */
enum { CODE_WIDE = 1, CODE_CHECKED = 2, CODE_EXACT = 4, CODE_DETERMINISTIC = 8 };

/* Whether CODE_WIDE may be another program than the text is: it names what is widened, or includes a file that may. */
bool source_is_narrow(const char *text);
/* A C file, or source text if that is not NULL. */
rg_status subject_load(const char *path, const char *source, unsigned code, rg_module **module);

typedef struct subject {
    rg_queue *queue;
    rg_kernel *kernel;
    rg_args *args;
    rg_array *arrays[SUBJECT_PARAMS]; /* NULL: integer scalars */
    void *records[SUBJECT_PARAMS];    /* memory of arrays of structs, at their first field */
    bool lent[SUBJECT_PARAMS];
    bool second; /* adjoints have tangents */
    uint32_t count;
} subject;

typedef enum form { FORWARD, VJP, FORWARD_VJP, JVP, JVP_FORWARD_VJP, FORM_COUNT } form;

/* On failure rg_error_message() has the reason, and the subject is closed. */
rg_status subject_open(subject *s, rg_queue *queue, rg_module *module, const char *kernel,
                       const inputs *in);
void subject_close(subject *s);
/* The adjoints' tangents too, which only second derivatives need. */
rg_status subject_require_second(subject *s, const inputs *in);
/* Primals, adjoints and tangents as the inputs say; adjoints' tangents 0. */
rg_status subject_reset(subject *s, const inputs *in);
/* Launches and waits. */
rg_status subject_run(subject *s, form form);
/* All elements of a plane as doubles; false: there is none. */
bool subject_read(const subject *s, const inputs *in, uint32_t k, unsigned plane, double *out);
/* Their bytes, for comparisons of bits; scalars and absent planes: false. */
bool subject_read_raw(const subject *s, const inputs *in, uint32_t k, unsigned plane, void *out);

#endif

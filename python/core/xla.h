/* The parts of XLA's foreign function interface that are used here, by its public layout, version 0.3 (github.com/openxla/xla,
 * xla/ffi/api/c_api.h). SPDX-License-Identifier: Apache-2.0
 *
 * A handler gets a call frame, which has all it may use: the operands, results and attributes of a custom call, and the functions of the
 * runtime. Every struct begins with its size. */
#ifndef XLA_H
#define XLA_H

#include <stddef.h>
#include <stdint.h>

enum { XLA_MAJOR = 0, XLA_MINOR = 3 };

enum {
    XLA_PRED = 1, XLA_S8, XLA_S16, XLA_S32, XLA_S64, XLA_U8, XLA_U16, XLA_U32, XLA_U64, XLA_F16, XLA_F32, XLA_F64
};

typedef enum xla_code { XLA_CANCELLED = 1, XLA_INVALID_ARGUMENT = 3, XLA_NOT_FOUND = 5, XLA_RESOURCE_EXHAUSTED = 8, XLA_FAILED_PRECONDITION,
                        XLA_ABORTED, XLA_UNIMPLEMENTED = 12, XLA_INTERNAL } xla_code;

typedef enum xla_stage { XLA_INSTANTIATE, XLA_PREPARE, XLA_INITIALIZE, XLA_EXECUTE } xla_stage;

typedef struct xla_error xla_error;     /* NULL: none; XLA releases those that a handler returns */
typedef struct xla_context xla_context; /* of one execution */

typedef struct xla_extension {
    size_t struct_size;
    int type; /* 1: what follows is an xla_metadata *, to be filled in */
    struct xla_extension *next;
} xla_extension;

typedef struct xla_version {
    size_t struct_size;
    xla_extension *extensions;
    int major, minor;
} xla_version;

/* Of a type of states: what XLA calls when an executable with such a state ends. */
typedef struct xla_type_id {
    int64_t id; /* 0: not registered */
} xla_type_id;

typedef struct xla_type_info {
    size_t struct_size;
    xla_extension *extensions;
    void (*deleter)(void *state);
} xla_type_info;

typedef struct xla_metadata {
    size_t struct_size;
    xla_version version;
    uint32_t traits;
    xla_type_id state; /* of the stage's state */
} xla_metadata;

typedef struct xla_metadata_extension {
    xla_extension base;
    xla_metadata *metadata;
} xla_metadata_extension;

typedef struct xla_buffer {
    size_t struct_size;
    xla_extension *extensions;
    int dtype;
    void *data;
    int64_t rank;
    int64_t *dims;
} xla_buffer;

typedef struct xla_scalar {
    int dtype;
    void *value;
} xla_scalar;

typedef struct xla_span {
    const char *ptr;
    size_t len;
} xla_span;

typedef struct xla_buffers {
    size_t struct_size;
    xla_extension *extensions;
    int64_t size;
    int *types; /* 1: a buffer */
    xla_buffer **all;
} xla_buffers;

/* Sorted by name. */
typedef struct xla_attributes {
    size_t struct_size;
    xla_extension *extensions;
    int64_t size;
    int *types; /* 3: a scalar */
    xla_span **names;
    void **all;
} xla_attributes;

typedef struct xla_create_error {
    size_t struct_size;
    xla_extension *extensions;
    const char *message;
    xla_code code;
} xla_create_error;

typedef struct xla_state {
    size_t struct_size;
    xla_extension *extensions;
    xla_context *context;
    xla_stage stage; /* that sets it */
    xla_type_id *type;
    void *state;
} xla_state;

typedef struct xla_stream {
    size_t struct_size;
    xla_extension *extensions;
    xla_context *context;
    void *stream; /* a CUstream */
} xla_stream;

typedef struct xla_ordinal {
    size_t struct_size;
    xla_extension *extensions;
    xla_context *context;
    int32_t ordinal;
} xla_ordinal;

typedef struct xla_api {
    size_t struct_size;
    xla_extension *extensions;
    xla_version version;
    const void *internal;
    xla_error *(*create_error)(xla_create_error *args);
    void *error_message;
    void (*destroy_error)(void *args);
    void *register_handler;
    xla_error *(*get_stream)(xla_stream *args);
    void *register_type, *get_from_context;
    xla_error *(*set_state)(xla_state *args), *(*get_state)(xla_state *args);
    void *allocate, *release, *schedule, *thread_count, *create_future, *set_available, *set_error, *run_id;
    xla_error *(*get_ordinal)(xla_ordinal *args);
} xla_api;

typedef struct xla_frame {
    size_t struct_size;
    xla_extension *extensions;
    const xla_api *api;
    xla_context *context;
    xla_stage stage;
    xla_buffers operands, results;
    xla_attributes attributes;
    void *future;
} xla_frame;

#endif

/* Types shared by retrograd.h and build.h. SPDX-License-Identifier: Apache-2.0 */
#ifndef RETROGRAD_TYPES_H
#define RETROGRAD_TYPES_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define RG_MUST_CHECK __attribute__((warn_unused_result))
#define RG_API __attribute__((visibility("default")))
#else
#define RG_MUST_CHECK
#define RG_API
#endif

/* A string, not necessarily terminated by 0. The library copies the strings that it keeps. {NULL, 0} is the empty string. */
typedef struct rg_str {
    const char *ptr;
    size_t len;
} rg_str;

#ifdef __cplusplus
#define RG_STR(literal) (rg_str{(literal), sizeof(literal) - 1})
#else
#define RG_STR(literal) ((rg_str){(literal), sizeof(literal) - 1})
#endif

static inline rg_str
rg_str_of(const char *zero_terminated)
{
    rg_str s;
    s.ptr = zero_terminated;
    s.len = zero_terminated ? strlen(zero_terminated) : 0;
    return s;
}

typedef struct rg_device rg_device; /* a processor or GPU, its memory, the code compiled for it */
typedef struct rg_queue rg_queue;   /* launches and copies in order, the memory of their tapes, failures not yet reported */
typedef struct rg_array rg_array;   /* elements on a device, with adjoint and tangent on request */
typedef struct rg_module rg_module; /* source or IR that defines kernels */
typedef struct rg_kernel rg_kernel; /* one kernel; each derivative is compiled at its first launch */
typedef struct rg_args rg_args;     /* the arguments of a kernel, set once, launched often */
typedef struct rg_graph rg_graph;   /* a recorded sequence of launches, launched again as a whole */
typedef struct rg_tape rg_tape;     /* a record of launches that were done, for the gradient through all of them */
typedef struct rg_object rg_object; /* code of a kernel as bytes, compiled ahead of time */
typedef struct rg_report rg_report; /* the results of rg_kernel_check */
typedef struct rg_module_desc rg_module_desc;

/* The result of every function that can fail. rg_error_message() has the calling thread's last message. */
typedef enum rg_status {
    RG_OK = 0,
    RG_INVALID,       /* an argument is wrong: NULL, rank, dtype, shape, range, freed handle */
    RG_COMPILE,       /* source, IR or derivative was refused; the message is a list of numbered errors with their places */
    RG_UNSUPPORTED,   /* valid, but this device or build cannot do it */
    RG_NOT_FOUND,     /* no such file, kernel, parameter or device */
    RG_OUT_OF_MEMORY, /* host or device memory */
    RG_BUDGET,        /* a gradient's tape exceeds the budget; cpu, interp: arrays are unchanged; else unspecified contents of
                       * the arrays that the launch writes */
    RG_ASSERT,        /* an assert in a kernel failed, or a subscript was outside its array in checked mode */
    RG_DEVICE,        /* the driver reported an error */
    RG_IO,            /* reading or writing a file failed */
    RG_CANCELLED      /* rg_queue_cancel ended a launch; contents of arrays that it writes are unspecified */
} rg_status;

/* Element types. f16 is IEEE binary16; bool is one byte, 0 or 1. */
typedef enum rg_dtype {
    RG_NONE = 0,
    RG_BOOL,
    RG_I8,
    RG_U8,
    RG_I16,
    RG_U16,
    RG_I32,
    RG_U32,
    RG_I64,
    RG_U64,
    RG_F16,
    RG_F32,
    RG_F64,
    RG_DTYPE_COUNT
} rg_dtype;

enum { RG_MAX_RANK = 8 };
/* Threads of one queue on device cpu. */
enum { RG_MAX_THREADS = 4096 };

/* What a launch computes. vjp: the reverse derivative; jvp: the forward derivative. Effects: writes to primals. */
typedef enum rg_form {
    RG_FORWARD = 0,
    RG_VJP,            /* the reverse sweep, after an earlier forward launch; writes adjoints only. RG_COMPILE: the kernel overwrites
                        * a value that its reverse needs; RG_FORWARD_VJP takes such kernels */
    RG_FORWARD_VJP,    /* forward, with effects, and reverse in one launch; kernels that work in place, too */
    RG_JVP,            /* forward, with effects, and the tangents of the arrays that it writes */
    RG_JVP_VJP,        /* the jvp of RG_VJP: the adjoints' tangents (plane RG_ADJOINT | RG_TANGENT) along the tangents of primals and
                        * adjoints: Hessian-vector products */
    RG_JVP_FORWARD_VJP,/* the same of RG_FORWARD_VJP, with effects */
    RG_FORM_COUNT
} rg_form;

/* -- structs that may grow --------------------------------------------------------------------------
 * Descriptors and infos begin with their size, so that a program and a library of different versions can be used together: the
 * library reads and writes at most `size` bytes, and takes the fields that an older struct lacks for zero. A struct of a newer
 * header is refused (RG_INVALID) if it sets a field that this library does not know.
 *
 *     rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_F32, .rank = 1, .shape = {n});
 *     rg_array_info info = RG_INIT(rg_array_info);
 *
 * In C++: rg_array_desc desc = RG_INIT(rg_array_desc); desc.dtype = RG_F32; ... */
#ifdef __cplusplus
#define RG_INIT(type) (rg_init_struct<type>())
#else
#define RG_INIT(type) ((type){.size = sizeof(type)})
#define RG_DESC(type, ...) ((type){.size = sizeof(type), __VA_ARGS__})
#endif

/* A plane of an array: its values (primal) or a derivative. Bits combine: RG_ADJOINT | RG_TANGENT is the adjoint's tangent. */
enum { RG_PRIMAL = 0, RG_ADJOINT = 1, RG_TANGENT = 2, RG_TANGENT2 = 4, RG_PLANE_COUNT = 8 };

#ifdef __cplusplus
}
template <class T> T
rg_init_struct()
{
    T all = T();
    all.size = sizeof(T);
    return all;
}
#endif
#endif

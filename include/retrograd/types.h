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

/* A string that need not end with 0; the callee copies what it keeps. {NULL, 0} is the empty one. */
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

typedef struct rg_device rg_device; /* a processor or GPU, its memory, the code that was made for it */
typedef struct rg_queue rg_queue;   /* launches and copies in order, the memory for their tapes, their failures */
typedef struct rg_array rg_array;   /* elements on a device, with adjoint and tangent if asked for */
typedef struct rg_module rg_module; /* source or IR from which kernels come */
typedef struct rg_kernel rg_kernel; /* one kernel; its derivatives are compiled at first use */
typedef struct rg_args rg_args;     /* the arguments of a kernel, set once, launched often */
typedef struct rg_graph rg_graph;   /* launches that were recorded, done again as a whole */
typedef struct rg_tape rg_tape;     /* launches that were recorded while they were done, for the gradient of them all */
typedef struct rg_module_desc rg_module_desc;

/* What every fallible function returns. rg_error_message() holds the calling thread's last message. */
typedef enum rg_status {
    RG_OK = 0,
    RG_INVALID,       /* an argument is wrong: NULL, rank, dtype, shape, range, freed handle */
    RG_COMPILE,       /* source or IR was refused; the message is a numbered list with places */
    RG_UNSUPPORTED,   /* right, but this device or build cannot do it */
    RG_NOT_FOUND,     /* no such file, kernel, parameter or device */
    RG_OUT_OF_MEMORY, /* host or device memory */
    RG_BUDGET,        /* a gradient's tape does not fit the budget; arrays are as they were */
    RG_ASSERT,        /* an assert in a kernel failed, or an index left its array in checked mode */
    RG_DEVICE,        /* the driver reported an error */
    RG_IO,            /* reading or writing a file failed */
    RG_CANCELLED      /* a launch was ended before its end; contents of arrays that it writes are unspecified */
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
/* of one queue on device cpu */
enum { RG_MAX_THREADS = 4096 };

/* What a launch computes. VJP: the reverse derivative, JVP: the forward one. */
typedef enum rg_form {
    RG_FORWARD = 0,
    RG_VJP,            /* the reverse sweep after an earlier forward launch; writes adjoints only. Refused (RG_COMPILE)
                        * where a value that it needs was overwritten */
    RG_FORWARD_VJP,    /* forward, with its effects, and reverse in one launch; also for kernels that work in place. After
                        * RG_BUDGET arrays and adjoints are as they were; on devices with memory of their own the contents
                        * of those that the launch writes are unspecified */
    RG_JVP,            /* forward, with its effects, and the tangents of what it writes */
    RG_JVP_VJP,        /* the jvp of the two gradients: along the tangents of primals and adjoints, also the adjoint's */
    RG_JVP_FORWARD_VJP,/* tangent (plane RG_ADJOINT | RG_TANGENT), the product with the Hessian */
    RG_FORM_COUNT
} rg_form;

/* -- structs that may grow --------------------------------------------------------------------------
 * Descriptors and infos begin with their size, so that a program and a library of different versions understand each
 * other: the library reads and writes no more than `size` bytes, and takes what an older struct lacks for zero. A struct
 * from a newer header is refused (RG_INVALID) if a field is set that this library does not know.
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

/* Which copy of an array is meant; bits are combined (the adjoint's tangent: 3). */
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

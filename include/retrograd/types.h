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
    RG_IO             /* reading or writing a file failed */
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
/* of one context on device cpu */
enum { RG_MAX_THREADS = 4096 };

/* Which copy of an array is meant; bits are combined (the adjoint's tangent: 3). */
enum { RG_PRIMAL = 0, RG_ADJOINT = 1, RG_TANGENT = 2, RG_TANGENT2 = 4, RG_PLANE_COUNT = 8 };

#ifdef __cplusplus
}
#endif
#endif

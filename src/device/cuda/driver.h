/* The driver of a GPU, found at run time. SPDX-License-Identifier: Apache-2.0
 *
 * No header of the driver's maker is needed: what is used of its binary interface is declared here, with names that
 * hold for any maker's. Addresses on the device are uint64_t, handles void *. */
#ifndef RT_CUDA_DRIVER_H
#define RT_CUDA_DRIVER_H

#include "base/base.h"

/* where memory lies */
typedef struct rt_driver_location {
    int kind; /* RT_AT_DEVICE */
    int device;
} rt_driver_location;

typedef struct rt_driver_pool {
    int kind; /* RT_MEMORY_PINNED */
    int shared_as;
    rt_driver_location location;
    void *security;
    size_t most;
    unsigned short usage;
    unsigned char reserved[54];
} rt_driver_pool;

typedef struct rt_driver_memory {
    int kind; /* RT_MEMORY_PINNED */
    int shared_as;
    rt_driver_location location;
    void *security;
    unsigned char compression, remote;
    unsigned short usage;
    unsigned char reserved[4];
} rt_driver_memory;

typedef struct rt_driver_access {
    rt_driver_location location;
    int access; /* RT_ACCESS_ALL */
} rt_driver_access;

_Static_assert(sizeof(rt_driver_pool) == 88 && sizeof(rt_driver_memory) == 32 && sizeof(rt_driver_access) == 12,
               "the driver's layouts");

/* values of the interface */
enum {
    RT_DRIVER_OUT_OF_MEMORY = 2,
    RT_DRIVER_NO_START = 3,
    RT_DRIVER_NO_DEVICE = 100,
    RT_DRIVER_ILLEGAL_ADDRESS = 700,
    RT_DRIVER_NO_HANDLE = 400, /* not one, or not any more */
    RT_DRIVER_OLD_FOR_CODE = 222, /* the driver does not know this version of PTX */

    RT_AT_DEVICE = 1,
    RT_MEMORY_PINNED = 1,
    RT_ACCESS_ALL = 3,
    RT_POOL_KEEPS = 4, /* bytes that a pool does not give back, uint64_t */

    RT_STREAM_ALONE = 1, /* does not wait for the legacy default stream */
    RT_EVENT_UNTIMED = 2,
    RT_HOST_ANYWHERE = 1, /* of pinned memory: for all contexts */
    RT_HOST_MAPPED = 2,
    RT_CAPTURE_THREAD = 1, /* only this thread's own calls are watched */
    RT_CAPTURE_RELAXED = 2,

    RT_JIT_LOG = 5,
    RT_JIT_LOG_SIZE = 6,
    RT_JIT_LEVEL = 7,

    RT_ATTRIBUTE_SMS = 16,
    RT_ATTRIBUTE_THREADS = 39, /* resident on a multiprocessor */
    RT_ATTRIBUTE_MAJOR = 75,
    RT_ATTRIBUTE_MINOR = 76,
    RT_ATTRIBUTE_TOGETHER = 95, /* cooperative launches */
    RT_ATTRIBUTE_RANGES = 102,  /* addresses can be reserved */
    RT_ATTRIBUTE_POOLS = 115,

    RT_POINTER_KIND = 2, /* 1: the host's, 2: a device's */
    RT_POINTER_MANAGED = 8,
    RT_POINTER_ORDINAL = 9,

    RT_FUNCTION_THREADS = 0, /* of a block, at most */
    RT_FUNCTION_LOCAL = 3, /* bytes of a thread's own memory */
    RT_FUNCTION_REGISTERS = 4,
};

typedef struct rt_driver {
    void *library;
    int number; /* of the interface: 1000 * major + 10 * minor */
#define RT_DRIVER_CALL(name, symbol, needed, parameters) int(*name) parameters;
#include "device/cuda/driver.def"
#undef RT_DRIVER_CALL
} rt_driver;

/* Finds the driver: libcuda.so.1, or the library that RG_CUDA_DRIVER names. RG_DEVICE: there is none, it is too old, or
 * it finds no GPU; `error` says what was looked for. */
RG_MUST_CHECK rg_status rt_driver_load(rt_driver *driver, const char *path, str *error); /* path NULL: the usual one */

/* Adds the error's name and text. */
void rt_driver_explain(const rt_driver *driver, int code, str *error);
/* After this error nothing works in its context any more. */
bool rt_driver_lost(int code);

#endif

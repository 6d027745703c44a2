/* The driver of a GPU, found at run time. SPDX-License-Identifier: Apache-2.0
 *
 * No header of the driver's maker is needed: what is used of its binary interface is declared here, with names that
 * hold for any maker's (maker.h). Addresses on the device are uint64_t, handles void *. */
#ifndef RT_DRIVER_DRIVER_H
#define RT_DRIVER_DRIVER_H

#include "base/base.h"

/* where memory lies */
typedef struct rt_driver_location {
    int kind; /* RT_AT_DEVICE */
    int device;
} rt_driver_location;

typedef struct rt_driver_pool_desc {
    int kind; /* RT_MEMORY_PINNED */
    int shared_as;
    rt_driver_location location;
    void *security;
    size_t most;
    unsigned short usage;
    unsigned char reserved[54];
} rt_driver_pool_desc;

typedef struct rt_driver_memory_desc {
    int kind; /* RT_MEMORY_PINNED */
    int shared_as;
    rt_driver_location location;
    void *security;
    unsigned char compression, remote;
    unsigned short usage;
    unsigned char reserved[4];
} rt_driver_memory_desc;

typedef struct rt_driver_access_desc {
    rt_driver_location location;
    int access; /* RT_ACCESS_ALL */
} rt_driver_access_desc;

/* an allocation of another driver's */
typedef struct rt_driver_foreign_desc {
    int kind; /* RT_FOREIGN_FILE */
    union {
        int file;
        void *handles[2];
    } from;
    unsigned long long bytes;
    unsigned flags, reserved[16];
} rt_driver_foreign_desc;

/* the part of it that is to have addresses */
typedef struct rt_driver_map_desc {
    unsigned long long offset, bytes;
    unsigned flags, reserved[16];
} rt_driver_map_desc;

_Static_assert(sizeof(rt_driver_pool_desc) == 88 && sizeof(rt_driver_memory_desc) == 32 && sizeof(rt_driver_access_desc) == 12 &&
                   sizeof(rt_driver_foreign_desc) == 104 && offsetof(rt_driver_foreign_desc, bytes) == 24 &&
                   sizeof(rt_driver_map_desc) == 88,
               "the driver's layouts");

/* values of the interface that all makers share */
enum {
    RT_DRIVER_OUT_OF_MEMORY = 2,
    RT_DRIVER_NO_START = 3,
    RT_DRIVER_NO_DEVICE = 100,
    RT_DRIVER_ILLEGAL_ADDRESS = 700,

    RT_AT_DEVICE = 1,
    RT_MEMORY_PINNED = 1,
    RT_ACCESS_ALL = 3,
    RT_FOREIGN_FILE = 1,
    RT_FOREIGN_DEDICATED = 1, /* a flag */
    RT_POOL_KEEPS = 4, /* bytes that a pool does not give back, uint64_t */

    RT_STREAM_ALONE = 1, /* does not wait for the legacy default stream */
    RT_EVENT_UNTIMED = 2,
    RT_HOST_ANYWHERE = 1, /* of pinned memory: for all contexts */
    RT_HOST_MAPPED = 2,
    RT_CAPTURE_THREAD = 1, /* only this thread's own calls are watched */
    RT_CAPTURE_RELAXED = 2,

    RT_POINTER_KIND = 2, /* 1: the host's, 2: a device's */
    RT_POINTER_MANAGED = 8,
    RT_POINTER_ORDINAL = 9,

    RT_FUNCTION_THREADS = 0, /* of a block, at most */
    RT_FUNCTION_LOCAL = 3, /* bytes of a thread's own memory */
    RT_FUNCTION_REGISTERS = 4,
};

typedef struct rt_maker rt_maker; /* maker.h */

typedef struct rt_driver {
    const rt_maker *maker;
    void *library;
    int number; /* of the interface, as its maker counts */
#define RT_DRIVER_CALL(name, cuda, hip, needed, parameters) int(*name) parameters;
#include "device/driver/driver.def"
#undef RT_DRIVER_CALL
} rt_driver;

/* Finds the maker's driver, or the library at `path`, if that is not NULL. RG_DEVICE: there is none, it is too old, or it finds
 * no GPU; `error` says what was looked for. */
RG_MUST_CHECK rg_status rt_driver_load(rt_driver *driver, const rt_maker *maker, const char *path, str *error);

/* "the driver is for CUDA 12.4" */
void rt_driver_name(const rt_driver *driver, str *out);
/* Adds the error's name and text. */
void rt_driver_explain(const rt_driver *driver, int code, str *error);
/* Asks what memory that is, which may be nobody's: that is no error of the calling thread's. */
int rt_driver_ask_memory(const rt_driver *driver, void *value, int attribute, uint64_t address);
/* After this error nothing works in its context any more. */
bool rt_driver_lost(const rt_driver *driver, int code);
/* What was given is no handle, or not any more: of a caller's stream. */
bool rt_driver_no_handle(const rt_driver *driver, int code);

#endif

/* What the environment asks for: switches for tests, and for people who look for a fault (HACKING.md). They are read here
 * alone, once where a stage is entered, and travel on with its options. SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SETTINGS_H
#define BASE_SETTINGS_H

#include "base/base.h"

/* Texts are the environment's own; NULL: not set, or empty. */
typedef struct settings {
    const char *plan, *lanes, *interp, *math; /* RG_PLAN, RG_LANES, RG_INTERP, RG_MATH, as written */
    bool native_math;                         /* RG_MATH=native */
    uint32_t gpu_registers;                   /* RG_GPU_REGISTERS: of a thread at most; 0: as usual */
    const char *cuda_driver, *amd_driver, *libdevice; /* RG_CUDA_DRIVER, RG_AMD_DRIVER, RG_LIBDEVICE: paths */
    const char *vulkan_driver;                /* RG_VULKAN_DRIVER: path of a loader */
    uint32_t vulkan_groups;                   /* RG_VULKAN_GROUPS: workgroups of a task at most; 0: as usual */
    uint32_t vulkan_without;                  /* RG_VULKAN_WITHOUT: spirv_features that devices then lack */
    uint64_t vulkan_allocation;               /* RG_VULKAN_ALLOCATION: bytes of an array's allocations at most; 0: what the driver allows */
    const char *metal_driver;                 /* RG_METAL_DRIVER: path of a library in the place of macOS's */
    uint32_t metal_groups;                    /* RG_METAL_GROUPS: threadgroups of a task at most; 0: as usual */
    uint32_t metal_without;                   /* RG_METAL_WITHOUT: spirv_features that devices then lack */
    uint64_t simt_pool;                       /* RG_SIMT_POOL, _BLOCKS, _WARPS: of a GPU that is played; 0: as usual */
    uint32_t simt_blocks, simt_warps;
    uint64_t simt_order;                      /* RG_SIMT_ORDER: in which its warps and lanes run; 0: one after the other */
    bool apart;                    /* RG_COMPILE_PROCESS is set, and not off or 0 */
    const char *helper;            /* what it is set to: on, off, or the path of the helper program */
    const char *cache;             /* RG_CACHE: off, on, or a folder */
    uint64_t cache_size;           /* RG_CACHE_SIZE: bytes at most, as 500M; 0: as usual */
    const char *cache_home, *home; /* XDG_CACHE_HOME, HOME */
    const char *compiler, *programs; /* CC (empty is something else than not set), PATH */
    const char *include_path, *c_include_path; /* CPATH, C_INCLUDE_PATH: libclang reads them */
    bool privileged;               /* the process may do more than the user who started it: no files are trusted */

    /* RG_DEBUG=WORD,... */
    bool help, verify, time, gpu, cache_log;
    const char *print; /* the word's value up to a comma, "" if it has none; NULL: it is not there */
    long stop;         /* < 0: it is not there */
    /* Takes what is said of the cache, of a module that has a log; NULL: none has. Not of the environment. */
    void (*told)(void *user, bool warning, const char *text);
    void *told_user;
} settings;

settings settings_read(void);
/* Whether a setting that is a switch, or a path, has the word for it: off or 0, on or 1. NULL is neither. */
bool settings_is_off(const char *value);
bool settings_is_on(const char *value);
/* The words of RG_DEBUG, one a line, on stderr. */
void settings_debug_help(void);
/* whether a word's value is this name */
bool settings_names(const char *value, const char *name);

#endif

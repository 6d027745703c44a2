/* NumPy's .npz files: zip archives of .npy files. SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_NPZ_H
#define CLI_NPZ_H

#include "cli/npy.h"

typedef struct npz_array {
    const char *name; /* without .npy */
    npy data;
} npz_array;

typedef struct npz {
    const char *path;
    vec(npz_array) arrays;
} npz;

/* NULL: no file, no arrays. Compressed ones need a build with zlib. */
npz npz_read(const char *path);
/* NULL: there is none of that name */
const npy *npz_find(const npz *file, rg_str name);

/* An archive as it is made: stored, not compressed. The texts' arenas are the caller's. */
typedef struct npz_writer {
    str body, directory;
    uint32_t count;
} npz_writer;
void npz_add(npz_writer *w, rg_str name, rg_dtype dtype, uint32_t rank, const int64_t *shape, const void *data);
void npz_finish(npz_writer *w, const char *path);

#endif

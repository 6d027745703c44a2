/* NumPy's .npz files: zip archives of .npy files. SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_NPZ_H
#define CLI_NPZ_H

#include "cli/npy.h"

typedef struct npz_array {
    char *name; /* without .npy */
    npy data;
} npz_array;

typedef struct npz {
    const char *path;
    vec(npz_array) arrays;
} npz;

/* false: *error (to be freed) says why. Free in any case. Compressed arrays need a build with zlib. */
bool npz_read(const char *path, npz *out, str *error);
void npz_free(npz *file);
/* NULL: there is none of that name */
const npy *npz_find(const npz *file, rg_str name);

/* An archive as it is made: stored, not compressed. */
typedef struct npz_writer {
    str body, directory;
    uint32_t count;
} npz_writer;
void npz_add(npz_writer *w, rg_str name, rg_dtype dtype, uint32_t rank, const int64_t *shape, const void *data);
/* Writes the file; the writer is free then. */
bool npz_finish(npz_writer *w, const char *path, str *error);

#endif

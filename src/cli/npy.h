/* NumPy's .npy files, versions 1 to 3. SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_NPY_H
#define CLI_NPY_H

#include "base/base.h"

typedef struct npy {
    rg_dtype dtype;
    uint32_t rank;
    int64_t shape[RG_MAX_RANK];
    size_t bytes;
    void *data; /* row-major, whatever the order in the file */
} npy;

/* npy_parse: false: *error says why. What is read lives in mem_scratch(). */
npy npy_read(const char *path);
bool npy_parse(rg_str file, npy *out, str *error);
/* The file's bytes. */
void npy_format(str *out, rg_dtype dtype, uint32_t rank, const int64_t *shape, const void *data);
/* "<f4" and so on. */
const char *npy_descr(rg_dtype dtype);

#endif

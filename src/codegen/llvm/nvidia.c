/* NVIDIA's GPUs: what they are called, which PTX they take, where their math functions are. SPDX-License-Identifier: Apache-2.0 */
#include "codegen/llvm/nvidia.h"

#include <unistd.h>

/* The oldest PTX that knows the processor, and arguments of more than 4 KB (8.1, which drivers of CUDA 12.1 take). */
static const struct {
    unsigned from, to;
    const char *features;
} versions[] = {
    {70, 90, "+ptx81"},   {100, 101, "+ptx86"}, {103, 103, "+ptx88"},
    {110, 110, "+ptx90"}, {120, 120, "+ptx87"}, {121, 121, "+ptx88"},
};

unsigned
nvidia_number(const char *cpu)
{
    return strncmp(cpu, "sm_", 3) == 0 ? (unsigned)strtoul(cpu + 3, NULL, 10) : 0;
}

const char *
nvidia_features(const char *cpu)
{
    unsigned number = nvidia_number(cpu);
    for (size_t i = 0; i < countof(versions); i++)
        if (number >= versions[i].from && number <= versions[i].to)
            return versions[i].features;
    return NULL;
}

bool
nvidia_libdevice(const char *path, str *out)
{
    const char *roots[] = {getenv("CUDA_PATH"), getenv("CUDA_HOME"), "/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda"};
    if (path)
        str_addz(out, path);
    for (size_t i = 0; !path && i < countof(roots); i++) {
        out->len = 0;
        if (!roots[i])
            continue;
        str_addf(out, "%s/nvvm/libdevice/libdevice.10.bc", roots[i]);
        if (access(out->ptr, R_OK) == 0)
            return true;
    }
    return path != NULL;
}

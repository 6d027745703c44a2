/* Where the build had no compiler for AMD's GPUs: an empty runtime. SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

extern const unsigned char gpu_amdgpu_bitcode[];
extern const size_t gpu_amdgpu_bitcode_size;
const unsigned char gpu_amdgpu_bitcode[1];
const size_t gpu_amdgpu_bitcode_size = 0;

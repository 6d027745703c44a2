/* The writer of what spirv_read reads. SPDX-License-Identifier: Apache-2.0 */
#ifndef CODEGEN_SPIRV_CODE_H
#define CODEGEN_SPIRV_CODE_H

#include "codegen/spirv/spirv.h"

void spirv_code_write(str *out, const spirv_code *code);

#endif

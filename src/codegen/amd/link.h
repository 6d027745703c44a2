/* Code objects of AMD's GPUs: what its loaders take, made of what LLVM emits. SPDX-License-Identifier: Apache-2.0 */
#ifndef CODEGEN_AMD_LINK_H
#define CODEGEN_AMD_LINK_H

#include "base/base.h"

/* Makes a shared object of one relocatable file that names nothing outside of itself. false: *error says what cannot be linked. */
RG_MUST_CHECK bool amd_link(rg_str object, str *out, str *error);

#endif

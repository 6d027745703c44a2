/* The reader of what msl_make gives. SPDX-License-Identifier: Apache-2.0 */
#include "codegen/metal/msl.h"

bool
msl_read(rg_str bytes, spirv_code *code, const char **text)
{
    bytes_reader r = bytes_of(bytes);
    rg_str head = bytes_str(&r), body = bytes_str(&r);
    *code = (spirv_code){0};
    if (!bytes_done(&r) || !head.ptr || !body.ptr || !spirv_read(head, code))
        return false;
    *text = arena_str(code->in, body);
    return true;
}

/* The public headers stand alone, as C11 and as C++17. SPDX-License-Identifier: Apache-2.0 */
#include <retrograd/build.h>
#include <retrograd/retrograd.h>

int
main(void)
{
    rg_context_desc desc = {};
    rg_context *context = NULL;
    desc.device = RG_STR("interp");
    if (rg_context_create(&desc, &context) != RG_OK)
        return 1;
    rg_context_destroy(context);
    return 0;
}

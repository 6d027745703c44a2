/* Names of statuses and dtypes. SPDX-License-Identifier: Apache-2.0 */
#include "retrograd/retrograd.h"

const char *
rg_status_name(rg_status status)
{
    static const char *const names[] = {
        [RG_OK] = "RG_OK",
        [RG_INVALID] = "RG_INVALID",
        [RG_COMPILE] = "RG_COMPILE",
        [RG_UNSUPPORTED] = "RG_UNSUPPORTED",
        [RG_NOT_FOUND] = "RG_NOT_FOUND",
        [RG_OUT_OF_MEMORY] = "RG_OUT_OF_MEMORY",
        [RG_BUDGET] = "RG_BUDGET",
        [RG_ASSERT] = "RG_ASSERT",
        [RG_DEVICE] = "RG_DEVICE",
        [RG_IO] = "RG_IO",
    };
    return (unsigned)status < sizeof(names) / sizeof(names[0]) ? names[status] : "unknown status";
}

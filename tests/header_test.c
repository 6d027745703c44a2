/* The public headers stand alone, as C11 and as C++17. SPDX-License-Identifier: Apache-2.0 */
#include <retrograd/build.h>
#include <retrograd/retrograd.h>

int
main(void)
{
    rg_device_desc desc = RG_INIT(rg_device_desc);
    rg_device *device = NULL;
    rg_queue *queue = NULL;
    desc.name = RG_STR("interp");
    if (rg_device_open(&desc, &device) != RG_OK || rg_queue_create(device, NULL, &queue) != RG_OK)
        return 1;
    rg_queue_destroy(queue);
    rg_device_destroy(device);
    return 0;
}

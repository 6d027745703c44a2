/* A queue for programs that need no more of its device. SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_QUEUE_H
#define TESTS_QUEUE_H

#include <retrograd/retrograd.h>

/* Of the device of that name (NULL: the usual one), which the queue alone keeps open. desc may be NULL. */
static inline rg_status
queue_open(const char *device, const rg_queue_desc *desc, rg_queue **queue)
{
    rg_device *opened;
    rg_device_desc which = RG_INIT(rg_device_desc);
    which.name = rg_str_of(device);
    *queue = NULL;
    rg_status status = rg_device_open(&which, &opened);
    if (status)
        return status;
    status = rg_queue_create(opened, desc, queue);
    rg_device_destroy(opened);
    return status;
}

#endif

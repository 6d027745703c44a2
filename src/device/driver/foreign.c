/* Memory that another driver has allocated on the same GPU. SPDX-License-Identifier: Apache-2.0 */
#include "device/driver/memory.h"

#include <unistd.h>

static const char *
why_not(const rt_device *d, const rt_shared *shared)
{
    static const uint8_t unknown[sizeof(d->uuid)] = {0};
    if (!d->driver.foreign_import || !d->driver.foreign_map || !d->driver.foreign_release || !d->driver.context_wait)
        return "its driver takes no memory of others";
    if (memcmp(d->uuid, unknown, sizeof(unknown)) == 0)
        return "its driver does not tell which GPU it is";
    return memcmp(d->uuid, shared->uuid, sizeof(d->uuid)) ? "it is another GPU" : NULL;
}

/* The driver closes a file that it has taken. */
static int
take_file(const rt_device *d, const rt_shared *shared, void **handle)
{
    rt_driver_foreign_desc desc = {.kind = RT_FOREIGN_FILE, .from.file = shared->file, .bytes = shared->bytes,
                                   .flags = shared->dedicated ? RT_FOREIGN_DEDICATED : 0};
    int code = d->driver.foreign_import(handle, &desc);
    if (code)
        close(shared->file);
    return code;
}

static int
take_foreign(const rt_device *d, const rt_shared *shared, rt_adopted *adopted)
{
    rt_driver_map_desc all = {.bytes = shared->bytes};
    int code = take_file(d, shared, &adopted->handle);
    if (code)
        return code;
    code = d->driver.foreign_map(&adopted->base, adopted->handle, &all);
    if (code)
        d->driver.foreign_release(adopted->handle);
    return code;
}

rg_status
rt_driver_adopt(rt_device *d, const rt_shared *shared, rt_adopted *adopted, str *error)
{
    rt_entry entry;
    const char *why = why_not(d, shared);
    rg_status status = rt_driver_enter_device(&entry, d, error);
    if (status || why)
        close(shared->file);
    if (!status && why) {
        str_addz(error, why);
        status = RG_UNSUPPORTED;
    } else if (!status) {
        status = rt_driver_check(d, take_foreign(d, shared, adopted), "take memory of another driver", error);
    }
    rt_driver_leave(&entry);
    return status;
}

/* Others in this process may have given work to streams of their own. */
void
rt_driver_abandon(rt_device *d, const rt_adopted *adopted)
{
    rt_entry entry;
    rt_driver_streams.settle(d);
    rt_driver_enter_to_release(&entry, d, NULL);
    d->driver.context_wait();
    d->driver.release(adopted->base);
    d->driver.foreign_release(adopted->handle);
    rt_driver_leave(&entry);
}

/* The cache on disk for front ends. SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

#include "base/bytes.h"
#include "cache/cache.h"
#include "cache/version.h"

/* What one version keeps another one does not find. */
static rg_str
whole_key(rg_str key)
{
    str whole = {.in = mem_scratch()};
    bytes_put(&whole, RG_STR("front end"));
    bytes_put(&whole, rg_str_of(cache_version()));
    bytes_put(&whole, key);
    return str_view(&whole);
}

static settings
settings_for(rg_str folder)
{
    settings asked = settings_read();
    if (folder.len)
        asked.cache = arena_str(mem_scratch(), folder);
    return asked;
}

static rg_status
look_for_entry(rg_str folder, rg_str key, void (*found)(void *user, rg_str content), void *user)
{
    settings s = settings_for(folder);
    rg_str content;
    if (!cache_get(&s, whole_key(key), &content))
        return api_error(RG_NOT_FOUND, "the cache has no such entry");
    found(user, content);
    return RG_OK;
}

rg_status
rg_cache_find(rg_str folder, rg_str key, void (*found)(void *user, rg_str content), void *user)
{
    if (!key.ptr || !found)
        return api_error(RG_INVALID, "key or found is NULL");
    API_GUARDED(look_for_entry(folder, key, found, user));
}

static rg_status
keep_entry(rg_str folder, rg_str key, rg_str content)
{
    settings s = settings_for(folder);
    cache_put(&s, whole_key(key), content);
    return RG_OK;
}

rg_status
rg_cache_keep(rg_str folder, rg_str key, rg_str content)
{
    if (!key.ptr || !content.ptr)
        return api_error(RG_INVALID, "key or content is NULL");
    API_GUARDED(keep_entry(folder, key, content));
}

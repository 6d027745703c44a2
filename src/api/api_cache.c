/* The cache on disk for front ends. SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

#include "cache/cache.h"

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
    if (!cache_get(&s, key, &content))
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
    cache_put(&s, key, content);
    return RG_OK;
}

rg_status
rg_cache_keep(rg_str folder, rg_str key, rg_str content)
{
    if (!key.ptr || !content.ptr)
        return api_error(RG_INVALID, "key or content is NULL");
    API_GUARDED(keep_entry(folder, key, content));
}

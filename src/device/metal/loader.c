/* Finding Objective-C's runtime and Metal. SPDX-License-Identifier: Apache-2.0 */
#include "device/metal/api.h"

#include <dlfcn.h>

/* CoreGraphics: Metal gives command-line programs no devices without it */
static const char *const paths[] = {"/usr/lib/libobjc.A.dylib", "/System/Library/Frameworks/Metal.framework/Metal",
                                    "/System/Library/Frameworks/CoreGraphics.framework/CoreGraphics"};

static const struct {
    const char *symbol;
    size_t at;
} functions[] = {
    {"objc_getClass", offsetof(mtl_api, get_class)},
    {"sel_registerName", offsetof(mtl_api, selector)},
    {"objc_msgSend", offsetof(mtl_api, send)},
    {"objc_autoreleasePoolPush", offsetof(mtl_api, push_pool)},
    {"objc_autoreleasePoolPop", offsetof(mtl_api, pop_pool)},
    {"MTLCopyAllDevices", offsetof(mtl_api, copy_devices)},
};

static const struct {
    const char *name;
    size_t at;
} selectors[] = {
#define METAL_GET(name, selector, result) {selector, offsetof(mtl_api, selectors.name)},
#define METAL_CALL(name, selector, result, parameters, arguments) {selector, offsetof(mtl_api, selectors.name)},
#include "device/metal/calls.def"
#undef METAL_GET
#undef METAL_CALL
};

/* the name of the first one that is missing; NULL: none */
static const char *
take_functions(mtl_api *api)
{
    for (size_t i = 0; i < countof(functions); i++) {
        void *found = NULL;
        for (size_t k = 0; k < countof(paths) && !found; k++)
            found = api->libraries[k] ? dlsym(api->libraries[k], functions[i].symbol) : NULL;
        if (!found)
            return functions[i].symbol;
        memcpy((char *)api + functions[i].at, &found, sizeof(found));
    }
    return NULL;
}

static const char *
take_classes(mtl_api *api)
{
    api->string_class = api->get_class("NSString");
    api->process_class = api->get_class("NSProcessInfo");
    api->options_class = api->get_class("MTLCompileOptions");
    return !api->string_class ? "NSString" : !api->process_class ? "NSProcessInfo" : !api->options_class ? "MTLCompileOptions" : NULL;
}

rg_status
mtl_load(mtl_api *api, const char *path, str *error)
{
    *api = (mtl_api){0};
    for (size_t i = 0; i < (path ? 1 : countof(paths)); i++)
        api->libraries[i] = dlopen(path ? path : paths[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    const char *missing = take_functions(api);
    for (size_t i = 0; i < countof(selectors) && !missing; i++) {
        mtl_sel selector = api->selector(selectors[i].name);
        memcpy((char *)api + selectors[i].at, &selector, sizeof(selector));
    }
    if (!missing)
        missing = take_classes(api);
    if (!missing)
        return RG_OK;
    str_addf(error, "there is no Metal: %s has no %s (it is part of macOS 13 and later); device \"cpu\" works without",
             path ? path : "this system", missing);
    mtl_unload(api);
    return RG_DEVICE;
}

void
mtl_unload(mtl_api *api)
{
    for (size_t i = 0; i < countof(api->libraries); i++)
        if (api->libraries[i])
            dlclose(api->libraries[i]);
    *api = (mtl_api){0};
}

const char *
mtl_text(const mtl_api *api, mtl_id string)
{
    const char *text = mtl_utf8(api, string);
    return text ? text : "";
}

const char *
mtl_reason(const mtl_api *api, mtl_id error)
{
    const char *text = mtl_text(api, mtl_description(api, error));
    return *text ? text : "Metal does not say why";
}

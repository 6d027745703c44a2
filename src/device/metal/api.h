/* Metal from C: Objective-C's runtime, found at run time. SPDX-License-Identifier: Apache-2.0
 *
 * No header of Apple's is needed to build. A message is a call of objc_msgSend as a function of the method's type: mtl_NAME(api, receiver,
 * ...) for each row of calls.def. A message to nil (NULL) gives 0. */
#ifndef DEVICE_METAL_API_H
#define DEVICE_METAL_API_H

#include "base/base.h"

typedef struct mtl_object_ *mtl_id;
typedef struct mtl_name_ *mtl_sel;
typedef signed char mtl_bool; /* BOOL */
typedef struct mtl_size {
    unsigned long width, height, depth;
} mtl_size;

enum {
    MTL_FAMILY_APPLE7 = 1007, /* M1; SIMD-groups of 32 */
    MTL_FAMILY_METAL3 = 5001, /* addresses of buffers, atomic additions of floats */
    MTL_SHARED = 0,           /* MTLResourceStorageModeShared, hazards tracked */
    MTL_LANGUAGE_3_0 = 3 << 16,
    MTL_MATH_SAFE = 0,
    MTL_STATUS_ERROR = 5,
    MTL_READ_WRITE = 1 | 2,
    MTL_SCOPE_BUFFERS = 1,
    MTL_ERROR_ACCESS_REVOKED = 4, /* of command buffers */
    MTL_ERROR_OUT_OF_MEMORY = 8,
    MTL_ERROR_DEVICE_REMOVED = 11,
};

typedef struct mtl_api {
    void *libraries[3];
    mtl_id (*get_class)(const char *name);
    mtl_sel (*selector)(const char *name);
    void (*send)(void);
    void *(*push_pool)(void);
    void (*pop_pool)(void *pool);
    mtl_id (*copy_devices)(void);
    mtl_id string_class, process_class, options_class;
    struct {
#define METAL_GET(name, selector, result) mtl_sel name;
#define METAL_CALL(name, selector, result, parameters, arguments) mtl_sel name;
#include "device/metal/calls.def"
#undef METAL_GET
#undef METAL_CALL
    } selectors;
} mtl_api;

#define MTL_OPEN(...) __VA_ARGS__
#define METAL_GET(name, selector, result)                                                        \
    static inline result mtl_##name(const mtl_api *api, mtl_id self)                             \
    {                                                                                            \
        return ((result(*)(mtl_id, mtl_sel))api->send)(self, api->selectors.name);               \
    }
#define METAL_CALL(name, selector, result, parameters, arguments)                                \
    static inline result mtl_##name(const mtl_api *api, mtl_id self, MTL_OPEN parameters)        \
    {                                                                                            \
        return ((result(*)(mtl_id, mtl_sel, MTL_OPEN parameters))api->send)(self, api->selectors.name, MTL_OPEN arguments); \
    }
#include "device/metal/calls.def"
#undef METAL_GET
#undef METAL_CALL

/* macOS's own libraries, or one at `path` that has all of them. RG_DEVICE: there is no Metal */
RG_MUST_CHECK rg_status mtl_load(mtl_api *api, const char *path, str *error);
void mtl_unload(mtl_api *api);
/* Of an NSString, an NSError: a text that lasts as long as the pool. */
const char *mtl_text(const mtl_api *api, mtl_id string);
const char *mtl_reason(const mtl_api *api, mtl_id error);

#endif

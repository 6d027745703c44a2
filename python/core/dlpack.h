/* DLPack's structs, version 1.3, by its public layout (github.com/dmlc/dlpack). SPDX-License-Identifier: Apache-2.0 */
#ifndef DLPACK_H
#define DLPACK_H

#include <stdint.h>

enum { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLCUDAManaged = 13 };
enum { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLBool = 6 };
enum { DLPACK_READ_ONLY = 1 };

typedef struct DLDevice {
    int32_t device_type, device_id;
} DLDevice;

typedef struct DLDataType {
    uint8_t code, bits;
    uint16_t lanes;
} DLDataType;

typedef struct DLTensor {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape, *strides; /* in elements; strides NULL: row-major */
    uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

typedef struct DLManagedTensorVersioned {
    struct {
        uint32_t major, minor;
    } version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;

/* A type's __dlpack_c_exchange_api__: its objects described without another object, and the stream that its calls work in. */
typedef struct DLPackExchangeAPI {
    struct {
        uint32_t major, minor;
    } version;
    struct DLPackExchangeAPI *before; /* of an older major version; NULL: none */
    void *unused[3];
    int (*describe)(void *object, DLTensor *tensor); /* borrowed; -1 and an exception: it cannot. May be NULL */
    int (*current_stream)(int32_t device_type, int32_t device_id, void **stream);
} DLPackExchangeAPI;

#endif

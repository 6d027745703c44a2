/* What the public interface does not tell. SPDX-License-Identifier: Apache-2.0 */
#ifndef GPU_PEAK_H
#define GPU_PEAK_H

#include <retrograd/retrograd.h>

/* Bytes of the pages that gradients of the context have had on tape at once, at most; 0: unknown. */
uint64_t peak_of_tape(const rg_context *context);

#endif

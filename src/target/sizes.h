/* Sizes that generated code and the runtimes on both kinds of machine share. No library, no other header: the runtime on a
 * GPU is compiled with it, too. SPDX-License-Identifier: Apache-2.0 */
#ifndef TARGET_SIZES_H
#define TARGET_SIZES_H

/* Pages of a CPU worker's tape, of which the header is a part; a frame at most (rt/abi.h). */
enum { RT_PAGE = 1 << 16, RT_PAGE_HEADER = 64, RT_FRAME_MAX = 1 << 14 };

/* Threads of a warp. Pages of a warp's tape are smaller: every resident warp has one. The header takes a whole cache
 * line, so that frames begin with one (rt/gpu/gpu.h). */
enum { RT_WARP = 32, RT_GPU_PAGE = 1 << 15, RT_GPU_HEADER = 128 };

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_VERSION_H
#define CACHE_VERSION_H

/* What made the entries: a hash of this compiler's own sources, and LLVM's version. Part of every key. */
const char *cache_version(void);

#endif

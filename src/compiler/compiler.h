/* The compiler as a library of its own, which the shared library opens when there is something to compile: what links with
 * that one, and finds all code in the cache, needs neither LLVM nor libclang. (The static library has everything in it.)
 * Both have a copy of the core; there is one memory, that of the host. SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPILER_H
#define COMPILER_H

#if RG_HAVE_CLANG
#include "front/c/front_c.h"
#endif
#if RG_HAVE_LLVM
#include "codegen/llvm/ll.h"
#include "codegen/metal/msl.h"
#endif
#include "base/base.h"

/* base.h's functions that know the thread's handler, owners and scratch memory. */
typedef struct compiler_host {
    const char *version; /* of the sources: both have to be of one build */
    void *(*alloc)(size_t bytes);
    void *(*zalloc)(size_t bytes);
    void *(*realloc)(void *old, size_t bytes);
    void (*free)(void *p);
    void (*own)(mem_owner *owner, void (*release)(void *object), void *object);
    void (*disown)(mem_owner *owner);
    arena *(*scratch)(void);
} compiler_host;

typedef struct compiler {
    const char *version;
#define COMPILER(result, name, parameters, arguments, otherwise) result(*name) parameters;
#define COMPILER_END(name, parameters, arguments) void(*name) parameters;
#include "compiler/compiler.def"
#undef COMPILER
#undef COMPILER_END
} compiler;

/* Opens it ahead of the first call. */
RG_MUST_CHECK bool compiler_opens(diag_list *diags);

/* The one name that the compiler's library shows. The host lives as long as the process. */
typedef const compiler *compiler_start(const compiler_host *host);
#define COMPILER_START "retrograd_compiler"
const compiler *retrograd_compiler(const compiler_host *host);

#endif

/* The C library's functions of vectors. SPDX-License-Identifier: Apache-2.0 */
#include "rt/load/symbols.h"

#include <dlfcn.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GLIBC__)
void *
rt_symbol_vector(const char *name)
{
    if (strncmp(name, "_ZGV", 4) != 0)
        return NULL;
    void *library = dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL); /* stays: code may call it */
    return library ? dlsym(library, name) : NULL;
}
#else
void *
rt_symbol_vector(const char *name)
{
    (void)name;
    return NULL;
}
#endif

/* See compile.h. SPDX-License-Identifier: Apache-2.0 */
#include "metal/compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool
msl_compile(const char *text, size_t len, const char *output)
{
    char path[] = "/tmp/msl_XXXXXX.cpp", command[1024];
    int fd = mkstemps(path, 4);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    bool good = file && fwrite(text, 1, len, file) == len;
    good = file && !fclose(file) && good;
    int n = snprintf(command, sizeof command,
                     TEST_CLANGXX " -std=c++17 -fno-strict-aliasing -ffp-contract=off -Wall -Werror -Wno-unknown-attributes"
                                  " -Wno-unknown-pragmas -Wno-uninitialized -Wno-unused-variable -Wno-unused-but-set-variable -Wno-sometimes-uninitialized"
                                  " -I '" TEST_METAL "' %s %s%s%s %s",
                     *output ? "-O1 -shared -fPIC" : "-fsyntax-only", *output ? "-o '" : "", output, *output ? "'" : "", path);
    good = good && n > 0 && (size_t)n < sizeof command && system(command) == 0;
    if (fd >= 0 && (good || !getenv("MSL_KEEP")))
        unlink(path);
    return good;
}

/* What tests ask of their own process, and a folder for what they write. SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_PROCESS_H
#define TESTS_PROCESS_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { FOLDER_BYTES = 64 };

/* To be compared with an earlier count: it has a few more than are open. */
static inline int
count_descriptors(void)
{
    int n = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        n++;
    if (folder)
        closedir(folder);
    return n;
}

/* A new folder, for the test of that name. */
static inline bool
folder_begin(char path[FOLDER_BYTES], const char *test)
{
    snprintf(path, FOLDER_BYTES, "/tmp/%s.XXXXXX", test);
    return mkdtemp(path) != NULL;
}

/* Removes it with all that is in it. */
static inline bool
folder_end(const char *path)
{
    char command[FOLDER_BYTES + 8];
    snprintf(command, sizeof command, "rm -r %s", path);
    return system(command) == 0;
}

#endif

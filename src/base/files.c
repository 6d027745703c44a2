/* Whole files in and out. SPDX-License-Identifier: Apache-2.0 */
#include "base/base.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <unistd.h>

static rg_status
status_of_errno(void)
{
    return errno == ENOENT || errno == ENOTDIR ? RG_NOT_FOUND : RG_IO;
}

static void
close_file(void *file)
{
    fclose(file);
}

rg_status
file_read(const char *path, str *out)
{
    *out = (str){.in = mem_scratch()};
    FILE *file = fopen(path, "rb");
    if (!file)
        return status_of_errno();
    mem_owner owns;
    mem_own(&owns, close_file, file);
    char chunk[16384];
    size_t n;
    str_add(out, (rg_str){NULL, 0});
    while ((n = fread(chunk, 1, sizeof chunk, file)) > 0)
        str_add(out, (rg_str){chunk, n});
    rg_status status = ferror(file) ? RG_IO : RG_OK; /* a directory opens, and fails here */
    mem_disown(&owns);
    fclose(file);
    if (status)
        str_free(out);
    return status;
}

/* Into a file beside it, then renamed: a reader sees the old file or the new one. */
rg_status
file_write(const char *path, const void *data, size_t n)
{
    str temp = {.in = mem_scratch()};
    str_addf(&temp, "%s.%ld.part", path, (long)getpid());
    rg_status status = RG_OK;
    FILE *file = fopen(temp.ptr, "wb");
    if (!file) {
        status = status_of_errno();
    } else {
        bool whole = n == 0 || fwrite(data, 1, n, file) == n;
        whole = fclose(file) == 0 && whole;
        if (!whole || rename(temp.ptr, path) != 0) {
            status = RG_IO;
            remove(temp.ptr);
        }
    }
    return status;
}

void
file_add_own_folder(str *path)
{
    static const char inside; /* an address in the library or the program */
    Dl_info here;
    struct link_map *library = NULL;
    char own[PATH_MAX] = "";
    if (dladdr1(&inside, &here, (void **)&library, RTLD_DL_LINKMAP) && library && library->l_name && *library->l_name) {
        if (!dlinfo(library, RTLD_DI_ORIGIN, own))
            str_addf(path, "%s/", own);
    } else if (readlink("/proc/self/exe", own, sizeof own - 1) > 0 && strchr(own, '/')) {
        str_add(path, (rg_str){own, (size_t)(strrchr(own, '/') + 1 - own)});
    }
}

/* .npy and .npz files. The first two bytes say which: a zip archive begins with PK. SPDX-License-Identifier: Apache-2.0 */
#include "cli/npz.h"
#include "fuzz.h"
#include "retrograd/retrograd.h"

#include <setjmp.h>

fuzz_change *const fuzz_mutate = fuzz_bytes;

static rg_str file;
static jmp_buf ended;
static bool reading; /* else it is the fuzzer that ends */

/* Where the reader of archives finds its file; and where it goes after an error. */
rg_status __wrap_file_read(const char *path, str *out);
_Noreturn void __real_exit(int code);
_Noreturn void __wrap_exit(int code);

rg_status
__wrap_file_read(const char *path, str *out)
{
    *out = (str){.in = mem_scratch()};
    str_add(out, file);
    return RG_OK;
}

void
__wrap_exit(int code)
{
    if (!reading)
        __real_exit(code);
    longjmp(ended, 1);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    return 0;
}

static void
check_array(const npy *a)
{
    size_t count = rg_dtype_size(a->dtype);
    for (uint32_t i = 0; i < a->rank; i++)
        count *= (size_t)a->shape[i];
    FUZZ_CHECK(a->rank <= RG_MAX_RANK && a->bytes == count, "%zu bytes for %zu", a->bytes, count);
    FUZZ_CHECK(hash_bytes(0, a->data, a->bytes) != 1, "a hash that does not occur"); /* all of it is there */
}

static void
read_array(rg_str text, arena *scratch)
{
    npy a, again;
    str error = {.in = scratch}, back = {.in = scratch};
    if (!npy_parse(text, &a, &error)) {
        FUZZ_CHECK(error.len, "refused without a reason");
        return;
    }
    check_array(&a);
    npy_format(&back, a.dtype, a.rank, a.shape, a.data);
    FUZZ_CHECK(npy_parse(str_view(&back), &again, &error), "what was written is refused: %s", error.ptr);
    FUZZ_CHECK(again.bytes == a.bytes && memcmp(again.data, a.data, a.bytes) == 0, "read, written and read again: it differs");
}

static void
read_archive(void)
{
    reading = true;
    if (!setjmp(ended)) {
        npz all = npz_read("fuzz.npz");
        for (size_t i = 0; i < all.arrays.n; i++)
            check_array(&all.arrays.at[i].data);
    }
    reading = false;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    arena *scratch = mem_scratch();
    file = (rg_str){(const char *)data, size};
    if (size > 1 && data[0] == 'P' && data[1] == 'K')
        read_archive();
    else
        read_array(file, scratch);
    fuzz_end();
    return 0;
}

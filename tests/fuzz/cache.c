/* What a file of the cache may hold. The first byte says what the rest is. SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"
#include "cache/cache.h"
#include "codegen/llvm/code.h"
#include "device/driver/needs.h"
#include "front/seen.h"
#include "fuzz.h"
#include "rt/load/object.h"

#include <elf.h>

fuzz_change *const fuzz_mutate = fuzz_bytes;

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    return 0;
}

/* Nothing is run: any address will do. */
static void *
find_any(const char *name)
{
    return name[0] == 'm' ? NULL : (void *)(uintptr_t)(0x10000 + name[0]);
}

static void
load_object(uint16_t machine, rg_str bytes)
{
    str error = {.in = mem_scratch()};
    rt_object *object = rt_object_load_for(machine, bytes, "entry", find_any, &error);
    FUZZ_CHECK(object || error.len, "refused without a reason");
    fuzz_taken = object != NULL;
    rt_object_free(object);
}

static void
load_code(rg_str bytes)
{
    str error = {.in = mem_scratch()};
    ll_code *code = ll_load(bytes, &error);
    FUZZ_CHECK(code || error.len, "refused without a reason");
    fuzz_taken = code != NULL;
    ll_code_free(code);
}

/* What was read is written and read again. */
static void
read_info(rg_str bytes)
{
    ll_gpu_info info = {0};
    bytes_reader r = bytes_of(bytes);
    ll_gpu_info_read(&r, &info);
    fuzz_taken = bytes_done(&r);
    if (fuzz_taken) {
        ll_gpu_info again = {0};
        str text = {.in = mem_scratch()};
        ll_gpu_info_write(&text, &info);
        bytes_reader back = bytes_of(str_view(&text));
        ll_gpu_info_read(&back, &again);
        FUZZ_CHECK(bytes_done(&back) && again.places.n == info.places.n, "written and read again it differs");
        ll_gpu_info_free(&again);
    }
    ll_gpu_info_free(&info);
}

static void
read_needs(rg_str bytes)
{
    enum { PARAMS = 3 };
    rt_arg args[PARAMS] = {{.bits = 3}, {.bits = 4}, {.bits = 5}};
    rt_needs needs = {0};
    bytes_reader r = bytes_of(bytes);
    rt_needs_read(&r, PARAMS, &needs);
    fuzz_taken = bytes_done(&r);
    if (fuzz_taken)
        FUZZ_CHECK(rt_needs_of(&needs, args, 100).warps <= 100, "too many warps");
    rt_needs_free(&needs);
}

static void
read_entry(rg_str bytes)
{
    bool same = false;
    rg_str content;
    fuzz_taken = cache_entry(bytes, rg_str_of("key"), &same, &content);
    if (fuzz_taken)
        FUZZ_CHECK(content.ptr >= bytes.ptr && content.ptr + content.len <= bytes.ptr + bytes.len, "content from outside");
}

static void
read_list(rg_str bytes)
{
    seen_list list;
    bytes_reader r = bytes_of(bytes);
    fuzz_taken = seen_read(&r, &list);
    if (!fuzz_taken)
        return;
    str text = {.in = mem_scratch()};
    seen_write(&list, &text);
    FUZZ_CHECK(text.len == (size_t)(r.at - bytes.ptr) && memcmp(text.ptr, bytes.ptr, text.len) == 0, "written again it differs");
}

static void
read_outline(rg_str bytes)
{
    uint8_t digest[DIGEST_BYTES];
    rg_str file;
    uint32_t results;
    ir_module *m = api_outline_read(bytes, digest, &file, &results);
    fuzz_taken = m != NULL;
    FUZZ_CHECK(!m || results <= m->first->body->nparams, "more results than parameters");
    ir_module_free(m);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rg_str rest = {(const char *)data + 1, size ? size - 1 : 0};
    fuzz_begin();
    switch (size ? data[0] : 0) {
    case 'x':
        load_object(EM_X86_64, rest);
        break;
    case 'a':
        load_object(EM_AARCH64, rest);
        break;
    case 'c':
        load_code(rest);
        break;
    case 'i':
        read_info(rest);
        break;
    case 'n':
        read_needs(rest);
        break;
    case 'e':
        read_entry(rest);
        break;
    case 'o':
        read_outline(rest);
        break;
    case 's':
        read_list(rest);
        break;
    }
    fuzz_end();
    return 0;
}

/* The words behind `rgc run`, one a line: options, scalars, arrays, seeds of derivatives. SPDX-License-Identifier: Apache-2.0
 *
 * The kernel and the files are always the same; nothing is written. What a command makes lives until its process ends, so
 * here the functions that make objects are others, which remember them. All runs on the interpreter. */
#include "cli/cli.h"
#include "cli/npz.h"
#include "fuzz.h"

#include <setjmp.h>
#include <sys/stat.h>

#if RG_HAVE_CLANG
#include "front/c/front_c.h"
#endif

fuzz_change *const fuzz_mutate = fuzz_text;

enum { MOST_BYTES = 1 << 16, MOST_WORDS = 64, MOST_OBJECTS = 256 };

static const char kernel_text[] =
    "kernel @f(%n: i32, %m: i32, %on: bool, %u: u64, %s: f32, %x: buf<f32,2>, %y: buf<f64,1> flat, %b.mass: buf<f64,1> "
    "record(8, 0, 24), %b.v: buf<f32,2> record(8, 8, 24), %q: buf<i16,1>, %h: buf<f16,1>) -> (f64) shape {\n"
    "  %0: i64 = const 2\n  %2: i64 = const -1\n  %3: i64 = cast %n\n  %4: i64 = cast %m\n"
    "  %1: i32 = const 1\n  %6: i32 = sub %n, %1\n  %7: i64 = cast %6\n"
    "  yield %3, %4, %2, %2, %2, %0, %7, %0\n"
    "} {\n"
    "  %8: f64 = cast %s\n  %9: f64 = mul %8, %8\n  %return: f64 = add %9, %8\n"
    "  %10: i32 = const 0\n  %11: f64 = load %y[%10]\n  %12: f64 = mul %11, %9\n  store %y[%10], %12\n"
    "  yield %return\n"
    "}\n";

/* -- the world --------------------------------------------------------------------------------- */

static jmp_buf ended;
static bool reading; /* else it is the fuzzer that ends */
static str array_file, archive_file; /* F.npy, F.npz */

_Noreturn void __real_exit(int code);
_Noreturn void __wrap_exit(int code);
rg_status __wrap_file_read(const char *path, str *out);
rg_status __wrap_file_write(const char *path, const void *data, size_t n);
int __wrap_mkdir(const char *path, mode_t mode);

void
__wrap_exit(int code)
{
    if (!reading)
        __real_exit(code);
    longjmp(ended, 1);
}

rg_status
__wrap_file_read(const char *path, str *out)
{
    rg_str name = rg_str_of(path);
    rg_str text = str_ends(name, ".npy")   ? str_view(&array_file)
                  : str_ends(name, ".npz") ? str_view(&archive_file)
                  : str_ends(name, ".rg")  ? (rg_str){kernel_text, sizeof(kernel_text) - 1}
                                           : (rg_str){0};
    *out = (str){.in = mem_scratch()};
    str_add(out, text);
    return text.ptr ? RG_OK : RG_NOT_FOUND;
}

rg_status
__wrap_file_write(const char *path, const void *data, size_t n)
{
    if (!archive_file.len)
        str_add(&archive_file, (rg_str){data, n});
    return RG_OK;
}

int
__wrap_mkdir(const char *path, mode_t mode)
{
    return 0;
}

#if RG_HAVE_CLANG
bool __wrap_front_c_list(const front_c_source *source, front_c_names *names, diag_list *diags);

bool
__wrap_front_c_list(const front_c_source *source, front_c_names *names, diag_list *diags)
{
    return false;
}
#endif

/* -- objects ----------------------------------------------------------------------------------- */

static rg_device *device;
static rg_queue *queue;
static rg_module *module;
static rg_args *args;
static rg_array *arrays[MOST_OBJECTS];
static unsigned array_count;

rg_status __real_rg_device_open(const rg_device_desc *desc, rg_device **out);
rg_status __wrap_rg_device_open(const rg_device_desc *desc, rg_device **out);
rg_status __real_rg_queue_create(rg_device *on, const rg_queue_desc *desc, rg_queue **out);
rg_status __wrap_rg_queue_create(rg_device *on, const rg_queue_desc *desc, rg_queue **out);
rg_status __real_rg_module_load(rg_str path, const rg_module_desc *desc, rg_module **out);
rg_status __wrap_rg_module_load(rg_str path, const rg_module_desc *desc, rg_module **out);
rg_status __real_rg_args_create(rg_queue *q, rg_kernel *kernel, rg_args **out);
rg_status __wrap_rg_args_create(rg_queue *q, rg_kernel *kernel, rg_args **out);
rg_status __real_rg_array_create(rg_queue *q, const rg_array_desc *desc, rg_array **out);
rg_status __wrap_rg_array_create(rg_queue *q, const rg_array_desc *desc, rg_array **out);
void __wrap_rg_array_destroy(rg_array *array);
void __wrap_rg_args_destroy(rg_args *old);

static void *
allocate(void *user, size_t bytes, size_t alignment)
{
    return bytes > MOST_BYTES ? NULL : aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void
release(void *user, void *p, size_t bytes)
{
    free(p);
}

rg_status
__wrap_rg_device_open(const rg_device_desc *desc, rg_device **out)
{
    rg_device_desc here = *desc;
    here.name = RG_STR("interp");
    here.allocator = (rg_allocator){.allocate = allocate, .release = release};
    rg_status status = __real_rg_device_open(&here, out);
    device = *out;
    return status;
}

rg_status
__wrap_rg_queue_create(rg_device *on, const rg_queue_desc *desc, rg_queue **out)
{
    rg_status status = __real_rg_queue_create(on, desc, out);
    queue = *out;
    return status;
}

rg_status
__wrap_rg_module_load(rg_str path, const rg_module_desc *desc, rg_module **out)
{
    *out = NULL;
    /* reading C is another harness's */
    rg_status status = str_ends(path, ".rg") ? __real_rg_module_load(path, desc, out) : RG_NOT_FOUND;
    module = *out;
    return status;
}

rg_status
__wrap_rg_args_create(rg_queue *q, rg_kernel *kernel, rg_args **out)
{
    rg_status status = __real_rg_args_create(q, kernel, out);
    args = *out;
    return status;
}

rg_status
__wrap_rg_array_create(rg_queue *q, const rg_array_desc *desc, rg_array **out)
{
    rg_status status = __real_rg_array_create(q, desc, out);
    FUZZ_CHECK(array_count < MOST_OBJECTS, "more than %u arrays", array_count);
    arrays[array_count++] = *out;
    return status;
}

/* at the end, with all others */
void
__wrap_rg_array_destroy(rg_array *array)
{
}

void
__wrap_rg_args_destroy(rg_args *old)
{
}

void __real_rg_args_destroy(rg_args *old);
void __real_rg_array_destroy(rg_array *array);

static void
destroy_all(void)
{
    __real_rg_args_destroy(args);
    while (array_count)
        __real_rg_array_destroy(arrays[--array_count]);
    rg_module_destroy(module);
    rg_queue_destroy(queue);
    rg_device_destroy(device);
    device = NULL, queue = NULL, module = NULL, args = NULL;
}

/* -- an input ---------------------------------------------------------------------------------- */

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const float values[] = {0.5f, 2};
    npz_writer npz = {0};
    npy_format(&array_file, RG_F32, 1, (const int64_t[]){2}, values);
    npz_add(&npz, RG_STR("q"), RG_I16, 1, (const int64_t[]){2}, values);
    npz_add(&npz, RG_STR("s"), RG_F32, 0, NULL, values);
    npz_add(&npz, RG_STR("other"), RG_F32, 1, (const int64_t[]){1}, values);
    npz_finish(&npz, "F.npz");
    str_free(&npz.body);
    str_free(&npz.directory);
    (void)!freopen("/dev/null", "w", stdout);
    return 0;
}

static void
run_words(int count, char **words)
{
    reading = true;
    if (!setjmp(ended))
        cli_run.run(count, words);
    reading = false;
    destroy_all();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    arena *scratch = mem_scratch();
    arena_mark before = arena_here(scratch);
    char *words[MOST_WORDS], *text = malloc(size + 1);
    int count = 0;
    if (!text)
        abort();
    memcpy(text, data, size);
    text[size] = 0;
    bool timed = strstr(text, "--repeat"); /* that often, however long it takes */
    for (char *word = strtok(text, "\n"); word && count < MOST_WORDS; word = strtok(NULL, "\n"))
        words[count++] = strdup(word);
    if (!timed)
        run_words(count, words);
    while (count)
        free(words[--count]);
    free(text);
    arena_release(scratch, before);
    return 0;
}

/* What the environment asks for. SPDX-License-Identifier: Apache-2.0 */
#include "base/settings.h"

#include <unistd.h>

static const struct {
    const char *word, *doc;
} debug_words[] = {
    {"help", "this list, once"},
    {"print", "the IR after each pass that changed it; print=PASS: before and after that one"},
    {"verify", "verify after every pass, also one that says it changed nothing"},
    {"time", "milliseconds of each pass"},
    {"gpu", "of each kernel that a GPU loads: registers, memory of a thread's own, blocks, milliseconds"},
    {"cache", "what is found in the cache, made, kept"},
    {"stop", "stop=N: only the first N optimising passes of each module change anything (to bisect)"},
};

static const char *
text(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

bool
settings_is_off(const char *value)
{
    return value && (strcmp(value, "off") == 0 || strcmp(value, "0") == 0);
}

bool
settings_is_on(const char *value)
{
    return value && (strcmp(value, "on") == 0 || strcmp(value, "1") == 0);
}

static uint64_t
number(const char *name)
{
    const char *value = text(name);
    return value ? strtoull(value, NULL, 0) : 0;
}

/* a number with an optional K, M or G behind it, powers of 1024 */
static uint64_t
size(const char *name)
{
    const char *value = text(name);
    char *end = NULL;
    uint64_t n = value ? strtoull(value, &end, 0) : 0;
    unsigned shift = !end ? 0 : *end == 'K' || *end == 'k' ? 10 : *end == 'M' || *end == 'm' ? 20 : *end == 'G' || *end == 'g' ? 30 : 0;
    return n > UINT64_MAX >> shift ? UINT64_MAX : n << shift;
}

/* The value of a word in RG_DEBUG: NULL if absent, "" if it stands alone. Ends at a comma. */
static const char *
debug_word(const char *words, const char *word)
{
    size_t n = strlen(word);
    while (words && *words) {
        if (strncmp(words, word, n) == 0 && (words[n] == 0 || words[n] == ',' || words[n] == '='))
            return words[n] == '=' ? words + n + 1 : "";
        words = strchr(words, ',');
        words = words ? words + 1 : NULL;
    }
    return NULL;
}

settings
settings_read(void)
{
    const char *debug = text("RG_DEBUG"), *math = text("RG_MATH"), *stop = debug_word(debug, "stop");
    const char *helper = text("RG_COMPILE_PROCESS");
    uint64_t registers = number("RG_GPU_REGISTERS");
    return (settings){
        .plan = text("RG_PLAN"),
        .lanes = text("RG_LANES"),
        .interp = text("RG_INTERP"),
        .math = math,
        .native_math = math && strcmp(math, "native") == 0,
        .gpu_registers = registers >= 24 && registers <= 255 ? (uint32_t)registers : 0,
        .cuda_driver = text("RG_CUDA_DRIVER"),
        .amd_driver = text("RG_AMD_DRIVER"),
        .libdevice = text("RG_LIBDEVICE"),
        .vulkan_driver = text("RG_VULKAN_DRIVER"),
        .vulkan_groups = (uint32_t)number("RG_VULKAN_GROUPS"),
        .vulkan_without = (uint32_t)number("RG_VULKAN_WITHOUT"),
        .vulkan_allocation = size("RG_VULKAN_ALLOCATION"),
        .metal_driver = text("RG_METAL_DRIVER"),
        .metal_groups = (uint32_t)number("RG_METAL_GROUPS"),
        .metal_without = (uint32_t)number("RG_METAL_WITHOUT"),
        .simt_pool = number("RG_SIMT_POOL"),
        .simt_blocks = (uint32_t)number("RG_SIMT_BLOCKS"),
        .simt_warps = (uint32_t)number("RG_SIMT_WARPS"),
        .simt_order = number("RG_SIMT_ORDER"),
        .apart = helper && !settings_is_off(helper),
        .helper = helper,
        .cache = text("RG_CACHE"),
        .cache_size = size("RG_CACHE_SIZE"),
        .cache_home = text("XDG_CACHE_HOME"),
        .home = text("HOME"),
        .compiler = getenv("CC"),
        .programs = text("PATH"),
        .include_path = text("CPATH"),
        .c_include_path = text("C_INCLUDE_PATH"),
        .privileged = geteuid() != getuid() || getegid() != getgid(),
        .help = debug_word(debug, "help"),
        .verify = debug_word(debug, "verify"),
        .time = debug_word(debug, "time"),
        .cache_log = debug_word(debug, "cache"),
        .gpu = debug_word(debug, "gpu"),
        .print = debug_word(debug, "print"),
        .stop = stop && *stop ? atol(stop) : -1,
    };
}

void
settings_debug_help(void)
{
    fprintf(stderr, "RG_DEBUG=WORD,...\n");
    for (size_t k = 0; k < countof(debug_words); k++)
        fprintf(stderr, "  %-8s %s\n", debug_words[k].word, debug_words[k].doc);
}

bool
settings_names(const char *value, const char *name)
{
    size_t n = strlen(name);
    return value && strncmp(value, name, n) == 0 && (value[n] == 0 || value[n] == ',');
}

/* Harnesses: what strangers may give us, read once. SPDX-License-Identifier: Apache-2.0
 *
 * Each harness is one C file: the entry point of libFuzzer, and how inputs are changed. With it goes either libFuzzer
 * (`make fuzz`) or driver.c, which replays files and a few mutants of each. Changes are the same in both. */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include "base/base.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Changes data, which has room for `most` bytes, in a few places; the new size. */
typedef size_t fuzz_change(uint8_t *data, size_t size, size_t most, unsigned seed);
/* How the harness wants its inputs changed: words and lines, bytes, or as it knows them. */
extern fuzz_change *const fuzz_mutate;
fuzz_change fuzz_text, fuzz_bytes;

/* Whether the last input was taken for what it says it is. A harness that sets it has an intact corpus: fuzz_NAME --intact. */
extern bool fuzz_taken;

/* Around an input: mem_scratch() is new, and gone at the end. */
static inline void
fuzz_out_of_memory(void *user, size_t bytes)
{
    fprintf(stderr, "out of memory: %zu bytes\n", bytes);
    abort();
}

static inline void
fuzz_begin(void)
{
    fuzz_taken = false;
    mem_set_handler(fuzz_out_of_memory, NULL);
}

static inline void
fuzz_end(void)
{
    mem_set_handler(NULL, NULL);
}

/* A fault that no sanitizer sees: ends the process. */
#define FUZZ_CHECK(cond, ...)                                                                                          \
    do {                                                                                                               \
        if (!(cond)) {                                                                                                 \
            fprintf(stderr, __VA_ARGS__);                                                                              \
            fputc('\n', stderr);                                                                                       \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

#endif

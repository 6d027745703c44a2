/* Instructions of AMD's GPUs as functions of this machine: the side of instructions.py that runs them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_AMD_INSTRUCTIONS_H
#define TESTS_AMD_INSTRUCTIONS_H

#include <stdint.h>

enum { INSTRUCTION_BARRIER = 1, INSTRUCTION_YIELDS = 2, INSTRUCTION_INDEXES = 4 };
enum { INSTRUCTION_BYTES = 16, INSTRUCTION_ARGUMENTS = 6 };

typedef struct instruction {
    void (*run)(void *, void *, void *, void *, void *, void *); /* arguments by `order` */
    uint8_t order[8];
    uint32_t size, flags; /* in bytes, with its constants */
} instruction;

/* What stands at `code`, of which so many bytes can be read as an instruction may have, for GPU number `gpu` (942: gfx942). From the
 * process whose socket RG_EMULATOR names, or from an earlier call. Ends the program where there is none. Not for several threads. */
const instruction *instruction_at(uint32_t gpu, const void *code);

#endif

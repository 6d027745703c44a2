/* Writes a SPIR-V module. SPDX-License-Identifier: Apache-2.0
 *
 * Sections are kept apart and put together at the end. Types, constants and global variables are made once: who asks again gets the same
 * id. A function's body goes through `body`; what stands before it in its first block goes to `top`, variables to `variables`.
 * Numbers of opcodes and the like are those of the SPIR-V specification; only those are here that are used. */
#ifndef CODEGEN_SPIRV_SPV_H
#define CODEGEN_SPIRV_SPV_H

#include "base/base.h"

typedef uint32_t spv_id;

enum spv_opcode {
    SPV_NAME = 5, SPV_EXTENSION = 10, SPV_IMPORT = 11, SPV_EXT = 12, SPV_MEMORY_MODEL = 14, SPV_ENTRY = 15, SPV_MODE = 16,
    SPV_CAPABILITY = 17, SPV_VOID = 19, SPV_BOOL = 20, SPV_INT = 21, SPV_FLOAT = 22, SPV_VECTOR = 23, SPV_ARRAY = 28,
    SPV_STRUCT = 30, SPV_POINTER = 32, SPV_FUNCTION_TYPE = 33, SPV_TRUE = 41, SPV_FALSE = 42, SPV_CONSTANT = 43,
    SPV_COMPOSITE_CONSTANT = 44, SPV_NULL = 46, SPV_FUNCTION = 54, SPV_PARAMETER = 55, SPV_FUNCTION_END = 56, SPV_CALL = 57,
    SPV_VARIABLE = 59, SPV_LOAD = 61, SPV_STORE = 62, SPV_CHAIN = 65, SPV_DECORATE = 71, SPV_MEMBER_DECORATE = 72,
    SPV_CONSTRUCT = 80, SPV_EXTRACT = 81,
    SPV_F_TO_U = 109, SPV_F_TO_S = 110, SPV_S_TO_F = 111, SPV_U_TO_F = 112, SPV_U_CONVERT = 113, SPV_S_CONVERT = 114,
    SPV_F_CONVERT = 115, SPV_TO_POINTER = 120, SPV_BITCAST = 124,
    SPV_S_NEGATE = 126, SPV_F_NEGATE = 127, SPV_I_ADD = 128, SPV_F_ADD = 129, SPV_I_SUB = 130, SPV_F_SUB = 131, SPV_I_MUL = 132,
    SPV_F_MUL = 133, SPV_U_DIV = 134, SPV_S_DIV = 135, SPV_F_DIV = 136, SPV_U_MOD = 137, SPV_S_REM = 138,
    SPV_LOGICAL_EQUAL = 164, SPV_LOGICAL_NOT_EQUAL = 165, SPV_LOGICAL_OR = 166, SPV_LOGICAL_AND = 167, SPV_LOGICAL_NOT = 168,
    SPV_SELECT = 169, SPV_I_EQUAL = 170, SPV_I_NOT_EQUAL = 171, SPV_U_GREATER = 172, SPV_S_GREATER = 173, SPV_U_GREATER_EQUAL = 174,
    SPV_S_GREATER_EQUAL = 175, SPV_U_LESS = 176, SPV_S_LESS = 177, SPV_U_LESS_EQUAL = 178, SPV_S_LESS_EQUAL = 179,
    SPV_F_EQUAL = 180, SPV_F_LESS = 184, SPV_F_LESS_EQUAL = 188,
    SPV_SHIFT_RIGHT = 194, SPV_SHIFT_RIGHT_ARITHMETIC = 195, SPV_SHIFT_LEFT = 196, SPV_OR = 197,
    SPV_XOR = 198, SPV_AND = 199, SPV_NOT = 200, SPV_EXTRACT_SIGNED = 202, SPV_BIT_COUNT = 205, SPV_BARRIER = 224,
    SPV_ATOMIC_LOAD = 227, SPV_ATOMIC_STORE = 228, SPV_ATOMIC_EXCHANGE = 229, SPV_ATOMIC_COMPARE = 230, SPV_ATOMIC_ADD = 234,
    SPV_ATOMIC_S_MIN = 236, SPV_ATOMIC_U_MIN = 237, SPV_ATOMIC_S_MAX = 238, SPV_ATOMIC_U_MAX = 239, SPV_ATOMIC_AND = 240,
    SPV_ATOMIC_OR = 241, SPV_ATOMIC_XOR = 242, SPV_PHI = 245, SPV_LOOP_MERGE = 246, SPV_SELECTION_MERGE = 247, SPV_LABEL = 248,
    SPV_BRANCH = 249, SPV_BRANCH_IF = 250, SPV_RETURN = 253, SPV_RETURN_VALUE = 254, SPV_UNREACHABLE = 255,
    SPV_BALLOT = 339, SPV_SHUFFLE = 345, SPV_SHUFFLE_XOR = 346, SPV_ATOMIC_F_ADD = 6035
};
enum spv_capability {
    SPV_CAP_SHADER = 1, SPV_CAP_FLOAT64 = 10, SPV_CAP_INT64 = 11, SPV_CAP_INT64_ATOMICS = 12, SPV_CAP_BALLOT = 64,
    SPV_CAP_SHUFFLE = 65, SPV_CAP_NON_UNIFORM = 61, SPV_CAP_STORAGE16 = 4433, SPV_CAP_STORAGE8 = 4448, SPV_CAP_DENORM_PRESERVE = 4464,
    SPV_CAP_KEEPS = 4466, SPV_CAP_RTE = 4467, SPV_CAP_MODEL = 5345, SPV_CAP_MODEL_DEVICE = 5346, SPV_CAP_ADDRESSES = 5347,
    SPV_CAP_ATOMIC_ADD32 = 6033, SPV_CAP_ATOMIC_ADD64 = 6034
};
enum spv_storage { SPV_INPUT = 1, SPV_WORKGROUP = 4, SPV_PRIVATE = 6, SPV_IN_FUNCTION = 7, SPV_PUSH = 9, SPV_MEMORY = 5349 };
/* of GLSL.std.450 */
enum spv_glsl {
    SPV_TRUNC = 3, SPV_ROUND_EVEN = 2, SPV_U_MIN = 38, SPV_F_ABS = 4, SPV_FLOOR = 8, SPV_CEIL = 9, SPV_SQRT = 31,
    SPV_INVERSE_SQRT = 32, SPV_FMA = 50, SPV_FIND_LSB = 73, SPV_FIND_MSB = 75
};

typedef vec(uint32_t) spv_words;
typedef enum spv_section {
    SPV_CAPABILITIES, SPV_EXTENSIONS, SPV_IMPORTS, SPV_MODEL, SPV_ENTRIES, SPV_MODES, SPV_NAMES, SPV_DECORATIONS, SPV_GLOBALS,
    SPV_FUNCTIONS, SPV_SECTIONS
} spv_section;

/* a function under construction */
typedef struct spv_function {
    spv_words head, variables, top, body;
    spv_id block; /* the label of the block that is written */
} spv_function;

typedef struct spv {
    arena *in;
    spv_words sections[SPV_SECTIONS];
    map known, constants; /* constants: by id, the bits of numbers */
    spv_function *fn;
    spv_words interface; /* global variables */
    spv_id next, glsl;
    bool at_top; /* ops go to the function's top */
} spv;

void spv_begin(spv *s, arena *in);
static inline spv_id
spv_new(spv *s)
{
    return s->next++;
}
void spv_put(spv_words *to, uint32_t opcode, uint32_t n, const uint32_t *operands);
void spv_capability(spv *s, uint32_t capability); /* once, however often it is asked for */
void spv_extension(spv *s, const char *name);
void spv_name(spv *s, spv_id id, const char *name);
void spv_entry(spv *s, spv_id fn, const char *name); /* of compute; its interface is all global variables */
void spv_decorate(spv *s, spv_id id, uint32_t decoration);
/* A type (type 0) or constant, made once. */
spv_id spv_known(spv *s, uint32_t opcode, spv_id type, uint32_t n, const uint32_t *operands);
spv_id spv_global(spv *s, uint32_t storage, spv_id type, spv_id initial, uint32_t builtin); /* a variable: its pointer; 0: neither */
/* an instruction with a result; type 0, one without */
spv_id spv_op(spv *s, uint32_t opcode, spv_id type, uint32_t n, const uint32_t *operands);
void spv_do(spv *s, uint32_t opcode, uint32_t n, const uint32_t *operands);
#define spv_list(...)           (uint32_t)countof(((uint32_t[]){__VA_ARGS__})), (uint32_t[]){__VA_ARGS__}
#define spv_make(s, op, type, ...) spv_op(s, op, type, spv_list(__VA_ARGS__))
#define spv_emit(s, op, ...)    spv_do(s, op, spv_list(__VA_ARGS__))

spv_id spv_int(spv *s, uint32_t bits);
spv_id spv_float(spv *s, uint32_t bits);
spv_id spv_bool(spv *s);
spv_id spv_void(spv *s);
spv_id spv_pointer(spv *s, uint32_t storage, spv_id to);
spv_id spv_array(spv *s, spv_id of, uint32_t n);
const uint64_t *spv_constant(const spv *s, spv_id id); /* the bits of a number that is known, or NULL */
spv_id spv_u32(spv *s, uint32_t v);
spv_id spv_u64(spv *s, uint64_t v);
spv_id spv_truth(spv *s, bool v);

/* Functions, one at a time, but for one that another one's making begins. */
spv_id spv_function_begin(spv *s, spv_function *f, spv_id result, uint32_t n, const spv_id *parameters, spv_id *values);
void spv_function_end(spv *s, spv_function *f); /* behind the last return */
spv_id spv_local(spv *s, spv_id type); /* a variable of the function: its pointer */
void spv_block(spv *s, spv_id label); /* begins it */
/* of a phi's n sources; those that are not known yet are told later */
spv_id spv_phi(spv *s, spv_id type, uint32_t n, const uint32_t *sources, size_t *place);
void spv_tell(spv *s, size_t place, uint32_t source, spv_id value, spv_id block);

void spv_end(spv *s, spv_words *module);

#endif

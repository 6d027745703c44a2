/* Shaders of our own, as SPIR-V by hand: what a driver is tried with. SPDX-License-Identifier: Apache-2.0
 *
 * They are written as the SPIR-V generator writes, so that they can be printed in MSL, too. */
#include "device/segments/segments.h"

/* An instruction: its words are counted here. */
#define OP(code, ...) (uint32_t)(sizeof((const uint32_t[]){code, __VA_ARGS__}) / 4) << 16 | (code), __VA_ARGS__

enum {
    NAME = 5, EXT_IMPORT = 11, EXT_INST = 12, MEMORY_MODEL = 14, ENTRY_POINT = 15, EXECUTION_MODE = 16, CAPABILITY = 17,
    TYPE_VOID = 19, TYPE_BOOL = 20, TYPE_INT = 21, TYPE_FLOAT = 22, TYPE_VECTOR = 23, TYPE_STRUCT = 30, TYPE_POINTER = 32,
    TYPE_FUNCTION = 33, CONSTANT = 43, FUNCTION = 54, VARIABLE = 59, LOAD = 61, STORE = 62, ACCESS_CHAIN = 65, DECORATE = 71,
    MEMBER_DECORATE = 72, COMPOSITE_EXTRACT = 81, CONVERT_U = 113, TO_POINTER = 120, ADD = 128, MUL = 132, FDIV = 136, LOGICAL_AND = 167,
    SELECT = 169, EQUAL = 170, NOT_EQUAL = 171, GREATER_EQUAL = 174, PHI = 245, LOOP_MERGE = 246, SELECTION_MERGE = 247, LABEL = 248,
    BRANCH = 249, BRANCH_IF = 250,
    FUNCTION_END_ = 1 << 16 | 56, RETURN_ = 1 << 16 | 253, /* whole instructions */
    E0_ = 0x3065, /* "e0" */
    GLSL = 1, SQRT = 31, FMA = 50,
    SHADER = 1, FLOAT64 = 10, INT64 = 11, ADDRESSES = 5347,
    AT_ADDRESS = 5349, AT_PUSH = 9, AT_INPUT = 1,
    ALIGNED = 2
};

/* ids that all modules have */
enum {
    I_VOID = 1, I_FN, I_U32, I_U64, I_BOOL, I_PUSH, I_TO_PUSH, I_TO_PUSH64, I_TO_PUSH32, I_TO_U32, I_VAR, I_MAIN, I_BEGIN,
    I_0, I_1, I_2, /* u32 */
    I_FREE
};

#define HEAD(bound) 0x07230203, 0x00010500, 0, bound, 0, OP(CAPABILITY, SHADER), OP(CAPABILITY, INT64), OP(CAPABILITY, ADDRESSES)
#define MODEL OP(MEMORY_MODEL, 5348, 1)
#define PUSH_BLOCK                                                                                                            \
    OP(DECORATE, I_PUSH, 2), OP(MEMBER_DECORATE, I_PUSH, 0, 35, 0), OP(MEMBER_DECORATE, I_PUSH, 1, 35, 8),                    \
        OP(MEMBER_DECORATE, I_PUSH, 2, 35, 12)
#define TYPES                                                                                                                 \
    OP(TYPE_VOID, I_VOID), OP(TYPE_FUNCTION, I_FN, I_VOID), OP(TYPE_INT, I_U32, 32, 0), OP(TYPE_INT, I_U64, 64, 0),           \
        OP(TYPE_BOOL, I_BOOL), OP(TYPE_STRUCT, I_PUSH, I_U64, I_U32, I_U32),                                                  \
        OP(TYPE_POINTER, I_TO_PUSH, AT_PUSH, I_PUSH), OP(TYPE_POINTER, I_TO_PUSH64, AT_PUSH, I_U64),                          \
        OP(TYPE_POINTER, I_TO_PUSH32, AT_PUSH, I_U32), OP(TYPE_POINTER, I_TO_U32, AT_ADDRESS, I_U32),                         \
        OP(VARIABLE, I_TO_PUSH, I_VAR, AT_PUSH), OP(CONSTANT, I_U32, I_0, 0), OP(CONSTANT, I_U32, I_1, 1),                    \
        OP(CONSTANT, I_U32, I_2, 2)
#define BEGIN OP(FUNCTION, I_VOID, I_MAIN, 0, I_FN), OP(LABEL, I_BEGIN)
/* member `number` of what was pushed, into `id` by way of `id` + 1 */
#define PUSHED64(id, number) OP(ACCESS_CHAIN, I_TO_PUSH64, (id) + 1, I_VAR, number), OP(LOAD, I_U64, id, (id) + 1)
#define PUSHED32(id, number) OP(ACCESS_CHAIN, I_TO_PUSH32, (id) + 1, I_VAR, number), OP(LOAD, I_U32, id, (id) + 1)

/* for (k = 0; k < number; k++) x = x * 1664525 + 1013904223; with x = expected at first, to *at in the end. What it counts to only the
 * host knows. */
enum {
    L_MUL = I_FREE, L_ADD, L_N, L_N_, L_X0, L_X0_, L_LOOP, L_TEST, L_BODY, L_NEXT, L_END, L_K, L_X, L_DONE, L_K1, L_X1, L_X2, L_AT, L_AT_,
    L_TO, L_BOUND
};
static const uint32_t count_words[] = {
    HEAD(L_BOUND), MODEL, OP(ENTRY_POINT, 5, I_MAIN, E0_, I_VAR), OP(EXECUTION_MODE, I_MAIN, 17, 1, 1, 1), PUSH_BLOCK, TYPES,
    OP(CONSTANT, I_U32, L_MUL, 1664525), OP(CONSTANT, I_U32, L_ADD, 1013904223),
    BEGIN,
    PUSHED32(L_X0, I_1), PUSHED32(L_N, I_2), OP(BRANCH, L_LOOP),
    OP(LABEL, L_LOOP), OP(PHI, I_U32, L_K, I_0, I_BEGIN, L_K1, L_NEXT), OP(PHI, I_U32, L_X, L_X0, I_BEGIN, L_X2, L_NEXT),
    OP(LOOP_MERGE, L_END, L_NEXT, 0), OP(BRANCH, L_TEST),
    OP(LABEL, L_TEST), OP(GREATER_EQUAL, I_BOOL, L_DONE, L_K, L_N), OP(BRANCH_IF, L_DONE, L_END, L_BODY),
    OP(LABEL, L_BODY), OP(MUL, I_U32, L_X1, L_X, L_MUL), OP(ADD, I_U32, L_X2, L_X1, L_ADD), OP(BRANCH, L_NEXT),
    OP(LABEL, L_NEXT), OP(ADD, I_U32, L_K1, L_K, I_1), OP(BRANCH, L_LOOP),
    OP(LABEL, L_END), PUSHED64(L_AT, I_0), OP(TO_POINTER, I_TO_U32, L_TO, L_AT), OP(STORE, L_TO, L_X, ALIGNED, 4), RETURN_, FUNCTION_END_,
};

/* Of rows { a, b, c, a / b, sqrt(a), fma(a, b, c) }, one for each workgroup, the last three. */
enum {
    F_FLOAT = I_FREE, F_TO, F_SET, F_V3, F_TO_V3, F_GROUP, F_SIZE, F_ROW, F_WHICH, F_WHICH1, F_WHICH64, F_OFFSET, F_AT, F_AT_, F_A_AT,
    F_A_TO, F_A, F_B_AT, F_B_TO, F_B, F_C_AT, F_C_TO, F_C, F_D_AT, F_D_TO, F_D, F_S_AT, F_S_TO, F_S, F_F_AT, F_F_TO, F_F, F_BOUND
};
#define NEXT_AT(id, before) OP(ADD, I_U64, id, before, F_SIZE), OP(TO_POINTER, F_TO, (id) + 1, id)
#define FLOATS(bytes, capability)                                                                                             \
    {                                                                                                                         \
        HEAD(F_BOUND), capability OP(EXT_IMPORT, F_SET, 0x4c534c47, 0x6474732e, 0x3035342e, 0), MODEL,                        \
            OP(ENTRY_POINT, 5, I_MAIN, E0_, I_VAR, F_GROUP), OP(EXECUTION_MODE, I_MAIN, 17, 1, 1, 1), PUSH_BLOCK,        \
            OP(DECORATE, F_GROUP, 11, 26), OP(DECORATE, F_D, 42), OP(DECORATE, F_F, 42), TYPES,                               \
            OP(TYPE_FLOAT, F_FLOAT, 8 * (bytes)), OP(TYPE_POINTER, F_TO, AT_ADDRESS, F_FLOAT),                                \
            OP(TYPE_VECTOR, F_V3, I_U32, 3), OP(TYPE_POINTER, F_TO_V3, AT_INPUT, F_V3),                                       \
            OP(VARIABLE, F_TO_V3, F_GROUP, AT_INPUT), OP(CONSTANT, I_U64, F_SIZE, bytes, 0),                                  \
            OP(CONSTANT, I_U64, F_ROW, 6 * (bytes), 0), BEGIN,                                                                \
            OP(LOAD, F_V3, F_WHICH, F_GROUP), OP(COMPOSITE_EXTRACT, I_U32, F_WHICH1, F_WHICH, 0),                             \
            OP(CONVERT_U, I_U64, F_WHICH64, F_WHICH1), OP(MUL, I_U64, F_OFFSET, F_WHICH64, F_ROW), PUSHED64(F_AT, I_0),       \
            OP(ADD, I_U64, F_A_AT, F_AT, F_OFFSET), OP(TO_POINTER, F_TO, F_A_TO, F_A_AT), NEXT_AT(F_B_AT, F_A_AT),            \
            NEXT_AT(F_C_AT, F_B_AT), NEXT_AT(F_D_AT, F_C_AT), NEXT_AT(F_S_AT, F_D_AT), NEXT_AT(F_F_AT, F_S_AT),               \
            OP(LOAD, F_FLOAT, F_A, F_A_TO, ALIGNED, bytes), OP(LOAD, F_FLOAT, F_B, F_B_TO, ALIGNED, bytes),                   \
            OP(LOAD, F_FLOAT, F_C, F_C_TO, ALIGNED, bytes), OP(FDIV, F_FLOAT, F_D, F_A, F_B),                                 \
            OP(EXT_INST, F_FLOAT, F_S, F_SET, SQRT, F_A), OP(EXT_INST, F_FLOAT, F_F, F_SET, FMA, F_A, F_B, F_C),              \
            OP(STORE, F_D_TO, F_D, ALIGNED, bytes), OP(STORE, F_S_TO, F_S, ALIGNED, bytes),                                   \
            OP(STORE, F_F_TO, F_F, ALIGNED, bytes), RETURN_, FUNCTION_END_,                                                   \
    }
#define NOTHING_MORE
#define DOUBLES OP(CAPABILITY, FLOAT64),
static const uint32_t f32_words[] = FLOATS(4, NOTHING_MORE), f64_words[] = FLOATS(8, DOUBLES);

#define OF(words) {words, countof(words)}
const rt_shader rt_count_shader = OF(count_words), rt_f32_shader = OF(f32_words),
                rt_f64_shader = OF(f64_words);

/* Inside of the printer of MSL. SPDX-License-Identifier: Apache-2.0
 *
 * An id with a value is the variable v<id>, which is declared at its function's beginning: a value may be used outside of the braces
 * around the place where it is computed. Types that MSL has no name for are structs t<id>, functions f<id>. */
#ifndef CODEGEN_METAL_PRINT_H
#define CODEGEN_METAL_PRINT_H

#include "codegen/metal/msl.h"
#include "codegen/spirv/spv.h"

typedef struct msl {
    const uint32_t *words, *end;
    const uint32_t **made; /* by id: the instruction whose result it is */
    const char **names;    /* by id: of a function */
    uint32_t bound;
    bool failed;
    unsigned depth;
    str *out;
    arena *in;
    diag_list *diags;
} msl;

/* An instruction: its first word, operands behind it. */
static inline uint32_t
msl_opcode(const uint32_t *ins)
{
    return ins[0] & 0xffff;
}
static inline uint32_t
msl_length(const uint32_t *ins)
{
    return ins[0] >> 16;
}
static inline const uint32_t *
msl_next(const uint32_t *ins)
{
    return ins + msl_length(ins);
}
/* where its result stands among its words; 0: it has none */
uint32_t msl_result(const uint32_t *ins);

void msl_refuse(msl *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
void msl_line(msl *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* -- names.c: texts, in the arena ------------------------------------------------------------------------------------- */
const char *msl_text(msl *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *msl_type(msl *m, spv_id type);
const char *msl_signed(msl *m, spv_id type);     /* the same bits as a signed integer */
const char *msl_value(msl *m, spv_id id);
const char *msl_initial(msl *m, spv_id constant); /* in an initializer */
const char *msl_function(msl *m, spv_id fn);
spv_id msl_type_of(const msl *m, spv_id id);
spv_id msl_pointee(const msl *m, spv_id pointer); /* of a value that is a pointer */
const char *msl_space(const msl *m, spv_id pointer);
bool msl_is_table(const uint32_t *variable); /* constant: it has an initial value, and nobody writes */

/* -- ops.c -------------------------------------------------------------------------------------------------------------- */
void msl_op(msl *m, const uint32_t *ins);

/* -- flow.c ------------------------------------------------------------------------------------------------------------- */
void msl_body(msl *m, const uint32_t *first); /* from its first label up to the function's end */

#endif

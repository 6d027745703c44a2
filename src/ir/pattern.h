/* What ops.def says of the operands and results of an op of form OTHER. SPDX-License-Identifier: Apache-2.0 */
#ifndef IR_PATTERN_H
#define IR_PATTERN_H

#include "ir/ir.h"

/* the words, in the order of the alphabet; ops.def says what they mean */
typedef enum ir_word {
    IR_WORD_ANY, IR_WORD_ARRAY, IR_WORD_BOOL, IR_WORD_BOOLS, IR_WORD_BUF, IR_WORD_CAS, IR_WORD_CURSOR, IR_WORD_ELEM,
    IR_WORD_FIRST, IR_WORD_FRAME, IR_WORD_I32, IR_WORD_I64, IR_WORD_INDEX, IR_WORD_INT, IR_WORD_LANE, IR_WORD_LANES,
    IR_WORD_MASK, IR_WORD_NUM, IR_WORD_PLACE, IR_WORD_SAME, IR_WORD_SLOT, IR_WORD_TRACE, IR_WORD_U64
} ir_word;

typedef struct ir_item {
    char what;    /* 'w': a word; 'i': if; '>': the results follow; '#' ',' '[' ']' '(' ')' '{'; 0: the end */
    char times;   /* of a word: 0, '*', '?' */
    bool spaced;  /* behind a space */
    uint8_t word;
} ir_item;

/* The items of an op's pattern; behind the last one stands one of what 0. */
enum { IR_PATTERN_MOST = 20 };
typedef ir_item ir_pattern[IR_PATTERN_MOST];
void ir_pattern_read(rg_op op, ir_item *items);

/* What a pattern says of an op: how many operands and results it has at least, whether there may be more, or one more. */
typedef struct ir_counts {
    uint32_t nargs, nresults, nregions;
    char more_args, more_results; /* 0, '*', '?' */
} ir_counts;

ir_counts ir_counts_of(const ir_op *op, const ir_item *items);
/* how many operands or results the word stands for in an op that has n and must have `least` */
uint32_t ir_item_takes(const ir_op *op, ir_item word, uint32_t n, uint32_t least);

#endif

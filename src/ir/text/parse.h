/* The parser's files among themselves. SPDX-License-Identifier: Apache-2.0
 *
 * After an error of syntax the lexer gives no more tokens, so every loop ends. Errors of meaning (a
 * name not known, a number out of range) let the reading go on; then a made-up value stands in. */
#ifndef IR_PARSE_H
#define IR_PARSE_H

#include "ir/text/lex.h"
#include "ir/text/text.h"

enum { PARSE_DEEPEST = 200 };

typedef struct pending_call {
    ir_op *op;
    token name;
} pending_call;

/* a function's own derivative */
typedef struct pending_own {
    ir_fn **place;
    token name;
} pending_own;

typedef struct parser {
    lexer lex;
    ir_module *m;
    ir_fn *fn;
    arena *scratch;
    map names; /* of the function's values: hash of a name -> what it names */
    vec(pending_call) calls;
    vec(pending_own) own;
    vec(ir_value *) args; /* of the op being read */
    str bytes;            /* of the table being read */
    unsigned depth;
    unsigned errors_before;
    bool exact; /* marks are taken */
} parser;

/* parse_value.c: tokens; `want` reports what is missing, `skip` says whether it was there */
bool parse_at(parser *p, const char *punct);
bool parse_skip(parser *p, const char *punct);
bool parse_want(parser *p, const char *punct);
bool parse_skip_word(parser *p, const char *word);
void parse_want_word(parser *p, const char *word);
void parse_expected(parser *p, const char *what);
int64_t parse_int(parser *p, const char *what, int64_t low, int64_t high);
const char *parse_string(parser *p, const char *what);
ir_type parse_type(parser *p);
/* the token of %name; parse_define gives that name to a new value */
token parse_name(parser *p);
void parse_define(parser *p, token name, ir_value *v);
/* a value that was named before; several, separated by commas, or in brackets: appended to p->args
 */
ir_value *parse_use(parser *p);
void parse_uses(parser *p);
bool parse_mask(parser *p); /* ` if %mask`, perhaps */
void parse_use_list(parser *p);
ir_loc parse_loc(parser *p);

/* parse_op.c */
void parse_region_param(parser *p, ir_region *r); /* %a: T */
void parse_region(parser *p, ir_region *r);       /* { ops } */

#endif

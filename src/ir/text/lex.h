/* Tokens of IR text. SPDX-License-Identifier: Apache-2.0 */
#ifndef IR_LEX_H
#define IR_LEX_H

#include "ir/ir.h"

typedef enum token_kind {
    TOKEN_END,    /* of the text, or after an error that ends the reading */
    TOKEN_WORD,   /* letters, digits, _ and . */
    TOKEN_NUMBER, /* starts with a digit or - */
    TOKEN_VALUE,  /* %name; text is the name */
    TOKEN_GLOBAL, /* @name; text is the name */
    TOKEN_AT,     /* @ alone: a place follows */
    TOKEN_STRING, /* text is what it says, escapes resolved */
    TOKEN_PUNCT   /* one character, or -> */
} token_kind;

typedef struct token {
    token_kind kind;
    rg_str text;
    size_t from, to; /* bytes of the source */
    uint32_t line, col;
} token;

typedef struct lexer {
    rg_str source;
    const char *path;
    diag_list *diags;
    arena *strings; /* of resolved escapes */
    size_t at, line_start;
    uint32_t line;
    bool stopped;
    token now;
} lexer;

enum {
    E_TOKEN = 101, /* a character or string that is no token */
    E_SYNTAX,      /* something else was expected */
    E_OP,          /* no such operation */
    E_TYPE,        /* no such type */
    E_UNDEFINED,   /* a value that is not defined before */
    E_TWICE,       /* a name defined twice */
    E_NUMBER,      /* a number malformed or out of range */
    E_FUNCTION,    /* no such function */
    E_DEPTH,       /* regions nested too deep */
    E_COUNT,       /* a list of another length */
    E_SUFFIX,      /* an op's name with a suffix that it cannot have */
    E_RESULTS      /* results that differ from the yield's */
};

void lex_start(lexer *l, rg_str source, const char *path, arena *strings, diag_list *diags);
/* the next token, into l->now */
void lex_next(lexer *l);
/* a path of a place: what stands up to the colon, or a string; the token after it becomes the
 * present one */
rg_str lex_path(lexer *l);
/* reports at a token and goes on; the remedy follows a newline in the format */
void lex_error(lexer *l, const token *at, unsigned number, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* no token comes after this */
void lex_stop(lexer *l);

#endif

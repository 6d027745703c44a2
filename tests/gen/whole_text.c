/* Marked text, and the two programs in it. SPDX-License-Identifier: Apache-2.0
 *
 *     ONE kernel TWO oracle END     what only one of them has
 *     BEGIN statement CLOSE         a region that may be left out
 *     VALUE expression CLOSE        a region for which 0.5 may stand
 */
#include "whole_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ONE = 1, TWO = 2, END = 3, BEGIN = 4, VALUE = 5, CLOSE = 6 };

static const char *
put_v(whole_gen *g, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = arena_new_n(g->program->arena, char, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, args);
    return text;
}

const char *
put(whole_gen *g, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = put_v(g, format, args);
    va_end(args);
    return text;
}

const char *
either(whole_gen *g, const char *kernel, const char *oracle)
{
    return put(g, "%c%s%c%s%c", ONE, kernel, TWO, oracle, END);
}

static void
indent(whole_gen *g)
{
    for (unsigned k = 0; k < g->indent; k++)
        str_addz(g->out, "    ");
}

void
line(whole_gen *g, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = put_v(g, format, args);
    va_end(args);
    indent(g);
    str_addz(g->out, text);
    str_addz(g->out, "\n");
}

void
open_block(whole_gen *g, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = put_v(g, format, args);
    va_end(args);
    indent(g);
    str_addz(g->out, text);
    str_addz(g->out, *text ? " {\n" : "{\n");
    g->indent++;
}

void
close_block(whole_gen *g)
{
    g->indent--;
    line(g, "}");
}

void
statement_begin(whole_gen *g)
{
    str_addz(g->out, (char[]){BEGIN, 0});
}

void
statement_end(whole_gen *g)
{
    str_addz(g->out, (char[]){CLOSE, 0});
}

unsigned
below(whole_gen *g, unsigned n)
{
    uint64_t z = (g->random += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (unsigned)(((z ^ (z >> 31)) >> 32) % n);
}

bool
chance(whole_gen *g, unsigned percent)
{
    return below(g, 100) < percent;
}

const char *
fresh(whole_gen *g, const char *prefix)
{
    return put(g, "%s%u", prefix, ++g->serial);
}

/* -- printing ------------------------------------------------------------------------------------------------------ */

enum { DEEP = 400 };

/* A region's number is that of its first mark. */
static void
print(const whole_program *p, const bool *off, bool oracle, str *out)
{
    bool gone[DEEP] = {false}; /* by region that is open */
    unsigned depth = 0, region = 0;
    bool hidden = false;
    for (const char *at = p->text.ptr, *end = at + p->text.len; at < end; at++) {
        bool was = gone[depth];
        switch (*at) {
        case ONE:
            hidden = oracle;
            break;
        case TWO:
            hidden = !oracle;
            break;
        case END:
            hidden = false;
            break;
        case BEGIN:
        case VALUE:
            gone[++depth] = was || (off && off[region]);
            if (*at == VALUE && gone[depth] && !was && !hidden)
                str_addz(out, "0.5");
            region++;
            break;
        case CLOSE:
            depth--;
            break;
        default:
            if (!hidden && !was)
                str_add(out, (rg_str){at, 1});
        }
    }
}

void
whole_print_c(const whole_program *p, const bool *off, str *out)
{
    print(p, off, false, out);
}

void
whole_print_oracle(const whole_program *p, const bool *off, uint64_t number, str *out)
{
    str_addf(out, "namespace program_%llu {\n", (unsigned long long)number);
    print(p, off, true, out);
    str_addf(out,
             "extern \"C\" void oracle_%llu(const place *at, double moved, double *gap) { closest_tie = 1.0; "
             "roundings = moved; run(at); *gap = closest_tie; }\n}\n",
             (unsigned long long)number);
}

void
whole_free(whole_program *p)
{
    str_free(&p->text);
    arena_free(p->arena);
    *p = (whole_program){0};
}

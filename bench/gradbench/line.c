/* See line.h. SPDX-License-Identifier: Apache-2.0 */
#include "line.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void
line_add(line *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (l->length + (size_t)n + 1 > l->capacity) {
        l->capacity = 2 * l->capacity + (size_t)n + 256;
        l->text = realloc(l->text, l->capacity);
    }
    va_start(args, format);
    vsnprintf(l->text + l->length, (size_t)n + 1, format, args);
    va_end(args);
    l->length += (size_t)n;
}

void
line_numbers(line *l, const double *values, size_t count)
{
    line_add(l, "[");
    for (size_t i = 0; i < count; i++)
        line_add(l, "%s%.17g", i ? ", " : "", values[i]);
    line_add(l, "]");
}

void
line_rows(line *l, const double *values, size_t rows, size_t columns)
{
    line_add(l, "[");
    for (size_t r = 0; r < rows; r++) {
        line_add(l, "%s", r ? ", " : "");
        line_numbers(l, values + r * columns, columns);
    }
    line_add(l, "]");
}

double
line_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

void
line_random(line *l, const char *name, size_t rows, size_t columns, double from, double to,
            uint64_t *state)
{
    double *values = calloc(rows * columns + 1, sizeof *values);
    for (size_t i = 0; i < rows * columns; i++)
        values[i] = from + (to - from) * line_next(state);
    line_add(l, "\"%s\": ", name);
    if (rows == 1)
        line_numbers(l, values, columns);
    else
        line_rows(l, values, rows, columns);
    line_add(l, ", ");
    free(values);
}

void
line_close(line *l)
{
    l->length -= 2;
    line_add(l, "}");
}
